//! Runs programs, reads what they left in shared memory, and searches for inputs that show something.
//!
//! The way of one run: a [`region::Region`] is created, [`run::run`] starts the program with it and ends
//! everything that the program started, [`trace::Trace`] is the validated view of the result,
//! [`sites::SiteMap`] says what its site ids stand for, and [`selfcheck::check`] evaluates every
//! expression on the real input.
//!
//! Covered programs count in a [`coverage::CoverageRegion`] instead; [`coverage::Coverage`] is what they counted.
//!
//! The searches, each after something else: [`explore`] new paths, [`cover`] given lines, [`diverge`] what two versions do
//! differently, [`interact`] orders of changes, [`amplify`] what tests could have found. They run scenarios in sandboxes
//! ([`execute`]) through [`worker`]s, and what they report was seen natively ([`replay`], [`compare`], [`minimise`]).

pub mod amplify;
pub mod answers;
pub mod archive;
pub mod compare;
pub mod cover;
pub mod coverage;
mod cpu;
pub mod diverge;
pub mod doctor;
mod edit;
pub mod execute;
pub mod explore;
pub mod finding;
pub mod interact;
pub mod journal;
pub mod libraries;
pub mod minimise;
pub mod objects;
mod parallel;
pub mod path;
mod play;
mod question;
pub mod region;
pub mod replay;
pub mod run;
mod runners;
pub mod sandbox;
pub mod sanitizer;
pub mod selfcheck;
pub mod sensitive;
pub mod shared;
pub mod sites;
pub mod temporary;
pub mod trace;
mod wire;
pub mod worker;

pub use parallax_scenario as scenario;

#[cfg(test)]
mod sample;
