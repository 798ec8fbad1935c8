//! Runs programs and says what they did: sandbox, runs, run servers, observation, comparison. Knows no solver.
//!
//! [`run`] runs a program once, as it is; [`execute`] runs scenarios in a [`sandbox`], one after the other. What a run did is
//! an [`run::Outcome`]; [`finding`] and [`sanitizer`] say what is wrong with it, [`compare`] what differs between two,
//! [`coverage`] and [`sites`] which code it executed. [`replay`] puts these together for the builds of one version, and
//! [`minimise`] makes an input smaller that shows something.

pub mod compare;
pub mod coverage;
pub mod cpu;
pub mod doctor;
pub mod execute;
pub mod finding;
pub mod libraries;
pub mod minimise;
mod play;
pub mod replay;
pub mod run;
pub mod sandbox;
pub mod sanitizer;
pub mod shared;
pub mod sites;
pub mod temporary;
mod wire;
