//! A patch of 300 lines in a program of 5,000 lines: its graph is there within five seconds of processor time.

mod common;

use std::fmt::Write as _;
use std::time::Duration;

use common::module;
use parallax_analysis::Analysis;
use parallax_analysis::dependence::Dependences;
use parallax_analysis::sequence::{ChangeGraph, Changes, FileChange, Interactions, same_lines};

const FUNCTIONS: u32 = 210;

/// A program of many functions that share globals, structures on the heap and buffers; `changed` makes 300 lines other ones.
fn program(changed: bool) -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         struct item { int kind, weight; char name[16]; struct item *next; };\n\
         static struct item *items;\nstatic int totals[64], mode, limit = 7;\nstatic char line[256];\n",
    );
    for f in 0..FUNCTIONS {
        let other = |distance: u32| f.checked_sub(distance).map(|f| format!("f{f}"));
        let call = |distance: u32, argument: &str| match other(distance) {
            Some(name) => format!("{name}({argument}, p)"),
            None => argument.to_owned(),
        };
        let _ = write!(
            text,
            "static int f{f}(int n, struct item *p)\n{{\n  int a = n + {f};\n  int b = totals[a & 63];\n  \
             if (mode > {} && p) {{\n    p->weight += a;\n    b += p->kind;\n  }} else {{\n    \
             totals[n & 63] = b + 1;\n  }}\n  for (int i = 0; i < (n & 3); i++) {{\n    \
             a += {};\n    if (a > limit)\n      break;\n  }}\n  switch (b & 3) {{\n  case 0:\n    \
             a = {};\n    break;\n  case 1:\n    strcpy(line, p ? p->name : \"-\");\n    \
             a += strlen(line);\n    break;\n  default:\n    a--;\n  }}\n  \
             if (a == {f})\n    printf(\"%d\\n\", b);\n  return a + b;\n}}\n",
            f % 5,
            call(1, "i"),
            call(7, "b"),
        );
    }
    let _ = write!(
        text,
        "int main(int argc, char **argv)\n{{\n  for (int i = 1; i < argc; i++) {{\n    \
         struct item *one = malloc(sizeof *one);\n    one->kind = atoi(argv[i]);\n    one->next = items;\n    \
         items = one;\n    mode += one->kind;\n  }}\n  printf(\"%d\\n\", f{}(argc, items));\n  return 0;\n}}\n",
        FUNCTIONS - 1
    );
    if !changed {
        return text;
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut left = 300;
    for line in lines.iter_mut().skip(20) {
        let is_plain = line.starts_with("  ") && line.ends_with(';') && line.contains(" = ");
        if left > 0 && is_plain && !line.contains("for") {
            line.insert_str(line.len() - 1, " + 1");
            left -= 1;
        }
    }
    assert_eq!(left, 0, "300 lines are changed");
    lines.join("\n") + "\n"
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

#[test]
fn the_graph_of_a_large_patch_takes_less_than_five_seconds() {
    let (old, new) = (program(false), program(true));
    assert!(new.lines().count() > 5000, "{}", new.lines().count());
    let (old_code, new_code) = (module("large.c", &old), module("large.c", &new));
    let started = processor_time();
    let before = Analysis::new(vec![old_code], []);
    let after = Analysis::new(vec![new_code], []);
    let (one, other) = (Dependences::new(&before), Dependences::new(&after));
    let file = |analysis: &Analysis| {
        let files = &mut analysis.lines.files();
        files
            .find(|file| file.ends_with("large.c"))
            .map(str::to_owned)
    };
    let files = [FileChange {
        old: file(&before),
        new: file(&after),
        same: same_lines(&old, &new),
        only: None,
    }];
    let changes = Changes::new(&files, &one, &other);
    let graph = ChangeGraph::new(&after, &other, &changes, Interactions::Important);
    let taken = processor_time() - started;
    assert!(
        changes.statements.len() >= 300,
        "{}",
        changes.statements.len()
    );
    assert!(graph.nodes.len() > 300, "{}", graph.nodes.len());
    assert!(
        taken < Duration::from_secs(5),
        "{taken:?} for {} nodes",
        graph.nodes.len()
    );
}
