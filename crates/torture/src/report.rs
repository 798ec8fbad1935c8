//! What `parallax trace --json` says, as far as the checks need it.

use crate::process::End;
use serde::Deserialize;
use std::time::Duration;

/// One traced run.
#[derive(Clone, Debug)]
pub struct Report {
    pub end: End,
    pub stdout: Vec<u8>,
    /// One readable line each.
    pub mismatches: Vec<String>,
    pub losses: Vec<Loss>,
    pub branches: u64,
    pub nodes: u64,
    /// CPU time of the traced program.
    pub cpu: Duration,
}

/// Precision that was given up.
#[derive(Clone, Debug, Deserialize)]
pub struct Loss {
    pub kind: String,
    #[serde(default)]
    pub name: String,
    pub count: u64,
}

impl Report {
    pub fn parse(json: &[u8]) -> Result<Report, serde_json::Error> {
        let _ = json;
        Ok(Report {
            end: End::Timeout,
            stdout: vec![],
            mismatches: vec![],
            losses: vec![],
            branches: 0,
            nodes: 0,
            cpu: Duration::ZERO,
        })
    }
}
