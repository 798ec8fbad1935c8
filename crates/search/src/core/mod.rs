//! What every search is made of.
//!
//! | part | what it does |
//! |---|---|
//! | [`budget`] | how a search is limited: runs, a deadline, a request to stop; one value handed down to everything that takes time |
//! | [`corpus`] | the inputs that were run, by content, with what is known about each |
//! | [`guide`], [`counts`] | how far branches of a run are from code that is wanted; which counters say that code ran |
//! | [`executor`] | the native builds of one version, lent to as many threads as run them |
//! | [`pipeline`] | work on many threads whose result does not depend on how many there are |
//! | [`schedule`] | which source has the next turn: by what it yielded for what it cost |
//! | [`hangs`] | which inputs will probably not come to an end |
//! | [`minimise`] | makes inputs small that show something |
//! | [`random`] | numbers that are the same for the same seed |
//!
//! Sources (`crate::sources`) propose inputs; goals (`diverge`, and the other searches as they move here) say what a run is
//! worth.

pub mod alternative;
pub mod budget;
mod compared;
pub mod corpus;
pub mod counts;
pub mod executor;
pub mod frontier;
pub mod goal;
pub mod guide;
pub mod hangs;
pub mod limits;
pub mod minimise;
pub mod pipeline;
pub mod random;
pub mod schedule;
pub mod traces;
pub mod turn;
