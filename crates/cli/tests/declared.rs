//! Programs written for other tools run unchanged: KLEE's functions and those of SV-COMP.
//! Plain and traced program mean the same.

mod support;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use parallax_scenario::{Object, ktest};
use serde_json::Value;
use support::{Folder, assert_contains, expect, text_of};

/// A program in a folder.
struct Bench {
    folder: Folder,
}

impl Bench {
    fn new(source: &str) -> Bench {
        Bench::with_options(source, &[])
    }

    fn with_options(source: &str, options: &[&str]) -> Bench {
        let folder = Folder::new();
        folder.file("prog.c", source);
        let mut arguments = vec!["cc", "--", "-g", "-o", "prog", "prog.c"];
        arguments.extend(options);
        let output = folder.parallax(&arguments);
        assert!(output.status.success(), "{}", text_of(&output.stderr));
        assert_eq!(text_of(&output.stderr), "");
        Bench { folder }
    }

    /// Writes the test case that the runs get.
    fn give(&self, objects: &[&[u8]]) {
        let object = |bytes: &&[u8]| Object {
            name: b"any".into(),
            bytes: bytes.to_vec().into(),
        };
        let objects: Vec<Object> = objects.iter().map(object).collect();
        let path = self.folder.path().join(ktest::FILE_NAME);
        fs::write(path, ktest::encode(&objects)).unwrap();
    }

    /// Runs the plain program.
    fn plain(&self) -> Output {
        Command::new("./prog")
            .current_dir(self.folder.path())
            .env(ktest::VARIABLE, ktest::FILE_NAME)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Traces with the self-check on; everything must have ended as in the plain program.
    fn trace(&self) -> Value {
        let arguments = ["trace", "./prog", "--self-check", "--json"];
        let mut command = self.folder.command(&arguments);
        command.env(ktest::VARIABLE, ktest::FILE_NAME);
        let (text, _) = expect(0, command);
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["mismatches"].as_array().unwrap().len(), 0);
        let plain = self.plain();
        let result = &report["result"];
        assert_eq!(result["exit"].as_i64(), plain.status.code().map(i64::from));
        let aborted = plain.status.signal().map(|signal| signal == libc::SIGABRT);
        let is_abort = result["signal_name"]
            .as_str()
            .map(|signal| signal == "SIGABRT");
        assert_eq!(is_abort, aborted, "{result}");
        assert_eq!(result["stdout"], text_of(&plain.stdout));
        assert_eq!(result["stderr"], text_of(&plain.stderr));
        report
    }
}

fn list<'a>(report: &'a Value, name: &str, field: &str) -> Vec<&'a str> {
    let entries = report[name].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry[field].as_str().unwrap())
        .collect()
}

#[test]
fn memory_that_klee_makes_symbolic_is_input_with_the_contents_of_the_test_case() {
    let bench = Bench::new(
        r#"#include <klee/klee.h>
        #include <stdio.h>
        int main(void) {
            unsigned x;
            char text[3] = "no";
            klee_make_symbolic(&x, sizeof x, "x");
            klee_make_symbolic(text, sizeof text, "text");
            if (x == 7)
                puts("seven");
            if (text[1] == 'b')
                puts("b");
            return klee_int("last") == 5 ? 3 : 4;
        }"#,
    );
    let conditions = [
        "u32(object(\"x\")[0..4]) == 7",
        "object(\"text\")[1] == 'b'",
        "u32(object(\"last\")[0..4]) == 5",
    ];
    // Without a test case: zeros.
    let report = bench.trace();
    assert_eq!(report["result"]["exit"], 4);
    assert_eq!(list(&report, "branches", "condition"), conditions);
    // Contents that are too short are filled with zeros, those that are too long are cut.
    bench.give(&[&[7], b"abcdef", &[5, 0, 0, 0]]);
    let report = bench.trace();
    assert_eq!(report["result"]["exit"], 3);
    assert_eq!(report["result"]["stdout"], "seven\nb\n");
    assert_eq!(report["stats"]["unchecked_inputs"], 0);
    assert_eq!(list(&report, "branches", "condition"), conditions);
    bench.give(&[&[1], b"abc"]);
    assert_eq!(bench.trace()["result"]["stdout"], "b\n");
    fs::write(bench.folder.path().join(ktest::FILE_NAME), "nonsense").unwrap();
    assert_eq!(bench.trace()["result"]["stdout"], "");
}

#[test]
fn a_size_that_depends_on_the_input_is_fixed_and_told() {
    let bench = Bench::new(
        r#"#include <klee/klee.h>
        int main(void) {
            unsigned char size, text[300];
            klee_make_symbolic(&size, sizeof size, "size");
            klee_make_symbolic(text, size + 1u, "text");
            if (text[0] == 'x')
                return 1;
            return 0;
        }"#,
    );
    bench.give(&[&[3], b"xyz"]);
    let report = bench.trace();
    assert_eq!(report["result"]["exit"], 1);
    assert_eq!(list(&report, "losses", "function"), ["klee_make_symbolic"]);
    assert_eq!(report["fixed"][0]["value"], "4", "{}", report["fixed"]);
    assert_eq!(
        list(&report, "branches", "condition"),
        ["object(\"text\")[0] == 'x'"]
    );
}

#[test]
fn an_assumption_is_no_branch_and_ends_the_program_silently() {
    let bench = Bench::new(
        r#"#include <klee/klee.h>
        #include <stdio.h>
        int main(void) {
            int x = klee_int("x"), in = klee_range(10, 20, "in");
            printf("lost");
            klee_assume(x < 100);
            puts(" no");
            return in;
        }"#,
    );
    // A range starts with its first value.
    let report = bench.trace();
    assert_eq!(report["result"]["exit"], 10);
    let branches = report["branches"].as_array().unwrap();
    assert!(branches.is_empty(), "{branches:?}");
    assert_eq!(
        list(&report, "assumptions", "condition"),
        [
            "i32(object(\"in\")[0..4]) >= 10 && i32(object(\"in\")[0..4]) < 20",
            "i32(object(\"x\")[0..4]) < 100"
        ]
    );
    bench.give(&[&[100, 0, 0, 0], &[12, 0, 0, 0]]);
    let report = bench.trace();
    assert_eq!(report["result"]["exit"], 0);
    assert_eq!(report["result"]["stdout"], "");
    assert_eq!(report["assumptions"][1]["holds"], false);
    bench.give(&[&[100, 0, 0, 0], &[20, 0, 0, 0]]);
    assert_eq!(bench.trace()["assumptions"][0]["holds"], false);
}

#[test]
fn errors_that_the_program_reports_are_events_and_end_it() {
    let bench = Bench::new(
        r#"#include <assert.h>
        #include <klee/klee.h>
        int main(void) {
            switch (klee_int("way")) {
            case 1: klee_report_error("file.c", 7, "wrong", "err");
            case 2: klee_assert(sizeof(int) == 1);
            case 3: assert(!"never");
            case 4: klee_abort();
            case 5: klee_silent_exit(9);
            }
            return 0;
        }"#,
    );
    let expected: [(u8, &[&str], &str); 5] = [
        (1, &["error"], "parallax: file.c:7: wrong (err)\n"),
        (2, &["assertion"], "sizeof(int) == 1"),
        (3, &["assertion"], "never"),
        (4, &[], ""),
        (5, &[], ""),
    ];
    for (way, kinds, message) in expected {
        bench.give(&[&[way, 0, 0, 0]]);
        let report = bench.trace();
        assert_eq!(list(&report, "reports", "kind"), kinds);
        assert_contains(&text_of(&bench.plain().stderr), &[message]);
        let ended = (&report["result"]["exit"], &report["result"]["signal_name"]);
        match way {
            5 => assert_eq!(ended, (&9.into(), &Value::Null)),
            _ => assert_eq!(ended, (&Value::Null, &"SIGABRT".into())),
        }
    }
    let (text, _) = {
        bench.give(&[&[1, 0, 0, 0]]);
        let mut command = bench.folder.command(&["trace", "./prog"]);
        command.env(ktest::VARIABLE, ktest::FILE_NAME);
        expect(0, command)
    };
    assert_contains(
        &text,
        &["file.c:7: wrong (err)", "object(\"way\") (4 bytes)"],
    );
}

#[test]
fn advice_to_klee_costs_nothing_and_changes_nothing() {
    let bench = Bench::new(
        r#"#include <klee/klee.h>
        int main(void) {
            int x = klee_int("x");
            klee_open_merge();
            klee_prefer_cex(&x, x == 1);
            klee_posix_prefer_cex(&x, x == 1);
            klee_print_expr("x", x, 2);
            klee_print_range("x", x);
            klee_mark_global(&x);
            klee_set_forking(0);
            klee_alias_function("a", "b");
            klee_stack_trace();
            klee_warning("careful");
            klee_warning_once("once");
            klee_warning_once("once");
            klee_check_memory_access(&x, sizeof x);
            klee_close_merge();
            return klee_is_symbolic(x) + klee_choose(3);
        }"#,
    );
    let report = bench.trace();
    assert!(
        report["losses"].as_array().unwrap().is_empty(),
        "{}",
        report["losses"]
    );
    assert!(
        report["fixed"].as_array().unwrap().is_empty(),
        "{}",
        report["fixed"]
    );
    let said = "parallax: warning: careful\nparallax: warning: once\n";
    assert_eq!(report["result"]["stderr"], said);
}

#[test]
fn a_program_with_its_own_header_and_functions_keeps_them() {
    let bench = Bench::with_options(
        r#"#include <klee/klee.h>
        #include <stdio.h>
        void klee_warning(const char *text) { printf("own %s\n", text); }
        int main(void) {
            klee_warning(OWN);
            return klee_int("x");
        }"#,
        &["-Iown", "-DOWN=\"x\""],
    );
    assert_eq!(bench.trace()["result"]["stdout"], "own x\n");
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("own/klee")).unwrap();
    folder.file("own/klee/klee.h", "#define FROM_OWN 1\n");
    folder.file("a.c", "#include <klee/klee.h>\nint value = FROM_OWN;\n");
    for step in ["-c", "-E", "-fsyntax-only"] {
        let output = folder.parallax(&["cc", "--", "-Iown", step, "a.c"]);
        assert!(output.status.success(), "{}", text_of(&output.stderr));
    }
}

#[test]
fn each_call_of_sv_comp_is_an_input_of_its_own() {
    let bench = Bench::new(
        r#"extern int __VERIFIER_nondet_int();
        extern unsigned char __VERIFIER_nondet_uchar(void);
        extern _Bool __VERIFIER_nondet_bool(void);
        extern double __VERIFIER_nondet_double(void);
        extern void __VERIFIER_assume(int);
        extern void reach_error(void);
        int main(void) {
            int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
            __VERIFIER_assume(a < b || a == 0);
            if (__VERIFIER_nondet_uchar() == 9)
                return 1;
            if (!__VERIFIER_nondet_bool() || __VERIFIER_nondet_double() != 2.25)
                return 2;
            if (b == 42)
                reach_error();
            return 3;
        }"#,
    );
    assert_eq!(bench.trace()["result"]["exit"], 2);
    let double = 2.25_f64.to_le_bytes();
    bench.give(&[&[1], &[42], &[0], &[3], &double]);
    let report = bench.trace();
    assert_eq!(report["result"]["signal_name"], "SIGABRT");
    assert_eq!(
        report["result"]["stderr"],
        "parallax: reach_error() reached\n"
    );
    assert_eq!(list(&report, "reports", "kind"), ["reached-error"]);
    let inputs = list(&report, "inputs", "name");
    assert_eq!(inputs.len(), 5, "{inputs:?}");
    bench.give(&[&[1], &[1]]);
    let report = bench.trace();
    assert_eq!(report["result"]["exit"], 0);
    assert_eq!(report["assumptions"][0]["holds"], false);
}

#[test]
fn a_programs_own_reach_error_is_called() {
    let bench = Bench::new(
        r#"#include <assert.h>
        void reach_error(void) { assert(0); }
        extern unsigned __VERIFIER_nondet_uint(void);
        int main(void) { if (__VERIFIER_nondet_uint() == 0) reach_error(); return 0; }"#,
    );
    let report = bench.trace();
    assert_eq!(report["result"]["signal_name"], "SIGABRT");
    assert_eq!(list(&report, "reports", "kind"), ["assertion"]);
}

#[test]
fn checked_and_covered_programs_declare_their_input_too() {
    let bench = Bench::new(
        r#"#include <klee/klee.h>
        int main(void) {
            char room[4];
            unsigned index = klee_range(0, 100, "index");
            room[index % 4] = 1;
            if (index == 5)
                return ((volatile char *)room)[index];
            return 6;
        }"#,
    );
    bench.give(&[&[5]]);
    for (variant, exit) in [("checked", None), ("covered", Some(6))] {
        let (path, _) = bench
            .folder
            .expect(0, &["variant", "./prog", "--kind", variant]);
        let mut command = Command::new(path.trim());
        if exit.is_some() {
            bench.give(&[&[6]]);
        }
        command.current_dir(bench.folder.path());
        let output = command
            .env(ktest::VARIABLE, ktest::FILE_NAME)
            .output()
            .unwrap();
        match exit {
            Some(code) => assert_eq!(output.status.code(), Some(code)),
            None => assert_contains(&text_of(&output.stderr), &["stack-buffer-overflow"]),
        }
    }
}

#[test]
fn ordinary_programs_contain_nothing_of_this() {
    let folder = Folder::new();
    folder.file("prog.c", "int main(void) { return 0; }");
    for options in [
        &[][..],
        &["-static"],
        &["-Wl,--whole-archive", "-Wl,--no-whole-archive"],
    ] {
        let mut all = vec!["cc", "--", "-o", "prog", "prog.c"];
        all.extend(options);
        assert!(folder.parallax(&all).status.success());
        let output = Command::new("nm")
            .arg(folder.path().join("prog"))
            .output()
            .unwrap();
        let symbols = text_of(&output.stdout);
        assert!(symbols.contains(" main"));
        assert!(
            !symbols.contains("klee") && !symbols.contains("parallax"),
            "{symbols}"
        );
    }
}

#[test]
fn a_missing_main_is_still_an_error() {
    let folder = Folder::new();
    folder.file("prog.c", "int value;");
    let output = folder.parallax(&["cc", "--", "-o", "prog", "prog.c"]);
    assert!(!output.status.success());
    assert_contains(&text_of(&output.stderr), &["main"]);
}

#[test]
fn exploration_meets_demands_and_finds_errors_behind_them() {
    let bench = Bench::new(
        r#"#include <klee/klee.h>
        extern void reach_error(void);
        int main(void) {
            unsigned x, y;
            klee_make_symbolic(&x, sizeof x, "x");
            klee_assume(x > 1000);
            klee_make_symbolic(&y, sizeof y, "y");
            klee_assume(y == x * 3);
            if (x % 1000 == 77)
                reach_error();
            return 0;
        }"#,
    );
    let options = ["--json", "--time", "60"];
    let mut all = vec!["explore", "./prog"];
    all.extend(options);
    let report: Value = serde_json::from_str(&bench.folder.expect(1, &all).0).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report:#}");
    let objects = findings[0]["scenario"]["objects"].as_array().unwrap();
    assert_eq!(objects.len(), 2);
    assert_eq!(
        (&objects[0]["name"], &objects[1]["name"]),
        (&"x".into(), &"y".into())
    );
}
