//! What `trace`, `variant` and `doctor` show of a small program.

mod support;

use std::fs::{self, File};
use std::time::SystemTime;

use serde_json::Value;
use support::{Folder, assert_contains, expect};

const PROGRAM: &str = r#"
#include <stdio.h>
#include <unistd.h>
static const unsigned char table[16] = { 0, 3, 5, 7, 9 };
static int look(const char *text, int count) {
    if (text[0] == 'A')
        return 1;
    switch (text[0]) {
    case 'x': return table[text[1] & 15];
    case 'y': return 100 / (text[1] - 'b');
    }
    return count;
}
int main(int argc, char **argv) {
    char byte;
    int lines = 0;
    int found = look(argv[1], argc);
    while (read(0, &byte, 1) == 1)
        if (byte == '\n')
            lines++;
    write(1, "done\n", 5);
    write(2, "\033[31mred\n", 9);
    return found == 0 ? 3 : lines;
}
"#;

fn traced(folder: &Folder, options: &[&str], argument: &str) -> String {
    let program = folder.build("prog", PROGRAM);
    folder.file("input", "one\ntwo\n");
    let mut arguments = vec!["trace", &program, "--stdin", "input"];
    arguments.extend(options);
    arguments.extend(["--", argument]);
    folder.expect(0, &arguments).0
}

fn json(folder: &Folder, options: &[&str], argument: &str) -> Value {
    let mut all = vec!["--json"];
    all.extend(options);
    serde_json::from_str(&traced(folder, &all, argument)).unwrap()
}

#[test]
fn the_report_names_places_sides_and_conditions_over_the_input() {
    let folder = Folder::new();
    let text = traced(&folder, &[], "yc");
    assert_contains(
        &text,
        &[
            "./prog ended with exit code 2",
            "done",
            "prog.c:6:",
            "in look",
            "if (text[0] == 'A')",
            "false  argv[1][0] == 'A'",
            "case 'y'",
            "prog.c:19:",
            "false  stdin[0] == '\\n'",
            "… 4 more",
            "division",
            "Totals",
            "stdin (8 bytes, to its end)",
        ],
    );
}

#[test]
fn output_of_the_program_cannot_reach_the_terminal_raw() {
    let folder = Folder::new();
    let text = traced(&folder, &[], "B");
    assert!(!text.contains('\x1b'), "{text:?}");
    assert_contains(&text, &["red"]);
}

#[test]
fn everything_is_shown_on_demand() {
    let folder = Folder::new();
    let text = traced(&folder, &["--all"], "B");
    assert_contains(&text, &["true   stdin[7] == '\\n'"]);
    assert!(!text.contains("… "), "{text}");
    let text = traced(&folder, &["--events"], "B");
    assert_contains(
        &text,
        &[
            "started, pid",
            "1 byte of stdin from offset 7",
            "stdin[7] == '\\n' is true",
        ],
    );
}

#[test]
fn json_has_the_documented_fields() {
    let folder = Folder::new();
    let report = json(&folder, &[], "x1");
    assert_eq!(report["schema"], 1);
    assert_eq!(report["command"], "trace");
    assert_eq!(report["program"], "./prog");
    let result = &report["result"];
    assert_eq!(result["exit"], 2);
    assert_eq!(result["signal"], Value::Null);
    assert_eq!(result["sanitizer"], Value::Null);
    assert_eq!(result["stdout"], "done\n");
    assert_eq!(result["stderr"], "\x1b[31mred\n");
    let branches = report["branches"].as_array().unwrap();
    let first = &branches[0];
    assert_eq!(
        (&first["line"], &first["function"], &first["taken"]),
        (&6.into(), &"look".into(), &false.into())
    );
    let file = first["file"].as_str().unwrap();
    assert!(file.starts_with('/') && file.ends_with("/prog.c"), "{file}");
    assert_eq!(first["condition"], "argv[1][0] == 'A'");
    assert_eq!(first["stack"][0]["function"], "main");
    let switch = branches
        .iter()
        .find(|branch| branch["kind"] == "switch")
        .unwrap();
    assert_eq!(switch["taken"], u32::from(b'x'));
    let read = &report["sensitive"][0];
    assert_eq!(
        (&read["kind"], &read["object"]["size"]),
        (&"load".into(), &16.into())
    );
    assert_eq!(read["object"]["name"], "table");
    assert_eq!(report["mismatches"], Value::Null);
    for field in ["nodes", "events", "sources", "seconds"] {
        assert!(report["stats"][field].is_number(), "{field}");
    }
}

#[test]
fn the_self_check_compares_with_the_real_input() {
    let folder = Folder::new();
    let report = json(&folder, &["--self-check"], "x1");
    assert_eq!(report["mismatches"], Value::Array(Vec::new()));
    // Two bytes of the argument, its end, and eight of standard input at most; those that no
    // branch looks at need not be there.
    assert!(report["stats"]["checked_inputs"].as_u64().unwrap() >= 10);
    assert_eq!(report["stats"]["unchecked_inputs"], 0);
}

#[test]
fn only_what_is_asked_for_is_symbolic() {
    let folder = Folder::new();
    let report = json(&folder, &["--symbolic", "argv"], "B");
    let conditions: Vec<_> = report["branches"].as_array().unwrap().iter().collect();
    assert!(!conditions.is_empty());
    for branch in conditions {
        assert!(
            branch["condition"].as_str().unwrap().contains("argv"),
            "{branch}"
        );
    }
}

#[test]
fn the_program_can_write_to_the_terminal_itself() {
    let folder = Folder::new();
    let program = folder.build("prog", PROGRAM);
    let mut command = folder.command(&["trace", &program, "--pass-through", "--", "B"]);
    command.stdin(std::fs::File::open(folder.file("input", "x\n")).unwrap());
    let (stdout, stderr) = expect(0, command);
    assert!(stdout.starts_with("done\n"), "{stdout}");
    assert_contains(&stderr, &["red"]);
    assert_contains(&stdout, &["stdin[1] == '\\n'"]);
}

#[test]
fn a_variant_can_be_put_where_it_is_wanted() {
    let folder = Folder::new();
    let program = folder.build("prog", PROGRAM);
    let (path, _) = folder.expect(0, &["variant", &program]);
    assert!(std::path::Path::new(path.trim()).is_file(), "{path}");
    folder.expect(0, &["variant", &program, "--kind", "traced", "-o", "copy"]);
    let status = std::process::Command::new(folder.path().join("copy"))
        .arg("B")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    let (_, error) = folder.expect(2, &["variant", &program, "-o", "no/such/folder/x"]);
    assert_contains(&error, &["cannot write no/such/folder/x"]);
}

#[test]
fn doctor_says_how_much_is_captured() {
    let folder = Folder::new();
    folder.file("foreign.c", "int foreign(void) { return 0; }\n");
    let clang = std::process::Command::new("clang-19")
        .args(["-c", "foreign.c"])
        .current_dir(folder.path())
        .status()
        .unwrap();
    assert!(clang.success());
    folder.file(
        "main.c",
        "int foreign(void); int main(void) { __asm__ volatile (\"nop\"); return foreign(); }\n",
    );
    folder.expect(0, &["cc", "--", "-o", "prog", "main.c", "foreign.o"]);
    let (text, _) = folder.expect(0, &["doctor", "./prog"]);
    assert_contains(
        &text,
        &[
            "clang 19",
            "1 module, 1 function",
            "inline assembly",
            "1 piece",
            "foreign.o",
            "none yet",
        ],
    );
    folder.expect(0, &["variant", "./prog", "--kind", "covered"]);
    let (text, _) = folder.expect(0, &["doctor", "./prog"]);
    assert_contains(&text, &["variants cached   covered"]);
}

#[test]
fn cleaning_removes_derived_programs_and_leaves_the_plain_ones() {
    let folder = Folder::new();
    let program = folder.build("prog", PROGRAM);
    let cache = folder.path().join("cache");
    let with_cache = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.env("XDG_CACHE_HOME", &cache);
        expect(0, command).0
    };
    let path = with_cache(&["variant", &program]);
    let derived = std::path::Path::new(path.trim());
    assert!(derived.starts_with(&cache) && derived.exists(), "{path}");
    assert_contains(&with_cache(&["clean"]), &["nothing was removed"]);
    assert!(derived.exists());
    assert_contains(&with_cache(&["clean", "--yes"]), &["removed the variants"]);
    assert!(!derived.exists());
    assert!(folder.path().join("prog").exists());
    assert_contains(&with_cache(&["clean"]), &["variants of programs: 0 files"]);
}

#[test]
fn cleaning_removes_kept_sources_if_asked_to_and_what_killed_runs_left() {
    let folder = Folder::new();
    let (cache, temporary) = (folder.path().join("cache"), folder.path().join("tmp"));
    let kept = cache.join("parallax/capture");
    fs::create_dir_all(&kept).unwrap();
    fs::create_dir_all(temporary.join("parallax-run-killed")).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH;
    let left = File::open(temporary.join("parallax-run-killed")).unwrap();
    left.set_modified(long_ago).unwrap();
    drop(left);
    let clean = |options: &[&str]| {
        let mut command = folder.command(&[&["clean", "--yes"], options].concat());
        command
            .env("XDG_CACHE_HOME", &cache)
            .env("TMPDIR", &temporary)
            .env_remove("PARALLAX_STORE");
        expect(0, command).0
    };
    assert_contains(&clean(&[]), &["removed 1 directory of runs"]);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert!(kept.exists());
    assert_contains(&clean(&["--sources"]), &["removed the sources"]);
    assert!(!kept.exists());
}

#[test]
fn names_that_arguments_make_are_compared_with_the_files_that_they_name() {
    let folder = Folder::new();
    let program = folder.build(
        "opens",
        "#include <fcntl.h>\nint main(int argc, char **argv) { return open(argv[1], O_RDONLY) < 0; }",
    );
    folder.file("in.txt", "x");
    let (text, _) = folder.expect(0, &["trace", &program, "--all", "--", "in.txt"]);
    assert_contains(&text, &["inside open", "argv[1][3] == 't'"]);
}

#[test]
fn control_characters_of_the_output_stay_in_the_json() {
    let folder = Folder::new();
    let program = folder.build(
        "control",
        "#include <unistd.h>\nint main(void) { return write(1, \"a\\x7f\\x1b[1mb\", 7) != 7; }",
    );
    let (text, _) = folder.expect(0, &["trace", &program, "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["result"]["stdout"], "a\u{7f}\u{1b}[1mb");
}
