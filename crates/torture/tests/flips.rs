//! A share of `make flips`: inputs that the solver made for a branch of a generated program take it.
//!
//! Needs the release binaries of `make build` (`PARALLAX` names another one).

mod support;

use parallax_torture::flips::{Flips, explore_generated};
use support::tool;

const SHARE: u64 = 2;

#[test]
#[ignore = "takes minutes where programs compute with floating point; `make flips` has all of it"]
fn inputs_made_for_a_branch_of_a_generated_program_take_it() {
    let tool = tool();
    let mut flips = Flips::default();
    let mut misses = Vec::new();
    for seed in 1..=SHARE {
        let folder = tempfile::tempdir().unwrap();
        let explored = explore_generated(&tool, seed, folder.path()).unwrap();
        flips += explored.flips;
        misses.extend(explored.misses.iter().map(|miss| format!("{seed}: {miss}")));
    }
    assert!(flips.made() >= 20, "hardly anything to flip: {flips:?}");
    assert_eq!(flips.unexplained, 0, "{}", misses.join("\n"));
    assert!(flips.share() >= 99.5, "{}", misses.join("\n"));
}
