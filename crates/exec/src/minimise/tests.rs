//! Inputs of made-up programs, minimised.

use super::*;
use parallax_scenario::{Bytes, Listening};

fn scenario(argv: &[&str], stdin: &str) -> Scenario {
    Scenario {
        argv: argv.iter().map(|word| (*word).into()).collect(),
        stdin: stdin.into(),
        ..Scenario::default()
    }
}

fn minimised(
    scenario: &Scenario,
    seeds: &[Scenario],
    shows: impl Fn(&Scenario) -> bool,
) -> Minimised {
    assert!(shows(scenario), "the input shows nothing to begin with");
    let mut judge = |scenario: &Scenario| Ok::<bool, ()>(shows(scenario));
    let result = minimise(scenario, seeds, 1000, &mut judge).unwrap();
    assert!(shows(&result.scenario), "what was looked for is lost");
    result
}

fn has(bytes: &Bytes, part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn everything_that_is_not_needed_goes() {
    let mut start = scenario(&["-v", "-x", "file", "more"], "a\nb\nc crash d\ne\n");
    start.files.insert("file".into(), "contents".into());
    start.env.insert("LANG".into(), "C".into());
    start.directories.insert("empty".into());
    start.links.insert("link".into(), "file".into());
    start.modes.insert("file".into(), 0o600);
    start.umask = Some(0o77);
    let result = minimised(&start, &[], |scenario| {
        scenario.argv.contains(&"-x".into()) && has(&scenario.stdin, b"crash")
    });
    assert_eq!(result.scenario, scenario(&["-x"], "crash"));
}

#[test]
fn bytes_become_those_of_the_seed() {
    let seed = scenario(&["--format=plain", "name"], "");
    let start = scenario(&["--fqrmat=pl%in", "n\u{1}me"], "");
    let result = minimised(&start, &[scenario(&["x"], ""), seed], |scenario| {
        scenario.argv.len() == 2
            && scenario.argv[0].len() == 14
            && scenario.argv[0][11] == b'%'
            && scenario.argv[1].len() == 4
    });
    assert_eq!(result.scenario, scenario(&["--format=pl%in", "name"], ""));
}

#[test]
fn without_a_seed_bytes_become_letters_and_digits() {
    let start = scenario(&[], "\u{7f}q7\u{1}!9");
    let result = minimised(&start, &[], |scenario| {
        scenario.stdin.len() == 6 && scenario.stdin[4] == b'!'
    });
    assert_eq!(result.scenario.stdin, Bytes::from("AA0A!0"));
}

#[test]
fn a_client_still_waits_after_what_it_waited_for() {
    let mut start = scenario(&[], "");
    start.streams = vec!["first".into(), "GET / xx\r\n\r\nBAD".into()];
    start.listening = Some(Listening {
        address: "tcp:80".into(),
        pauses: vec![vec![5], vec![12, 15]],
        end: 15,
    });
    let result = minimised(&start, &[], |scenario| {
        let last = scenario.streams.last();
        last.is_some_and(|stream| has(stream, b"GET /") && has(stream, b"\r\n\r\nBAD"))
    });
    assert_eq!(result.scenario.streams, ["GET /\r\n\r\nBAD".into()]);
    assert_eq!(result.scenario.listening.unwrap().pauses, [[9, 12]]);
}

#[test]
fn the_number_of_runs_is_limited_and_the_result_the_same_each_time() {
    let start = scenario(&["a", "b", "c"], &"x".repeat(5000));
    let mut asked = 0;
    let mut judge = |scenario: &Scenario| {
        asked += 1;
        Ok::<bool, ()>(scenario.stdin.len() % 7 == 2 && scenario.argv.len() == 3)
    };
    let first = minimise(&start, &[], 30, &mut judge).unwrap();
    assert_eq!((first.runs, asked), (30, 30));
    let mut judge = |scenario: &Scenario| {
        Ok::<bool, ()>(scenario.stdin.len() % 7 == 2 && scenario.argv.len() == 3)
    };
    assert_eq!(minimise(&start, &[], 30, &mut judge).unwrap(), first);
}

#[test]
fn an_error_ends_the_search() {
    let mut judge = |_: &Scenario| Err::<bool, &str>("no more runs");
    let result = minimise(&scenario(&["a"], ""), &[], 9, &mut judge);
    assert_eq!(result, Err("no more runs"));
}
