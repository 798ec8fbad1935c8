//! The run server: what a traced program does when it is forked for each run, compared with what it does when it
//! is started anew.

mod support;

use std::path::PathBuf;
use std::time::Duration;

use parallax_exec::execute::{Executor, Settings};
use parallax_exec::run::{End, Outcome};
use parallax_scenario::{Bytes, Scenario};
use parallax_trace::Trace;
use parallax_trace::region::{Limits, Region, Symbolic};
use support::{Folder, text_of};

/// A traced program.
struct Traced {
    folder: Folder,
    path: PathBuf,
}

impl Traced {
    fn new(source: &str) -> Traced {
        let folder = Folder::new();
        let name = folder.build("prog", source);
        let (path, _) = folder.expect(0, &["variant", &name, "--kind", "traced"]);
        Traced {
            path: path.trim().into(),
            folder,
        }
    }

    fn executor(&self, server: bool) -> Executor {
        let settings = Settings {
            argv0: "dir/prog".into(),
            timeout: Duration::from_secs(5),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            server,
            ..Settings::default()
        };
        assert!(self.folder.path().exists());
        Executor::new(&self.path, settings).unwrap()
    }

    /// Runs scenarios on a server and alone: both must show the same. Returns what was seen.
    fn compare(&self, scenarios: &[Scenario]) -> Vec<Outcome> {
        let (mut served, mut alone) = (self.executor(true), self.executor(false));
        let mut outcomes = Vec::new();
        for scenario in scenarios {
            let (outcome, trace) = run(&mut served, scenario);
            let (expected, expected_trace) = run(&mut alone, scenario);
            assert_eq!(summary(&outcome), summary(&expected), "{scenario:?}");
            assert_eq!(shape(&trace), shape(&expected_trace), "{scenario:?}");
            outcomes.push(outcome);
        }
        assert!(served.is_serving());
        assert!(!alone.is_serving());
        outcomes
    }
}

fn run(executor: &mut Executor, scenario: &Scenario) -> (Outcome, Trace) {
    let symbolic = Symbolic {
        environment: vec![b"VARIABLE".to_vec()],
        ..Symbolic::ALL
    };
    let region = Region::create(Limits::within(256 << 20), &symbolic, true).unwrap();
    let outcome = executor.run(scenario, &[region.shared()]).unwrap();
    let trace = Trace::read(region);
    assert!(trace.attached());
    assert_eq!(trace.mismatch_count(), 0);
    (outcome, trace)
}

fn summary(outcome: &Outcome) -> (End, String, String, u32) {
    (
        outcome.end,
        text_of(&outcome.stdout.bytes),
        text_of(&outcome.stderr.bytes),
        outcome.leftover_processes,
    )
}

/// What two runs on the same input have in common: events by kind, site and detail, and sizes.
fn shape(trace: &Trace) -> (Vec<(u8, u64, u8)>, [u32; 4]) {
    let events = trace
        .events()
        .map(|(kind, event)| (kind as u8, event.site, event.detail))
        .collect();
    let sizes = [
        trace.node_count(),
        trace.context_count(),
        trace.source_count(),
        trace.process_count(),
    ];
    (events, sizes)
}

fn scenario(arguments: &[&str], stdin: &str) -> Scenario {
    Scenario {
        argv: arguments.iter().map(|word| Bytes::from(*word)).collect(),
        stdin: stdin.into(),
        ..Scenario::default()
    }
}

const EVERYTHING: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
static int runs;
static char *kept;
static const char classes[256] = {['-'] = 1, ['a'] = 2, ['s'] = 3};
static void at_end(void) { printf("end of %s\n", kept); }
__attribute__((constructor)) static void early(void) { kept = malloc(300); memset(kept, 0, 300); strcpy(kept, "early"); }
int main(int argc, char **argv, char **envp) {
    char line[64] = "";
    atexit(at_end);
    printf("%d %s %s %s\n", ++runs, argv[0], program_invocation_name, program_invocation_short_name);
    printf("%d %d %d\n", envp == environ, argv[argc] == NULL, getsid(0) == getpid());
    for (int i = 1; i < argc; i++) {
        printf("<%s>", argv[i]);
        if (classes[(unsigned char)argv[i][0]] > 1 || kept[(unsigned char)argv[i][0]]) puts("class");
        if (strcmp(argv[i], "-x") == 0) fprintf(stderr, "option\n");
    }
    const char *value = getenv("VARIABLE");
    if (value && value[0] == 'v') puts("variable");
    for (char **v = environ; *v; v++) puts(*v);
    while (fgets(line, sizeof line, stdin)) if (line[0] > 'm') printf("late %s", line);
    FILE *file = fopen("data/file", "r");
    if (file && fgetc(file) == 'f') puts("file");
    umask(umask(0));
    printf("%o %s %d\n", umask(0), getcwd(NULL, 0), open("/dev/null", O_RDONLY));
    FILE *out = fopen("written", "wx");
    puts(out ? "new" : "old");
    return argc + 40;
}
"#;

#[test]
fn a_run_on_the_server_is_the_same_as_one_of_its_own() {
    let traced = Traced::new(EVERYTHING);
    let mut rich = scenario(&["-x", "", "sixteen letters!"], "abc\nxyz\nzzz");
    rich.files.insert("data/file".into(), "first".into());
    rich.env.insert("VARIABLE".into(), "value".into());
    rich.env.insert("PATH".into(), "/nowhere".into());
    let scenarios = [
        scenario(&[], ""),
        rich.clone(),
        scenario(&["a"], "q\n"),
        rich,
    ];
    let outcomes = traced.compare(&scenarios);
    assert_eq!(outcomes[0].end, End::Exit(41));
    let output = text_of(&outcomes[3].stdout.bytes);
    assert!(
        output.starts_with("1 dir/prog dir/prog prog\n1 1 1\n"),
        "{output}"
    );
    for part in [
        "<sixteen letters!>",
        "variable\n",
        "late xyz\n",
        "file\n",
        "new\n",
        "end of early\n",
    ] {
        assert!(output.contains(part), "{part:?} is missing in {output}");
    }
}

#[test]
fn traces_of_option_parsers_and_file_readers_are_the_same() {
    let options = Traced::new(include_str!("programs/options.c"));
    let lines: [&[&str]; 6] = [
        &["--level=1", "-v"],
        &["--level=37", "-x"],
        &["--lev", "12", "-vv", "rest"],
        &["--unknown"],
        &["-x", "--", "--level=99999999999999999999"],
        &[],
    ];
    options.compare(&lines.map(|line| scenario(line, "")));
    let format = Traced::new(include_str!("programs/format.c"));
    let contents = ["PX\u{1}\u{1}\u{5}\u{1}\u{2}\u{3}\u{4}\u{5}\u{0}", "PX", ""];
    let scenarios = contents.map(|contents| Scenario {
        files: [("seed".into(), contents.into())].into(),
        ..scenario(&["seed"], "")
    });
    format.compare(&scenarios);
}

const ENDINGS: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char how = argc > 1 ? argv[1][0] : 0;
    printf("before\n");
    fflush(stdout);
    if (how == 's') *(volatile int *)0 = 1;
    if (how == 'a') abort();
    if (how == 'l') for (;;) {}
    if (how == '_') _exit(9);
    if (how == 'e') exit(10);
    if (how == 'd' && fork() == 0) { setsid(); if (fork() == 0) sleep(30); _exit(0); }
    if (how == 'k') { kill(getppid(), SIGKILL); sleep(1); }
    if (how == 't') { kill(getppid(), SIGSTOP); sleep(1); }
    printf("after\n");
    return 0;
}
"#;

#[test]
fn however_a_run_ends_the_next_one_begins() {
    let traced = Traced::new(ENDINGS);
    let scenarios = ["s", "a", "_", "e", "x"].map(|how| scenario(&[how], ""));
    let ends: Vec<End> = traced
        .compare(&scenarios)
        .iter()
        .map(|outcome| outcome.end)
        .collect();
    let signals = [libc::SIGSEGV, libc::SIGABRT].map(End::Signal);
    let exits = [9, 10, 0].map(End::Exit);
    assert_eq!(ends, [&signals[..], &exits[..]].concat());
}

#[test]
fn time_is_limited_and_what_is_left_behind_is_ended() {
    let traced = Traced::new(ENDINGS);
    let settings = Settings {
        timeout: Duration::from_millis(500),
        ..Settings::default()
    };
    let mut executor = Executor::new(&traced.path, settings).unwrap();
    let (outcome, trace) = run(&mut executor, &scenario(&["l"], ""));
    assert_eq!(outcome.end, End::Timeout);
    assert_eq!(outcome.stdout.bytes, b"before\n");
    assert!(
        trace.event_count() > 0,
        "what was traced until then is there"
    );
    let (outcome, _) = run(&mut executor, &scenario(&["d"], ""));
    assert_eq!(outcome.end, End::Exit(0));
    assert!(outcome.leftover_processes > 0);
    assert_eq!(run(&mut executor, &scenario(&[], "")).0.end, End::Exit(0));
    assert!(executor.is_serving());
}

#[test]
fn a_program_that_kills_its_server_is_run_alone() {
    let traced = Traced::new(ENDINGS);
    let (mut served, mut alone) = (traced.executor(true), traced.executor(false));
    for how in ["k", "x", "t", "k", "x"] {
        let scenario = scenario(&[how], "");
        let (outcome, trace) = run(&mut served, &scenario);
        let (expected, expected_trace) = run(&mut alone, &scenario);
        assert_eq!(outcome.end, End::Exit(0), "{how}");
        assert_eq!(summary(&outcome), summary(&expected), "{how}");
        assert_eq!(shape(&trace), shape(&expected_trace), "{how}");
    }
    assert!(!served.is_serving(), "three servers were lost");
}

#[test]
fn a_program_that_does_too_much_before_main_is_not_served() {
    let reading = r#"
        #include <stdio.h>
        static int first;
        __attribute__((constructor)) static void early(void) { first = getchar(); }
        int main(void) { printf("%d\n", first); return 0; }
    "#;
    let threads = r#"
        #include <pthread.h>
        #include <stdio.h>
        #include <unistd.h>
        static int value;
        static void *work(void *unused) { value = 65; for (;;) pause(); }
        __attribute__((constructor)) static void early(void) {
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
        }
        int main(void) { while (!*(volatile int *)&value) {} printf("%d\n", value); return 0; }
    "#;
    for source in [reading, threads] {
        let traced = Traced::new(source);
        let mut executor = traced.executor(true);
        let (outcome, _) = run(&mut executor, &scenario(&[], "A"));
        assert_eq!(outcome.stdout.bytes, b"65\n");
        assert!(!executor.is_serving());
    }
}

#[test]
fn each_run_has_its_own_umask_name_directory_and_standard_input() {
    let traced = Traced::new(
        r#"
        #include <errno.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            char where[200], byte;
            mode_t mask = umask(0);
            ssize_t count = read(0, &byte, 1);
            printf("%s %03o %s %zd %s\n", argv[0], mask, getcwd(where, sizeof where), count,
                   count < 0 ? strerror(errno) : "");
            return access("beside", R_OK) == 0;
        }
        "#,
    );
    let special = Scenario {
        umask: Some(0o027),
        name: Some("./other".into()),
        directory: "a/b".into(),
        files: [("a/b/beside".into(), "x".into())].into(),
        closed_stdin: true,
        ..Scenario::default()
    };
    let usual = Scenario::default();
    let outcomes = traced.compare(&[usual.clone(), special, usual]);
    let lines = outcomes
        .iter()
        .map(|outcome| text_of(&outcome.stdout.bytes));
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "dir/prog 022 /tmp/parallax-work 0 \n",
            "./other 027 /tmp/parallax-work/a/b -1 Bad file descriptor\n",
            "dir/prog 022 /tmp/parallax-work 0 \n"
        ]
    );
    assert_eq!(outcomes[1].end, End::Exit(1));
}
