//! Test files that are made of scenarios are run here as their user would run them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use parallax_scenario::{Ending, Listening, Scenario};

use super::*;

fn run(scenario: &Scenario, ending: &Ending) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.sh");
    let test = Test {
        name: "t",
        title: "sh reaches a.c:1",
        program: Path::new("/bin/sh"),
        built_as: None,
        scenario,
        ending,
        has_stderr: false,
    };
    fs::write(&path, Format::Shell.write(&test).unwrap()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Command::new(&path).output().unwrap()
}

fn shell(script: &str) -> Scenario {
    Scenario {
        argv: vec!["-c".into(), script.into()],
        ..Scenario::default()
    }
}

fn printed(stdout: &[u8], exit: i32) -> Ending {
    Ending {
        exit: Some(exit),
        stdout: stdout.into(),
        ..Ending::default()
    }
}

#[test]
fn files_links_modes_times_input_and_environment_are_there() {
    let scenario = Scenario {
        stdin: "no end of line".into(),
        files: [
            ("dir/text".into(), "it's\n$HOME\n".into()),
            ("-bytes".into(), b"\x00\xff%\\'\n\x01".into()),
        ]
        .into(),
        links: [("link".into(), "dir/text".into())].into(),
        modes: [("dir/text".into(), 0o600)].into(),
        times: [("dir/text".into(), 86_400_000_000_000)].into(),
        env: [("MODE".into(), "a b".into())].into(),
        directory: "dir".into(),
        ..shell(
            "cat text; cat ../link; od -An -tx1 ../-bytes; cat; echo; stat -c '%a %Y' text; echo $MODE; exit 3",
        )
    };
    let expected =
        b"it's\n$HOME\nit's\n$HOME\n 00 ff 25 5c 27 0a 01\nno end of line\n600 86400\na b\n";
    let output = run(&scenario, &printed(expected, 3));
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn input_through_a_pipe_comes_through_a_pipe() {
    let scenario = Scenario {
        stdin: "x".into(),
        piped_stdin: true,
        ..shell("cat; test -p /dev/stdin && echo pipe")
    };
    let output = run(&scenario, &printed(b"xpipe\n", 0));
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn another_output_or_exit_code_fails_and_says_what() {
    let scenario = shell("echo is; exit 1");
    let output = run(&scenario, &printed(b"was\n", 1));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("< was"));
    let output = run(&scenario, &printed(b"is\n", 2));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("exit code 1, expected 2"));
}

#[test]
fn paths_of_the_place_where_it_was_seen_do_not_matter() {
    let work = parallax_scenario::WORK;
    let scenario = Scenario {
        name: Some("called".into()),
        files: [("list".into(), format!("{work}/x\n").into_bytes().into())].into(),
        ..shell(&format!("pwd; cat {work}/list; echo $0 /bin/sh"))
    };
    let expected = format!("{work}\n{work}/x\ncalled @PROGRAM@\n");
    let output = run(&scenario, &printed(expected.as_bytes(), 0));
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn what_a_script_cannot_do_is_said() {
    let write = |scenario: &Scenario, ending: &Ending| {
        let test = Test {
            name: "t",
            title: "t",
            program: Path::new("/bin/sh"),
            built_as: None,
            scenario,
            ending,
            has_stderr: false,
        };
        Format::Shell.write(&test).map(|_| ())
    };
    let server = Scenario {
        listening: Some(Listening::default()),
        ..Scenario::default()
    };
    assert_eq!(write(&server, &printed(b"", 0)), Err(Unwritable::Server));
    let endless = Ending {
        signal: Some(9),
        ..Ending::default()
    };
    assert_eq!(write(&shell(":"), &endless), Err(Unwritable::NoEnd));
}

#[test]
fn a_test_for_bats_does_the_same_as_the_script() {
    let scenario = Scenario {
        stdin: "x".into(),
        ..shell("cat; exit 4")
    };
    let run = |ending: &Ending| {
        let test = Test {
            name: "t",
            title: "sh \"reaches\" a.c:1",
            program: Path::new("/bin/sh"),
            built_as: None,
            scenario: &scenario,
            ending,
            has_stderr: false,
        };
        let text = String::from_utf8(Format::Bats.write(&test).unwrap()).unwrap();
        // bats turns the head into that of a function, and stops at the first command that fails.
        let head = "@test \"sh _reaches_ a.c:1\" {";
        assert!(text.contains(head), "{text}");
        let script = format!("set -e\n{}\nt\n", text.replace(head, "t() {"));
        Command::new("bash").arg("-c").arg(script).output().unwrap()
    };
    let output = run(&printed(b"x", 4));
    assert!(output.status.success(), "{output:?}");
    assert!(!run(&printed(b"y", 4)).status.success());
    assert!(!run(&printed(b"x", 5)).status.success());
}

#[test]
fn a_test_finds_the_program_in_the_build_tree_that_it_is_run_in() {
    let folder = tempfile::tempdir().unwrap();
    let (tests, src) = (folder.path().join("tests"), folder.path().join("src"));
    fs::create_dir(&tests).unwrap();
    fs::create_dir(&src).unwrap();
    fs::write(src.join("prog"), "#!/bin/sh\necho \"$0 $1\"\n").unwrap();
    fs::set_permissions(src.join("prog"), fs::Permissions::from_mode(0o755)).unwrap();
    let scenario = Scenario {
        argv: vec!["x".into()],
        ..Scenario::default()
    };
    let ending = printed(b"/seen/elsewhere x\n", 0);
    let test = Test {
        name: "t",
        title: "t",
        program: Path::new("/seen/elsewhere"),
        built_as: Some("src/prog"),
        scenario: &scenario,
        ending: &ending,
        has_stderr: false,
    };
    let script = tests.join("t.sh");
    fs::write(&script, Format::Shell.write(&test).unwrap()).unwrap();
    let run = |directory: &Path, name: &Path| {
        let mut command = Command::new("/bin/sh");
        command
            .arg(name)
            .current_dir(directory)
            .env_remove("PROGRAM");
        command.output().unwrap()
    };
    for (directory, name) in [
        (folder.path(), Path::new("tests/t.sh")),
        (&tests, Path::new("t.sh")),
        (Path::new("/"), script.as_path()),
    ] {
        let output = run(directory, name);
        assert!(output.status.success(), "{directory:?}: {output:?}");
    }
    fs::remove_file(src.join("prog")).unwrap();
    let output = run(&tests, &script);
    assert_eq!(output.status.code(), Some(99));
    assert!(String::from_utf8_lossy(&output.stderr).contains("where is src/prog?"));
}

#[test]
fn standard_error_is_compared_only_on_request() {
    let scenario = shell("echo \"$0: told\" >&2");
    let ending = |stderr: &str| Ending {
        exit: Some(0),
        stderr: stderr.into(),
        ..Ending::default()
    };
    let passes = |stderr: &str, has_stderr| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.sh");
        let test = Test {
            name: "t",
            title: "sh says something",
            program: Path::new("/bin/sh"),
            built_as: None,
            scenario: &scenario,
            ending: &ending(stderr),
            has_stderr,
        };
        fs::write(&path, Format::Shell.write(&test).unwrap()).unwrap();
        Command::new("sh")
            .arg(&path)
            .output()
            .unwrap()
            .status
            .success()
    };
    // The program is called by where it is, wherever that is.
    assert!(passes("/bin/sh: told\n", true));
    assert!(!passes("/bin/sh: said\n", true));
    assert!(passes("/bin/sh: said\n", false));
}
