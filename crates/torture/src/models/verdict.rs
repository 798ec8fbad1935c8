//! What one traced run of a family's program says about its models.

use super::run::Tally;
use crate::process::End;
use crate::report::Report;
use std::collections::BTreeMap;

/// Prefix of the functions that do one check each.
const CHECK_PREFIX: &str = "check_";
/// Lines of a difference that are shown.
const SHOWN: usize = 12;

/// What is wrong with a model.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("model and libc differ:\n{0}")]
    Difference(String),
    #[error("{count} self-check mismatches:\n{shown}")]
    Mismatch { count: usize, shown: String },
    #[error("lost: {0}")]
    Loss(String),
    #[error("the traced program ended with {end:?} after:\n{stdout}")]
    End { end: End, stdout: String },
    #[error("the trace is not complete")]
    Incomplete,
}

/// The summary of one run.
pub struct Batch {
    pub tallies: BTreeMap<String, Tally>,
}

impl Batch {
    pub fn of(report: &Report) -> Result<Batch, Fault> {
        let stdout = String::from_utf8_lossy(&report.stdout.bytes);
        if stdout.lines().any(|line| line.starts_with("difference")) {
            let lines = stdout
                .lines()
                .skip_while(|line| !line.starts_with("difference"));
            let shown: Vec<&str> = lines.take(SHOWN).collect();
            return Err(Fault::Difference(shown.join("\n")));
        }
        if report.end != End::Exit(0) {
            let tail: Vec<&str> = stdout.lines().rev().take(SHOWN).collect();
            return Err(Fault::End {
                end: report.end,
                stdout: tail.join("\n"),
            });
        }
        if !report.mismatches.is_empty() {
            let shown: Vec<String> = report.mismatches.iter().take(SHOWN).cloned().collect();
            return Err(Fault::Mismatch {
                count: report.mismatches.len(),
                shown: shown.join("\n"),
            });
        }
        if !report.attached || report.stopped {
            return Err(Fault::Incomplete);
        }
        let mut tallies: BTreeMap<String, Tally> =
            stdout.lines().filter_map(parse_summary).collect();
        for branch in &report.branch_places {
            let check = branch
                .callers
                .iter()
                .find_map(|function| function.strip_prefix(CHECK_PREFIX));
            if let Some(tally) = check.and_then(|check| tallies.get_mut(check)) {
                tally.branches += branch.count;
            }
        }
        Ok(Batch { tallies })
    }

    /// Any loss is one of the models': the program loses nothing of its own.
    pub fn require_no_loss(&self, report: &Report, known: &[&str]) -> Result<(), Fault> {
        let lost: Vec<String> = report
            .losses
            .iter()
            .filter(|loss| !loss.function.starts_with("__plx_"))
            .filter(|loss| !known.contains(&loss.function.as_str()))
            .map(|loss| format!("{} {} ({} times)", loss.kind, loss.function, loss.count))
            .collect();
        if lost.is_empty() {
            Ok(())
        } else {
            Err(Fault::Loss(lost.join(", ")))
        }
    }
}

/// `checked NAME CASES LABELLED`, or `cleared` for functions that leave nothing symbolic.
fn parse_summary(line: &str) -> Option<(String, Tally)> {
    let mut words = line.split(' ');
    let only_clears = match words.next()? {
        "checked" => false,
        "cleared" => true,
        _ => return None,
    };
    let name = words.next()?.to_owned();
    let tally = Tally {
        only_clears,
        cases: words.next()?.parse().ok()?,
        labelled: words.next()?.parse().ok()?,
        branches: 0,
    };
    Some((name, tally))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_line_is_read() {
        let tally = Tally {
            only_clears: false,
            cases: 10,
            labelled: 7,
            branches: 0,
        };
        assert_eq!(
            parse_summary("checked strtol 10 7"),
            Some(("strtol".to_owned(), tally))
        );
        assert_eq!(parse_summary("something else"), None);
    }
}
