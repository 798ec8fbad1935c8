//! The report for programs: one JSON object, schema 1. Fields are only ever added within a schema.

use parallax_exec::coverage::{BranchCoverage, FileCoverage, Share, Totals};
use serde_json::{Value, json};

use super::{CoverageReport, reason};
use crate::results::{document, outcome};

/// The report as one line.
pub fn render(report: &CoverageReport) -> String {
    let coverage = report.coverage;
    let uncounted = coverage.uncounted().iter();
    let fields = json!({
        "program": report.program.to_string_lossy(),
        "result": outcome::json(report.outcome),
        "totals": totals(coverage.totals()),
        "files": coverage.files().iter().map(file).collect::<Vec<_>>(),
        "uncounted": uncounted
            .map(|module| json!({ "file": module.file, "why": reason(module) }))
            .collect::<Vec<_>>(),
    });
    document::of_one_run("coverage", report.outcome, fields)
}

fn totals(totals: Totals) -> Value {
    json!({
        "blocks": share(totals.blocks),
        "branch_sides": share(totals.branch_sides),
        "lines": share(totals.lines),
        "functions": share(totals.functions),
    })
}

fn share(share: Share) -> Value {
    json!({ "covered": share.covered, "total": share.total })
}

fn file(file: &FileCoverage) -> Value {
    let lines = file.lines.iter();
    let functions = file.functions.iter();
    json!({
        "file": file.name,
        "lines": lines
            .map(|(line, count)| json!({ "line": line, "count": count }))
            .collect::<Vec<_>>(),
        "branches": file.branches.iter().map(branch).collect::<Vec<_>>(),
        "functions": functions
            .map(|function| json!({
                "function": function.name,
                "line": known(function.line),
                "count": function.count,
            }))
            .collect::<Vec<_>>(),
    })
}

fn branch(branch: &BranchCoverage) -> Value {
    json!({
        "site": format!("{:016x}", branch.site.0),
        "line": known(branch.line),
        "column": known(branch.column),
        "taken": branch.sides.taken,
        "not_taken": branch.sides.not_taken,
    })
}

/// What the compiler did not tell is null.
fn known(number: u32) -> Option<u32> {
    (number != 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::coverage::sample;

    #[test]
    fn places_that_the_compiler_did_not_tell_are_null() {
        let file = file(&sample::file());
        assert_eq!(file["branches"][0]["line"], Value::Null);
        assert_eq!(file["functions"][0]["line"], Value::Null);
        assert_eq!(file["branches"][1]["line"], 2);
        assert_eq!(file["branches"][1]["not_taken"], 10);
        assert_eq!(file["lines"][0], json!({ "line": 2, "count": 10 }));
    }
}
