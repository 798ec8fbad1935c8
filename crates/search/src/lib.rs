//! Searches for inputs that show something.
//!
//! The searches, each after something else: [`explore`] new paths, [`cover`] given lines, [`diverge`] what two versions do
//! differently, [`interact`] orders of changes, [`amplify`] what tests could have found. They run scenarios through
//! [`worker`]s, and what they report was seen natively.

pub mod amplify;
pub mod answers;
pub mod archive;
pub mod core;
pub mod cover;
pub mod diverge;
mod edit;
pub mod explore;
pub mod interact;
pub mod journal;
mod parallel;
mod question;
mod runners;
pub mod sources;
pub mod worker;
