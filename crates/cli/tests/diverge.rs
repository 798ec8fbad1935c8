//! `parallax diverge` on the examples of the paper (Shadow, ICSE 2016), written anew, without annotations.

mod support;

use std::fs;

use serde_json::Value;
use support::Folder;
use support::schema::Schema;

/// Two versions of a program.
struct Versions {
    folder: Folder,
}

fn versions(old: &str, new: &str) -> Versions {
    let folder = Folder::new();
    for (version, source) in [("old", old), ("new", new)] {
        fs::create_dir(folder.path().join(version)).unwrap();
        folder.build(&format!("{version}/prog"), source);
    }
    Versions { folder }
}

impl Versions {
    /// Compares them by what the solver makes only.
    fn compare_solved(&self, exit: i32, options: &[&str]) -> Value {
        self.compare(exit, &[&SOLVED, options].concat())
    }

    /// Compares them; the document.
    fn compare(&self, exit: i32, options: &[&str]) -> Value {
        let mut all = vec!["diverge", "old/prog", "new/prog", "--json"];
        all.extend(options);
        let (text, _) = self.folder.expect(exit, &all);
        let report: Value = serde_json::from_str(&text).unwrap();
        Schema::of_the_tool(&self.folder).assert_valid(&report);
        report
    }

    fn stdin(&self, bytes: &[u8]) -> &'static str {
        fs::write(self.folder.path().join("input"), bytes).unwrap();
        "input"
    }
}

/// Leaves what the solver does not make to others: for tests of where versions can part.
const SOLVED: [&str; 2] = ["--without", "words,world,data,numbers,splice,mutate"];

fn findings<'r>(report: &'r Value, kind: &str) -> Vec<&'r Value> {
    let all = report["findings"].as_array().unwrap().iter();
    all.filter(|finding| finding["kind"] == kind).collect()
}

/// The bytes of standard input, which are text or in base 64.
fn stdin_of(finding: &Value) -> Vec<u8> {
    let stdin = &finding["scenario"]["stdin"];
    let scenario: parallax_scenario::Bytes = serde_json::from_value(stdin.clone()).unwrap();
    scenario.0
}

/// Figures 1 and 3.
const BUFFER: &str = r#"#include <stdio.h>
char arr[4];
int foo(int x) {
  int y = x - 1;
  if (y > 7) {
    int z = x - 8;
    if (z < 4)
      arr[z] = 'A';
    return 0;
  }
  return 1;
}
int main(void) {
  int x = 0;
  if (fread(&x, sizeof x, 1, stdin) != 1)
    return 2;
  printf("%d\n", foo(x));
  return 0;
}
"#;

#[test]
fn the_underflow_and_the_wrap_around_are_found_from_every_test_of_the_paper() {
    let versions = versions(BUFFER, &BUFFER.replace("x - 1", "x + 1"));
    for start in [0i32, 9, 15] {
        let input = versions.stdin(&start.to_le_bytes());
        let report = versions.compare_solved(1, &["--runs", "60", "--stdin", input]);
        let regressions = findings(&report, "regression");
        let mut underflows = regressions
            .iter()
            .filter(|one| stdin_of(one) == 7i32.to_le_bytes());
        let underflow = underflows.next().unwrap_or_else(|| panic!("{report:#}"));
        assert_eq!(underflow["problems"][0]["kind"], "out-of-bounds");
        // Where y > 7 holds in the old version only, one of them has wrapped round.
        for end in [i32::MIN, i32::MAX] {
            let mut all = report["findings"].as_array().unwrap().iter();
            let wraps = all.any(|finding| stdin_of(finding) == end.to_le_bytes());
            assert!(wraps, "{end} from {start}: {report:#}");
        }
        assert_eq!(report["stats"]["silent"], 0, "{report:#}");
    }
}

const LIMIT: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int x = argc > 1 ? atoi(argv[1]) : 0;
  if (x > 10)
    puts("large");
  else
    puts("small");
  return 0;
}
"#;

#[test]
fn a_limit_that_was_raised_makes_a_difference_between_the_limits_only() {
    let versions = versions(LIMIT, &LIMIT.replace("10", "20"));
    for start in ["0", "30"] {
        let report = versions.compare(1, &["--runs", "60", "--", start]);
        let found = findings(&report, "difference");
        assert_eq!(found.len(), 1, "{report:#}");
        let argument = found[0]["scenario"]["argv"][0].as_str().unwrap();
        let number: i32 = argument.trim().parse().unwrap();
        assert!((11..=20).contains(&number), "{number}");
        assert_eq!(found[0]["divergence"]["old"]["text"], "if (x > 10)");
        assert_eq!(found[0]["divergence"]["new"]["text"], "if (x > 20)");
    }
}

/// Comes to the changed condition with one of its tests only.
const GUARDED: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  if (argv[1][0] == 'n') {
    puts("nothing");
    return 0;
  }
  puts(atoi(argv[2]) > 10 ? "large" : "small");
  return 0;
}
"#;

#[test]
fn tests_of_a_directory_are_compared_within_one_budget() {
    let versions = versions(GUARDED, &GUARDED.replace("10", "20"));
    let tests = versions.folder.path().join("tests");
    fs::create_dir(&tests).unwrap();
    for (name, arguments) in [("a", r#""n","1""#), ("b", ""), ("c", r#""y","0""#)] {
        let text = format!("{{\"argv\": [{arguments}]}}");
        fs::write(tests.join(format!("{name}.json")), text).unwrap();
    }
    fs::write(tests.join("README"), "no scenario").unwrap();
    let report = versions.compare(1, &["--no-sanitizers", "--runs", "80", "--seeds", "tests"]);
    assert_eq!(report["stats"]["scenarios"], 3, "{report:#}");
    let found = findings(&report, "difference");
    assert_eq!(found.len(), 1, "{report:#}");
    let number: i32 = found[0]["scenario"]["argv"][1]
        .as_str()
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!((11..=20).contains(&number), "{number}");
    fs::create_dir(versions.folder.path().join("none")).unwrap();
    let none = ["diverge", "old/prog", "new/prog", "--seeds", "none"];
    let (_, error) = versions.folder.expect(2, &none);
    support::assert_contains(&error, &["no scenario is in none", "parallax schema"]);
}

/// Decides something about two bytes.
fn program(body: &str) -> String {
    format!(
        "#include <stdio.h>\nstatic int twice(int n) {{ return 2 * n; }}\n\
         int main(void) {{\n  int a = getchar();\n  int b = getchar();\n  int x = a;\n{body}\n  \
         (void)x; (void)b; (void)twice;\n  puts(\"end\");\n  return 0;\n}}\n"
    )
}

/// Compares two bodies from an input; `differs` says of which inputs the versions show something else.
#[track_caller]
fn pattern(old: &str, new: &str, start: [u8; 2], differs: &dyn Fn(i32, i32) -> bool) -> Value {
    let versions = versions(&program(old), &program(new));
    let input = versions.stdin(&start);
    let report = versions.compare_solved(1, &["--no-sanitizers", "--runs", "80", "--stdin", input]);
    let found = findings(&report, "difference");
    assert!(!found.is_empty(), "{report:#}");
    for finding in found {
        // What is not there is read as -1.
        let bytes = stdin_of(finding);
        let byte = |at: usize| bytes.get(at).map_or(-1, |byte| i32::from(*byte));
        assert!(differs(byte(0), byte(1)), "{finding:#}");
    }
    report
}

const THEN: &str = "puts(\"yes\");\n  else\n    puts(\"no\");";

#[test]
fn changed_values_part_the_versions_where_they_matter() {
    // 1a: the right-hand side of an assignment.
    let on = "  if (x > 50)\n    ".to_owned() + THEN;
    let assigned = |right: &str| format!("  x = {right};\n{on}");
    pattern(
        &assigned("a + 1"),
        &assigned("a + 3"),
        *b"\x05a",
        &|a, _| a == 48 || a == 49,
    );
    // 1b: an argument of a call.
    let called = |argument: &str| format!("  x = twice({argument});\n{on}");
    pattern(&called("a"), &called("a + 1"), *b"\x05a", &|a, _| a == 25);
    // 1c: a condition.
    let decided = |condition: &str| format!("  if ({condition})\n    {THEN}");
    pattern(
        &decided("a == 'p'"),
        &decided("a == 'q'"),
        *b"xy",
        &|a, _| a == 112 || a == 113,
    );
}

#[test]
fn conditions_that_were_weakened_or_strengthened_part_the_versions_where_they_decide() {
    let decided = |condition: &str| format!("  if ({condition})\n    {THEN}");
    let (one, other) = (|a: i32| a == 112, |b: i32| b == 113);
    let (first, second) = ("a == 'p'", "b == 'q'");
    let (any, all) = (
        format!("{first} || {second}"),
        format!("{first} && {second}"),
    );
    // 1d and 1e.
    let weaker = pattern(&decided(first), &decided(&any), *b"xy", &|a, b| {
        !one(a) && other(b)
    });
    assert_eq!(weaker["stats"]["silent"], 0, "{weaker:#}");
    let stronger = pattern(&decided(first), &decided(&all), *b"py", &|a, b| {
        one(a) && !other(b)
    });
    assert_eq!(stronger["stats"]["silent"], 0, "{stronger:#}");
    // 1f and 1g: no divergence is reported where both parts hold, or neither does.
    for start in [*b"xy", *b"pq", *b"xq"] {
        let report = pattern(&decided(&any), &decided(second), start, &|a, b| {
            one(a) && !other(b)
        });
        assert_eq!(report["stats"]["silent"], 0, "{report:#}");
        let report = pattern(&decided(&all), &decided(second), start, &|a, b| {
            !one(a) && other(b)
        });
        assert_eq!(report["stats"]["silent"], 0, "{report:#}");
    }
}

#[test]
fn added_and_removed_statements_part_the_versions() {
    let on = "  if (x > 50)\n    ".to_owned() + THEN;
    let more = |body: &str| format!("{body}\n{on}");
    let changes = |a: i32| (a > 50) != (a + 7 > 50);
    // 2a and 2b: an assignment.
    pattern(&more(""), &more("  x = x + 7;"), *b"\x05a", &|a, _| {
        changes(a)
    });
    pattern(&more("  x = x + 7;"), &more(""), *b"\x05a", &|a, _| {
        changes(a)
    });
    // 2c and 2d: code under a condition.
    let guarded = "  if (b == 'q')\n    puts(\"more\");";
    pattern(&more(""), &more(guarded), *b"xy", &|_, b| b == 113);
    pattern(&more(guarded), &more(""), *b"xy", &|_, b| b == 113);
    // 3a and 3b: code that is always run: the scenario that was given diverges itself.
    let always = "  puts(\"more\");";
    let added = pattern(&more(""), &more(always), *b"xy", &|_, _| true);
    assert_eq!(added["findings"][0]["phase"], "given", "{added:#}");
    pattern(&more(always), &more(""), *b"xy", &|_, _| true);
}

#[test]
fn new_variables_and_other_types_part_the_versions_where_values_do_not_fit() {
    let on = "  if (x > 50)\n    ".to_owned() + THEN;
    // 4: a variable more, used.
    let new = format!("  int limit = b;\n  x = limit;\n{on}");
    pattern(&on, &new, *b"\x05\x05", &|a, b| (a > 50) != (b > 50));
    // 5: a narrower type.
    let typed = |name: &str| format!("  {name} t = a + 100;\n  x = t;\n{on}");
    pattern(&typed("int"), &typed("signed char"), *b"\x05a", &|a, _| {
        (a + 100 > 50) != (i32::from((a + 100) as i8) > 50)
    });
}

#[test]
fn a_golden_version_tells_what_was_intended() {
    let folder = versions(LIMIT, &LIMIT.replace("10", "20").replace("large", "LARGE")).folder;
    folder.build("golden", &LIMIT.replace("10", "20"));
    let (text, _) = folder.expect(
        1,
        &[
            "diverge", "old/prog", "new/prog", "--golden", "golden", "--json", "--runs", "60",
            "--", "0",
        ],
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    Schema::of_the_tool(&folder).assert_valid(&report);
    let golden = |number: i32| {
        let all = report["findings"].as_array().unwrap().iter();
        let mut of = all.filter(|finding| {
            let argument = finding["scenario"]["argv"][0].as_str().unwrap_or_default();
            argument.trim().parse() == Ok(number)
        });
        of.next().map(|finding| finding["golden"].clone())
    };
    let intended = (11..=20)
        .filter_map(golden)
        .next()
        .expect("a finding between the limits");
    assert_eq!(intended, "intended", "{report:#}");
    let all = report["findings"].as_array().unwrap().iter();
    let verdicts: Vec<&Value> = all.map(|finding| &finding["golden"]).collect();
    assert!(
        verdicts.iter().any(|verdict| *verdict == "regression"),
        "{report:#}"
    );
}

const VALUE: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int x = argc > 1 ? atoi(argv[1]) : 0;
  printf("%d\n", x / 2);
  return 0;
}
"#;

/// The exit status of `expression` over two bytes.
fn ending_with(expression: &str) -> String {
    format!(
        "#include <stdio.h>\nint main(void) {{ int a = getchar(), b = getchar(); (void)b; return {expression}; }}\n"
    )
}

#[test]
fn an_exit_status_without_any_branch_is_compared() {
    let versions = versions(
        &ending_with("a & 7"),
        &ending_with("(a & 7) | ((b >> 4) == 9)"),
    );
    let input = versions.stdin(b"`b");
    let report = versions.compare_solved(1, &["--no-sanitizers", "--runs", "40", "--stdin", input]);
    let found = findings(&report, "difference");
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!(stdin_of(found[0]).get(1).map(|byte| byte >> 4), Some(9));
}

#[test]
fn values_that_are_printed_without_any_branch_are_compared() {
    let versions = versions(VALUE, &VALUE.replace("x / 2", "x >> 1"));
    let report = versions.compare_solved(1, &["--runs", "60", "--", "-4"]);
    let mut found = findings(&report, "difference");
    // Numbers that do not fit become -1, which has no place in the input.
    found.retain(|finding| finding["phase"] != "numbers");
    assert_eq!(found.len(), 1, "{report:#}");
    let number: i32 = found[0]["scenario"]["argv"][0]
        .as_str()
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(number < 0 && number % 2 != 0, "{number}");
}

#[test]
fn memory_that_was_made_smaller_is_overrun_from_a_command_line_that_passes() {
    let versions = versions(
        include_str!("../../../tests/diverge/columns_before.c"),
        include_str!("../../../tests/diverge/columns_after.c"),
    );
    let report = versions.compare(1, &["--runs", "600", "--", "1-3,6-", "abcdefgh", ":"]);
    let regressions = findings(&report, "regression");
    assert_eq!(regressions.len(), 1, "{report:#}");
    assert_eq!(regressions[0]["problems"][0]["kind"], "out-of-bounds");
    assert!(!findings(&report, "difference").is_empty(), "{report:#}");
}

#[test]
fn a_number_that_is_read_otherwise_aborts_and_what_was_intended_is_listed_apart() {
    let versions = versions(
        include_str!("../../../tests/diverge/ranges_before.c"),
        include_str!("../../../tests/diverge/ranges_after.c"),
    );
    let report = versions.compare(1, &["--runs", "400", "--", "1-2,4-", "abcdef"]);
    let regressions = findings(&report, "regression");
    assert_eq!(regressions.len(), 1, "{report:#}");
    assert_eq!(regressions[0]["problems"][0]["kind"], "abort");
    let refused = findings(&report, "difference")
        .into_iter()
        .filter(|finding| {
            let text = finding["new"]["stderr"].to_string();
            finding["new"]["exit"] == 1 && (text.contains("no end") || text.contains("decreasing"))
        });
    assert!(refused.count() > 0, "{report:#}");
}

#[test]
fn a_program_that_was_only_refactored_shows_no_difference() {
    let versions = versions(
        include_str!("../../../tests/diverge/machine_before.c"),
        include_str!("../../../tests/diverge/machine_after.c"),
    );
    let program = "push 3\npush 4\nadd\nprint\npush 7\nstore 2\nload 2\n";
    let input = versions.stdin(program.as_bytes());
    let report = versions.compare(0, &["--runs", "200", "--stdin", input]);
    assert_eq!(report["findings"].as_array().unwrap().len(), 0);
    // Traced side by side, and natively.
    let stats = |name: &str| report["stats"][name].as_u64().unwrap();
    assert!(stats("paths") > 20 && stats("inputs") > 500, "{report:#}");
    let arguments = [
        "diverge", "old/prog", "new/prog", "--runs", "20", "--stdin", input,
    ];
    let (text, _) = versions.folder.expect(0, &arguments);
    support::assert_contains(&text, &["nothing differs", "1 scenario and ", " paths"]);
}

#[test]
fn a_run_that_is_compared_in_part_is_counted() {
    let body = "  for (int i = 0; i < 40000; i++)\n    if (a * 256 + b == i)\n      x++;";
    let versions = versions(&program(body), &program(&format!("  x = 0;\n{body}")));
    let input = versions.stdin(b"zz");
    let options = ["--no-sanitizers", "--runs", "2", "--stdin", input];
    let (text, _) = versions.folder.expect(
        0,
        &[&["diverge", "old/prog", "new/prog", "--json"][..], &options].concat(),
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    // Both versions go round as often, whatever the input.
    assert!(report["stats"]["runs"].as_u64() >= Some(2), "{report:#}");
    let limits = report["stats"]["limits"].as_array().unwrap();
    let of_decisions = limits
        .iter()
        .find(|limit| limit["unit"] == "decisions of a run");
    assert!(
        of_decisions.is_some_and(|limit| limit["hits"].as_u64() >= Some(2)),
        "{report:#}"
    );
}

#[test]
fn differences_name_the_program_as_people_do() {
    let source = |word: &str| {
        let message = format!("fprintf(stderr, \"%s: {word} x\\n\", argv[0]);");
        format!(
            "#include <stdio.h>\nint main(int argc, char **argv) {{\n  if (getchar() == 'x')\n    {message}\n  return argc > 9;\n}}\n"
        )
    };
    let versions = versions(&source("no"), &source("bad"));
    let input = versions.stdin(b"x");
    let options = ["--runs", "10", "--stdin", input];
    let report = versions.compare(1, &options);
    let differences = findings(&report, "difference")[0]["differences"].to_string();
    support::assert_contains(&differences, &["\"prog: no x", "\"prog: bad x"]);
    let words = [&["diverge", "old/prog", "new/prog"][..], &options].concat();
    let (text, _) = versions.folder.expect(1, &words);
    support::assert_contains(&text, &["- prog: no x", "+ prog: bad x"]);
}
