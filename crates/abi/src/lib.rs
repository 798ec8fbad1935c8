//! What the instrumented program, the runtime inside it and the engine outside
//! it agree on: memory layout, trace layout, operators, sites and the one table
//! of runtime entry points.
//!
//! Everything here is plain data without dependencies, so that the compiler
//! plug-in, the freestanding runtime and the engine can all use the same
//! definition. Nothing is ever redeclared by string elsewhere.
#![no_std]

pub mod cover;
pub mod entry;
pub mod layout;
pub mod model;
pub mod op;
pub mod serve;
pub mod site;
pub mod tls;
pub mod trace;

pub use op::Op;
pub use site::{SiteId, SiteKind};

/// Raised with every incompatible change of anything in this crate. Part of the
/// cache key of derived programs and checked by the runtime when it attaches.
pub const VERSION: u32 = 7;
