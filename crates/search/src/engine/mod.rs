//! One search for every goal.
//!
//! Every input, the given ones first of all, is run natively on all versions and judged at once; that needs nothing but the programs
//! as they were built. When the variants are there, what ran something new is traced, and its alternatives are offered to the
//! goals ([`crate::core::goal`]). Kinds of work take turns by what they yielded for what they cost: sources that need no trace
//! ([`crate::sources`]), looking closer at inputs that differ, tracing, the alternatives that each goal chooses, and, where there are two
//! versions, the comparison of their traces ([`crate::diverge`]).
//!
//! [`director`] plans tasks; [`results`] and [`paths`] take in what comes back, all on one thread, on the same [`state`]; [`task`] is what slots do, on any number of them
//! ([`crate::core::pipeline`]). [`native`] runs inputs, [`checkpoint`] keeps what a later process needs to go on, and [`finish`] makes
//! findings small.

mod checkpoint;
mod director;
mod examine;
mod finish;
mod interface;
mod look;
pub(crate) mod native;
mod paths;
mod results;
mod state;
mod summary;
mod task;

use crate::core::budget::Budget;
use crate::core::goal::Goal;
use crate::core::pipeline::drive;
use crate::journal::Journal;
use checkpoint::Chapters;
use native::Shared;
use state::Searching;
use task::Slot;

pub use interface::{
    Cost, Ended, Excess, Flips, Miss, Natives, Observer, Options, Patch, Phase, Preparation,
    Prepared, Progress, SearchError,
};
pub(crate) use paths::loss_names;
pub use summary::{Summary, Yield};

/// Work done at a time, whatever the number of threads.
pub(crate) const SLOTS: usize = 8;
/// Kinds of work on the traces of both versions.
pub(crate) const COMPARED: [Phase; 3] = [Phase::Given, Phase::Concolic, Phase::Bounded];

/// Searches until the budget is used up, nothing is left to try, or all goals are reached.
pub fn search(
    natives: &Natives,
    options: &Options,
    preparation: &Preparation<'_>,
    goals: &mut [&mut dyn Goal],
    journal: &mut dyn Journal,
    observer: &mut dyn Observer,
) -> Result<Summary, SearchError> {
    let explore = &options.explore;
    let chapters = Chapters::open(journal)?;
    let time = explore.time;
    let budget = Budget::new(explore.runs, time.map(|time| chapters.left(time)));
    let shared = Shared::new(natives, explore, budget);
    let mut director = Searching::new(options, &shared, preparation, goals, chapters, observer);
    let slots = (0..SLOTS).map(|_| Slot::default()).collect();
    let slots = drive(explore.jobs, slots, &mut director, task::work);
    director.finish(slots)
}
