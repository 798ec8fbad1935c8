//! What single commands came to, ready to be read by people and by programs: one module for each command, each a function from
//! a result to text or JSON. (What testing a whole patch came to is in [`crate::model`].)
//!
//! Results are taken as the searches return them, by reference: copying each into a shape of its own first would say
//! everything twice. What only a project knows (versions, hunks, what was recorded) is plain data here.

pub mod amplify;
pub mod build;
pub mod cover;
pub mod coverage;
pub mod diverge;
pub mod document;
pub mod explore;
pub mod finding;
pub mod graph;
pub mod interact;
pub mod ledger;
mod outcome;
pub mod record;
pub mod replay;
pub mod search;
pub mod source;
pub mod targets;
pub mod trace;

pub use outcome::Ended;

/// Version of the form of JSON reports.
pub const SCHEMA: u32 = 1;
