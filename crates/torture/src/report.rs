//! What `parallax trace --json` says, as far as the checks need it.

use crate::process::End;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// One traced run.
#[derive(Clone, Debug)]
pub struct Report {
    pub end: End,
    pub stdout: Captured,
    pub stderr: Captured,
    /// One readable line each.
    pub mismatches: Vec<String>,
    pub losses: Vec<Loss>,
    pub branches: u64,
    /// Where the branches were.
    pub branch_places: Vec<BranchPlace>,
    pub nodes: u64,
    /// The program was traced, not run plain because tracing was impossible.
    pub attached: bool,
    /// A limit ended tracing before the program ended.
    pub stopped: bool,
    /// CPU time of the traced program.
    pub cpu: Duration,
}

/// What a traced program wrote; only the beginning if it was very much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    pub bytes: Vec<u8>,
    pub truncated: bool,
}

impl Captured {
    /// Whether the plain program's output is the same, as far as it was kept.
    pub fn is(&self, plain: &[u8]) -> bool {
        if self.truncated {
            plain.starts_with(&self.bytes)
        } else {
            self.bytes == plain
        }
    }
}

/// Precision that was given up, for one reason through one function.
#[derive(Clone, Debug, Deserialize)]
pub struct Loss {
    pub kind: String,
    pub function: String,
    pub count: u64,
}

/// Branches at one place that depended on the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPlace {
    pub count: u64,
    /// Functions on the call stack, innermost first, without the one that branched.
    pub callers: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    result: Outcome,
    branches: Vec<Branch>,
    losses: Vec<Loss>,
    mismatches: Option<Vec<serde_json::Value>>,
    stats: Stats,
}

#[derive(Deserialize)]
struct Outcome {
    end: String,
    exit: Option<i32>,
    signal: Option<i32>,
    #[serde(deserialize_with = "bytes")]
    stdout: Vec<u8>,
    #[serde(deserialize_with = "bytes")]
    stderr: Vec<u8>,
    stdout_truncated: bool,
    stderr_truncated: bool,
}

#[derive(Deserialize)]
struct Branch {
    count: u64,
    #[serde(default)]
    stack: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    function: Option<String>,
}

impl From<Branch> for BranchPlace {
    fn from(branch: Branch) -> BranchPlace {
        let callers = branch.stack.into_iter().filter_map(|call| call.function);
        BranchPlace {
            count: branch.count,
            callers: callers.collect(),
        }
    }
}

#[derive(Deserialize)]
struct Stats {
    nodes: u64,
    attached: bool,
    stopped: Option<String>,
    cpu_seconds: f64,
}

impl Report {
    pub fn parse(json: &[u8]) -> Result<Report, serde_json::Error> {
        let document: Document = serde_json::from_slice(json)?;
        let Document { result, stats, .. } = document;
        let end = match (result.end.as_str(), result.exit, result.signal) {
            ("exit", Some(code), _) => End::Exit(code),
            ("signal", _, Some(number)) => End::Signal(number),
            _ => End::Timeout,
        };
        let lines = document.mismatches.unwrap_or_default();
        Ok(Report {
            end,
            stdout: Captured {
                bytes: result.stdout,
                truncated: result.stdout_truncated,
            },
            stderr: Captured {
                bytes: result.stderr,
                truncated: result.stderr_truncated,
            },
            mismatches: lines.iter().map(|entry| entry.to_string()).collect(),
            losses: document.losses,
            branches: document.branches.iter().map(|branch| branch.count).sum(),
            branch_places: document.branches.into_iter().map(Into::into).collect(),
            nodes: stats.nodes,
            attached: stats.attached,
            stopped: stats.stopped.is_some(),
            cpu: Duration::from_secs_f64(stats.cpu_seconds.max(0.0)),
        })
    }
}

/// Text, or `{"base64": ...}` for bytes that are none.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Binary {
            base64: String,
        },
        /// Nothing was captured.
        Nothing,
    }
    Ok(match Form::deserialize(deserializer)? {
        Form::Text(text) => text.into_bytes(),
        Form::Binary { base64 } => decode_base64(&base64),
        Form::Nothing => Vec::new(),
    })
}

/// Decodes what the tool encoded; other characters (padding) are skipped.
fn decode_base64(text: &str) -> Vec<u8> {
    let mut output = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for c in text.bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            output.push((bits >> count) as u8);
        }
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let json = br#"{
            "schema": 1, "command": "trace",
            "result": {"end": "exit", "exit": 3, "signal": null, "stdout": {"base64": "/wA="},
                       "stderr": "oops\n", "stdout_truncated": false, "stderr_truncated": true},
            "branches": [{"count": 2}, {"count": 5, "stack": [{"function": "f"}, {"function": null}]}],
            "losses": [{"function": "strcoll", "kind": "call", "count": 4, "places": 1}],
            "mismatches": [{"function": "main", "expected": "0x1", "actual": "0x2"}],
            "stats": {"nodes": 12, "attached": true, "stopped": null, "cpu_seconds": 0.25}
        }"#;
        let report = Report::parse(json).unwrap();
        assert_eq!(report.end, End::Exit(3));
        assert!(report.stdout.is(b"\xff\0"));
        assert!(report.stderr.is(b"oops\nand more"));
        assert_eq!((report.branches, report.nodes), (7, 12));
        assert_eq!(report.branch_places[1].callers, ["f"]);
        assert_eq!(report.losses[0].function, "strcoll");
        assert_eq!(report.mismatches.len(), 1);
        assert_eq!(report.cpu, Duration::from_millis(250));
        assert!(!report.stopped && report.attached);
    }
}
