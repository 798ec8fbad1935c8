//! Servers that are traced: what their clients send is input like any other.

mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use parallax_abi::trace::SourceKind;
use parallax_exec::execute::{Executor, Settings};
use parallax_exec::finding::Kind;
use parallax_exec::run::End;
use parallax_exec::sandbox::{Confinement, Policy, choose};
use parallax_scenario::{Listening, Scenario};
use parallax_search::engine::{Observer, Progress};
use parallax_search::explore::{Options, Programs, Shape, explore};
use parallax_search::journal::Nowhere;
use parallax_search::sources::vocabulary::Vocabulary;
use parallax_solver::Config;
use parallax_trace::Trace;
use parallax_trace::region::{Limits, Region, Symbolic};
use support::Folder;

const SERVER: &str = include_str!("../../exec/tests/programs/lines.c");

struct Server {
    folder: Folder,
    traced: PathBuf,
}

impl Server {
    /// `None` without network namespaces.
    fn new() -> Option<Server> {
        let Ok(Confinement::Namespaces { .. }) = choose(Policy::Required) else {
            return None;
        };
        let folder = Folder::new();
        let name = folder.build("lines", SERVER);
        let (path, _) = folder.expect(0, &["variant", &name, "--kind", "traced"]);
        Some(Server {
            traced: path.trim().into(),
            folder,
        })
    }
}

fn scenario(streams: &[&str]) -> Scenario {
    Scenario {
        argv: vec!["tcp:8080".into()],
        streams: streams.iter().map(|stream| (*stream).into()).collect(),
        listening: Some(Listening {
            address: "tcp:8080".into(),
            pauses: streams.iter().map(|_| Vec::new()).collect(),
            end: libc::SIGTERM,
        }),
        ..Scenario::default()
    }
}

fn settings(server: bool) -> Settings {
    Settings {
        timeout: Duration::from_secs(10),
        server,
        ..Settings::default()
    }
}

#[test]
fn what_clients_send_is_symbolic_in_served_and_fresh_runs() {
    let Some(server) = Server::new() else { return };
    let scenario = scenario(&["hello a\n", "echo bc\ncount\n"]);
    for is_served in [true, false] {
        let mut executor = Executor::new(&server.traced, settings(is_served)).unwrap();
        for _ in 0..2 {
            let region = Region::create(Limits::within(1 << 30), &Symbolic::ALL, false).unwrap();
            let outcome = executor.run(&scenario, &[region.shared()]).unwrap();
            let answers: Vec<&[u8]> = outcome.answers.iter().map(|a| &a.bytes[..]).collect();
            assert_eq!(answers, [&b"hello, a\n"[..], b"bc\n1\n"]);
            assert_eq!(outcome.end, End::Exit(7));
            let trace = Trace::read(region);
            assert!(trace.attached());
            let sources = (0..trace.source_count()).filter_map(|index| trace.source(index));
            let streams = sources.filter(|source| source.kind == SourceKind::Stream);
            let numbers: BTreeSet<u32> = streams.map(|source| source.index).collect();
            assert_eq!(numbers, BTreeSet::from([0, 1]));
            assert!(trace.event_count() > 0);
        }
        assert_eq!(executor.is_serving(), is_served);
    }
}

/// Looks at nothing.
struct Nobody;

impl Observer for Nobody {
    fn progress(&mut self, _: &Progress) {}
    fn stop(&self) -> bool {
        false
    }
}

#[test]
fn a_request_that_crashes_the_server_is_found_and_made_small() {
    let Some(server) = Server::new() else { return };
    let programs = Programs {
        plain: server.folder.path().join("lines"),
        traced: server.traced.clone(),
        covered: None,
        checked: None,
        traced_libraries: Vec::new(),
        covered_libraries: Vec::new(),
    };
    let seed = scenario(&["count\n", "echo x\nhello a\ncount\n"]);
    let options = Options {
        shape: Shape::Near(Box::new(seed)),
        symbolic: Symbolic::ALL,
        runs: Some(60),
        time: None,
        generations: None,
        jobs: 2,
        seed: 1,
        limits: Limits::within(1 << 30),
        settings: settings(true),
        solver: Config::default(),
        keep_paths: false,
        hangs: true,
        keep_lengths: false,
        trace_memory: 1 << 28,
    };
    let words = Vocabulary::default();
    let summary = explore(&programs, &options, words, &mut Nowhere, &mut Nobody).unwrap();
    let crash = summary
        .search
        .findings
        .iter()
        .find(|finding| finding.problem.kind == Kind::Crash);
    let crash = crash.expect("no crash was found");
    // Without a space behind it there is no name.
    let [request] = &crash.scenario.streams[..] else {
        panic!("{:?}", crash.scenario.streams);
    };
    assert_eq!(String::from_utf8_lossy(request), "hello");
}
