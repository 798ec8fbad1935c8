//! What one run of a traced program leaves behind, and what follows from it. Runs nothing and solves nothing.
//!
//! A [`region::Region`] is the shared memory that a program writes to; [`Trace`] is the validated view of what is in it,
//! [`selfcheck::check`] evaluates every expression of it on the real input. [`path`] reads the decisions of the run,
//! [`sensitive`] the operations that could fail.

pub mod objects;
pub mod path;
pub mod region;
pub mod selfcheck;
pub mod sensitive;
mod trace;

pub use trace::*;

#[cfg(test)]
mod sample;
