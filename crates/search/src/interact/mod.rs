//! Which orders of executed changes break something (Böhme, Oliveira, Roychoudhury: "Regression Tests to Expose Change Interaction
//! Errors", FSE 2013, Algorithm 2).
//!
//! The change sequence graph of the patch comes from the static analysis; [`marks`] finds its nodes in the covered program, and [`follow`] sees
//! in which order a run came to them, between which of its decisions. Each way in which a run could have gone otherwise is a path with
//! targets of its own, which move along the graph ([`course`]); the [`queue`] says which is tried next. Every input that executes a change is
//! run on both versions ([`judge`]), and what inputs with and without a change showed says whether changes interact ([`sequences`]).
//!
//! Unlike the paper's, the search runs whole inputs instead of stepping through states: a path that comes to a target always goes on to an end,
//! so every input that is made is a test.

mod course;
mod finish;
mod follow;
mod interface;
mod judge;
mod marks;
mod queue;
mod search;
pub mod sequences;
mod ways;

pub use interface::{
    Code, Finding, InteractError, Kind, Observer, Options, Progress, Subjects, Summary,
};
pub use search::Interactor;
