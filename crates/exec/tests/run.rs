//! Runs misbehaving programs and shows that the run ends, is reported as it
//! was, and leaves nothing behind.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use parallax_exec::run::{End, Launch, Outcome, Output, RunError, Stdin, run};

fn shell(script: &str) -> Launch {
    Launch {
        args: vec!["-c".into(), script.into()],
        ..Launch::new("/bin/sh")
    }
}

fn run_shell(script: &str) -> Outcome {
    run(&shell(script), &[]).unwrap()
}

fn alive(pid: &str) -> bool {
    // A zombie that its new parent has not buried yet is not alive.
    fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

#[test]
fn output_and_exit_status_are_reported() {
    let outcome = run_shell("echo out; echo err >&2; exit 7");
    assert_eq!(outcome.end, End::Exit(7));
    assert_eq!(outcome.stdout.bytes, b"out\n");
    assert_eq!(outcome.stderr.bytes, b"err\n");
    assert!(!outcome.stdout.truncated());
    assert_eq!(outcome.leftover_processes, 0);
}

#[test]
fn death_by_signal_is_not_an_exit() {
    assert_eq!(run_shell("kill -SEGV $$").end, End::Signal(libc::SIGSEGV));
}

#[test]
fn broken_pipes_kill_as_usual() {
    assert_eq!(
        run_shell("yes | head -n 1; kill -PIPE $$").end,
        End::Signal(libc::SIGPIPE)
    );
}

#[test]
fn standard_input_is_what_was_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("input");
    fs::write(&file, "from file").unwrap();
    for (stdin, expected) in [
        (Stdin::Null, ""),
        (Stdin::Bytes(b"from memory".to_vec()), "from memory"),
        (Stdin::File(file), "from file"),
    ] {
        let launch = Launch {
            stdin,
            ..Launch::new("/bin/cat")
        };
        let outcome = run(&launch, &[]).unwrap();
        assert_eq!(outcome.stdout.bytes, expected.as_bytes());
    }
}

#[test]
fn argument_zero_environment_and_directory_are_set() {
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().canonicalize().unwrap();
    let launch = Launch {
        argv0: Some("other-name".into()),
        directory: Some(real.clone()),
        environment: Some(vec![("ONLY".into(), "this".into())]),
        ..shell("echo $0; pwd -P; echo $ONLY $HOME; ulimit -s")
    };
    let outcome = run(&launch, &[]).unwrap();
    let text = String::from_utf8(outcome.stdout.bytes).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(&lines[..3], ["other-name", real.to_str().unwrap(), "this"]);
    assert_ne!(lines[3], "unlimited");
}

#[test]
fn shared_memory_of_others_is_not_inherited() {
    let launch = Launch {
        environment: Some(vec![
            ("PARALLAX_COVER".into(), "5".into()),
            ("PARALLAX_TRACE".into(), "6".into()),
        ]),
        ..shell("echo $PARALLAX_COVER$PARALLAX_TRACE")
    };
    assert_eq!(run(&launch, &[]).unwrap().stdout.bytes, b"\n");
}

#[test]
fn output_beyond_the_limit_is_counted_and_dropped() {
    let launch = Launch {
        output: Output::Capture { limit: 1000 },
        ..shell("head -c 3000000 /dev/zero")
    };
    let outcome = run(&launch, &[]).unwrap();
    assert_eq!(outcome.end, End::Exit(0));
    assert_eq!(outcome.stdout.bytes.len(), 1000);
    assert_eq!(outcome.stdout.total, 3_000_000);
    assert!(outcome.stdout.truncated());
}

#[test]
fn a_program_that_hangs_is_ended_with_its_children() {
    let launch = Launch {
        timeout: Duration::from_millis(300),
        ..shell("sleep 1000 & echo $!; (setsid sleep 1000; true) & wait")
    };
    let started = Instant::now();
    let outcome = run(&launch, &[]).unwrap();
    assert_eq!(outcome.end, End::Timeout);
    assert!(started.elapsed() < Duration::from_secs(8));
    assert!(!alive(std::str::from_utf8(&outcome.stdout.bytes).unwrap()));
    assert!(outcome.leftover_processes >= 2, "{outcome:?}");
}

#[test]
fn a_program_that_writes_without_end_is_ended() {
    let launch = Launch {
        timeout: Duration::from_millis(300),
        ..shell("yes")
    };
    assert_eq!(run(&launch, &[]).unwrap().end, End::Timeout);
}

#[test]
fn a_program_that_eats_memory_is_ended() {
    let launch = Launch {
        memory: Some(100 << 20),
        ..shell("dd if=/dev/zero of=/dev/null bs=700M count=100000")
    };
    let outcome = run(&launch, &[]).unwrap();
    assert_eq!(outcome.end, End::OutOfMemory);
    let modest = Launch {
        memory: Some(100 << 20),
        ..shell("dd if=/dev/zero of=/dev/null bs=10M count=100")
    };
    assert_eq!(run(&modest, &[]).unwrap().end, End::Exit(0));
}

#[test]
fn a_program_that_kills_its_process_group_hits_only_itself() {
    assert_eq!(run_shell("kill -9 0").end, End::Signal(libc::SIGKILL));
}

#[test]
fn a_daemon_does_not_outlive_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    // Detached in every way: new session, parent gone, no descriptor of ours.
    let script = format!(
        "setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000' </dev/null >/dev/null 2>&1 & \
         while ! test -e {0}; do sleep 0.01; done",
        file.display()
    );
    let outcome = run_shell(&script);
    assert_eq!(outcome.end, End::Exit(0));
    assert_eq!(outcome.leftover_processes, 1);
    assert!(!alive(&fs::read_to_string(&file).unwrap()));
}

#[test]
fn a_program_may_delete_its_working_directory() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let launch = Launch {
        directory: Some(inside.clone()),
        ..shell("rmdir \"$PWD\" && echo gone")
    };
    let outcome = run(&launch, &[]).unwrap();
    assert_eq!(outcome.stdout.bytes, b"gone\n");
    assert!(!inside.exists());
}

#[test]
fn a_program_that_kills_its_keeper_is_an_error_and_does_not_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let launch = shell(&format!(
        "echo $$ > {}; kill -9 $PPID; exec sleep 1000",
        file.display()
    ));
    let started = Instant::now();
    assert!(matches!(run(&launch, &[]), Err(RunError::KeeperLost)));
    assert!(started.elapsed() < Duration::from_secs(8));
    let pid = fs::read_to_string(&file).unwrap();
    for _ in 0..100 {
        if !alive(&pid) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{pid} is still there");
}

#[test]
fn runs_at_the_same_time_do_not_hold_each_other_up() {
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| run_shell("sleep 2"));
        for _ in 0..20 {
            let started = Instant::now();
            assert_eq!(run_shell("true").end, End::Exit(0));
            assert!(started.elapsed() < Duration::from_millis(1500));
        }
        assert_eq!(slow.join().unwrap().end, End::Exit(0));
    });
}

fn error_of(program: &Path) -> RunError {
    run(&Launch::new(program), &[]).unwrap_err()
}

#[test]
fn failing_to_start_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let with = |contents: &str, mode: u32| {
        fs::write(&file, contents).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        error_of(&file)
    };
    assert!(matches!(
        error_of(&directory.path().join("nothing")),
        RunError::NotFound(_)
    ));
    assert!(matches!(
        error_of(directory.path()),
        RunError::IsDirectory(_)
    ));
    assert!(matches!(
        with("#!/bin/sh\n", 0o644),
        RunError::Permission { .. }
    ));
    assert!(matches!(with("no program", 0o755), RunError::Format(_)));
    assert!(matches!(
        with("#!/no/such/shell\n", 0o755),
        RunError::Interpreter(_)
    ));
    let missing_directory = Launch {
        directory: Some(directory.path().join("nothing")),
        ..Launch::new("/bin/true")
    };
    assert!(matches!(
        run(&missing_directory, &[]),
        Err(RunError::Directory { .. })
    ));
    let missing_input = Launch {
        stdin: Stdin::File(directory.path().join("nothing")),
        ..Launch::new("/bin/true")
    };
    assert!(matches!(
        run(&missing_input, &[]),
        Err(RunError::Stdin { .. })
    ));
    let nul = Launch {
        args: vec![OsString::from("a\0b")],
        ..Launch::new("/bin/true")
    };
    assert!(matches!(run(&nul, &[]), Err(RunError::Nul)));
    let long = Launch {
        args: vec![OsString::from("a".repeat(1 << 22))],
        ..Launch::new("/bin/true")
    };
    assert!(matches!(run(&long, &[]), Err(RunError::TooLong)));
}
