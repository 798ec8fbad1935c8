//! The searches take turns until the time is over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_report::model::{Moment, Phase};
use parallax_report::words::counted;
use parallax_search::diverge::clusters::Cluster;

use super::clock::Clock;
use super::schedule::{Gain, Schedule, Slice};
use super::work::Work;
use crate::context::{Progress, Step, Task};
use crate::diverge::{self, Accused, Blame};
use crate::failure::Failure;
use crate::watch::Watcher;

/// A search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    Compare,
    Cover,
    Amplify,
    Interact,
}

impl Search {
    /// In the order of their first slices: what can be seen comes first.
    const ALL: [Search; 4] = [
        Search::Compare,
        Search::Cover,
        Search::Amplify,
        Search::Interact,
    ];

    /// What it does, for people.
    fn name(self) -> &'static str {
        match self {
            Search::Compare => "compare the versions",
            Search::Cover => "reach lines no test runs",
            Search::Amplify => "make changed code fail",
            Search::Interact => "run changes together",
        }
    }

    /// The command that does it alone.
    fn command(self) -> &'static str {
        match self {
            Search::Compare => "diverge",
            Search::Cover => "cover",
            Search::Amplify => "amplify",
            Search::Interact => "interact",
        }
    }

    /// Least share of the time.
    fn share(self) -> f64 {
        match self {
            Search::Compare | Search::Cover => 0.25,
            Search::Amplify => 0.15,
            Search::Interact => 0.05,
        }
    }
}

/// Share of the time that is kept for finding the hunks that findings come from; of a short time more, because building takes as long as
/// it takes.
const BLAMING: f64 = 0.1;
const MOST_BLAMING: f64 = 0.3;
const ENOUGH_BLAMING: Duration = Duration::from_secs(10);
/// Of patches with more hunks it is not looked for: there would be no time to leave out enough of them.
const MOST_HUNKS: usize = 150;
/// A slice is no shorter, whatever is kept for later.
const SHORTEST: Duration = Duration::from_millis(100);

/// By program and what was found.
pub type Blames = BTreeMap<(String, String), Blame>;

/// What the searches came to.
pub struct Came {
    pub blames: Blames,
    pub phases: Vec<Phase>,
    pub timeline: Vec<Moment>,
    pub runs: u64,
    pub searched: Duration,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    spent: Duration,
    found: u64,
    is_done: bool,
}

impl Tally {
    fn add(&mut self, gain: Gain) {
        self.spent += gain.spent;
        self.found += gain.found;
        self.is_done = gain.is_done;
    }
}

/// Gives slices of the time to the searches until it is over, or somebody asks for an end.
pub fn search(
    work: &mut Work<'_>,
    budget: Duration,
    clock: Arc<Clock>,
    blames: bool,
) -> Result<Came, Failure> {
    let context = work.pair.context.clone();
    let screen = context.events.begin(Task::Check {
        title: format!("parallax check {}", work.pair.range()),
        budget,
        clock: clock.clone(),
        runs: context.runs.clone(),
        phases: &Search::ALL.map(Search::name),
    });
    let mut turns = Turns {
        screen: &*screen,
        schedule: Schedule::new(budget, &Search::ALL.map(Search::share)),
        clock,
        reserve: match blames && (2..=MOST_HUNKS).contains(&work.pair.patch.hunks.len()) {
            true => ENOUGH_BLAMING
                .max(budget.mul_f64(BLAMING))
                .min(budget.mul_f64(MOST_BLAMING)),
            false => Duration::ZERO,
        },
        work,
        tallies: [Tally::default(); Search::ALL.len()],
        timeline: Vec::new(),
    };
    let result = turns.run(budget, blames);
    let runs = context.runs.total();
    let blames = result?;
    let phases = Search::ALL.into_iter().zip(turns.tallies);
    let phases = phases.map(|(search, tally)| Phase {
        name: search.command().to_owned(),
        seconds: tally.spent.as_secs_f64(),
        gave: gave(turns.work, search, tally.found),
        left: (!tally.is_done).then(|| match tally.spent.is_zero() {
            true => "there was no time".to_owned(),
            false => "the time was over".to_owned(),
        }),
    });
    Ok(Came {
        blames,
        phases: phases.collect(),
        runs,
        searched: turns.clock.elapsed(),
        timeline: turns.timeline,
    })
}

struct Turns<'t, 'w> {
    work: &'t mut Work<'w>,
    screen: &'t dyn Progress,
    schedule: Schedule,
    clock: Arc<Clock>,
    /// Time that is kept for finding hunks.
    reserve: Duration,
    tallies: [Tally; Search::ALL.len()],
    timeline: Vec<Moment>,
}

impl Turns<'_, '_> {
    fn run(&mut self, budget: Duration, blames: bool) -> Result<Blames, Failure> {
        self.note();
        self.work.recall(budget)?;
        self.schedule.spend(self.clock.elapsed());
        self.note();
        let mut found = Blames::new();
        let mut is_blamed = !blames;
        while !self.work.pair.context.is_cancelled() {
            let left = self.schedule.left();
            let slice = self.schedule.next();
            if !is_blamed && !left.is_zero() && (left <= self.reserve || slice.is_none()) {
                is_blamed = true;
                self.reserve = Duration::ZERO;
                found = self.blame(left)?;
                continue;
            }
            let Some(slice) = slice else {
                break;
            };
            let most = left.saturating_sub(self.reserve).max(SHORTEST);
            let time = slice.time.min(most);
            self.turn(Slice { time, ..slice })?;
        }
        Ok(found)
    }

    fn turn(&mut self, slice: Slice) -> Result<(), Failure> {
        let Slice { phase, time } = slice;
        let search = Search::ALL[phase];
        self.screen.step(Step::Begin(phase));
        let gain = match search {
            Search::Compare => self.work.compare(time)?,
            Search::Cover => self.work.cover(time)?,
            Search::Amplify => self.work.amplify(time)?,
            Search::Interact => self.work.interact(time)?,
        };
        self.schedule.took(slice, gain);
        let tally = &mut self.tallies[phase];
        tally.add(gain);
        let gave = gave(self.work, search, tally.found);
        self.screen.step(Step::End {
            phase,
            gave,
            spent: tally.spent,
            is_done: gain.is_done,
        });
        self.note();
        Ok(())
    }

    /// Finds the hunks that findings come from. The build that this needs is no search, and is not paid for by the searches.
    fn blame(&mut self, time: Duration) -> Result<Blames, Failure> {
        if self.work.found() == 0 {
            return Ok(Blames::new());
        }
        let hunks = self.work.pair.patch.hunks.len();
        if hunks > MOST_HUNKS {
            self.work.pair.context.note(&format!(
                "the patch has {hunks} hunks: which of them findings come from is not looked for; parallax diverge does"
            ));
            return Ok(Blames::new());
        }
        self.screen.step(Step::Doing(
            "building once more, to find out which part of the patch it comes from",
        ));
        let pair = self.work.pair;
        let prepared = self.clock.without(|| diverge::prepare_blame(pair));
        if let Err(failure) = prepared {
            // What was found is reported in any case.
            let note = "the hunks that differences come from are not known";
            pair.context.trouble(&failure, note);
            return Ok(Blames::new());
        }
        let began = Instant::now();
        self.screen
            .step(Step::Doing("which part of the patch does it come from?"));
        let found = blame(self.work, time)?;
        self.schedule.spend(began.elapsed());
        Ok(found)
    }

    /// Keeps and shows how far everything is.
    fn note(&mut self) {
        let (covered, lines) = covered_lines(self.work);
        let findings = self.work.found();
        self.timeline.push(Moment {
            seconds: self.clock.elapsed().as_secs_f64(),
            covered,
            findings,
        });
        self.screen.step(Step::Totals {
            findings,
            covered,
            lines,
        });
    }
}

/// What a search has come to, in words.
fn gave(work: &Work<'_>, search: Search, found: u64) -> String {
    let findings = counted(found, "finding");
    match search {
        Search::Compare => {
            let done = work.comparing.done.iter();
            let paths = done.map(|done| done.summary.pairs).sum();
            format!("{findings} on {}", counted(paths, "path"))
        }
        Search::Cover => {
            let campaign = &work.covering.campaign;
            let suite = campaign.found.covered();
            let new = campaign.covered() - suite;
            match campaign.found.targets.len() - suite {
                0 => "tests run all of them".to_owned(),
                open => format!(
                    "{new} of {} that no test runs",
                    counted(open as u64, "group")
                ),
            }
        }
        Search::Amplify | Search::Interact => findings,
    }
}

/// Changed lines with code that some input runs, and all of them.
fn covered_lines(work: &Work<'_>) -> (u64, u64) {
    let campaign = &work.covering.campaign;
    let mut sums = (0, 0);
    for (target, entry) in campaign.found.targets.iter().zip(&campaign.entries) {
        let lines = target.lines.len() as u64;
        let is_covered = entry
            .as_ref()
            .is_some_and(|entry| entry.status.is_covered());
        sums.0 += if is_covered { lines } else { 0 };
        sums.1 += lines;
    }
    sums
}

/// Finds the hunks that everything comes from that was found.
fn blame(work: &Work<'_>, time: Duration) -> Result<Blames, Failure> {
    let all = work.shown();
    let mut named: Vec<(&str, &Cluster)> = Vec::new();
    for (subject, findings) in &all {
        let clusters = findings.iter().map(|finding| &finding.cluster);
        named.extend(clusters.map(|cluster| (subject.name.as_str(), cluster)));
    }
    let accused: Vec<Accused<'_>> = named
        .iter()
        .filter_map(|(name, cluster)| {
            let ready = work.comparing.ready(name)?;
            Some(Accused { ready, cluster })
        })
        .collect();
    let order = &work.orders.diverge;
    let mut watcher = Watcher::new(&order.setup.context, Vec::new(), Some(time));
    let found = diverge::blames(order, work.pair, &accused, time, &mut watcher)?;
    watcher.finish(&[])?;
    let mut blames = Blames::new();
    for (one, blame) in accused.iter().zip(found) {
        let program = one.ready.subject.name.clone();
        if let Some(blame) = blame {
            blames.insert((program, one.cluster.key.clone()), blame);
        }
    }
    Ok(blames)
}
