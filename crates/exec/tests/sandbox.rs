//! Programs that mean no good, in the sandbox: nothing outside changes, nothing is left running, and the verdict
//! is clear.
//!
//! Every test first makes sure that the sandbox is there, with a harmless attempt to write outside of it.

mod support;

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use parallax_exec::execute::{Executor, Settings};
use parallax_exec::run::End;
use parallax_exec::sandbox::{Confinement, Limits, Policy, choose, detect};
use parallax_scenario::{Bytes, Scenario};
use support::{PRECIOUS, Shell, text};

/// Whether any process has this word in its command line.
fn is_running(word: &str) -> bool {
    let found = Command::new("pgrep").args(["-f", word]).output().unwrap();
    !found.stdout.is_empty()
}

#[test]
fn a_run_has_its_own_arguments_and_variables_and_none_of_the_last_run() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    let run = |shell: &mut Shell, further: &[&str], variables: &[(&str, &str)]| {
        let script = "echo $#; env | grep -c ^MORE";
        let words = ["-c", script, "sh"]
            .into_iter()
            .chain(further.iter().copied());
        let scenario = Scenario {
            argv: words.map(|word| word.as_bytes().into()).collect(),
            env: variables
                .iter()
                .map(|(name, value)| (name.as_bytes().into(), value.as_bytes().into()))
                .collect(),
            ..Scenario::default()
        };
        text(&shell.executor.run(&scenario, &[]).unwrap().stdout.bytes)
    };
    let more = [("MORE1", "a"), ("MORE2", "b")];
    assert_eq!(run(&mut shell, &["a", "b", "c"], &more), "3\n2\n");
    assert_eq!(run(&mut shell, &[], &[]), "0\n0\n");
    assert_eq!(run(&mut shell, &["a"], &more[..1]), "1\n1\n");
}

#[test]
fn a_program_works_in_its_directory_and_reads_the_rest() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    let mut scenario = Scenario {
        stdin: b"from stdin".into(),
        ..Scenario::default()
    };
    scenario.files.insert("dir/a".into(), "from file".into());
    scenario
        .env
        .insert("VARIABLE".into(), "from environment".into());
    let script = "cat; cat dir/a; echo \"$VARIABLE $LC_ALL $(date +%z)\"; umask; pwd; mkdir new; echo 1 > new/b; \
                  mv new/b dir/; ls dir; echo x > /tmp/t && echo y > /dev/null && test -r /etc/passwd";
    let outcome = shell.run_with(script, scenario);
    assert_eq!(text(&outcome.stderr.bytes), "");
    assert_eq!(outcome.end, End::Exit(0));
    let expected = format!(
        "from stdinfrom filefrom environment C +0000\n0022\n{}\na\nb\n",
        shell.executor.directory().display()
    );
    assert_eq!(text(&outcome.stdout.bytes), expected);
    // The next run finds nothing of it.
    let outcome = shell.run("ls -A . /tmp; test ! -e /tmp/t; echo $?");
    let output = text(&outcome.stdout.bytes);
    assert!(output.starts_with(".:\n\n/tmp:\n"), "{output}");
    assert!(output.ends_with("0\n"), "{output}");
}

#[test]
fn removing_home_and_everything_else_removes_nothing() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    let home = shell.outside().join("home");
    let outcome = shell.run(&format!(
        "rm -rf {0} {0}/file; rm -rf --no-preserve-root {0}/../../{1}; : > {0}/file",
        home.display(),
        shell.outside().file_name().unwrap().display()
    ));
    assert_ne!(outcome.end, End::Exit(0));
    shell.assert_nothing_changed();
    // The sandbox is still good for the next run.
    assert_eq!(shell.run("echo a > b && cat b").stdout.bytes, b"a\n");
}

/// Makes sure, without doing harm, that nothing of the machine can be removed from inside: every mount is read-only but for
/// those that are the sandbox's own, and no file can be made in the usual places.
fn assert_nothing_can_be_written(shell: &mut Shell) {
    let mounts = shell.run("cat /proc/self/mountinfo");
    let mounts = text(&mounts.stdout.bytes);
    assert!(mounts.lines().count() > 5, "{mounts}");
    for mount in mounts.lines() {
        let mut words = mount.split(' ');
        let (point, options) = (words.nth(4).unwrap(), words.next().unwrap());
        let is_read_only = options.split(',').any(|option| option == "ro");
        let own = ["/tmp", "/var/tmp", "/run", "/dev/shm", "/tmp/parallax-work"];
        let is_own = own.contains(&point) && mount.contains(" - tmpfs ");
        let is_device = point.starts_with("/dev/") && point != "/dev/shm";
        assert!(is_read_only || is_own || is_device, "{mount}");
    }
    let word = format!("parallax-probe-{}", std::process::id());
    let script = format!(
        "for d in / /* /usr/* /var/* /home/* /root \"$HOME\"; do test -d \"$d\" || continue; \
         case $d in /tmp|/run|/dev|/proc|/var/tmp|/var/run) continue;; esac; \
         (: > \"$d/{word}\") 2>/dev/null && echo \"$d\"; done; exit 0"
    );
    let outcome = shell.run(&script);
    assert_eq!(outcome.end, End::Exit(0));
    assert_eq!(text(&outcome.stdout.bytes), "", "can be written to");
}

#[test]
fn no_mount_of_the_machine_can_be_written() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    if matches!(shell.executor.confinement(), Confinement::Namespaces { .. }) {
        assert_nothing_can_be_written(&mut shell);
    }
}

#[test]
fn removing_the_whole_file_system_removes_nothing() {
    let settings = Settings {
        timeout: Duration::from_secs(3),
        ..Settings::default()
    };
    let Some(mut shell) = Shell::new(settings) else {
        return;
    };
    if !matches!(shell.executor.confinement(), Confinement::Namespaces { .. }) {
        return;
    }
    assert_nothing_can_be_written(&mut shell);
    let count = |path: &str| fs::read_dir(path).unwrap().count();
    let before = ["/", "/etc", "/usr/bin"].map(count);
    let home = shell.outside().join("home");
    let scenario = Scenario {
        env: [("HOME".into(), home.as_os_str().as_encoded_bytes().into())].into(),
        files: [("file".into(), "x".into())].into(),
        ..Scenario::default()
    };
    for script in [
        "exec rm -rf ~ ~/.",
        "exec rm -rf --no-preserve-root /",
        "exec find / -xdev -delete",
    ] {
        let outcome = shell.run_with(script, scenario.clone());
        // It fails, or fails at so many files that its time is over.
        let is_clear = matches!(outcome.end, End::Exit(1..) | End::Timeout);
        assert!(is_clear, "{script}: {:?}", outcome.end);
        shell.assert_nothing_changed();
    }
    assert_eq!(["/", "/etc", "/usr/bin"].map(count), before);
    assert_eq!(shell.run("echo a > b && cat b").stdout.bytes, b"a\n");
}

#[test]
fn what_needs_privileges_fails_even_for_root_of_another_namespace() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    if !matches!(shell.executor.confinement(), Confinement::Namespaces { .. }) {
        return;
    }
    let marker = shell.outside().join("marker");
    for attempt in [
        "mount -o remount,rw /",
        "mount -t tmpfs none /mnt",
        "mknod disk b 8 0",
        "chroot / true",
        "hostname other",
        "echo 1 > /proc/sys/kernel/panic",
        "ip link set lo up",
        "unshare -Urm mount -o remount,bind,rw /",
        "unshare -Urm sh -c 'mount --bind /tmp /etc && : > /etc/../MARKER'",
        "cp /bin/sh s && chmod u+s s && ./s -pc ': > MARKER'",
    ] {
        let attempt = attempt.replace("MARKER", &marker.display().to_string());
        let outcome = shell.run(&format!("({attempt}) >/dev/null 2>&1"));
        assert!(
            matches!(outcome.end, End::Exit(1..)),
            "{attempt}: {:?}",
            outcome.end
        );
        assert!(!marker.exists(), "{attempt}");
    }
    shell.assert_nothing_changed();
}

#[test]
fn a_fork_bomb_is_ended_with_all_its_children() {
    let limits = Limits {
        processes: 40,
        ..Limits::default()
    };
    let settings = Settings {
        limits,
        timeout: Duration::from_secs(3),
        ..Settings::default()
    };
    let Some(mut shell) = Shell::new(settings) else {
        return;
    };
    if !matches!(shell.executor.confinement(), Confinement::Namespaces { .. }) {
        return;
    }
    let started = Instant::now();
    // Each generation waits, so that a machine without any limit would see at most 2^12 processes.
    let bomb = "bomb() { test $1 -gt 12 && sleep 20; sleep 0.02; \
                bomb $(($1+1)) parallax-bomb & bomb $(($1+1)) parallax-bomb & wait; }; bomb 0";
    let outcome = shell.run(bomb);
    assert!(
        matches!(
            outcome.end,
            End::TooManyProcesses | End::Timeout | End::Exit(_)
        ),
        "{:?}",
        outcome.end
    );
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(shell.run("echo alive").stdout.bytes, b"alive\n");
    // Nothing but this shell and its first process.
    let listing = shell.run("ls /proc | grep -c '^[0-9]'");
    let count: u32 = text(&listing.stdout.bytes).trim().parse().unwrap();
    assert!(count <= 5, "{count} processes in the sandbox");
}

#[test]
fn a_disk_cannot_be_filled() {
    let limits = Limits {
        file_bytes: 4 << 20,
        disk_bytes: 8 << 20,
        files: 200,
        ..Limits::default()
    };
    let Some(mut shell) = Shell::new(Settings {
        limits,
        ..Settings::default()
    }) else {
        return;
    };
    let large = shell.run("exec head -c 100000000 /dev/zero > large");
    assert_eq!(large.end, End::Signal(libc::SIGXFSZ));
    if !matches!(shell.executor.confinement(), Confinement::Namespaces { .. }) {
        return;
    }
    let many =
        shell.run("for i in 1 2 3 4 5; do head -c 3000000 /dev/zero > /tmp/$i || exit 9; done");
    assert_eq!(many.end, End::Exit(9));
    assert!(text(&many.stderr.bytes).contains("No space left"));
    let small = shell.run("i=0; while touch file$i; do i=$((i+1)); done 2>/dev/null; echo $i");
    let count: u32 = text(&small.stdout.bytes).trim().parse().unwrap();
    assert!(count < 200, "{count} files");
    // All of it is gone for the next run.
    assert_eq!(shell.run("head -c 3000000 /dev/zero > a").end, End::Exit(0));
}

#[test]
fn nobody_outside_can_be_reached() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let path = shell.outside().join("home/socket");
    let _local = UnixListener::bind(&path).unwrap();
    let script = format!("exec bash -c 'echo hello > /dev/tcp/127.0.0.1/{port}'");
    let outcome = shell.run(&script);
    assert_ne!(outcome.end, End::Exit(0));
    assert!(listener.accept().is_err(), "a connection came in");
    fs::remove_file(path).unwrap();
    shell.assert_nothing_changed();
}

#[test]
fn killing_parent_and_everybody_else_ends_nobody_outside() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    if !matches!(shell.executor.confinement(), Confinement::Namespaces { .. }) {
        return;
    }
    let mut bystander = Command::new("sleep").arg("100").spawn().unwrap();
    let script = format!(
        "kill -9 $PPID; kill -9 {}; kill -9 1; kill -STOP 1; echo still",
        bystander.id()
    );
    let outcome = shell.run(&script);
    assert_eq!(outcome.end, End::Exit(0));
    assert_eq!(outcome.stdout.bytes, b"still\n");
    let outcome = shell.run("trap '' TERM; sleep 50 & kill -9 -1; echo still");
    assert!(
        matches!(outcome.end, End::Exit(_) | End::Signal(_)),
        "{:?}",
        outcome.end
    );
    assert!(
        bystander.try_wait().unwrap().is_none(),
        "a process outside was ended"
    );
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    assert_eq!(shell.run("echo alive").stdout.bytes, b"alive\n");
}

#[test]
fn daemons_are_ended_with_the_run() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    let word = format!("41.{}", std::process::id());
    let script = format!(
        "(setsid sh -c '(trap \"\" HUP TERM; sleep {word}) &' &) >/dev/null 2>&1 </dev/null; sleep 0.2; echo done"
    );
    let outcome = shell.run(&script);
    assert_eq!(outcome.end, End::Exit(0));
    assert_eq!(outcome.stdout.bytes, b"done\n");
    assert!(outcome.leftover_processes > 0);
    assert!(!is_running(&format!("sleep {word}")), "a daemon is left");
}

#[test]
fn time_memory_and_output_are_limited() {
    let settings = Settings {
        timeout: Duration::from_millis(700),
        memory: 100 << 20,
        output: 1000,
        ..Settings::default()
    };
    let Some(mut shell) = Shell::new(settings) else {
        return;
    };
    assert_eq!(shell.run("sleep 20 & wait").end, End::Timeout);
    let outcome = shell.run("exec yes");
    assert_eq!(outcome.end, End::Timeout);
    assert_eq!(outcome.stdout.bytes.len(), 1000);
    assert!(outcome.stdout.truncated());
    let outcome = shell.run("exec tail /dev/zero");
    assert!(
        matches!(outcome.end, End::OutOfMemory | End::Timeout),
        "{:?}",
        outcome.end
    );
    assert_eq!(shell.run("echo alive").stdout.bytes, b"alive\n");
}

#[test]
fn what_a_program_locks_or_moves_does_not_harm_the_next_run() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    shell.run("mkdir -p a/b; touch a/b/c; chmod 000 a/b a .");
    shell.run("mkdir -p /tmp/x/y; touch /tmp/x/y/z; chmod 000 /tmp/x/y /tmp/x");
    let outcome = shell.run_with(
        "cat file; ls",
        Scenario {
            files: [(Bytes::from("file"), Bytes::from("x\n"))].into(),
            ..Scenario::default()
        },
    );
    assert_eq!(
        text(&outcome.stdout.bytes),
        "x\nfile\n",
        "{}",
        text(&outcome.stderr.bytes)
    );
}

#[test]
fn without_namespaces_landlock_still_confines() {
    // From this version on signals are confined too.
    if detect().landlock < 6 {
        return;
    }
    let settings = Settings {
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Settings::default()
    };
    let executor =
        Executor::confined(Path::new("/bin/sh"), settings, Confinement::Landlock).unwrap();
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(outside.path().join("home")).unwrap();
    fs::write(outside.path().join("home/file"), PRECIOUS).unwrap();
    let mut shell = Shell { executor, outside };
    let file = shell.outside().join("home/file");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let outcome = shell.run(&format!(
        "echo x > {0} || echo kept; kill -0 $PPID || echo alone; rm {0} || echo still; \
         bash -c 'echo > /dev/tcp/127.0.0.1/{port}' || echo unconnected; \
         mkdir a && echo b > a/c && mv a/c . && cat c; echo > /dev/null && echo null; \
         (setsid sleep 30 &)",
        file.display()
    ));
    assert_eq!(
        text(&outcome.stdout.bytes),
        "kept\nalone\nstill\nunconnected\nb\nnull\n",
        "{}",
        text(&outcome.stderr.bytes)
    );
    assert_eq!(outcome.leftover_processes, 1);
    shell.assert_nothing_changed();
    assert_eq!(shell.run("ls").stdout.bytes, b"");
}

#[test]
fn what_is_active_can_be_told() {
    let offer = detect();
    match choose(Policy::Required) {
        Ok(Confinement::Namespaces { .. }) => assert!(offer.namespaces.is_ok()),
        Ok(Confinement::Landlock) => assert!(offer.namespaces.is_err() && offer.landlock > 0),
        Ok(Confinement::Nothing) => panic!("nothing is not a sandbox"),
        Err(error) => assert!(error.to_string().contains("sandbox")),
    }
    assert_eq!(choose(Policy::Off).unwrap(), Confinement::Nothing);
}

#[test]
fn there_can_be_more_runs_than_descriptors() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    for _ in 0..1100 {
        assert_eq!(shell.run(":").end, End::Exit(0));
    }
}

#[test]
fn a_program_that_gives_up_its_groups_goes_on() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    if !matches!(choose(Policy::Required), Ok(Confinement::Namespaces { .. })) {
        return;
    }
    // Setting the effective groups sets the supplementary ones first.
    let outcome =
        shell.run(r#"perl -e 'my ($own) = split / /, $(; $! = 0; $) = "$own $own"; print $! + 0'"#);
    assert_eq!(
        (outcome.end, text(&outcome.stdout.bytes)),
        (End::Exit(0), "0".into())
    );
    shell.assert_nothing_changed();
}
