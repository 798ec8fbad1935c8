//! `parallax diverge` on one program whose source says what was changed: the annotation patterns of the paper (Shadow,
//! ICSE 2016, section 3.1), with the same divergences as without annotations (`diverge.rs`).

mod support;

use std::fs;

use serde_json::Value;
use support::Folder;
use support::schema::Schema;

/// Decides something about two bytes.
fn program(body: &str) -> String {
    format!(
        "#include <parallax.h>\n#include <stdio.h>\nstatic int twice(int n) {{ return 2 * n; }}\n\
         int main(void) {{\n  int a = getchar();\n  int b = getchar();\n  int x = a;\n{body}\n  \
         (void)x; (void)b; (void)twice;\n  puts(\"end\");\n  return 0;\n}}\n"
    )
}

/// The two versions of an annotated body, compared from an input; `differs` says of which inputs they show something else.
#[track_caller]
fn pattern(body: &str, start: &[u8], differs: &dyn Fn(i32, i32) -> bool) -> Value {
    let folder = Folder::new();
    folder.build("prog", &program(body));
    fs::write(folder.path().join("input"), start).unwrap();
    let options = [
        "diverge",
        "prog",
        "--json",
        "--no-sanitizers",
        "--runs",
        "80",
        // What the solver makes of the annotations is tested.
        "--without",
        "words,world,data,numbers,splice,mutate",
        "--stdin",
        "input",
    ];
    let (text, _) = folder.expect(1, &options);
    let report: Value = serde_json::from_str(&text).unwrap();
    Schema::of_the_tool(&folder).assert_valid(&report);
    let all = report["findings"].as_array().unwrap();
    assert!(!all.is_empty(), "{report:#}");
    for finding in all.iter().filter(|finding| finding["kind"] == "difference") {
        let stdin = finding["scenario"]["stdin"].clone();
        let bytes: parallax_scenario::Bytes = serde_json::from_value(stdin).unwrap();
        // What is not there is read as -1.
        let byte = |at: usize| bytes.0.get(at).map_or(-1, |byte| i32::from(*byte));
        assert!(differs(byte(0), byte(1)), "{finding:#}");
    }
    report
}

const THEN: &str = "puts(\"yes\");\n  else\n    puts(\"no\");";

#[test]
fn annotated_values_part_the_versions_where_they_matter() {
    let on = "  if (x > 50)\n    ".to_owned() + THEN;
    // 1a, 1b and 1c.
    let assigned = format!("  x = a + change(1, 3);\n{on}");
    pattern(&assigned, b"\x05a", &|a, _| a == 48 || a == 49);
    let called = format!("  x = twice(a + change(0, 1));\n{on}");
    pattern(&called, b"\x05a", &|a, _| a == 25);
    let decided = format!("  if (a == change('p', 'q'))\n    {THEN}");
    pattern(&decided, b"xy", &|a, _| a == 112 || a == 113);
}

#[test]
fn annotated_conditions_part_the_versions_where_they_decide() {
    let decided = |condition: &str| format!("  if ({condition})\n    {THEN}");
    let (one, other) = (|a: i32| a == 112, |b: i32| b == 113);
    // 1d and 1e.
    let weaker = decided("a == 'p' || change(0, b == 'q')");
    let report = pattern(&weaker, b"xy", &|a, b| !one(a) && other(b));
    assert_eq!(report["stats"]["silent"], 0, "{report:#}");
    let stronger = decided("a == 'p' && change(1, b == 'q')");
    let report = pattern(&stronger, b"py", &|a, b| one(a) && !other(b));
    assert_eq!(report["stats"]["silent"], 0, "{report:#}");
    // 1f and 1g: no divergence is reported where both parts hold, or neither does.
    for start in [b"xy", b"pq", b"xq"] {
        let any = decided("change(a == 'p' || b == 'q', b == 'q')");
        let report = pattern(&any, start, &|a, b| one(a) && !other(b));
        assert_eq!(report["stats"]["silent"], 0, "{report:#}");
        let all = decided("change(a == 'p' && b == 'q', b == 'q')");
        let report = pattern(&all, start, &|a, b| !one(a) && other(b));
        assert_eq!(report["stats"]["silent"], 0, "{report:#}");
    }
}

#[test]
fn annotated_statements_part_the_versions() {
    let on = "  if (x > 50)\n    ".to_owned() + THEN;
    let changes = |a: i32| (a > 50) != (a + 7 > 50);
    // 2a and 2b.
    for extra in ["x = change(x, x + 7);", "x = change(x + 7, x);"] {
        let body = format!("  {extra}\n{on}");
        pattern(&body, b"\x05a", &|a, _| changes(a));
    }
    // 2c and 2d.
    for condition in ["change(0, b == 'q')", "change(b == 'q', 0)"] {
        let body = format!("  if ({condition})\n    puts(\"more\");\n{on}");
        pattern(&body, b"xy", &|_, b| b == 113);
    }
    // 3a and 3b: the scenario that was given diverges itself.
    for condition in ["change(1, 0)", "change(0, 1)"] {
        let body = format!("  if ({condition})\n    puts(\"more\");\n{on}");
        let report = pattern(&body, b"xy", &|_, _| true);
        assert_eq!(report["findings"][0]["phase"], "given", "{report:#}");
    }
}

#[test]
fn annotated_variables_part_the_versions_where_values_do_not_fit() {
    let on = "  if (x > 50)\n    ".to_owned() + THEN;
    // 4: a variable that one version does not use.
    let body = format!("  int limit = b;\n  x = change(x, limit);\n{on}");
    pattern(&body, b"\x05\x05", &|a, b| (a > 50) != (b > 50));
    // 5: the larger type is kept, and the narrower one is in what is stored.
    let body = format!("  int t = change(a + 100, (signed char)(a + 100));\n  x = t;\n{on}");
    pattern(&body, b"\x05a", &|a, _| {
        (a + 100 > 50) != (i32::from((a + 100) as i8) > 50)
    });
}

/// Figures 1 and 3 as the paper annotates them, in a file of its own beside one that both versions share.
#[test]
fn both_versions_of_a_program_of_several_files_are_made_and_checked() {
    let folder = Folder::new();
    let files = [
        (
            "foo.c",
            "#include <parallax.h>\nchar arr[4];\nint foo(int x) {\n  int y = change(x - 1, x + 1);\n  if (y > 7) {\n    \
             int z = x - 8;\n    if (z < 4)\n      arr[z] = 'A';\n    return 0;\n  }\n  return 1;\n}\n",
        ),
        (
            "main.c",
            "#include <stdio.h>\nint foo(int);\nint main(void) {\n  int x = 0;\n  if (fread(&x, sizeof x, 1, stdin) != 1)\n    \
             return 2;\n  printf(\"%d\\n\", foo(x));\n  return 0;\n}\n",
        ),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
        folder.expect(0, &["cc", "--", "-g", "-O1", "-c", name]);
    }
    folder.expect(0, &["cc", "--", "foo.o", "main.o", "-o", "prog"]);
    fs::write(folder.path().join("input"), 9i32.to_le_bytes()).unwrap();
    let options = [
        "diverge", "prog", "--json", "--runs", "60", "--stdin", "input",
    ];
    let (text, _) = folder.expect(1, &options);
    let report: Value = serde_json::from_str(&text).unwrap();
    let all = report["findings"].as_array().unwrap();
    let mut regressions = all.iter().filter(|finding| finding["kind"] == "regression");
    let underflow = regressions.next().unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(underflow["problems"][0]["kind"], "out-of-bounds");
    let place = &underflow["divergence"]["new"]["place"];
    assert_eq!(place, "foo.c:5:7", "{underflow:#}");
}

#[test]
fn one_program_without_annotations_is_no_comparison() {
    let folder = Folder::new();
    folder.build("prog", "int main(void) { return 0; }\n");
    let (_, message) = folder.expect(2, &["diverge", "prog"]);
    assert!(message.contains("only one program"), "{message}");
    assert!(message.contains("change(old, new)"), "{message}");
}

const LIMIT: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n  \
                     int x = argc > 1 ? atoi(argv[1]) : 0;\n  if (x > 10)\n    puts(\"large\");\n  return 0;\n}\n";

#[test]
fn a_proposed_source_shows_the_difference_between_the_versions() {
    let folder = Folder::new();
    folder.file("old.c", LIMIT);
    folder.file("new.c", &LIMIT.replace("x > 10", "x > 20"));
    let (_, told) = folder.expect(0, &["annotate", "old.c", "new.c", "-o", "both.c"]);
    assert!(told.contains("annotated: 1 expression"), "{told}");
    let both = fs::read_to_string(folder.path().join("both.c")).unwrap();
    assert!(both.contains("if (x > change(10, 20))"), "{both}");
    folder.build("both", &both);
    let options = [
        "diverge",
        "both",
        "--json",
        "--no-sanitizers",
        "--runs",
        "60",
        "--",
        "5",
    ];
    let (text, _) = folder.expect(1, &options);
    let report: Value = serde_json::from_str(&text).unwrap();
    let argument = report["findings"][0]["scenario"]["argv"][0]
        .as_str()
        .unwrap();
    let number: i32 = argument.trim().parse().unwrap();
    assert!((11..=20).contains(&number), "{number}");
}

#[test]
fn a_range_gives_a_source_for_each_file_that_it_modifies() {
    let folder = Folder::new();
    let git = |words: &[&str]| support::git(folder.path(), words);
    git(&["init", "-q", "."]);
    folder.file("parallax.toml", "");
    folder.file("limit.c", LIMIT);
    folder.file("other.c", "int other;\n");
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "one"]);
    folder.file("limit.c", &LIMIT.replace("x > 10", "x > 10 && x != 15"));
    git(&["commit", "-q", "-a", "-m", "two"]);
    let (told, _) = folder.expect(0, &["annotate", "HEAD~1..HEAD"]);
    support::assert_contains(&told, &["limit.c  annotated: 1 expression", "1 file in "]);
    let made = folder.path().join(".parallax/annotated");
    let text = fs::read_to_string(made.join("limit.c")).unwrap();
    assert!(text.contains("x > 10 && change(1, x != 15)"), "{text}");
    assert!(!made.join("other.c").exists());
    let (_, told) = folder.expect(2, &["annotate", "HEAD"]);
    assert!(told.contains("one revision"), "{told}");
}
