//! One search for every goal, program by program, until the time is over; then the hunks that findings come from.
//!
//! Programs share the time evenly. When all have had theirs and some of it is left, because there was nothing left to try in some of them,
//! they share that, and so on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_report::model::{Moment, Phase, Technique};
use parallax_report::words::counted;
use parallax_search::diverge::clusters::Cluster;

use super::clock::Clock;
use super::work::Work;
use crate::context::{Progress, Step, Task};
use crate::cover;
use crate::diverge::{self, Accused, Blame};
use crate::failure::Failure;
use crate::watch::Watcher;

/// What is looked for, in the order in which it is shown: in words, and the command that looks for nothing else.
const GOALS: [(Technique, &str, &str); 4] = [
    (Technique::Diverge, "compare the versions", "diverge"),
    (Technique::Cover, "reach lines no test runs", "cover"),
    (Technique::Amplify, "make changed code fail", "amplify"),
    (Technique::Interact, "run changes together", "interact"),
];

/// Share of the time that is kept for finding the hunks that findings come from; of a short time more, because building takes as long as
/// it takes.
const BLAMING: f64 = 0.1;
const MOST_BLAMING: f64 = 0.3;
const ENOUGH_BLAMING: Duration = Duration::from_secs(10);
/// Of patches with more hunks it is not looked for: there would be no time to leave out enough of them.
const MOST_HUNKS: usize = 150;
/// Another round takes one part in so many of the time, or it is not begun.
const ROUND: u32 = 10;

/// By program and what was found.
pub type Blames = BTreeMap<(String, String), Blame>;

/// What the search came to.
pub struct Came {
    pub blames: Blames,
    pub phases: Vec<Phase>,
    pub timeline: Vec<Moment>,
    pub runs: u64,
    pub searched: Duration,
}

/// Searches until the time is over, nothing is left to try, or somebody asks for an end.
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
        phases: &GOALS.map(|(_, name, _)| name),
    });
    let mut rounds = Rounds {
        screen: &*screen,
        clock,
        reserve: match blames && (2..=MOST_HUNKS).contains(&work.pair.patch.hunks.len()) {
            true => ENOUGH_BLAMING
                .max(budget.mul_f64(BLAMING))
                .min(budget.mul_f64(MOST_BLAMING)),
            false => Duration::ZERO,
        },
        work,
        spent: Duration::ZERO,
        is_done: false,
        timeline: Vec::new(),
    };
    let blames = rounds.run(budget, blames)?;
    let phases = GOALS.map(|(technique, _, command)| {
        let spent = rounds.spent(technique);
        Phase {
            name: command.to_owned(),
            seconds: spent.as_secs_f64(),
            gave: gave(rounds.work, technique),
            left: (!rounds.is_done).then(|| match spent.is_zero() {
                true => "there was no time".to_owned(),
                false => "the time was over".to_owned(),
            }),
        }
    });
    Ok(Came {
        blames,
        phases: phases.into(),
        runs: context.runs.total(),
        searched: rounds.clock.elapsed(),
        timeline: rounds.timeline,
    })
}

struct Rounds<'t, 'w> {
    work: &'t mut Work<'w>,
    screen: &'t dyn Progress,
    clock: Arc<Clock>,
    /// Time that is kept for finding hunks.
    reserve: Duration,
    /// On searching.
    spent: Duration,
    /// Whether nothing is left to try.
    is_done: bool,
    timeline: Vec<Moment>,
}

impl Rounds<'_, '_> {
    fn run(&mut self, budget: Duration, blames: bool) -> Result<Blames, Failure> {
        self.note();
        self.work.recall(budget)?;
        self.note();
        for goal in 0..GOALS.len() {
            self.screen.step(Step::Begin(goal));
        }
        let mut found = Blames::new();
        let mut is_blamed = !blames;
        while !self.work.pair.context.is_cancelled() {
            let left = budget.saturating_sub(self.clock.elapsed());
            let time = left.saturating_sub(self.reserve);
            if !self.is_done && !time.is_zero() && (time >= budget / ROUND || self.spent.is_zero())
            {
                self.round(time)?;
                continue;
            }
            if is_blamed || left.is_zero() {
                break;
            }
            is_blamed = true;
            self.reserve = Duration::ZERO;
            found = self.blame(left)?;
        }
        self.show();
        Ok(found)
    }

    /// Searches all programs once.
    fn round(&mut self, time: Duration) -> Result<(), Failure> {
        let began = Instant::now();
        let before = self.work.found();
        let timeline = RefCell::new(&mut self.timeline);
        let (clock, screen) = (&self.clock, self.screen);
        // Findings of the search under way are told when they are seen; here they count when it is over.
        let mut tell = |campaign: &cover::Campaign<'_>| {
            let mut timeline = timeline.borrow_mut();
            let (covered, lines) = covered_lines(campaign);
            let findings = before;
            if timeline.last().is_some_and(|last| last.covered == covered) {
                return;
            }
            let seconds = clock.elapsed().as_secs_f64();
            timeline.push(Moment {
                seconds,
                covered,
                findings,
            });
            screen.step(Step::Totals {
                findings,
                covered,
                lines,
            });
        };
        self.is_done = self.work.search(time, &mut tell)?;
        self.spent += began.elapsed();
        self.show();
        self.note();
        Ok(())
    }

    /// Time that went to one kind of goal: of all of it, the part that its work took.
    fn spent(&self, technique: Technique) -> Duration {
        let done = self.work.comparing.done.iter();
        let yields = done.flat_map(|done| &done.summary.yields);
        let (mut own, mut all) = (0.0, 0.0);
        for one in yields {
            let of = match one.name {
                "lines" => Technique::Cover,
                "failures near tests" => Technique::Amplify,
                "orders of changes" => Technique::Interact,
                _ => Technique::Diverge,
            };
            all += one.cost;
            own += if of == technique { one.cost } else { 0.0 };
        }
        match all > 0.0 {
            true => self.spent.mul_f64(own / all),
            false => Duration::ZERO,
        }
    }

    fn show(&self) {
        for (phase, (technique, _, _)) in GOALS.into_iter().enumerate() {
            self.screen.step(Step::End {
                phase,
                gave: gave(self.work, technique),
                spent: self.spent(technique),
                is_done: self.is_done,
            });
        }
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
        self.screen
            .step(Step::Doing("which part of the patch does it come from?"));
        blame(self.work, time)
    }

    /// Keeps and shows how far everything is.
    fn note(&mut self) {
        let (covered, lines) = covered_lines(&self.work.covering.campaign);
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

/// What was come to for one kind of goal, in words.
fn gave(work: &Work<'_>, technique: Technique) -> String {
    let all = work.shown().into_iter().flat_map(|(_, findings)| findings);
    let own = all.filter(|finding| finding.technique == technique).count();
    let findings = counted(own as u64, "finding");
    match technique {
        Technique::Diverge => {
            let done = work.comparing.done.iter();
            let paths = done.map(|done| done.summary.pairs).sum();
            format!("{findings} on {}", counted(paths, "path"))
        }
        Technique::Cover => {
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
        Technique::Amplify | Technique::Interact => findings,
    }
}

/// Changed lines with code that some input runs, and all of them.
fn covered_lines(campaign: &cover::Campaign<'_>) -> (u64, u64) {
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
