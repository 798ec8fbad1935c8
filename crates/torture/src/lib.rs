//! Generated programs against the tracer.
//!
//! [`generator`] makes C programs without undefined behaviour; [`csmith`] takes
//! them from csmith; [`trial`] compiles one, runs it plain and traced and
//! compares; [`campaign`] does that for many, keeps what failed and says how to repeat it.

pub mod generator;
pub mod inputs;
pub mod rng;
