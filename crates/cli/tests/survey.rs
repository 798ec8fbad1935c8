//! Before `cover` searches for single lines of a patch it changes one thing of every recorded scenario.

mod support;

use serde_json::Value;
use support::{Folder, assert_contains};

const MAKEFILE: &str = "\
CC = gcc
prog: prog.c
\t$(CC) -g -o prog prog.c
check: prog
\t./prog word >/dev/null
";

const OLD: &str = r#"#include <stdio.h>
int main(int argc, char **argv)
{
  printf ("%d %s\n", argc, argv[0]);
  return 0;
}
"#;

/// No branch on a byte of input leads to line 6.
const NEW: &str = r#"#include <stdio.h>
int main(int argc, char **argv)
{
  printf ("%d %s\n", argc, argv[0]);
  if (fflush (stdout) != 0)
    return 3;
  return 0;
}
"#;

fn project() -> Folder {
    project_with(NEW)
}

fn project_with(new: &str) -> Folder {
    let folder = Folder::patched(MAKEFILE, OLD, new);
    folder.expect(0, &["record", "--", "make", "check"]);
    folder
}

/// The target of line 6 if it was covered without some parts, and what was said beside.
fn covered(folder: &Folder, without: &str) -> (Option<Value>, String) {
    let ask = [
        "cover",
        "HEAD~1..HEAD",
        "--runs",
        "200",
        "--again",
        "--json",
        "--without",
        without,
    ];
    let (said, notes) = folder.expect(0, &ask);
    let document: Value = serde_json::from_str(&said).unwrap();
    let targets = document["targets"].as_array().unwrap();
    let target = targets.iter().find(|target| target["line"] == 6);
    let target = target.expect("the line is a target");
    let is_covered = target["status"] == "covered";
    (is_covered.then(|| target.clone()), notes)
}

#[test]
fn what_one_change_reaches_is_found_without_a_search_and_kept_with_its_history() {
    let folder = project();
    // The searches know of output that cannot be written, too.
    let (target, _) = covered(&folder, "switch,structure,splice,survey");
    assert!(target.is_none(), "{target:?}");
    let (target, notes) = covered(&folder, "switch,structure,splice");
    let target = target.expect(&notes);
    assert_eq!(target["steps"].as_array().unwrap().len(), 1, "{target}");
    assert!(target["seed"].is_string(), "{target}");
    assert_contains(&notes, &["with one change reached 1 of"]);
    let (said, _) = folder.expect(0, &["why", "prog.c:6"]);
    assert_contains(&said, &["found by changing one thing of a scenario"]);
}

#[test]
fn what_was_made_of_the_tests_is_kept_for_the_next_run() {
    let folder = project_with(
        "#include <stdio.h>\n\
         int main(int argc, char **argv)\n\
         {\n\
           if (argc > 1 && argv[1][0] == 'q')\n\
             return 3;\n\
           if (argc > 1 && argv[1][0] == 'z')\n\
             return 4;\n\
           if (argc > 1 && argv[1][0] == 'y')\n\
             return 5;\n\
           printf (\"%d\\n\", argc);\n\
           return 0;\n\
         }\n",
    );
    let ask = |at: &str, more: &[&str]| {
        let words = [&["cover", "--at", at, "--runs", "200"], more].concat();
        let (said, notes) = folder.expect(0, &words);
        assert_contains(&said, &["100.0 %"]);
        notes
    };
    let surveyed = "with one change reached";
    assert_contains(&ask("prog.c:5", &[]), &[surveyed]);
    let notes = ask("prog.c:7", &[]);
    assert!(!notes.contains(surveyed), "{notes}");
    assert_contains(&ask("prog.c:9", &["--again"]), &[surveyed]);
}
