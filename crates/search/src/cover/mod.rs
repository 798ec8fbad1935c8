//! Inputs that reach a given line.
//!
//! Every decision of a run could have gone otherwise; the static analysis says how many decisions then lie between there
//! and the target. The nearest way is tried first, from any run so far ([`queue`]): this is KATCH's greedy step, with the
//! whole tree of paths kept. A way that contradicts what was decided before it is tried again without the
//! last decision that it contradicts, and so on (informed path regeneration). Where a condition does not depend on input bytes, what
//! defines its variables becomes an aim of its own ([`aims`], [`remedies`]: definition switching). Where branches do not
//! help, the input gets another structure. What helps many targets at once is tried before all searches ([`survey`]); tests of
//! servers are taken apart ([`connections`]). The target
//! counts as reached when a run of the covered program says so.

mod aims;
mod compared;
mod connections;
mod counts;
mod interface;
pub mod map;
mod plan;
mod queue;
mod ran;
mod remedies;
mod search;
mod shape;
mod structure;
mod survey;
mod ways;

use std::time::Instant;

use parallax_analysis::Analysis;
use parallax_analysis::effects::Effects;
use parallax_analysis::words;

use crate::explore::slot::{Child, Slot};
use crate::explore::{Bounds, ExploreError, Programs, Shape};
use parallax_exec::sites::{ModuleSites, SiteMap};

pub use crate::sources::vocabulary::Vocabulary;
use aims::Aim;
pub use counts::{Counts, Seen};
pub use interface::{
    Heuristic, Means, Observer, Obstacle, Options, Progress, Reached, Step, Summary, Verdict,
};
use map::Target;
use ran::Counters;
use remedies::{Adviser, Facts};
use search::{Around, Search};
pub use survey::{Discovery, Extent, Surveyed};

/// The environment variables whose values are input: those that are known, and all that the program asks for.
pub fn variables(analysis: &Analysis, known: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    /// Of those that are not known.
    const MOST: usize = 24;
    // What chooses the language of the run is the C library's input, not the program's.
    let is_locale = |name: &Vec<u8>| name.starts_with(b"LC_") || name.starts_with(b"LANG");
    let mut asked = words::variables(&analysis.program);
    asked.retain(|name| !is_locale(name) && !known.contains(name));
    asked.truncate(MOST);
    known.into_iter().chain(asked).collect()
}

/// Slots: work done at a time, whatever the number of threads.
const SLOTS: usize = 4;
/// Searches for one target after the other.
pub struct Coverer<'c> {
    analysis: &'c Analysis,
    effects: Effects<'c>,
    options: &'c Options,
    sites: &'c SiteMap,
    counters: Counters,
    facts: Facts,
    /// Inputs that may be made.
    shape: Shape,
    slots: Vec<Slot<'c>>,
    /// What the given scenarios ran.
    seeds: Vec<Child>,
    /// What those of earlier searches ran, the latest last.
    earlier: Vec<Child>,
}

impl<'c> Coverer<'c> {
    /// Runs the given scenarios. The tables are those of the covered program.
    pub fn new(
        programs: &Programs,
        analysis: &'c Analysis,
        options: &'c Options,
        sites: &'c SiteMap,
        tables: &'c [ModuleSites],
    ) -> Result<Coverer<'c>, ExploreError> {
        let mut slots = vec![Slot::new(programs, &options.explore, sites)?];
        while slots.len() < SLOTS {
            slots.push(slots[0].beside());
        }
        let mut seeds = Vec::new();
        for seed in &options.seeds {
            seeds.push(slots[0].start(seed.clone())?);
        }
        if let Some(first) = seeds.first()
            && !first.traced.trace.attached()
        {
            return Err(ExploreError::Untraced);
        }
        Ok(Coverer {
            analysis,
            effects: analysis.effects(),
            options,
            sites,
            counters: Counters::new(tables, analysis),
            facts: Facts::of(analysis),
            shape: match &options.explore.shape {
                Shape::Described(described) => Shape::Described(described.clone()),
                _ => Shape::Bounded(Bounds::around(&options.seeds)),
            },
            slots,
            seeds,
            earlier: Vec::new(),
        })
    }

    /// Searches for an input that reaches the target.
    pub fn cover(
        &mut self,
        target: &Target,
        observer: &mut dyn Observer,
    ) -> Result<Summary, ExploreError> {
        let started = Instant::now();
        let executions = |slots: &[Slot<'_>]| slots.iter().map(Slot::runs).sum::<u64>();
        let (before, asked) = (executions(&self.slots), self.queries());
        let guide = self.guide(target);
        let adviser = Adviser::new(self.analysis, &self.effects, self.facts.clone());
        let around = Around {
            options: self.options,
            analysis: self.analysis,
            sites: self.sites,
            counters: &self.counters,
            adviser: &adviser,
            shape: &self.shape,
        };
        let own = self.options.explore.time.map(|time| started + time);
        let until = [own, observer.end()].into_iter().flatten().min();
        let mut search = Search::new(around, Aim::new(guide, target.blocks.clone(), 0), until);
        for slot in &mut self.slots {
            slot.end_by(until);
        }
        let ended = search.run(&mut self.slots, &self.seeds, observer);
        for slot in &mut self.slots {
            slot.end_by(None);
        }
        let (verdict, stopped) = ended?;
        search.close(&mut self.slots[0], &verdict)?;
        let (runs, paths) = (search.traced_runs, search.paths.len() as u64);
        let (losses, findings) = (search.losses, search.findings);
        Ok(Summary {
            verdict,
            findings,
            runs,
            paths,
            executions: executions(&self.slots) - before,
            time: started.elapsed(),
            queries: self.queries() - asked,
            losses,
            stopped,
        })
    }

    fn queries(&self) -> u64 {
        let slots = self.slots.iter();
        slots.map(|slot| slot.statistics().queries).sum()
    }
}
