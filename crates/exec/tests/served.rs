//! Programs that were not made for it, forked by a run server: what they do is what they do in a fresh process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use parallax_exec::execute::{Executor, RunOptions, Settings};
use parallax_exec::run::{End, Outcome};
use parallax_exec::sandbox::{Policy, choose};
use parallax_scenario::{Bytes, Scenario, Sink};

/// A program made of C, in a directory that goes with it.
struct Program {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

impl Program {
    fn new(source: &str, flags: &[&str]) -> Program {
        let directory = tempfile::tempdir().unwrap();
        let (file, path) = (directory.path().join("p.c"), directory.path().join("p"));
        std::fs::write(&file, source).unwrap();
        let output = Command::new("clang-19")
            .args(["-g", "-O1"])
            .args(flags)
            .args([&file, Path::new("-o"), &path])
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{messages}");
        Program {
            _directory: directory,
            path,
        }
    }
}

fn executor(program: &Path, environment: &[(&str, &str)]) -> Executor {
    let mut all = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let given = environment.iter();
    all.extend(given.map(|(name, value)| (name.into(), value.into())));
    let settings = Settings {
        environment: all,
        timeout: Duration::from_secs(20),
        ..Settings::default()
    };
    Executor::new(program, settings).unwrap()
}

/// Whether anything can be run here.
fn is_confined() -> bool {
    choose(Policy::Required).is_ok()
}

fn scenario(arguments: &[&str]) -> Scenario {
    Scenario {
        argv: arguments.iter().map(|word| Bytes::from(*word)).collect(),
        ..Scenario::default()
    }
}

type Summary = (End, String, String, u32);

fn summary(outcome: &Outcome) -> Summary {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        outcome.end,
        text(&outcome.stdout.bytes),
        text(&outcome.stderr.bytes),
        outcome.leftover_processes,
    )
}

/// Runs scenarios, each served and in a fresh process; returns what was seen and whether there was a server.
fn compare(
    program: &Path,
    environment: &[(&str, &str)],
    scenarios: &[Scenario],
) -> (Vec<Summary>, bool) {
    let (mut served, mut fresh) = (
        executor(program, environment),
        executor(program, environment),
    );
    // The first run is one without a server.
    served.run(&Scenario::default(), &[]).unwrap();
    let mut seen = Vec::new();
    for scenario in scenarios {
        let outcome = summary(&served.run(scenario, &[]).unwrap());
        let options = RunOptions::FRESH;
        let expected = summary(&fresh.run_with(scenario, &[], options).unwrap());
        assert_eq!(outcome, expected, "{scenario:?}");
        seen.push(outcome);
    }
    (seen, served.is_serving())
}

#[test]
fn the_machines_own_programs_are_served() {
    if !is_confined() {
        return;
    }
    let script = |text: &str| scenario(&["-c", text]);
    let scenarios = [
        script("echo $0 $$; pwd; umask; env; cat; grep -E 'Cap|NoNew' /proc/self/status"),
        Scenario {
            stdin: "from standard input\n".into(),
            env: [("A".into(), "b".into())].into(),
            umask: Some(0o077),
            directory: "inner".into(),
            name: Some("other".into()),
            ..script("echo $0; pwd; umask; env; cat; touch f; ls -l | cut -c1-10")
        },
        script("exec env"),
        script("kill -9 $$"),
        script("sleep 60 & echo left"),
        script("ls -A . /tmp; echo x > y; echo z > /tmp/w; exit 3"),
        script("ls -A . /tmp"),
        Scenario {
            closed_stdin: true,
            stderr: Sink::Closed,
            ..script("ls /proc/self/fd; cat; echo $?")
        },
        Scenario {
            stdout: Sink::Full,
            ..script("echo x; echo $? >&2")
        },
    ];
    let (seen, is_served) = compare(Path::new("/bin/sh"), &[], &scenarios);
    assert!(is_served);
    assert!(!seen[0].1.contains("PRELOAD") && !seen[0].1.contains("PARALLAX"));
    assert!(seen[1].1.contains("from standard input"), "{seen:?}");
    assert_eq!(seen[3].0, End::Signal(9));
    let cats = [
        scenario(&[]),
        Scenario {
            stdin: "x".into(),
            piped_stdin: true,
            ..scenario(&["-n", "-", "f", "missing"])
        },
        Scenario {
            files: [("f".into(), "y\n".into())].into(),
            ..scenario(&["f"])
        },
    ];
    assert!(compare(Path::new("/bin/cat"), &[], &cats).1);
}

const CONSTRUCTORS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static int made; static char *text;
__attribute__((constructor)) static void make(void) { made++; text = strdup("constructed"); }
__attribute__((destructor)) static void unmake(void) { printf("destructor %d\n", made); }
static void last(void) { printf("atexit %d\n", made); }
static void *work(void *argument) { return (char *)argument + 1; }
int main(int argc, char **argv, char **envp) {
  atexit(last);
  made++;
  printf("%s %s %s %d\n", program_invocation_name, program_invocation_short_name, text, argc);
  for (int i = 0; i < argc; i++) printf("[%s]", argv[i]);
  /* Strings follow each other as the kernel lays them out. */
  for (int i = 1; i < argc; i++) printf(" %d", (int)(argv[i] - argv[i - 1]));
  for (; *envp; envp++) puts(*envp);
  printf("%s\n", getenv("A") ? getenv("A") : "none");
  pthread_t thread; void *result;
  pthread_create(&thread, 0, work, argv[0]);
  pthread_join(thread, &result);
  puts(result);
  memset(argv[0], 'x', strlen(argv[0]));
  puts(argv[0]);
  if (argc > 1 && !strcmp(argv[1], "crash")) *(volatile int *)8 = 1;
  if (argc > 1 && !strcmp(argv[1], "abort")) abort();
  if (argc > 1 && !strcmp(argv[1], "_exit")) _exit(7);
  if (argc > 1 && !strcmp(argv[1], "stack")) {
    struct rlimit limit; getrlimit(RLIMIT_STACK, &limit); printf("%lld\n", (long long)limit.rlim_cur); }
  return argc;
}"#;

#[test]
fn constructors_threads_handlers_and_crashes_are_the_same() {
    if !is_confined() {
        return;
    }
    let with_variable = Scenario {
        env: [("A".into(), "value".into())].into(),
        ..scenario(&["long argument", "", "x"])
    };
    let scenarios = [
        scenario(&[]),
        with_variable,
        scenario(&["crash"]),
        scenario(&["abort"]),
        scenario(&["_exit"]),
        scenario(&["stack"]),
        scenario(&[]),
    ];
    for flags in [&["-pthread"][..], &["-pthread", "-no-pie", "-fno-pie"]] {
        let program = Program::new(CONSTRUCTORS, flags);
        let (seen, is_served) = compare(&program.path, &[], &scenarios);
        assert!(is_served);
        assert_eq!(seen[0].0, End::Exit(1));
        assert_eq!(seen[2].0, End::Signal(libc::SIGSEGV));
    }
    let program = Program::new(CONSTRUCTORS, &["-pthread", "-static"]);
    let (_, is_served) = compare(&program.path, &[], &scenarios);
    assert!(!is_served);
}

#[test]
fn what_constructors_do_to_the_outside_keeps_programs_from_being_served() {
    if !is_confined() {
        return;
    }
    let reads = r#"
#include <stdio.h>
#include <unistd.h>
static char c;
__attribute__((constructor)) static void take(void) { read(0, &c, 1); }
int main(void) { printf("%c %d\n", c, getchar()); }"#;
    let prints = r#"
#include <unistd.h>
__attribute__((constructor)) static void say(void) { write(2, "early\n", 6); }
int main(void) { write(1, "late\n", 5); }"#;
    let threads = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int turns;
static void *turn(void *nothing) { for (;;) { turns++; usleep(100); } }
__attribute__((constructor)) static void begin(void) { pthread_t t; pthread_create(&t, 0, turn, 0); }
int main(void) { int before = turns; while (turns == before); puts("turned"); }"#;
    let scenarios = [
        Scenario {
            stdin: "ab".into(),
            ..scenario(&[])
        },
        scenario(&[]),
    ];
    for source in [reads, prints, threads] {
        let program = Program::new(source, &["-pthread"]);
        let (seen, is_served) = compare(&program.path, &[], &scenarios);
        assert!(!is_served, "{seen:?}");
    }
}

#[test]
fn a_program_may_have_its_own_allocator() {
    if !is_confined() {
        return;
    }
    let source = r#"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
static char arena[1 << 20]; static size_t used;
void *malloc(size_t n) { void *p = arena + used + 16; *(size_t *)(arena + used) = n; used += (n + 31) & ~15ul; return p; }
void free(void *p) {}
void *calloc(size_t a, size_t b) { return malloc(a * b); }
void *realloc(void *p, size_t n) { void *q = malloc(n); if (p) memcpy(q, p, ((size_t *)p)[-2]); return q; }
int main(int argc, char **argv) { printf("%s %zu\n", strdup(argv[argc - 1]), used); }"#;
    let program = Program::new(source, &["-fno-builtin"]);
    let scenarios = [scenario(&["a"]), scenario(&["abc", "def"])];
    assert!(compare(&program.path, &[], &scenarios).1);
}

#[test]
fn sanitizers_report_the_same() {
    if !is_confined() {
        return;
    }
    let source = r#"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int pick(char *memory, int at) { return memory[at]; }
int main(int argc, char **argv) {
  char *memory = malloc(10);
  memset(memory, 1, 10);
  int at = argc > 1 ? atoi(argv[1]) : 0;
  if (at < 0) printf("%d\n", INT_MAX + argc);
  printf("%d\n", pick(memory, at));
  if (at > 20) free(memory), free(memory);
}"#;
    let program = Program::new(
        source,
        &["-fsanitize=address,undefined", "-fno-omit-frame-pointer"],
    );
    for symbolize in ["0", "1"] {
        let options = format!("detect_leaks=0:symbolize={symbolize}");
        let undefined = format!("print_stacktrace=1:symbolize={symbolize}");
        let environment = [("ASAN_OPTIONS", &*options), ("UBSAN_OPTIONS", &*undefined)];
        let arguments = ["3", "12", "-1", "30", "9"];
        let mut scenarios: Vec<_> = arguments.map(|word| scenario(&[word])).into();
        scenarios.push(Scenario {
            env: [("ASAN_OPTIONS".into(), "exitcode=9".into())].into(),
            ..scenario(&["12"])
        });
        let mut served = executor(&program.path, &environment);
        served.run(&scenarios[0], &[]).unwrap();
        let mut fresh = executor(&program.path, &environment);
        for scenario in &scenarios {
            let outcomes = [
                served.run(scenario, &[]).unwrap(),
                fresh.run_with(scenario, &[], RunOptions::FRESH).unwrap(),
            ];
            // Process numbers and addresses of libraries are in the text.
            let [a, b] = outcomes.each_ref().map(|outcome| {
                let (end, out, error, _) = summary(outcome);
                let frames: Vec<String> = error.lines().map(without_numbers).collect();
                (end, out, frames)
            });
            assert_eq!(a, b, "{scenario:?}");
        }
        assert!(served.is_serving());
        let last = fresh.run(scenarios.last().unwrap(), &[]).unwrap();
        assert_eq!(last.end, End::Exit(9));
    }
}

/// A line without its long numbers.
fn without_numbers(line: &str) -> String {
    let is_short = |word: &&str| !word.contains("0x7f") && !word.contains("==");
    line.split(' ')
        .filter(is_short)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn programs_that_are_none_and_servers_that_are_killed_do_no_harm() {
    if !is_confined() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    std::fs::write(&script, "#!/bin/sh\necho \"$0 $1\" | tail -c 9\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let scenarios = [scenario(&["a"]), scenario(&["b"])];
    let (seen, is_served) = compare(&script, &[], &scenarios);
    assert!(!is_served);
    assert_eq!(seen[1].1, "script b\n");
    // Its parent is the server.
    let mut shell = executor(Path::new("/bin/sh"), &[]);
    for turn in 0..8 {
        let text = format!("echo {turn}; test $PPID = 1 || kill -9 $PPID; sleep 0.2; echo end");
        let outcome = shell.run(&scenario(&["-c", &text]), &[]).unwrap();
        assert_eq!(summary(&outcome).1, format!("{turn}\nend\n"));
    }
    assert!(!shell.is_serving());
}
