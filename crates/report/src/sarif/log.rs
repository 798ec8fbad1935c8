//! Findings as SARIF 2.1.0 (OASIS), which code hosts and editors show at the lines that they are about.
//!
//! Only what we fill in, under the names of the standard. Knows no command: whoever has findings makes [`Finding`]s of them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::Level;

/// Where the schema is; readers use it to recognise the form.
pub const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Paths are relative to what this stands for: the top of the source.
const ROOT: &str = "SRCROOT";
/// Of our fingerprints; raised when the same finding would get another one.
const FINGERPRINT: &str = "parallax/v1";

/// What kind of finding it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    pub name: &'static str,
    /// In a sentence.
    pub description: &'static str,
}

/// The rule that a finding breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// Who says so.
    pub command: &'static str,
    pub kind: Kind,
    pub level: Level,
}

impl Rule {
    /// `diverge/regression`.
    fn id(&self) -> String {
        format!("{}/{}", self.command, self.kind.name)
    }
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Relative to the top of the source.
    pub file: String,
    pub first: u32,
    pub last: u32,
    /// What is there, if there is more to say than where.
    pub message: Option<String>,
}

/// A finding, whichever command has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub rule: Rule,
    pub message: String,
    /// Where it is to be shown: the first, and what else belongs to it.
    pub spots: Vec<Spot>,
    pub related: Vec<Spot>,
    /// The decisions that lead there, in order.
    pub flow: Vec<Spot>,
    /// Why somebody says that it is as it should be.
    pub accepted: Option<String>,
    /// The same for the same finding in every run.
    pub fingerprint: String,
    /// Whatever else is known.
    pub properties: Value,
}

/// A whole file.
pub struct Log {
    pub findings: Vec<Finding>,
    /// The commit that the files are of, if it is one.
    pub revision: Option<String>,
    pub properties: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'f> {
    rule_id: String,
    rule_index: usize,
    level: Level,
    message: Value,
    locations: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Value>,
    partial_fingerprints: BTreeMap<&'static str, &'f str>,
    properties: &'f Value,
}

impl Log {
    pub fn render(&self) -> String {
        let mut rules: Vec<Rule> = self.findings.iter().map(|finding| finding.rule).collect();
        // One rule may have findings of several levels: the worst comes first and is the usual one.
        rules.sort_unstable_by_key(|rule| (rule.kind.name, rule.level));
        rules.dedup_by_key(|rule| rule.kind.name);
        let results: Vec<Entry<'_>> = self
            .findings
            .iter()
            .map(|finding| Entry {
                rule_id: finding.rule.id(),
                rule_index: rules
                    .iter()
                    .position(|rule| rule.kind == finding.rule.kind)
                    .unwrap_or(0),
                level: finding.rule.level,
                message: json!({"text": finding.message}),
                locations: finding.spots.iter().map(location).collect(),
                related_locations: finding.related.iter().map(location).collect(),
                code_flows: flow(&finding.flow),
                suppressions: finding
                    .accepted
                    .iter()
                    .map(|because| json!({"kind": "external", "status": "accepted", "justification": because}))
                    .collect(),
                partial_fingerprints: BTreeMap::from([(FINGERPRINT, finding.fingerprint.as_str())]),
                properties: &finding.properties,
            })
            .collect();
        let rules: Vec<Value> = rules.iter().map(rule).collect();
        let mut run = json!({
            "tool": {"driver": {
                "name": "Parallax",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {ROOT: {"description": {"text": "The top of the project"}}},
            "results": results,
            "properties": self.properties,
        });
        if let Some(revision) = &self.revision {
            run["automationDetails"] = json!({"id": format!("parallax/{revision}")});
        }
        let log = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
        format!("{log:#}\n")
    }
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": {"text": rule.kind.description},
        "defaultConfiguration": {"level": rule.level},
    })
}

fn location(spot: &Spot) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&spot.file), "uriBaseId": ROOT},
            "region": {"startLine": spot.first.max(1), "endLine": spot.last.max(spot.first).max(1)},
        },
    });
    if let Some(message) = &spot.message {
        location["message"] = json!({"text": message});
    }
    location
}

/// Decisions, one after the other.
fn flow(spots: &[Spot]) -> Vec<Value> {
    if spots.is_empty() {
        return Vec::new();
    }
    let steps: Vec<Value> = spots
        .iter()
        .map(|spot| json!({"location": location(spot)}))
        .collect();
    vec![json!({"threadFlows": [{"locations": steps}]})]
}

/// A relative path as a reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_references() {
        assert_eq!(uri("src/a b+é.c"), "src/a%20b%2B%C3%A9.c");
    }

    #[test]
    fn results_name_their_rules_by_number() {
        let of = |id: &'static str, level: Level| Finding {
            rule: Rule {
                command: "test",
                kind: Kind {
                    name: id,
                    description: "It is.",
                },
                level,
            },
            message: "m".into(),
            spots: Vec::new(),
            related: Vec::new(),
            flow: Vec::new(),
            accepted: None,
            fingerprint: "f".into(),
            properties: json!({}),
        };
        let log = Log {
            findings: vec![
                of("b", Level::Note),
                of("a", Level::Error),
                of("b", Level::Note),
            ],
            revision: None,
            properties: json!({}),
        };
        let document: Value = serde_json::from_str(&log.render()).unwrap();
        let run = &document["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 2);
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
    }
}
