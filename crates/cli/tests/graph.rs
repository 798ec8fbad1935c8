//! `parallax graph` on the examples of "Regression Tests to Expose Change Interaction Errors" (FSE 2013), written anew.

mod support;

use std::fs;

use support::{Folder, assert_contains};

fn versions(old: &str, new: &str) -> Folder {
    let folder = Folder::new();
    for (version, source) in [("old", old), ("new", new)] {
        fs::create_dir(folder.path().join(version)).unwrap();
        folder.build(&format!("{version}/prog"), source);
    }
    folder
}

#[test]
fn the_running_example_has_three_changes_that_meet_in_one_line() {
    let folder = versions(
        include_str!("../../../tests/interact/figure5/old.c"),
        include_str!("../../../tests/interact/figure5/new.c"),
    );
    let all = [
        "graph", "old/prog", "new/prog", "--dot", "g.dot", "--svg", "g.svg",
    ];
    let (text, _) = folder.expect(0, &all);
    assert_contains(
        &text,
        &[
            "3 changes, 1 interaction, 1 output",
            "begin = chosen ? value : 1; /* 8 */",
            "depends on C1 C2 C3",
            "start → C1",
            "C3    → I1",
            "I1    → C2 C3 O1",
        ],
    );
    let dot = fs::read_to_string(folder.path().join("g.dot")).unwrap();
    assert_contains(&dot, &["start -> C1;", "C3 -> I1;", "I1 -> O1;"]);
    let svg = fs::read_to_string(folder.path().join("g.svg")).unwrap();
    assert_eq!(svg.matches("<rect").count(), 5);
    assert_contains(&svg, &["chosen = has_number;", "</svg>"]);
}

#[test]
fn deleted_lines_are_named_with_what_depended_on_them() {
    let folder = versions(
        include_str!("../../../tests/interact/figure3/old.c"),
        include_str!("../../../tests/interact/figure3/new.c"),
    );
    let (text, _) = folder.expect(0, &["graph", "old/prog", "new/prog"]);
    assert_contains(
        &text,
        &[
            "depended on deleted code: old prog.c:",
            "return printable[i]; /* 266 */",
            "depends on C1 C2 C3",
        ],
    );
}

#[test]
fn what_an_output_calls_comes_before_it() {
    let old = "#include <stdio.h>\nstatic int limit = 1;\nstatic const char *kind(int x)\n{\n  return x > limit ? \"many\" : \"few\";\n}\nint main(int argc, char **argv)\n{\n  limit = 2;\n  puts(kind(argc));\n  return 0;\n}\n";
    let new = old
        .replace("limit = 2", "limit = 3")
        .replace("x > limit", "x >= limit");
    let folder = versions(old, &new);
    let (text, _) = folder.expect(0, &["graph", "old/prog", "new/prog"]);
    assert_contains(&text, &["C2   prog.c:9", "C2    → C1 O"]);
}

#[test]
fn a_patch_says_which_of_the_differences_count() {
    let old = "#include <stdio.h>\nint main(int argc, char **argv)\n{\n  int a = 1;\n  int b = 2;\n  printf(\"%d\\n\", a + b);\n  return 0;\n}\n";
    let new = old
        .replace("a = 1", "a = argc")
        .replace("b = 2", "b = argc");
    let folder = versions(old, &new);
    let (text, _) = folder.expect(0, &["graph", "old/prog", "new/prog"]);
    assert_contains(&text, &["2 changes"]);
    folder.file(
        "one.patch",
        "--- a/prog.c\n+++ b/prog.c\n@@ -4 +4 @@\n-  int a = 1;\n+  int a = argc;\n",
    );
    let (text, _) = folder.expect(
        0,
        &["graph", "old/prog", "new/prog", "--patch", "one.patch"],
    );
    assert_contains(&text, &["1 change, 0 interactions"]);
    let (text, _) = folder.expect(0, &["graph", "old/prog", "old/prog"]);
    assert_contains(&text, &["Nothing that has code differs."]);
}
