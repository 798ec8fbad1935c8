//! Two versions become one source, from which both come out again: by the text for each of the paper's patterns, and by
//! what the programs print.

use std::fs;
use std::path::Path;
use std::process::Command;

use parallax_annotate::{Side, side, unify};

/// A function around statements.
fn function(body: &str) -> String {
    format!("int f(int a, int b) {{\n  int x = a;\n{body}\n  return x;\n}}\n")
}

/// The body of the annotated source of two bodies.
#[track_caller]
fn annotated(old: &str, new: &str) -> String {
    let unified = unify(&function(old), &function(new));
    assert_eq!(unified.by_hand, [], "{}", unified.text);
    let start = unified.text.find("int x = a;\n").unwrap() + "int x = a;\n".len();
    let end = unified.text.rfind("\n  return x;").unwrap();
    let body = &unified.text[start..end];
    body.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn expressions_are_annotated_as_deep_inside_as_possible() {
    let cases = [
        // 1a, 1b, 1c.
        ("x = b + 1;", "x = b + a * 2;", "x = b + change(1, a * 2);"),
        ("g(a, b + 1);", "g(a, b + 2);", "g(a, b + change(1, 2));"),
        (
            "if (a > 1) x = 2;",
            "if (b != 3) x = 2;",
            "if (change(a > 1, b != 3)) x = 2;",
        ),
        // 1d and 1e: a clause was added.
        (
            "if (a > 1) x = 2;",
            "if (a > 1 || b) x = 2;",
            "if (a > 1 || change(0, b)) x = 2;",
        ),
        (
            "if (a > 1) x = 2;",
            "if (a > 1 && b > 4) x = 2;",
            "if (a > 1 && change(1, b > 4)) x = 2;",
        ),
        // 1f and 1g: a clause was removed.
        (
            "if (a > 1 || b) x = 2;",
            "if (b) x = 2;",
            "if (change(a > 1 || b, b)) x = 2;",
        ),
        (
            "if (a > 1 && b) x = 2;",
            "if (b) x = 2;",
            "if (change(a > 1 && b, b)) x = 2;",
        ),
        // Places are not values.
        ("p(&a);", "p(&b);", "p(change(&a, &b));"),
        (
            "while (a < 3) { x++; g(x); }",
            "while (a < 4) { x++; g(x); }",
            "while (a < change(3, 4)) { x++; g(x); }",
        ),
        (
            "for (x = 0; x < a; x++) g(x);",
            "for (x = 1; x < a; x++) g(x);",
            "for (x = change(0, 1); x < a; x++) g(x);",
        ),
    ];
    for (old, new, unified) in cases {
        assert_eq!(annotated(old, new), unified);
    }
}

#[test]
fn statements_of_one_version_are_guarded() {
    let cases = [
        // 2a and 2b.
        ("", "x = b;", "x = change(x, b);"),
        ("x = b;", "", "x = change(b, x);"),
        // 2c and 2d.
        ("", "if (b) g(a);", "if (change(0, b)) g(a);"),
        ("if (b) g(a);", "", "if (change(b, 0)) g(a);"),
        // 3a and 3b.
        ("", "g(a);", "if (change(0, 1)) { g(a); }"),
        ("g(a);", "", "if (change(1, 0)) { g(a); }"),
        // 4: a variable more; what its value does is done in its version only.
        ("", "int y = b;", "int y = b;"),
        ("int y = h(b);", "", "int y = change(h(b), 0);"),
        // An alternative of one version.
        (
            "if (a) g(1); else g(2);",
            "if (a) g(1);",
            "if (a) { g(1); } else if (change(1, 0)) { g(2); }",
        ),
        (
            "if (a) g(1);",
            "if (a) g(1); else g(2);",
            "if (a) g(1); else if (change(0, 1)) { g(2); }",
        ),
    ];
    for (old, new, unified) in cases {
        assert_eq!(annotated(old, new), unified);
    }
}

#[test]
fn functions_constants_and_macros_of_both_versions_are_kept() {
    let old = "#define LIMIT 10\nstatic int gone(int a) { return a; }\nint top = 1;\nint f(int a) { return gone(a) > LIMIT; }\n";
    let new = "#define LIMIT 20\nint top = 2;\nstatic int more(int a) { return a + top; }\nint f(int a) { return more(a) > LIMIT; }\n";
    let unified = unify(old, new);
    assert_eq!(unified.by_hand, []);
    for part in [
        "#include <parallax.h>\n#define LIMIT change(10, 20)",
        "static int gone(int a) { return a; }",
        "static int more(int a)",
        "int top = change(1, 2);",
        "return change(gone(a), more(a)) > LIMIT;",
    ] {
        assert!(unified.text.contains(part), "{}", unified.text);
    }
}

#[test]
fn what_fits_no_pattern_is_named() {
    let labels = unify(
        &function("switch (a) { case 1: x = 2; break; }"),
        &function("switch (a) { case 1: x = 2; break; case 2: x = 3; break; }"),
    );
    assert_eq!(labels.by_hand[0].0, 3, "{labels:?}");
    let parameters = unify(
        "int f(int a) { return a; }\n",
        "int f(long a) { return a; }\n",
    );
    assert_eq!(
        parameters.by_hand,
        [(1, "the function's parameters or type".to_owned())]
    );
}

#[test]
fn the_same_text_needs_no_annotation() {
    let text = function("g(a); /* as it was */");
    let again = function("g( a );");
    assert_eq!(unify(&text, &text).text, text);
    assert_eq!(unify(&text, &again).text, again);
}

/// What a program prints for some arguments.
fn outputs(folder: &Path, name: &str, source: &str) -> Vec<String> {
    let (program, file) = (folder.join(name), folder.join(format!("{name}.c")));
    fs::write(&file, source).unwrap();
    let compiled = Command::new("cc")
        .args(["-w", "-o"])
        .arg(&program)
        .arg(&file)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&compiled.stderr).into_owned();
    assert!(compiled.status.success(), "{message}\n{source}");
    let run = |arguments: &[&str]| {
        let output = Command::new(&program).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        format!("{text} {}", output.status)
    };
    let all: [&[&str]; 6] = [
        &[],
        &["7"],
        &["-3", "x"],
        &["100", "abc", "-"],
        &["12", "a,b;c"],
        &["50", "", "zz"],
    ];
    all.iter().map(|arguments| run(arguments)).collect()
}

#[test]
fn both_versions_of_a_program_come_out_as_they_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (
        include_str!("programs/report_old.c"),
        include_str!("programs/report_new.c"),
    );
    let unified = unify(old, new);
    assert_eq!(unified.by_hand, [], "{}", unified.text);
    assert!(unified.patterns.len() >= 8, "{}", unified.text);
    let plain = unified.text.replace("#include <parallax.h>\n", "\n");
    for (version, original) in [(Side::Old, old), (Side::New, new)] {
        let name = format!("{version:?}");
        let wanted = outputs(folder.path(), &name, original);
        let name = format!("{version:?}-again");
        let made = outputs(folder.path(), &name, &side(&plain, version));
        assert_eq!(made, wanted, "{}", unified.text);
    }
    let differ = outputs(folder.path(), "o", old) != outputs(folder.path(), "n", new);
    assert!(differ, "the versions print the same");
}
