//! The forms that programs read are what those programs expect.

mod sample;

use std::collections::BTreeMap;

use parallax_report::human::{self, Options};
use parallax_report::model::{DifferenceLine, Promise};
use parallax_report::{github, gitlab, html, junit, lcov, markdown, sarif};
use serde_json::Value;
use serde_sarif::sarif::Sarif;

fn sarif() -> (Sarif, Value) {
    let text = sarif::render(&sample::report());
    let typed: Sarif = serde_json::from_str(&text).unwrap();
    (typed, serde_json::from_str(&text).unwrap())
}

#[test]
fn sarif_is_of_the_standards_types() {
    let (typed, _) = sarif();
    let run = &typed.runs[0];
    let results = run.results.as_ref().unwrap();
    assert_eq!(results.len(), 4);
    let rules = run.tool.driver.rules.as_ref().unwrap();
    for result in results {
        let index = usize::try_from(result.rule_index.unwrap()).unwrap();
        assert_eq!(Some(&rules[index].id), result.rule_id.as_ref());
    }
}

#[test]
fn sarif_keeps_what_types_do_not_say() {
    let (_, log) = sarif();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let mut fingerprints = Vec::new();
    for result in run["results"].as_array().unwrap() {
        let level = result["level"].as_str().unwrap();
        assert!(["error", "warning", "note"].contains(&level));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let prints = result["partialFingerprints"].as_object().unwrap();
        fingerprints.push(prints.values().next().unwrap().as_str().unwrap().to_owned());
        for location in result["locations"].as_array().unwrap() {
            let place = &location["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            assert!(!uri.starts_with('/') && !uri.contains(' '), "{uri}");
            let base = place["artifactLocation"]["uriBaseId"].as_str().unwrap();
            assert!(run["originalUriBaseIds"].get(base).is_some());
            let region = &place["region"];
            let (first, last) = (&region["startLine"], &region["endLine"]);
            assert!(first.as_u64().unwrap() >= 1);
            assert!(last.as_u64().unwrap() >= first.as_u64().unwrap());
        }
    }
    fingerprints.sort();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 4, "each finding has its own");
    // The worst first, with the decisions that lead to it.
    let first = &run["results"][0];
    assert_eq!(first["ruleId"], "parallax/regression");
    let flow = &first["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(flow.as_array().unwrap().len(), 2);
    let accepted = &run["results"][3];
    assert_eq!(accepted["level"], "note");
    assert_eq!(
        accepted["suppressions"][0]["justification"],
        "the text was to be clearer"
    );
}

#[test]
fn a_promise_raises_the_level_of_findings() {
    let mut report = sample::report();
    report.promise = Some(Promise::default());
    let log: Value = serde_json::from_str(&sarif::render(&report)).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let levels: Vec<&str> = results
        .iter()
        .map(|one| one["level"].as_str().unwrap())
        .collect();
    assert_eq!(levels, ["error", "error", "warning", "note"]);
}

/// What the widely used XSD of JUnit reports asks for: which elements and attributes there are, where, and that numbers are right.
#[test]
fn junit_has_the_structure_that_servers_check() {
    let text = junit::render(&sample::report());
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> usize {
        node.attribute(name).unwrap().parse().unwrap()
    };
    let mut sums = [0; 2];
    for suite in root.children().filter(|node| node.is_element()) {
        assert_eq!(suite.tag_name().name(), "testsuite");
        assert!(suite.attribute("name").is_some());
        let cases: Vec<_> = suite.children().filter(|node| node.is_element()).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for case in &cases {
            assert_eq!(case.tag_name().name(), "testcase");
            for name in ["name", "classname"] {
                assert!(!case.attribute(name).unwrap().is_empty());
            }
            let inside: Vec<&str> = case
                .children()
                .filter(|node| node.is_element())
                .map(|node| node.tag_name().name())
                .collect();
            let allowed = ["skipped", "error", "failure", "system-out", "system-err"];
            assert!(
                inside.iter().all(|name| allowed.contains(name)),
                "{inside:?}"
            );
            for name in inside {
                *counts.entry(name).or_default() += 1;
            }
        }
        let count = |name: &str| counts.get(name).copied().unwrap_or(0);
        assert_eq!(number(&suite, "tests"), cases.len());
        assert_eq!(number(&suite, "failures"), count("failure"));
        assert_eq!(number(&suite, "errors"), 0);
        sums[0] += cases.len();
        sums[1] += count("failure");
    }
    assert_eq!([number(&root, "tests"), number(&root, "failures")], sums);
    assert_eq!(sums, [8, 2]);
    let clean = junit::render(&sample::clean());
    let document = roxmltree::Document::parse(&clean).unwrap();
    assert_eq!(number(&document.root_element(), "failures"), 0);
}

#[test]
fn lcov_can_be_read_back() {
    let text = lcov::render(&sample::report());
    let mut lines = BTreeMap::new();
    let mut file = "";
    let mut sums = BTreeMap::new();
    for line in text.lines().filter(|line| *line != "end_of_record") {
        let (key, value) = line.split_once(':').unwrap();
        match key {
            "SF" => file = value,
            "DA" => {
                let (number, count) = value.split_once(',').unwrap();
                let numbers: [u64; 2] = [number, count].map(|text| text.parse().unwrap());
                lines.insert((file, numbers[0]), numbers[1]);
            }
            "LF" | "LH" | "FNF" | "FNH" | "BRF" | "BRH" => {
                sums.insert(key, value.parse::<u64>().unwrap());
            }
            "TN" => assert_eq!(value, ""),
            other => panic!("{other} is no key of a tracefile without functions"),
        }
    }
    let expected = [(19, 12), (24, 12), (25, 1), (26, 12), (27, 0)];
    let expected = expected.map(|(line, count)| (("src/field.c", line), count));
    assert_eq!(lines, BTreeMap::from(expected));
    assert_eq!((sums["LF"], sums["LH"]), (5, 4));
}

#[test]
fn gitlab_gets_the_fields_that_it_reads() {
    let list: Value = serde_json::from_str(&gitlab::render(&sample::report())).unwrap();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 4);
    for entry in list {
        for field in ["description", "check_name", "fingerprint"] {
            assert!(!entry[field].as_str().unwrap().is_empty());
        }
        let severity = entry["severity"].as_str().unwrap();
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&severity));
        assert!(!entry["location"]["path"].as_str().unwrap().is_empty());
        assert!(entry["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
    }
    assert_eq!(list[0]["severity"], "critical");
    assert_eq!(list[0]["location"]["path"], "src/field.c");
    assert_eq!(list[0]["location"]["lines"]["begin"], 24);
}

#[test]
fn github_gets_one_command_a_line() {
    let mut report = sample::report();
    report.findings[3].command = "src/field $'a\n::error::forged'".into();
    let text = github::render(&report);
    assert_eq!(text.lines().count(), 5);
    for line in text.lines() {
        let rest = line.strip_prefix("::").unwrap();
        let (head, _) = rest.split_once("::").unwrap();
        let command = head.split(' ').next().unwrap();
        assert!(["error", "warning", "notice"].contains(&command), "{line}");
    }
    assert!(
        text.starts_with("::error file=src/field.c,line=24,title=src/field%3A "),
        "{text}"
    );
}

/// A megabyte in, and two megabytes out.
#[test]
fn large_inputs_do_not_make_large_reports() {
    let mut report = sample::report();
    let found = &mut report.findings[3];
    let argument = "x".repeat(1 << 20);
    found.command = format!("src/field {argument}");
    found.scenario.argv = vec![argument.as_str().into()];
    let lines = (0..100_000).map(|number| Some(DifferenceLine::New(format!("{number}\n").into())));
    found.differences[1].lines = lines.collect();
    let options = Options {
        width: 100,
        verbose: false,
    };
    let sizes = [
        ("human", human::render(&report, options).len(), 32 << 10),
        ("markdown", markdown::render(&report).len(), markdown::LIMIT),
        ("html", html::render(&report).len(), 256 << 10),
        ("sarif", sarif::render(&report).len(), 64 << 10),
        ("github", github::render(&report).len(), 16 << 10),
        ("gitlab", gitlab::render(&report).len(), 16 << 10),
        ("junit", junit::render(&report).len(), 64 << 10),
    ];
    for (name, size, most) in sizes {
        assert!(size <= most, "{name}: {size} bytes");
    }
    assert!(markdown::render(&report).contains("out-of-bounds"));
}
