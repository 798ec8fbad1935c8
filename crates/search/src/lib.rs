//! Searches for inputs that show something.
//!
//! The searches, each after something else: [`explore`] new paths, [`cover`] given lines, [`diverge`] what two versions do
//! differently, [`goals::orders`] orders of changes, [`amplify`] what tests could have found. They run scenarios through
//! [`worker`]s, and what they report was seen natively.

pub mod amplify;
pub mod answers;
pub mod archive;
pub mod core;
pub mod cover;
pub mod diverge;
mod edit;
pub mod engine;
pub mod explore;
pub mod goals;
pub mod journal;
mod parallel;
mod runners;
pub mod sources;
pub mod worker;
