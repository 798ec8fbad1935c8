//! The expression language: what a traced program's values are over its input.
//!
//! * [`Store`] is where nodes live: shared memory in a traced program, a mapped
//!   trace in the engine, a [`MemoryStore`] in tests and in the solver.
//! * [`build`] makes nodes in canonical form. Its module documentation is the
//!   list of rewrite rules.
//! * [`eval`] computes operators on concrete values, bit for bit as the machine does.
//! * [`Evaluator`] computes any node for any input.
//! * [`text`] is for people, [`sexpr`] for tests and logs, [`smtlib`] for solvers.
//!
//! The core (`Store`, `build`, `eval`) allocates nothing and never panics on
//! well-formed nodes: it runs inside the traced program at every symbolic
//! operation. Everything else needs the feature `std`.
#![no_std]

#[cfg(feature = "std")]
extern crate std;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("floating point is evaluated with x86-64 instructions: traced programs are x86-64");

pub mod bits;
pub mod build;
pub mod eval;
mod store;

#[cfg(feature = "std")]
mod evaluator;
#[cfg(feature = "std")]
mod memory;
#[cfg(feature = "std")]
mod names;
#[cfg(feature = "std")]
pub mod sexpr;
#[cfg(feature = "std")]
mod share;
#[cfg(feature = "std")]
pub mod smtlib;
#[cfg(feature = "std")]
pub mod text;

pub use parallax_abi::Op;
pub use parallax_abi::op::Rounding;
pub use parallax_abi::trace::Node;
pub use store::{Label, Store, TableView, value};

#[cfg(feature = "std")]
pub use evaluator::{Evaluator, Inputs, Recorded, of_operands};
#[cfg(feature = "std")]
pub use memory::MemoryStore;
