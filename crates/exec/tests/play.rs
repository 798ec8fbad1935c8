//! Servers and their clients, played in a network of their own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use parallax_exec::execute::{ExecuteError, Executor, Settings};
use parallax_exec::run::{End, Outcome};
use parallax_exec::sandbox::{Confinement, Policy, choose};
use parallax_scenario::{Bytes, Listening, Scenario};

/// A server that knows a few requests, one connection at a time, one request a line.
const SERVER: &str = include_str!("programs/lines.c");

/// The server compiled, once per test.
struct Server {
    executor: Executor,
    _directory: tempfile::TempDir,
}

impl Server {
    /// `None` without network namespaces.
    fn new(timeout: Duration) -> Option<Server> {
        match choose(Policy::Required) {
            Ok(Confinement::Namespaces { .. }) => {}
            _ => return None,
        }
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let program = compile(directory.path());
        let settings = Settings {
            timeout,
            ..Settings::default()
        };
        Some(Server {
            executor: Executor::new(&program, settings).unwrap(),
            _directory: directory,
        })
    }

    fn run(&mut self, scenario: &Scenario) -> Outcome {
        self.executor.run(scenario, &[]).unwrap()
    }
}

fn compile(directory: &Path) -> PathBuf {
    let (source, program) = (directory.join("lines.c"), directory.join("lines"));
    std::fs::write(&source, SERVER).unwrap();
    let compiler = ["cc", "clang-19", "gcc"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let done = Command::new(compiler.expect("a C compiler"))
        .arg("-o")
        .args([&program, &source])
        .status()
        .unwrap();
    assert!(done.success());
    program
}

fn scenario(address: &str, streams: &[(&str, &[u64])], end: i32) -> Scenario {
    Scenario {
        argv: vec![address.into()],
        streams: streams.iter().map(|(bytes, _)| (*bytes).into()).collect(),
        listening: Some(Listening {
            address: address.into(),
            pauses: streams.iter().map(|(_, pauses)| pauses.to_vec()).collect(),
            end,
        }),
        ..Scenario::default()
    }
}

fn answers(outcome: &Outcome) -> Vec<String> {
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let all = outcome.answers.iter();
    all.map(|answer| text(&answer.bytes)).collect()
}

#[test]
fn connections_are_played_in_order_and_the_server_is_ended_as_recorded() {
    let Some(mut server) = Server::new(Duration::from_secs(20)) else {
        return;
    };
    for address in [
        "tcp:8080",
        "tcp6:8080",
        "unix:socket",
        "unix:/tmp/s",
        "unix:@name",
    ] {
        let scenario = scenario(
            address,
            &[
                ("hello a\ncount\n", &[8, 14]),
                ("hello b\nquit\n", &[]),
                ("count\n", &[6]),
            ],
            libc::SIGTERM,
        );
        let outcome = server.run(&scenario);
        let stderr = String::from_utf8_lossy(&outcome.stderr.bytes);
        assert_eq!(
            answers(&outcome),
            ["hello, a\n1\n", "hello, b\nbye\n", "2\n"],
            "{address}: {stderr}"
        );
        assert_eq!(outcome.end, End::Exit(7), "{address}");
        assert_eq!(outcome.stdout.bytes, b"3 connections\n");
    }
}

#[test]
fn the_same_port_is_free_for_the_next_run() {
    let Some(mut server) = Server::new(Duration::from_secs(20)) else {
        return;
    };
    // The server closes first, and does not ask for an address that is in use.
    let scenario = scenario(
        "tcp:9000",
        &[("quit\n", &[]), ("hello x\n", &[])],
        libc::SIGKILL,
    );
    let started = Instant::now();
    for _ in 0..20 {
        let outcome = server.run(&scenario);
        assert_eq!(answers(&outcome), ["bye\n", "hello, x\n"]);
        assert_eq!(outcome.end, End::Signal(libc::SIGKILL));
    }
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_server_that_ends_by_itself_or_crashes_says_so() {
    let Some(mut server) = Server::new(Duration::from_secs(20)) else {
        return;
    };
    let ended = server.run(&scenario("tcp:81", &[("stop\n", &[])], 0));
    assert_eq!(
        (answers(&ended), ended.end),
        (vec!["stopping\n".into()], End::Exit(0))
    );
    let crashed = server.run(&scenario(
        "tcp:81",
        &[("hello\n", &[]), ("count\n", &[])],
        15,
    ));
    assert_eq!(crashed.end, End::Signal(libc::SIGSEGV));
    assert_eq!(answers(&crashed)[1], "");
}

#[test]
fn a_server_that_does_not_listen_is_ended_and_one_that_never_ends_is_a_timeout() {
    let Some(mut server) = Server::new(Duration::from_secs(1)) else {
        return;
    };
    let elsewhere = Scenario {
        argv: vec!["tcp:82".into()],
        ..scenario("tcp:83", &[("count\n", &[])], 15)
    };
    let outcome = server.run(&elsewhere);
    // What it does when it is told to end.
    assert_eq!(outcome.end, End::Exit(7));
    assert_eq!(answers(&outcome), [""]);
    let unending = scenario("tcp:84", &[("count\n", &[])], 0);
    let outcome = server.run(&unending);
    assert_eq!(outcome.end, End::Timeout);
    assert_eq!(answers(&outcome), ["0\n"]);
}

#[test]
fn a_long_answer_does_not_block_a_long_request() {
    let Some(mut server) = Server::new(Duration::from_secs(30)) else {
        return;
    };
    let request = "echo ".to_owned() + &"x".repeat(1000) + "\n";
    let many = request.repeat(600);
    let outcome = server.run(&scenario("tcp:85", &[(&many, &[])], 15));
    assert_eq!(outcome.answers[0].bytes.len(), 600 * 1001);
}

#[test]
fn wrong_addresses_are_refused() {
    let Some(mut server) = Server::new(Duration::from_secs(5)) else {
        return;
    };
    let result = server.executor.run(&scenario("udp:53", &[], 0), &[]);
    assert!(
        matches!(result, Err(ExecuteError::Address(_))),
        "{result:?}"
    );
    let plain = Scenario {
        argv: vec![Bytes::from("none")],
        ..Scenario::default()
    };
    // Without clients nothing changes.
    assert_eq!(server.run(&plain).end, End::Exit(2));
}
