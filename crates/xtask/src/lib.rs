//! What the developer commands are made of; see `main.rs` for the commands.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "developers' commands; their console is their only reader"
)]

pub mod bench;
pub mod commands;
pub mod coreutils;
mod cpu;
pub mod evaluate;
pub mod flips;
pub mod recording;
pub mod selfcheck;
pub mod served;
pub mod suite;
pub mod throughput;
pub mod tidy;

use std::path::PathBuf;

/// The root of the checkout.
pub fn root() -> PathBuf {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crates.ancestors().nth(2).expect("crates/xtask").to_owned()
}
