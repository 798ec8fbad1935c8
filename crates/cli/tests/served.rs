//! Covered programs, forked by a run server: they count what they count in a fresh process.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use parallax_exec::coverage::{Counter, CoverageRegion};
use parallax_exec::execute::{Executor, RunOptions, Settings};
use parallax_exec::run::End;
use parallax_scenario::Scenario;
use support::Folder;

const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int made;
__attribute__((constructor)) static void make(void) { for (int i = 0; i < 5; i++) made += i; }
static void last(void) { if (made > 10) puts("last"); }
int main(int argc, char **argv) {
  atexit(last);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "fork")) { if (fork() == 0) { made = 20; exit(0); } wait(0); }
    if (!strcmp(argv[i], "again") && argc < 9) { execl(argv[0], argv[0], "x", (char *)0); return 9; }
    if (!strcmp(argv[i], "crash")) *(volatile int *)8 = 1;
  }
  return argc;
}"#;

/// Counts by counter.
type Counts = BTreeMap<u64, Vec<u32>>;

struct Counted {
    executor: Executor,
    region: CoverageRegion,
    counts: Counts,
}

impl Counted {
    fn new(program: &Path) -> Counted {
        Counted {
            executor: Executor::new(program, Settings::default()).unwrap(),
            region: CoverageRegion::create(1 << 16).unwrap(),
            counts: Counts::new(),
        }
    }

    /// What a run adds to the counters.
    fn run(&mut self, scenario: &Scenario, options: RunOptions) -> (End, Vec<(Counter, u32)>) {
        let before = self.counts.clone();
        let shared = [self.region.shared()];
        let outcome = self.executor.run_with(scenario, &shared, options).unwrap();
        let grown = self.region.counted_since(&mut self.counts);
        let number = |counts: &Counts, counter: &Counter| {
            let module = counts.get(&counter.module);
            module.map_or(0, |counts| counts[counter.index as usize])
        };
        let added = grown.into_iter().map(|counter| {
            let more = number(&self.counts, &counter) - number(&before, &counter);
            (counter, more)
        });
        (outcome.end, added.collect())
    }
}

#[test]
fn served_runs_count_what_fresh_ones_count() {
    let folder = Folder::new();
    let name = folder.build("prog", SOURCE);
    let (path, _) = folder.expect(0, &["variant", &name, "--kind", "covered"]);
    let path = Path::new(path.trim());
    let scenario = |arguments: &[&str]| Scenario {
        argv: arguments.iter().map(|word| (*word).into()).collect(),
        ..Scenario::default()
    };
    let (mut served, mut fresh) = (Counted::new(path), Counted::new(path));
    let arguments: [&[&str]; 7] = [
        &[],
        &[],
        &["fork"],
        &["x", "again"],
        &["crash"],
        &["y"],
        &[],
    ];
    for arguments in arguments {
        let scenario = scenario(arguments);
        let (seen, expected) = (
            served.run(&scenario, RunOptions::default()),
            fresh.run(&scenario, RunOptions::FRESH),
        );
        assert!(!expected.1.is_empty());
        assert_eq!(seen, expected, "{scenario:?}");
    }
    assert!(served.executor.is_serving());
    // With other counters there is another server.
    served.region = CoverageRegion::create(1 << 16).unwrap();
    served.counts = Counts::new();
    for arguments in arguments {
        let scenario = scenario(arguments);
        let (seen, expected) = (
            served.run(&scenario, RunOptions::default()),
            fresh.run(&scenario, RunOptions::FRESH),
        );
        assert_eq!(seen, expected, "{scenario:?}");
    }
    assert!(served.executor.is_serving());
}
