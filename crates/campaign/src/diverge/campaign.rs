//! Comparing the programs of a project, one after the other, for as long as there is time; and again, from where that ended.

use std::time::{Duration, Instant};

use parallax_report::results::diverge::project as report;
use parallax_report::words::counted;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::engine::{Ended, Summary};
use parallax_store::{Store, hash};

use super::Blame;
use super::blame::{Accused, blame};
use super::checkpoint::Checkpoint;
use super::compare::{Beside, Event, Further, Ready, compare, compare_natively};
use super::{Options, keeper, progress_line};
use crate::budget::Budget;
use crate::context::Context;
use crate::failure::Failure;
use crate::versions::{Pair, Seed, Subject, Touching};
use crate::watch::Watcher;

/// A program that is to be compared.
pub struct Part {
    pub subject: Subject,
    pub touching: Touching,
}

/// What became of it, whenever it was compared.
pub struct Done {
    pub ready: Ready,
    pub summary: Summary,
    pub touching: Touching,
}

/// Comparisons of a patch.
pub struct Campaign<'c, 's> {
    options: &'c Options,
    pair: &'c Pair,
    store: &'s Store,
    pub checkpoint: Checkpoint<'s>,
    /// Programs that are ready to be compared.
    ready: Vec<Ready>,
    /// Programs that were compared.
    pub done: Vec<Done>,
    /// How often all programs were compared.
    rounds: u32,
    /// Scenarios that could not be run.
    pub left_out: u64,
}

impl<'c, 's> Campaign<'c, 's> {
    pub fn new(
        options: &'c Options,
        pair: &'c Pair,
        store: &'s Store,
        checkpoint: Checkpoint<'s>,
    ) -> Campaign<'c, 's> {
        Campaign {
            options,
            pair,
            store,
            checkpoint,
            ready: Vec::new(),
            done: Vec::new(),
            rounds: 0,
            left_out: 0,
        }
    }

    fn context(&self) -> &Context {
        &self.options.setup.context
    }

    /// Makes what a program's comparison needs, unless it is there. A program that it cannot be made of is left out, and that is said.
    pub fn prepare(&mut self, subject: &Subject) {
        if self.ready(&subject.name).is_some() {
            return;
        }
        match Ready::new(self.options, subject) {
            Ok(ready) => self.ready.push(ready),
            // Ctrl-C is no failure of the program.
            Err(_) if self.context().is_cancelled() => {}
            Err(failure) => {
                let note = format!("{} is left out", subject.name);
                self.context().trouble(&failure, &note);
            }
        }
    }

    /// A program that is ready to be compared.
    pub fn ready(&self, name: &str) -> Option<&Ready> {
        let done = self.done.iter().map(|done| &done.ready);
        let mut all = self.ready.iter().chain(done);
        all.find(|ready| ready.subject.name == name)
    }

    /// Compares until the budget is used up; how that ended.
    pub fn compare(
        &mut self,
        parts: Vec<Part>,
        budget: Budget,
        beside: &mut dyn Beside,
        watcher: &mut Watcher,
    ) -> Result<Ended, Failure> {
        let mut spent = Duration::ZERO;
        let goes_on = self.rounds > 0 || self.checkpoint.has_ended();
        let mut settled = 0;
        let mut ended = Ended::Exhausted;
        let count = parts.len();
        for (number, part) in parts.into_iter().enumerate() {
            if self.context().is_cancelled() {
                ended = Ended::Stopped;
                break;
            }
            // What is left is shared evenly by who is left.
            let left = (count - number) as u32;
            let time = budget.time;
            let budget = Budget {
                time: time.map(|time| time.saturating_sub(spent) / left),
                ..budget
            };
            let (open, before) = self.open(&part, goes_on)?;
            settled += before;
            // What differs without any change of the input is known before anything is derived.
            if self.ready(&part.subject.name).is_none() {
                self.compare_natively(&part.subject, &open, None, watcher)?;
            }
            // To make variants is to build, and does not count.
            self.prepare(&part.subject);
            let name = part.subject.name.clone();
            let Some(before) = self.take(&name) else {
                continue;
            };
            let began = Instant::now();
            let (ready, earlier) = before;
            let known = earlier.as_ref().map_or(&[][..], |one| &one.clusters);
            let compared = self.compare_one(&ready, open, known, budget, beside, watcher);
            let (summary, failure) = match compared {
                Ok(summary) => (summary, None),
                Err(failure) => (None, Some(failure)),
            };
            if let Some(summary) = &summary {
                ended = worse(ended, summary.ended);
            }
            let all: Vec<Summary> = earlier.into_iter().chain(summary).collect();
            match Summary::join(all) {
                Some(summary) => self.done.push(Done {
                    ready,
                    summary,
                    touching: part.touching,
                }),
                None => self.ready.push(ready),
            }
            if let Some(failure) = failure {
                return Err(failure);
            }
            spent += began.elapsed();
        }
        // `check` goes on by itself, and has no such option.
        if settled > 0 && !goes_on && !self.context().in_check {
            let scenarios = counted(settled, "scenario");
            self.context().note(&format!(
                "{scenarios} compared on before; --again does once more"
            ));
        }
        self.rounds += 1;
        Ok(ended)
    }

    /// A program that is ready, with what came of it before.
    fn take(&mut self, name: &str) -> Option<(Ready, Option<Summary>)> {
        let is_it = |ready: &Ready| ready.subject.name == name;
        if let Some(at) = self.done.iter().position(|done| is_it(&done.ready)) {
            let done = self.done.remove(at);
            return Some((done.ready, Some(done.summary)));
        }
        let at = self.ready.iter().position(is_it)?;
        Some((self.ready.remove(at), None))
    }

    /// The scenarios of a program that are to be compared on: inputs that are known to show something, and those that were not
    /// compared on before. When an earlier run used up a smaller budget, exploring goes on from the others, too. Also how many were
    /// done before.
    fn open(&self, part: &Part, goes_on: bool) -> Result<(Vec<Seed>, u64), Failure> {
        let mut seeds = Vec::new();
        for id in self.checkpoint.found() {
            let Ok(kept) = self.store.get(id) else {
                continue;
            };
            if *kept.recorded.program == *part.subject.name.as_bytes() {
                seeds.push(Seed {
                    id: id.clone(),
                    scenario: kept.recorded.scenario,
                    is_given: false,
                });
            }
        }
        let is_known = |seed: &Seed| seeds.iter().any(|known| known.id == seed.id);
        let rest = part.touching.seeds.iter();
        let rest: Vec<&Seed> = rest.filter(|seed| !is_known(seed)).collect();
        let (settled, open): (Vec<&Seed>, Vec<&Seed>) = rest
            .into_iter()
            .partition(|seed| self.checkpoint.is_settled(&seed.id));
        seeds.extend(open.into_iter().cloned());
        let before = settled.len() as u64;
        if goes_on || seeds.is_empty() {
            seeds.extend(settled.into_iter().cloned());
        }
        Ok((seeds, before))
    }

    fn compare_one(
        &mut self,
        ready: &Ready,
        seeds: Vec<Seed>,
        known: &[Cluster],
        budget: Budget,
        beside: &mut dyn Beside,
        watcher: &mut Watcher,
    ) -> Result<Option<Summary>, Failure> {
        let name = ready.subject.name.clone();
        let mut known: Vec<String> = known.iter().map(|one| one.key.clone()).collect();
        let (store, pair) = (self.store, self.pair);
        let checkpoint = &mut self.checkpoint;
        let left_out = &mut self.left_out;
        let options = self.options;
        let mut tell = |event| {
            match event {
                Event::Progress(progress) => {
                    let pace = watcher.pace(progress.runs);
                    watcher.tell(&format!("{name}  {}", progress_line(&pace, &progress)));
                }
                Event::Found(cluster) => {
                    let scenario = keeper::keep(store, &name, &cluster, None)?;
                    checkpoint.note_found(&scenario)?;
                    if !known.contains(&cluster.key) {
                        let line = report::headline(pair.tops(), &cluster);
                        watcher.found_line(&format!("{name}: {line}"));
                        known.push(cluster.key.clone());
                    }
                }
                Event::Settled(scenario) => checkpoint.note_settled(&scenario)?,
                Event::LeftOut(scenario, why) => {
                    *left_out += 1;
                    let short = &scenario[..8.min(scenario.len())];
                    pair.context
                        .note(&format!("scenario {short} is left out: {why}"));
                }
            }
            Ok(())
        };
        let mut search = |seeds: &[Seed], further: Further<'_>| {
            compare(options, pair, ready, seeds, budget, further, &mut tell)
        };
        let summary = beside.search(ready, seeds, budget, &mut search)?;
        // The smallest inputs are what is gone on with.
        for cluster in summary.iter().flat_map(|summary| &summary.clusters) {
            let scenario = keeper::keep(store, &name, cluster, None)?;
            self.checkpoint.note_found(&scenario)?;
        }
        Ok(summary)
    }

    /// Runs scenarios natively on both versions and keeps what differs: comparisons of the program begin with it.
    pub fn compare_natively(
        &mut self,
        subject: &Subject,
        seeds: &[Seed],
        time: Option<Duration>,
        watcher: &Watcher,
    ) -> Result<(), Failure> {
        let (store, pair, name) = (self.store, self.pair, &subject.name);
        let checkpoint = &mut self.checkpoint;
        let mut tell = |event: Event| {
            if let Event::Found(cluster) = event {
                let scenario = keeper::keep(store, name, &cluster, None)?;
                checkpoint.note_found(&scenario)?;
                let line = report::headline(pair.tops(), &cluster);
                watcher.found_line(&format!("{name}: {line}"));
            }
            Ok(())
        };
        compare_natively(self.options, pair, subject, seeds, time, &mut tell)
    }

    /// Whether inputs of a program are known to show something.
    pub fn has_found(&self, program: &str) -> bool {
        let mut found = self.checkpoint.found();
        found.any(|id| {
            let kept = self.store.get(id);
            kept.is_ok_and(|kept| *kept.recorded.program == *program.as_bytes())
        })
    }

    /// Of each difference of each program: the hunks that it comes from.
    pub fn blames(
        &self,
        time: Duration,
        watcher: &mut Watcher,
    ) -> Result<Vec<Option<Blame>>, Failure> {
        let accused: Vec<Accused<'_>> = self
            .done
            .iter()
            .flat_map(|done| {
                let clusters = done.summary.clusters.iter();
                clusters.map(|cluster| Accused {
                    ready: &done.ready,
                    cluster,
                })
            })
            .collect();
        blames(self.options, self.pair, &accused, time, watcher)
    }
}

/// Of each of these differences: the hunks that it comes from. What was found is reported in any case, so that these cannot be found
/// is no failure.
pub fn blames(
    options: &Options,
    pair: &Pair,
    accused: &[Accused<'_>],
    time: Duration,
    watcher: &mut Watcher,
) -> Result<Vec<Option<Blame>>, Failure> {
    let nobody = vec![None; accused.len()];
    if !options.blame || pair.context.is_cancelled() {
        return Ok(nobody);
    }
    match blame(options, pair, accused, time, watcher) {
        Ok(blames) => Ok(blames),
        Err(failure) => {
            let note = "the hunks that differences come from are not known";
            pair.context.trouble(&failure, note);
            Ok(nobody)
        }
    }
}

/// How two comparisons ended together: exhausted only if both were.
pub fn worse(one: Ended, other: Ended) -> Ended {
    let order = [Ended::Stopped, Ended::Time, Ended::Runs];
    let mut first = order.into_iter();
    first
        .find(|end| [one, other].contains(end))
        .unwrap_or(Ended::Exhausted)
}

/// Everything that decides what comes out but for the budget and the scenarios.
pub fn identity<'s>(
    options: &Options,
    pair: &Pair,
    subjects: impl Iterator<Item = &'s Subject>,
) -> Result<String, Failure> {
    let golden = pair.golden.as_ref().map(|build| &build.revision.id);
    let mut text = format!(
        "{} {} {golden:?} {:?} {:?}",
        pair.builds.old.revision.id,
        pair.builds.new.revision.id,
        options.setup.limits(),
        options.setup.running,
    );
    for subject in subjects {
        for path in [&subject.paths.old, &subject.paths.new] {
            let program = hash(&std::fs::read(path).map_err(Failure::cannot("read", path))?);
            text.push_str(&format!("\n{} {program}", subject.name));
        }
    }
    Ok(text)
}
