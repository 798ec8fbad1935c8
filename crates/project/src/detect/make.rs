//! A plain makefile.

use super::Commands;
use super::tree::Tree;

pub(super) fn commands(tree: &Tree, notes: &mut Vec<String>) -> Commands {
    // In the order in which GNU make looks for them.
    let makefiles = ["GNUmakefile", "makefile", "Makefile"];
    let makefile = makefiles.into_iter().find(|name| tree.has(name));
    let text = tree.text(makefile.unwrap_or_default());
    let has_target = |target: &str| {
        text.lines().any(|line| {
            line.split_once(':')
                .is_some_and(|(left, _)| left.split_whitespace().any(|word| word == target))
        })
    };
    let target = ["check", "test", "tests"]
        .into_iter()
        .find(|target| has_target(target));
    if target.is_none() {
        notes.push("the makefile has no target check or test: set test.command".to_owned());
    }
    // On the command line, because makefiles that set CC themselves ignore the environment.
    let make = "make CC=\"$CC\" CXX=\"$CXX\"";
    Commands {
        build: format!("{make} -j$JOBS"),
        tree: ".".to_owned(),
        test: target.map_or_else(String::new, |target| format!("{make} -k {target}")),
        ..Commands::default()
    }
}
