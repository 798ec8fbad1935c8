//! What a run covered: for people ([`text`]), for programs ([`json`]), for tools that read lcov's format ([`lcov`]).

mod json;
mod lcov;
mod text;

use std::path::Path;
use std::time::Duration;

use parallax_exec::coverage::{Coverage, Uncounted, Why};
use parallax_exec::run::Outcome;

pub use json::render as render_json;
pub use lcov::render as render_lcov;
pub use text::{Detail, render as render_text};

/// Everything that a report is made from.
pub struct CoverageReport<'a> {
    /// The program as the user named it.
    pub program: &'a Path,
    pub outcome: &'a Outcome,
    pub coverage: &'a Coverage,
    pub timeout: Duration,
    pub memory: u64,
}

fn reason(uncounted: &Uncounted) -> &'static str {
    match uncounted.why {
        Why::NoRoom => "no room for its counters",
        Why::Damaged => "the program damaged its counters",
    }
}

/// A run that covered a little of everything, made by hand.
#[cfg(test)]
mod sample {
    use parallax_abi::SiteId;
    use parallax_exec::coverage::{BranchCoverage, FileCoverage, FunctionCoverage, Sides};

    pub fn file() -> FileCoverage {
        let branch = |line, column, taken, not_taken| BranchCoverage {
            site: SiteId(1),
            line,
            column,
            sides: Sides { taken, not_taken },
        };
        let function = |name: &str, line, count| FunctionCoverage {
            name: name.to_owned(),
            line,
            count,
        };
        FileCoverage {
            name: "/src/a.c".to_owned(),
            lines: [(2, 10), (3, 0), (9, 0)].into(),
            branches: vec![
                branch(0, 0, 1, 1),
                branch(2, 7, 0, 10),
                branch(2, 12, 4, 6),
                branch(9, 3, 0, 0),
            ],
            functions: vec![
                function("made_up", 0, 1),
                function("main", 1, 1),
                function("spare", 8, 0),
            ],
        }
    }
}
