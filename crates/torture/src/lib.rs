//! Generated programs against the tracer.
//!
//! [`generator`] makes C programs without undefined behaviour; [`csmith`] takes
//! them from csmith; [`trial`] compiles one, runs it plain and traced and
//! compares; [`campaign`] does that for many, keeps what failed and says how to repeat it.
//! [`flips`] explores them and counts the inputs that take the branch they were made for.
//! [`models`] compares the models of libc functions with the real ones.
//! [`targets`] are programs with lines that are hard to reach.

pub mod campaign;
pub mod compile;
pub mod csmith;
pub mod flips;
pub mod generator;
pub mod inputs;
pub mod models;
pub mod process;
pub mod report;
pub mod rng;
pub mod targets;
pub mod trial;
