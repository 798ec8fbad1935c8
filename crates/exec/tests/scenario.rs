//! Everything that a scenario says is what the program finds: directories, links, permissions, `umask`, its name.

use std::path::Path;

use parallax_exec::execute::{ExecuteError, Executor, Settings};
use parallax_exec::run::{End, Outcome};
use parallax_exec::sandbox::{Confinement, Policy, choose, detect};
use parallax_scenario::{Bytes, OutputFile, Scenario, Sink};

fn settings() -> Settings {
    Settings {
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Settings::default()
    }
}

fn shell() -> Option<Executor> {
    choose(Policy::Required).ok()?;
    Some(Executor::new(Path::new("/bin/sh"), settings()).unwrap())
}

fn run(shell: &mut Executor, script: &str, scenario: Scenario) -> Outcome {
    let scenario = Scenario {
        argv: vec!["-c".into(), script.into()],
        ..scenario
    };
    shell.run(&scenario, &[]).unwrap()
}

fn text(outcome: &Outcome) -> String {
    let all = [&outcome.stdout.bytes[..], &outcome.stderr.bytes].concat();
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn a_program_finds_the_scenarios_tree_and_starts_inside_it() {
    let Some(mut shell) = shell() else { return };
    let scenario = Scenario {
        files: [
            ("top".into(), "from above\n".into()),
            ("a/b/secret".into(), "hidden\n".into()),
            ("a/run".into(), "#!/bin/sh\necho executed\n".into()),
        ]
        .into(),
        directories: ["a/empty".into()].into(),
        directory: "a/b".into(),
        links: [
            ("a/b/up".into(), "../../top".into()),
            ("a/absolute".into(), "/tmp/parallax-work/top".into()),
            ("a/dangling".into(), "nowhere".into()),
        ]
        .into(),
        modes: [("a/b/secret".into(), 0o000), ("a/run".into(), 0o755)].into(),
        ..Scenario::default()
    };
    let script = "pwd; cat up ../absolute; ls ..; readlink ../dangling; ../run; stat -c %a secret ../empty ../run";
    let outcome = run(&mut shell, script, scenario.clone());
    assert_eq!(
        text(&outcome),
        "/tmp/parallax-work/a/b\nfrom above\nfrom above\nabsolute\nb\ndangling\nempty\nrun\nnowhere\nexecuted\n0\n755\n755\n"
    );
    // Without capabilities even root cannot read it.
    assert_ne!(
        run(&mut shell, "cat secret", scenario.clone()).end,
        End::Exit(0)
    );
    // Nothing of it is left for a run that has no files.
    let empty = run(&mut shell, "pwd; ls -A", Scenario::default());
    assert_eq!(text(&empty), "/tmp/parallax-work\n");
    assert_eq!(run(&mut shell, "cat up", scenario).end, End::Exit(0));
}

#[test]
fn umask_name_and_a_closed_standard_input_are_the_scenarios() {
    let Some(mut shell) = shell() else { return };
    let usual = run(
        &mut shell,
        "umask; echo $0; test -e /proc/self/fd/0 && echo open",
        Scenario::default(),
    );
    assert_eq!(text(&usual), "0022\n/bin/sh\nopen\n");
    let scenario = Scenario {
        umask: Some(0o077),
        name: Some("./renamed".into()),
        closed_stdin: true,
        ..Scenario::default()
    };
    let script = "umask; echo $0; read x || echo closed; : > new; stat -c %a new";
    let outcome = run(&mut shell, script, scenario);
    let text = text(&outcome);
    assert!(text.starts_with("0077\n./renamed\n"), "{text}");
    assert!(
        text.contains("closed\n") && text.contains("600\n"),
        "{text}"
    );
}

#[test]
fn output_goes_where_the_scenario_says() {
    let Some(mut shell) = shell() else { return };
    let script = "echo text || echo failed >&2; test -e /proc/self/fd/1 || echo closed >&2";
    let mut with = |stdout: Sink, script: &str| {
        let scenario = Scenario {
            stdout,
            ..Scenario::default()
        };
        run(&mut shell, script, scenario)
    };
    let full = with(Sink::Full, script);
    assert!(text(&full).ends_with("failed\n"), "{}", text(&full));
    let closed = with(Sink::Closed, script);
    assert!(
        text(&closed).ends_with("failed\nclosed\n"),
        "{}",
        text(&closed)
    );
    let broken = with(Sink::Broken, "exec cat /proc/self/status");
    assert_eq!(broken.end, End::Signal(libc::SIGPIPE));
    assert_eq!(text(&with(Sink::Read, "echo text")), "text\n");
    let scenario = Scenario {
        stderr: Sink::Closed,
        ..Scenario::default()
    };
    let outcome = run(&mut shell, "echo x >&2 || echo $?", scenario);
    assert_eq!(text(&outcome), "2\n");
}

#[test]
fn output_can_be_a_file_that_the_program_knows_by_name() {
    let Some(mut shell) = shell() else { return };
    let file = |path: &str, offset: u64, append: bool| {
        Sink::File(OutputFile {
            path: path.into(),
            offset,
            append,
        })
    };
    let mut with = |stdout: Sink, script: &str| {
        let scenario = Scenario {
            files: [("out".into(), "12345\n".into())].into(),
            stdout,
            ..Scenario::default()
        };
        run(&mut shell, script, scenario)
    };
    let kind = "stat -L -c %F /proc/self/fd/1";
    assert_eq!(text(&with(Sink::Read, kind)), "fifo\n");
    // GNU stat says it so of an empty one.
    assert_eq!(
        text(&with(file("", 0, false), kind)),
        "regular empty file\n"
    );
    // What was in the file before is no output.
    assert_eq!(text(&with(file("out", 0, false), "echo ab")), "ab\n");
    let script = "echo ab; cat out >&2";
    assert_eq!(text(&with(file("out", 0, false), script)), "ab\nab\n45\n");
    assert_eq!(text(&with(file("out", 2, false), script)), "ab\n12ab\n\n");
    assert_eq!(text(&with(file("out", 0, true), script)), "ab\n12345\nab\n");
    let same = with(file("out", 6, true), "cat out");
    assert!(
        text(&same).contains("input file is output file"),
        "{}",
        text(&same)
    );
    // Without a name for it, any file will do; what is written in holes is read as it is there.
    let moved = "echo ab; dd bs=1 seek=5 if=out count=1 status=none";
    assert_eq!(
        text(&with(file("gone", 0, false), moved)),
        "ab\n\0\0\0\0\x001"
    );
    let both = Scenario {
        files: [("out".into(), Bytes::default())].into(),
        stdout: file("out", 0, false),
        stderr: file("out", 0, false),
        ..Scenario::default()
    };
    let both = run(&mut shell, "echo output; echo error >&2; echo more", both);
    assert_eq!(both.stdout.bytes, b"output\nmore\n");
    assert_eq!(both.stderr.bytes, b"error\n");
}

#[test]
fn standard_input_is_a_file_or_a_pipe() {
    let Some(mut shell) = shell() else { return };
    let mut kind = |piped_stdin: bool| {
        let scenario = Scenario {
            stdin: "text\n".into(),
            piped_stdin,
            ..Scenario::default()
        };
        let script = "stat -L -c %F /proc/self/fd/0; cat";
        text(&run(&mut shell, script, scenario))
    };
    assert_eq!(kind(false), "regular file\ntext\n");
    assert_eq!(kind(true), "fifo\ntext\n");
}

#[test]
fn files_elsewhere_are_on_another_file_system() {
    let Some(mut shell) = shell() else { return };
    let there = Scenario {
        files: [("t/a".into(), "from elsewhere\n".into())].into(),
        modes: [("t".into(), 0o700)].into(),
        ..Scenario::default()
    };
    let scenario = |place: &str| Scenario {
        elsewhere: [(place.into(), there.clone())].into(),
        ..Scenario::default()
    };
    if !matches!(shell.confinement(), Confinement::Namespaces { .. }) {
        let refused = shell.run(&scenario("/dev/shm"), &[]);
        assert!(matches!(refused, Err(ExecuteError::Outside(_))));
        return;
    }
    let script = "stat -c %a /dev/shm/t; mv -v /dev/shm/t/a .; cat a";
    let outcome = run(&mut shell, script, scenario("/dev/shm"));
    assert_eq!(
        text(&outcome),
        "700\ncopied '/dev/shm/t/a' -> './a'\nremoved '/dev/shm/t/a'\nfrom elsewhere\n"
    );
    // Nothing of it is left.
    let outcome = run(&mut shell, "ls -A /dev/shm", Scenario::default());
    assert_eq!(text(&outcome), "");
    for other in ["/etc", "/dev/shm/..", "", "/"] {
        let refused = shell.run(&scenario(other), &[]);
        assert!(matches!(refused, Err(ExecuteError::Outside(_))), "{other}");
    }
}

#[test]
fn a_file_that_output_goes_to_has_a_limit() {
    let Some(mut shell) = shell() else { return };
    let scenario = Scenario {
        stdout: Sink::File(OutputFile::default()),
        ..Scenario::default()
    };
    let outcome = run(&mut shell, "exec yes", scenario);
    assert_eq!(outcome.end, End::Signal(libc::SIGXFSZ));
    assert_eq!(outcome.stdout.bytes.len(), 1 << 20);
    assert_eq!(outcome.stdout.total, 64 << 20);
}

#[test]
fn names_dates_sizes_and_order_of_files_are_the_scenarios() {
    let Some(mut shell) = shell() else { return };
    let names = ["d/m", "d/a", "d/z"];
    let scenario = Scenario {
        files: names.map(|name| (name.into(), "x".into())).into(),
        hard_links: [("again".into(), "d/a".into())].into(),
        sizes: [("d/m".into(), 100_000)].into(),
        times: [("d/z".into(), 978_307_200_000_000_000)].into(),
        listings: [("d".into(), ["m", "z", "a"].map(Into::into).into())].into(),
        ..Scenario::default()
    };
    let script = "stat -c '%n %h %s' again d/m; stat -c %Y d/z";
    let outcome = run(&mut shell, script, scenario.clone());
    assert_eq!(text(&outcome), "again 2 1\nd/m 1 100000\n978307200\n");
    if matches!(shell.confinement(), Confinement::Namespaces { .. }) {
        let outcome = run(&mut shell, "ls -U d", scenario.clone());
        assert_eq!(text(&outcome), "m\nz\na\n");
    }
    // Nothing of it is left, even if nobody may write to its directory.
    let locked = Scenario {
        modes: [(Bytes::default(), 0o500)].into(),
        ..scenario
    };
    assert_eq!(text(&run(&mut shell, "stat -c %a .", locked)), "500\n");
    assert_eq!(text(&run(&mut shell, "ls -A", Scenario::default())), "");
}

#[test]
fn a_scenarios_locale_takes_the_place_of_the_fixed_one() {
    let Some(mut shell) = shell() else { return };
    let script = "echo \"$LC_ALL,$LANG,$(date -d @0 +%z)\"";
    assert_eq!(
        text(&run(&mut shell, script, Scenario::default())),
        "C,,+0000\n"
    );
    let scenario = Scenario {
        env: [
            ("LANG".into(), "C.UTF-8".into()),
            ("TZ".into(), "CET-1".into()),
        ]
        .into(),
        ..Scenario::default()
    };
    assert_eq!(text(&run(&mut shell, script, scenario)), ",C.UTF-8,+0100\n");
}

#[test]
fn every_run_has_the_same_process_number_and_addresses() {
    let Some(mut shell) = shell() else { return };
    if !matches!(shell.confinement(), Confinement::Namespaces { .. }) {
        return;
    }
    let script = "echo $$; sh -c 'echo $$'; (echo x | cat); grep stack /proc/self/maps";
    let first = text(&run(&mut shell, script, Scenario::default()));
    for _ in 0..3 {
        assert_eq!(text(&run(&mut shell, script, Scenario::default())), first);
    }
}

#[test]
fn without_namespaces_paths_lead_to_where_the_files_are() {
    if detect().landlock == 0 {
        return;
    }
    let shell = Path::new("/bin/sh");
    let mut shell = Executor::confined(shell, settings(), Confinement::Landlock).unwrap();
    let scenario = Scenario {
        files: [("d/file".into(), "text\n".into())].into(),
        links: [("link".into(), "/tmp/parallax-work/d/file".into())].into(),
        ..Scenario::default()
    };
    let script = "cat /tmp/parallax-work/d/file link";
    assert_eq!(text(&run(&mut shell, script, scenario)), "text\ntext\n");
}
