//! Differences whose cause is known, read from the document that explains them.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The rows of the table `| test | plain | traced | cause |`.
pub struct Known {
    rows: Vec<Row>,
}

struct Row {
    test: String,
    plain: String,
    traced: String,
    cause: String,
}

impl Known {
    pub fn read(document: &Path) -> Result<Known> {
        let text = fs::read_to_string(document).with_context(|| document.display().to_string())?;
        Ok(Known::parse(&text))
    }

    fn parse(text: &str) -> Known {
        let mut rows = Vec::new();
        for line in text.lines() {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            if let ["", test, plain, traced, cause, ""] = cells[..]
                && test.starts_with("`tests/")
            {
                rows.push(Row {
                    test: test.trim_matches('`').to_owned(),
                    plain: plain.to_owned(),
                    traced: traced.to_owned(),
                    cause: cause.to_owned(),
                });
            }
        }
        Known { rows }
    }

    /// Why this test differs in this way, if that is known.
    pub fn cause(&self, test: &str, plain: &str, traced: &str) -> Option<&str> {
        let row = self
            .rows
            .iter()
            .find(|row| row.test == test && row.plain == plain && row.traced == traced)?;
        Some(&row.cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_difference_that_is_listed_is_known() {
        let known = Known::parse(
            "# Text\n\n| test | plain | traced | cause |\n|---|---|---|---|\n\
             | `tests/misc/a.sh` | PASS | SKIP | it looks for strace |\n",
        );
        let cause = known.cause("tests/misc/a.sh", "PASS", "SKIP");
        assert_eq!(cause, Some("it looks for strace"));
        assert_eq!(known.cause("tests/misc/a.sh", "PASS", "FAIL"), None);
        assert_eq!(known.cause("tests/misc/b.sh", "PASS", "SKIP"), None);
    }
}
