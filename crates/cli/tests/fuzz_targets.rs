//! Targets for libFuzzer are programs: what libFuzzer's own `main` would run them on is their input.

mod support;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use serde_json::Value;
use support::{Folder, assert_contains, text_of};

/// Compiles without a word.
fn cc(folder: &Folder, arguments: &[&str]) {
    let output = folder.parallax(&[&["cc", "--"], arguments].concat());
    assert!(output.status.success(), "{}", text_of(&output.stderr));
    assert_eq!(text_of(&output.stderr), "");
}

const TARGET: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int LLVMFuzzerInitialize(int *argc, char ***argv) { puts("ready"); fflush(stdout); return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 3 && data[2] == data[0] && data[0] == 'a' && data[1] == 'b')
        abort();
    return 0;
}
"#;

#[test]
fn a_target_for_libfuzzer_gets_a_main_that_runs_it_on_a_file_or_standard_input() {
    for options in [&["-fsanitize=fuzzer"][..], &["-fsanitize=address,fuzzer"]] {
        let folder = Folder::new();
        folder.file("prog.c", TARGET);
        cc(
            &folder,
            &[&["-g", "-o", "prog", "prog.c"], options].concat(),
        );
        folder.file("good", "abc");
        folder.file("bad", "aba");
        let report = |arguments: &[&str]| -> Value {
            let mut all = vec!["trace", "./prog", "--self-check", "--json"];
            all.extend(arguments);
            serde_json::from_str(&folder.expect(0, &all).0).unwrap()
        };
        let by_name = report(&["--", "-runs=1", "good"]);
        assert_eq!(by_name["result"]["exit"], 0);
        assert_eq!(by_name["result"]["stdout"], "ready\n");
        let branches = by_name["branches"].as_array().unwrap();
        let condition = "file(\"good\")[0] == file(\"good\")[2]";
        assert!(
            branches
                .iter()
                .any(|branch| branch["condition"] == condition),
            "{branches:?}"
        );
        let by_stdin = report(&["--stdin", "bad"]);
        assert_eq!(by_stdin["result"]["signal_name"], "SIGABRT");
        let run = |file: &str| {
            let path = folder.path().join("prog");
            let mut command = Command::new(path);
            command.current_dir(folder.path()).arg(file);
            command.output().unwrap().status
        };
        assert!(run("good").success());
        assert_eq!(run("bad").signal(), Some(libc::SIGABRT));
    }
}

#[test]
fn parts_of_a_fuzz_target_compile_apart_and_a_main_of_its_own_wins() {
    let folder = Folder::new();
    folder.file("target.c", TARGET);
    folder.file("main.c", "int main(void) { return 5; }");
    let cc = |arguments: &[&str]| cc(&folder, arguments);
    cc(&["-fsanitize=fuzzer-no-link", "-c", "target.c"]);
    cc(&["-fsanitize=fuzzer", "-c", "main.c"]);
    cc(&["-fsanitize=fuzzer", "target.o", "main.o", "-o", "prog"]);
    let status = Command::new(folder.path().join("prog")).status().unwrap();
    assert_eq!(status.code(), Some(5));
    let (text, _) = folder.expect(0, &["trace", "./prog"]);
    assert_contains(&text, &["exit code 5"]);
}
