//! What every search is made of.
//!
//! | part | what it does |
//! |---|---|
//! | [`budget`] | how a search is limited: runs, a deadline, a request to stop; one value handed down to everything that takes time |
//! | [`corpus`] | the inputs that were run, by content, with what is known about each |
//! | [`executor`] | the native builds of one version, lent to as many threads as run them |
//! | [`pipeline`] | work on many threads whose result does not depend on how many there are |
//! | [`schedule`] | which source has the next turn: by what it yielded for what it cost |
//! | [`hangs`] | which inputs will probably not come to an end |
//! | [`random`] | numbers that are the same for the same seed |
//!
//! Sources (`crate::sources`) propose inputs; goals (`diverge`, and the other searches as they move here) say what a run is
//! worth.

pub mod budget;
pub mod corpus;
pub mod executor;
pub mod hangs;
pub mod pipeline;
pub mod random;
pub mod schedule;
