//! lcov's tracefile, which editors, genhtml, diff-cover and coverage services read.
//!
//! A record for each file: functions (`FN`, `FNDA`), branch sides (`BRDA`: line, number of the branch on
//! that line, 0 for the true and 1 for the false side, count or `-` if the branch was never reached),
//! lines (`DA`), each with the number found and the number hit. What has no line cannot be said in this format and is left
//! out.

use std::fmt::Write as _;

use crate::model::{FileCoverage, LineState, PatchReport};

/// What is known of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record<'f> {
    pub name: &'f str,
    /// First line, name, count.
    pub functions: Vec<(u32, &'f str, u64)>,
    /// Line and counts of the true and the false side, by line.
    pub branches: Vec<(u32, [u64; 2])>,
    /// Line and count.
    pub lines: Vec<(u32, u64)>,
}

/// Changed lines of a patch that have code, with the number of known inputs that run each.
pub fn render(report: &PatchReport) -> String {
    let files = report.coverage();
    let records = files.iter().map(of_file);
    records.map(|record| record.render()).collect()
}

fn of_file(file: &FileCoverage) -> Record<'_> {
    let lines = file.lines.iter();
    let with_code = lines.filter(|line| line.state != LineState::NoCode);
    Record {
        name: &file.file,
        lines: with_code.map(|line| (line.line, line.hits)).collect(),
        ..Record::default()
    }
}

impl Record<'_> {
    pub fn render(&self) -> String {
        let mut text = format!("TN:\nSF:{}\n", self.name);
        let functions = || self.functions.iter().filter(|(line, ..)| *line != 0);
        for (line, name, _) in functions() {
            let _ = writeln!(text, "FN:{line},{name}");
        }
        for (_, name, count) in functions() {
            let _ = writeln!(text, "FNDA:{count},{name}");
        }
        let counts = functions().map(|(.., count)| *count);
        write_sums(&mut text, ["FNF", "FNH"], counts);
        self.write_branches(&mut text);
        for (line, count) in &self.lines {
            let _ = writeln!(text, "DA:{line},{count}");
        }
        let counts = self.lines.iter().map(|(_, count)| *count);
        write_sums(&mut text, ["LF", "LH"], counts);
        text.push_str("end_of_record\n");
        text
    }

    fn write_branches(&self, text: &mut String) {
        let mut sides = Vec::new();
        let mut at = (0, 0);
        for (line, counts) in self.branches.iter().filter(|(line, _)| *line != 0) {
            let number = if at.0 == *line { at.1 + 1 } else { 0 };
            at = (*line, number);
            let reached = *counts != [0, 0];
            for (side, count) in counts.iter().enumerate() {
                let _ = write!(text, "BRDA:{line},{number},{side},");
                let _ = if reached {
                    writeln!(text, "{count}")
                } else {
                    writeln!(text, "-")
                };
            }
            sides.extend(counts);
        }
        write_sums(text, ["BRF", "BRH"], sides.into_iter());
    }
}

fn write_sums(
    text: &mut String,
    [found, hit]: [&str; 2],
    counts: impl Iterator<Item = u64> + Clone,
) {
    let hits = counts.clone().filter(|count| *count > 0).count();
    let _ = writeln!(text, "{found}:{}\n{hit}:{hits}", counts.count());
}
