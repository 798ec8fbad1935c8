//! The forms that programs read are what those programs expect.

mod sample;

use std::collections::BTreeMap;

use parallax_report::human::{self, Options};
use parallax_report::model::{DifferenceLine, Promise};
use parallax_report::{cobertura, github, gitlab, html, junit, lcov, markdown, sarif};
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

/// An element of a document type: what may be in it, in this order (`*` any number, `?` one or none, else exactly one), and its attributes,
/// which are required unless they end in `?`.
type Rule = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

fn assert_follows(node: roxmltree::Node<'_, '_>, rules: &[Rule]) {
    let name = node.tag_name().name();
    let rule = rules.iter().find(|rule| rule.0 == name);
    let (_, inside, attributes) = rule.unwrap_or_else(|| panic!("<{name}> is not known"));
    let mut children = node.children().filter(|node| node.is_element()).peekable();
    for wanted in *inside {
        let (wanted, least, most) = match wanted.as_bytes().last() {
            Some(b'*') => (&wanted[..wanted.len() - 1], 0, usize::MAX),
            Some(b'?') => (&wanted[..wanted.len() - 1], 0, 1),
            _ => (*wanted, 1, 1),
        };
        let mut count = 0;
        while count < most
            && children
                .next_if(|node| node.tag_name().name() == wanted)
                .is_some()
        {
            count += 1;
        }
        assert!(count >= least, "<{name}> has no <{wanted}>");
    }
    if let Some(left) = children.next() {
        panic!("<{}> is out of place in <{name}>", left.tag_name().name());
    }
    for attribute in node.attributes() {
        let is_it = |known: &&str| known.trim_end_matches('?') == attribute.name();
        let known = attributes.iter().any(is_it);
        assert!(known, "<{name} {}> is not known", attribute.name());
    }
    for wanted in attributes.iter().filter(|name| !name.ends_with('?')) {
        assert!(node.has_attribute(*wanted), "<{name}> has no {wanted}");
    }
    for child in node.children().filter(|node| node.is_element()) {
        assert_follows(child, rules);
    }
}

/// What both the schema of Ant's reports and the one of Jenkins' plug-in allow.
const JUNIT: &[Rule] = &[
    ("testsuites", &["testsuite*"], &[]),
    (
        "testsuite",
        &["properties", "testcase*", "system-out", "system-err"],
        &[
            "name",
            "package",
            "id",
            "timestamp",
            "hostname",
            "tests",
            "failures",
            "errors",
            "skipped?",
            "time",
        ],
    ),
    ("properties", &[], &[]),
    (
        "testcase",
        &["skipped?", "failure?"],
        &["name", "classname", "time"],
    ),
    ("skipped", &[], &["message?"]),
    ("failure", &[], &["type", "message?"]),
    ("system-out", &[], &[]),
    ("system-err", &[], &[]),
];

#[test]
fn junit_has_the_structure_that_servers_check() {
    let text = junit::render(&sample::report());
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    assert_follows(root, JUNIT);
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> usize {
        node.attribute(name).unwrap().parse().unwrap()
    };
    let count = |node: roxmltree::Node<'_, '_>, name: &str| {
        let inside = node.descendants();
        inside.filter(|node| node.has_tag_name(name)).count()
    };
    for (at, suite) in root.children().filter(|node| node.is_element()).enumerate() {
        assert_eq!(number(&suite, "id"), at);
        assert_eq!(number(&suite, "tests"), count(suite, "testcase"));
        assert_eq!(number(&suite, "failures"), count(suite, "failure"));
        assert_eq!(number(&suite, "skipped"), count(suite, "skipped"));
        assert_eq!(number(&suite, "errors"), 0);
        // Without a time zone, which the schema forbids.
        assert_eq!(suite.attribute("timestamp"), Some("2026-11-16T08:00:00"));
        assert!(suite.attribute("time").unwrap().parse::<f64>().is_ok());
    }
    assert_eq!([count(root, "testcase"), count(root, "failure")], [8, 2]);
    // What passes is explained, too.
    let output = root
        .descendants()
        .find(|node| node.has_tag_name("system-out"));
    let output = output.and_then(|node| node.text()).unwrap_or_default();
    assert!(output.contains("src/field: stderr"), "{output}");
    let clean = junit::render(&sample::clean());
    let document = roxmltree::Document::parse(&clean).unwrap();
    assert_follows(document.root_element(), JUNIT);
    assert_eq!(count(document.root_element(), "failure"), 0);
}

/// As coverage-04.dtd has it.
const COBERTURA: &[Rule] = &[
    (
        "coverage",
        &["sources?", "packages"],
        &[
            "line-rate",
            "branch-rate",
            "lines-covered",
            "lines-valid",
            "branches-covered",
            "branches-valid",
            "complexity",
            "version",
            "timestamp",
        ],
    ),
    ("sources", &["source*"], &[]),
    ("source", &[], &[]),
    ("packages", &["package*"], &[]),
    (
        "package",
        &["classes"],
        &["name", "line-rate", "branch-rate", "complexity"],
    ),
    ("classes", &["class*"], &[]),
    (
        "class",
        &["methods", "lines"],
        &["name", "filename", "line-rate", "branch-rate", "complexity"],
    ),
    ("methods", &["method*"], &[]),
    ("lines", &["line*"], &[]),
    ("line", &["conditions*"], &["number", "hits", "branch?"]),
];

fn with_type(text: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    roxmltree::Document::parse_with_options(text, options).unwrap()
}

#[test]
fn cobertura_follows_its_document_type_and_says_what_lcov_says() {
    let text = cobertura::render(&sample::report());
    let document = with_type(&text);
    let root = document.root_element();
    assert_follows(root, COBERTURA);
    assert_eq!(root.attribute("line-rate"), Some("0.8000"));
    assert_eq!(root.attribute("lines-covered"), Some("4"));
    assert_eq!(root.attribute("timestamp"), Some("1794816000"));
    let mut lines = String::new();
    for class in root.descendants().filter(|node| node.has_tag_name("class")) {
        assert_eq!(class.attribute("filename"), Some("src/field.c"));
        for line in class.descendants().filter(|node| node.has_tag_name("line")) {
            let [number, hits] = ["number", "hits"].map(|name| line.attribute(name).unwrap());
            lines.push_str(&format!("DA:{number},{hits}\n"));
        }
    }
    assert!(lcov::render(&sample::report()).contains(&lines), "{lines}");
    // Nothing that could run.
    let empty = cobertura::render(&Default::default());
    let document = with_type(&empty);
    assert_follows(document.root_element(), COBERTURA);
    assert_eq!(
        document.root_element().attribute("line-rate"),
        Some("1.0000")
    );
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
