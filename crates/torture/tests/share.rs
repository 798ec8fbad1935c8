//! A share of `make torture`: plain and traced runs of generated programs agree.
//!
//! Needs the release binaries of `make build` (`PARALLAX` names another one).

mod support;

use parallax_torture::campaign::{self, Origin, Plan, Progress};
use std::path::PathBuf;
use support::tool;

const SHARE: u64 = 15;

fn try_share(origin: Origin, seed: u64) {
    let plan = Plan {
        tool: tool(),
        origin,
        seed,
        count: SHARE,
        jobs: std::thread::available_parallelism().map_or(1, |n| n.get()),
        keep: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("torture-failures"),
    };
    let ignore = |_: Progress| {};
    let summary = campaign::run(&plan, &ignore).unwrap();
    let failures: Vec<String> = summary
        .failed
        .iter()
        .map(|failed| {
            format!(
                "seed {} (kept in {}): {}",
                failed.seed,
                failed.folder.display(),
                failed.failure
            )
        })
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
    assert!(summary.passed > 0);
    assert!(summary.seen.branches > 0, "nothing depended on the input");
}

#[test]
fn programs_of_our_generator_behave_the_same_traced() {
    try_share(Origin::Own, 1);
}

#[test]
fn programs_of_csmith_behave_the_same_traced() {
    try_share(Origin::Csmith, 1);
}
