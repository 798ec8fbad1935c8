//! What is recorded of a run: everything that the program was given, and nothing that it made itself.

mod support;

use parallax_recorder::End;
use support::{CAT, Project, bytes, texts};

fn with_cat() -> Project {
    let mut project = Project::new();
    project.program("cat", CAT);
    project
}

#[test]
fn arguments_files_and_results_are_recorded() {
    let project = with_cat();
    project.write("one", "1\n");
    project.write("sub/two", "2\n");
    let run = project
        .sh("./cat one sub/two none '' || test $? = 1")
        .only();
    let scenario = &run.scenario;
    assert_eq!(run.program, bytes("cat"));
    assert_eq!(scenario.name, Some(bytes("./cat")));
    assert_eq!(scenario.argv, ["one", "sub/two", "none", ""].map(bytes));
    assert_eq!(texts(&scenario.files), ["one=1\n", "sub/two=2\n"]);
    assert_eq!(run.result.exit, Some(1));
    assert_eq!(run.result.stdout, bytes("1\n2\n"));
    assert_eq!(run.result.stderr, bytes("no none\nno \n"));
    assert_eq!(run.notes, [""; 0]);
}

#[test]
fn standard_input_is_recorded_as_it_was_consumed() {
    let project = with_cat();
    project.write("in", "from a file\n");
    let stdin = |line: &str| project.sh(line).only().scenario;
    assert_eq!(stdin("./cat < in").stdin, bytes("from a file\n"));
    // From where the shell left it.
    assert_eq!(
        stdin("{ dd bs=1 count=5 2>/dev/null; ./cat; } < in").stdin,
        bytes("a file\n")
    );
    assert_eq!(stdin("echo piped | ./cat").stdin, bytes("piped\n"));
    assert_eq!(
        stdin("{ echo 1; sleep 0.1; echo 2; } | ./cat").stdin,
        bytes("1\n2\n")
    );
    assert_eq!(stdin("./cat /dev/stdin < in").stdin, bytes("from a file\n"));
    assert_eq!(stdin("echo x | ./cat /dev/stdin").stdin, bytes("x\n"));
    assert_eq!(stdin("./cat </dev/null").stdin, bytes(""));
    // Nobody read it.
    assert_eq!(stdin("./cat in < in").stdin, bytes(""));
    assert!(stdin("./cat <&-").closed_stdin);
}

#[test]
fn both_outputs_are_told_apart_even_in_one_file() {
    let project = with_cat();
    project.write("in", "x\n");
    for line in [
        "./cat in none > log 2>&1 || :",
        "./cat in none 2>&1 | tr a b",
        "./cat in none >/dev/null 2>/dev/null || :",
        "out=$(./cat in none 2>err) || :",
    ] {
        let run = project.sh(line).only();
        assert_eq!(run.result.stdout, bytes("x\n"), "{line}");
        assert_eq!(run.result.stderr, bytes("no none\n"), "{line}");
    }
}

#[test]
fn what_a_program_made_itself_is_no_input() {
    let mut project = Project::new();
    project.program(
        "work",
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        #include <sys/stat.h>
        static void put(const char *p, const char *t) { FILE *f = fopen(p, "w"); fputs(t, f); fclose(f); }
        int main() {
            char line[9];
            put("new", "made");
            mkdir("dir", 0777);
            put("dir/in", "made");
            FILE *f = fopen("new", "r"); fgets(line, 9, f); fclose(f);
            f = fopen("dir/in", "r"); fgets(line, 9, f); fclose(f);
            f = fopen("old", "r+"); fgets(line, 9, f); rewind(f); fputs("changed", f); fclose(f);
            f = fopen("old", "r"); fgets(line, 9, f); fclose(f);
            rename("moved", "target");
            unlink("gone");
            f = fopen("target", "r"); fgets(line, 9, f); fclose(f);
            return 0;
        }"#,
    );
    for name in ["old", "moved", "gone", "untouched"] {
        project.write(name, name);
    }
    let scenario = project.sh("./work").only().scenario;
    assert_eq!(
        texts(&scenario.files),
        ["gone=gone", "moved=moved", "old=old"]
    );
    assert!(scenario.directories.is_empty());
}

#[test]
fn directories_links_and_permissions_are_recorded() {
    let mut project = Project::new();
    project.program(
        "list",
        r#"
        #define _GNU_SOURCE
        #include <dirent.h>
        #include <sys/stat.h>
        #include <unistd.h>
        #include <fcntl.h>
        int main() {
            char to[99];
            struct stat st;
            DIR *d = opendir("listed");
            while (readdir(d));
            stat("looked-at", &st);
            stat("link", &st);
            readlink("dangling", to, 99);
            int fd = open("at", O_DIRECTORY | O_PATH);
            close(openat(fd, "../at/below", O_RDONLY));
            return 0;
        }"#,
    );
    project.write("listed/file", "not read");
    project.write("looked-at", "small");
    project.write("real", "there");
    project.write("at/below", "x");
    project.sh("mkdir listed/empty; ln -s real link; ln -s nowhere dangling; chmod 600 looked-at; chmod 700 at");
    let scenario = project.sh("umask 77; ./list").only().scenario;
    assert_eq!(
        texts(&scenario.files),
        [
            "at/below=x",
            "listed/file=",
            "looked-at=small",
            "real=there"
        ]
    );
    assert_eq!(texts(&scenario.links), ["dangling=nowhere", "link=real"]);
    assert_eq!(
        scenario.directories.iter().collect::<Vec<_>>(),
        [&bytes("listed/empty")]
    );
    let modes: Vec<_> = scenario.modes.iter().collect();
    assert_eq!(
        modes,
        [(&bytes("at"), &0o700), (&bytes("looked-at"), &0o600)]
    );
    assert_eq!(scenario.umask, Some(0o77));
}

#[test]
fn scenarios_do_not_depend_on_where_they_were_recorded() {
    let project = with_cat();
    project.write("data/in", "x\n");
    project.write("t/here", "y\n");
    let line = "cd t && $OLDPWD/cat here $OLDPWD/data/in $OLDPWD/none || :";
    let run = project.sh(line).only();
    assert_eq!(run.scenario.directory, bytes("t"));
    assert_eq!(texts(&run.scenario.files), ["data/in=x\n", "t/here=y\n"]);
    let argv = [
        "here",
        "/tmp/parallax-work/data/in",
        "/tmp/parallax-work/none",
    ];
    assert_eq!(run.scenario.argv, argv.map(bytes));
    assert_eq!(run.result.stderr, bytes("no /tmp/parallax-work/none\n"));
    // The path of the program itself.
    assert_eq!(run.scenario.name, None);
}

#[test]
fn variables_that_matter_are_recorded() {
    let mut project = Project::new();
    project.program(
        "ask",
        r#"
        #include <stdlib.h>
        #include <stdio.h>
        int main() { char *v = getenv("ASKED_FOR"); puts(v ? v : "unset"); return 0; }"#,
    );
    let line = "export ASKED_FOR=1 CHOSEN=3; exec sh -c 'LANG=en SET_BY_TEST=4 ./ask'";
    let scenario = project.sh(line).only().scenario;
    let env = texts(&scenario.env);
    for expected in [
        "ASKED_FOR=1",
        "CHOSEN=3",
        "LANG=en",
        "SET_BY_TEST=4",
        "LC_ALL=",
    ] {
        assert!(
            env.iter().any(|variable| variable == expected),
            "{expected}: {env:?}"
        );
    }
    assert!(
        !env.iter().any(|variable| variable.starts_with("PATH=")),
        "{env:?}"
    );
}

#[test]
fn the_same_run_is_kept_once() {
    let project = with_cat();
    project.write("in", "x\n");
    let line = "for i in 1 2 3; do ./cat in; echo $i | ./cat; done; ./cat in | ./cat";
    let recording = project.sh(line);
    assert_eq!(recording.summary.runs, 8);
    assert_eq!(recording.summary.scenarios, 5);
    assert_eq!(recording.runs.len(), 5);
}

#[test]
fn limits_are_kept_and_said() {
    let mut project = with_cat();
    project.limits.file = 4;
    project.limits.stdin = 3;
    project.limits.output = 5;
    project.write("in", "0123456789");
    let run = project.sh("./cat in").only();
    assert_eq!(texts(&run.scenario.files), ["in=0123"]);
    assert_eq!(run.result.stdout, bytes("01234"));
    let notes = [
        "in: 4 of 10 bytes are kept",
        "standard output: 5 bytes more than are kept",
    ];
    assert_eq!(run.notes, notes);
    let run = project.sh("echo 456789 | ./cat").only();
    assert_eq!(run.scenario.stdin, bytes("456"));
    assert_eq!(run.notes.len(), 2);
    project.limits.scenarios = 1;
    let recording = project.sh("for i in 1 2 3; do echo $i | ./cat; sleep 0.2; done");
    assert_eq!(recording.summary.scenarios, 1);
    assert_eq!(
        recording.summary.skipped["the limit of scenarios was reached"],
        2
    );
}

#[test]
fn endings_by_signal_are_recorded() {
    let mut project = Project::new();
    project.program("die", "#include <stdlib.h>\nint main() { abort(); }");
    let recording = project.record(&["sh", "-c", "./die; test $? = 134"]);
    assert_eq!(recording.summary.end, Some(End::Exit(0)));
    let run = recording.only();
    assert_eq!(run.result.exit, None);
    assert_eq!(run.result.signal, Some(libc::SIGABRT));
}

#[test]
fn names_of_one_file_its_date_and_its_size_are_recorded() {
    let mut project = with_cat();
    project.limits.file = 3;
    project.write("a", "12345");
    let line = "ln a b; touch -d '2001-01-01 UTC' a; ./cat a b";
    let scenario = project.sh(line).only().scenario;
    let a = bytes("a");
    assert_eq!(texts(&scenario.files), ["a=123"]);
    assert_eq!(texts(&scenario.hard_links), ["b=a"]);
    assert_eq!(scenario.sizes, [(a.clone(), 5)].into());
    assert_eq!(scenario.times, [(a, 978_307_200_000_000_000)].into());
}

#[test]
fn files_without_a_date_of_their_own_have_none_in_scenarios() {
    let project = with_cat();
    project.write("old", "1");
    let scenario = project.sh("echo 2 > new; ./cat old new").only().scenario;
    assert_eq!(texts(&scenario.files), ["new=2\n", "old=1"]);
    assert!(scenario.times.is_empty(), "{:?}", scenario.times);
}

/// Lists a directory, and says nothing.
const LIST: &str = r#"
#include <dirent.h>
int main(int argc, char **argv) {
    DIR *d = opendir(argv[1]);
    while (d && readdir(d)) { }
    return 0;
}"#;

#[test]
fn entries_are_recorded_in_their_order_even_where_they_cannot_be_looked_at() {
    let mut project = Project::new();
    project.program("list", LIST);
    for name in ["d/x", "d/y", "d/z"] {
        project.write(name, "1");
    }
    let scenario = project.sh("./list d").only().scenario;
    let order: Vec<_> = std::fs::read_dir(project.path("d"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .map(|name| bytes(name.to_str().unwrap()))
        .collect();
    assert_eq!(scenario.listings, [(bytes("d"), order)].into());
    let names: Vec<_> = scenario.files.keys().cloned().collect();
    assert_eq!(names, ["d/x", "d/y", "d/z"].map(bytes));
}

/// Does what its argument says: waits to be ended, or signals the process with that number.
const SIGNAL: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    if (!strcmp(argv[1], "wait")) pause();
    if (!strcmp(argv[1], "child")) {
        pid_t child = fork();
        if (!child) pause();
        return kill(child, SIGTERM);
    }
    if (!strcmp(argv[1], "self")) raise(SIGTERM);
    return kill(atoi(argv[1]), 0);
}"#;

#[test]
fn runs_that_depend_on_other_processes_are_marked() {
    let mut project = Project::new();
    project.program("signal", SIGNAL);
    let unsteady = |line: &str| project.sh(line).only().unsteady;
    let ended = "./signal wait & sleep 0.3; kill $!; wait $! || :";
    assert_eq!(unsteady(ended), ["gets a signal from another process"]);
    let killed = "./signal wait & sleep 0.3; kill -9 $!; wait $! || :";
    assert_eq!(unsteady(killed), ["gets a signal from another process"]);
    assert_eq!(unsteady("./signal $$"), ["signals processes of others"]);
    assert_eq!(unsteady("./signal child"), [""; 0]);
    assert_eq!(unsteady("./signal self || :"), [""; 0]);
    let limited = unsteady("ulimit -v 1000000; ./signal child");
    assert_eq!(limited, ["runs under limits (ulimit) of its own"]);
}

#[test]
fn what_is_in_a_directory_that_is_to_be_removed_is_recorded() {
    let mut project = Project::new();
    project.program(
        "remove",
        "#include <unistd.h>\nint main(int argc, char **argv) { return rmdir(argv[1]) != 0; }",
    );
    project.write("full/in", "x");
    let run = project.sh("./remove full || :").only();
    assert_eq!(run.result.exit, Some(1));
    assert_eq!(texts(&run.scenario.files), ["full/in="]);
    let run = project.sh("mkdir empty; ./remove empty").only();
    assert_eq!(run.scenario.directories, [bytes("empty")].into());
    assert!(run.scenario.files.is_empty());
}

#[test]
fn that_standard_input_is_a_pipe_is_recorded_where_the_program_can_tell() {
    let mut project = with_cat();
    project.program(
        "seek",
        "#include <unistd.h>\nint main() { char c; lseek(0, 1, SEEK_SET); return read(0, &c, 1) != 1 || c != 'x'; }",
    );
    project.write("in", "x\n");
    let is_piped = |line: &str| project.sh(line).only().scenario.piped_stdin;
    assert!(!is_piped("./seek <in || :"));
    assert!(is_piped("cat in | ./seek"));
    assert!(!is_piped("cat in | ./cat"));
}

#[test]
fn dates_of_links_are_recorded() {
    let project = with_cat();
    project.write("in", "x\n");
    let line = "ln -s in link; touch -h -d '2001-01-01 UTC' link; ./cat link";
    let scenario = project.sh(line).only().scenario;
    let date = 978_307_200_000_000_000;
    assert_eq!(scenario.times, [(bytes("link"), date)].into());
}
