//! Where labels go and where they are lost, end to end: each program is small, each fact
//! was once wrong or is easy to get wrong.

mod support;

use serde_json::Value;
use support::Folder;

/// Traces with the self-check on; the program must end as the plain one would, with `exit`.
fn trace(source: &str, arguments: &[&str], exit: i64) -> Value {
    let folder = Folder::new();
    let program = folder.build("prog", source);
    let mut all = vec!["trace", &program, "--self-check", "--json", "--"];
    all.extend(arguments);
    let (text, _) = folder.expect(0, &all);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["result"]["exit"], exit, "{}", report["result"]);
    assert_eq!(report["mismatches"].as_array().unwrap().len(), 0);
    report
}

/// Names of functions that cost precision.
fn losses(report: &Value) -> Vec<String> {
    let losses = report["losses"].as_array().unwrap();
    losses
        .iter()
        .map(|loss| loss["function"].as_str().unwrap_or_default().into())
        .collect()
}

/// Conditions of the branches, in order.
fn conditions(report: &Value) -> Vec<String> {
    let branches = report["branches"].as_array().unwrap();
    branches
        .iter()
        .map(|branch| branch["condition"].as_str().unwrap().into())
        .collect()
}

#[test]
fn an_argument_of_a_function_without_model_is_a_named_loss() {
    let report = trace(
        r#"#include <unistd.h>
        int main(int argc, char **argv) { return isatty(argv[1][0]); }"#,
        &["."],
        0,
    );
    assert_eq!(losses(&report), ["isatty"]);
}

#[test]
fn output_is_no_loss() {
    let report = trace(
        r#"#include <stdio.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            printf("%s %d\n", argv[1], argv[1][0]);
            putchar(argv[1][1]);
            fwrite(argv[1], 1, 2, stdout);
            fflush(stdout);
            return write(1, argv[1], 1) - 1;
        }"#,
        &["ab"],
        0,
    );
    assert!(losses(&report).is_empty(), "{:?}", losses(&report));
}

#[test]
fn walking_over_argv_as_input_tells_loses_nothing() {
    let report = trace(
        r#"#include <string.h>
        static char **at;
        static int accept(const char *word) { int same = strcmp(*at, word) == 0; at += same; return same; }
        int main(int argc, char **argv) {
            at = argv + 1;
            int count = accept("-a") + accept("-b") + accept("-c");
            return *at ? count : 9;
        }"#,
        &["-b", "file"],
        1,
    );
    assert!(losses(&report).is_empty(), "{:?}", losses(&report));
}

#[test]
fn copies_of_nothing_look_at_nothing() {
    trace(
        r#"#include <string.h>
        int main(int argc, char **argv) {
            volatile size_t none = argc - 2;
            memcpy(0, 0, none);
            memset((void *)-1, 0, none);
            struct { char *at; size_t size; } empty = {0, none};
            memmove(empty.at, argv[1], empty.size);
            return argv[1][0] == 'x';
        }"#,
        &["x"],
        1,
    );
}

#[test]
fn recursion_that_the_plain_program_survives_does_not_end_the_traced_one() {
    let report = trace(
        r#"static int depth(int n, const char *p) { return n ? depth(n - 1, p) + (*p == 'x') : 0; }
        int main(int argc, char **argv) { return depth(100000, argv[1]) == 100000; }"#,
        &["x"],
        1,
    );
    assert!(report["stats"]["nodes"].as_u64().unwrap() > 1000);
}

#[test]
fn the_bits_that_c_leaves_open_have_no_expression() {
    let report = trace(
        r#"int main(int argc, char **argv) {
            unsigned zero = argv[1][0] - 'a';
            volatile unsigned bits = __builtin_clz(zero);
            return bits == 12345;
        }"#,
        &["a"],
        0,
    );
    assert!(conditions(&report).is_empty(), "{:?}", conditions(&report));
    assert_eq!(report["losses"].as_array().unwrap().len(), 1);
}

#[test]
fn bytes_that_libc_changed_carry_no_label_of_before() {
    let report = trace(
        r#"#define _GNU_SOURCE
        #include <string.h>
        int main(int argc, char **argv) {
            memfrob(argv[1], 3);
            return argv[1][0] == ('c' ^ 42);
        }"#,
        &["cab"],
        1,
    );
    assert!(conditions(&report).is_empty(), "{:?}", conditions(&report));
    assert!(
        losses(&report).contains(&"memfrob".into()),
        "{:?}",
        losses(&report)
    );
}

#[test]
fn values_survive_structures_by_value_and_variable_arguments() {
    let report = trace(
        r#"#include <stdarg.h>
        struct big { char pad[30]; char c; };
        struct pair { long a; int b; };
        static struct pair swap(struct pair p) { return (struct pair){p.b, p.a}; }
        static char last(struct big b) { return b.c; }
        static int second(int n, ...) { va_list l; va_start(l, n); va_arg(l, double); int x = va_arg(l, int); va_end(l); return x; }
        int main(int argc, char **argv) {
            struct big b = {"", argv[1][0]};
            struct pair p = swap((struct pair){argv[1][1], 7});
            return (last(b) == 'x') + 2 * (p.b == 'y') + 4 * (second(2, 1.5, argv[1][2]) == 'z');
        }"#,
        &["xyz"],
        7,
    );
    assert!(losses(&report).is_empty(), "{:?}", losses(&report));
    assert_eq!(
        report["stats"]["inputs"].as_u64().unwrap_or(4),
        4,
        "{}",
        report["stats"]
    );
}

#[test]
fn a_large_structure_among_variable_arguments_is_a_recorded_loss() {
    let report = trace(
        r#"#include <stdarg.h>
        struct big { char pad[30]; char c; };
        static char last(int n, ...) {
            va_list l;
            va_start(l, n);
            struct big b = va_arg(l, struct big);
            va_end(l);
            return b.c;
        }
        int main(int argc, char **argv) {
            struct big b = {"", argv[1][0]};
            return last(1, b) == 'x';
        }"#,
        &["x"],
        1,
    );
    assert_eq!(
        report["losses"].as_array().unwrap().len(),
        1,
        "{}",
        report["losses"]
    );
}

#[test]
fn a_limit_of_zero_that_input_gives_is_a_branch_of_what_it_limits() {
    for call in [
        r#"memcmp("ab", "cd", n)"#,
        r#"strncmp("ab", "cd", n)"#,
        r#"strncasecmp("ab", "cd", n)"#,
        r#"(int)strnlen("ab", n)"#,
        r#"memchr("ab", 'a', n) != 0"#,
        r#"memrchr("ab", 'a', n) != 0"#,
        r#"memmem("ab", n, "a", 1) != 0"#,
    ] {
        let source = format!(
            "#define _GNU_SOURCE\n#include <string.h>\n#include <strings.h>\n\
             int main(int argc, char **argv) {{ size_t n = argv[1][0] - '0'; return {call}; }}"
        );
        let report = trace(&source, &["0"], 0);
        assert!(!conditions(&report).is_empty(), "{call}");
        assert!(losses(&report).is_empty(), "{call}");
    }
}
