//! lcov's tracefile, which editors, genhtml and coverage services read.
//!
//! A record for each file: functions (`FN`, `FNDA`), branch sides (`BRDA`: line, number of the branch on
//! that line, 0 for the true and 1 for the false side, count or `-` if the branch was never reached),
//! lines (`DA`), each with the number found and the number hit. What has no line cannot be said in this format and is left
//! out.

use std::fmt::Write as _;

use parallax_engine::coverage::{Coverage, FileCoverage};

/// The whole tracefile.
pub fn render(coverage: &Coverage) -> String {
    let mut text = String::new();
    for file in coverage.files() {
        write_file(&mut text, file);
    }
    text
}

fn write_file(text: &mut String, file: &FileCoverage) {
    let _ = writeln!(text, "TN:\nSF:{}", file.name);
    let functions = || file.functions.iter().filter(|function| function.line != 0);
    for function in functions() {
        let _ = writeln!(text, "FN:{},{}", function.line, function.name);
    }
    for function in functions() {
        let _ = writeln!(text, "FNDA:{},{}", function.count, function.name);
    }
    let counts = functions().map(|function| function.count);
    write_sums(text, ["FNF", "FNH"], counts);

    let mut sides = Vec::new();
    let mut at = (0, 0);
    for branch in file.branches.iter().filter(|branch| branch.line != 0) {
        let number = if at.0 == branch.line { at.1 + 1 } else { 0 };
        at = (branch.line, number);
        let counts = [branch.sides.taken, branch.sides.not_taken];
        let reached = counts != [0, 0];
        for (side, count) in counts.into_iter().enumerate() {
            let _ = write!(text, "BRDA:{},{number},{side},", branch.line);
            let _ = if reached {
                writeln!(text, "{count}")
            } else {
                writeln!(text, "-")
            };
        }
        sides.extend(counts);
    }
    write_sums(text, ["BRF", "BRH"], sides.into_iter());

    for (line, count) in &file.lines {
        let _ = writeln!(text, "DA:{line},{count}");
    }
    write_sums(text, ["LF", "LH"], file.lines.values().copied());
    text.push_str("end_of_record\n");
}

fn write_sums(
    text: &mut String,
    [found, hit]: [&str; 2],
    counts: impl Iterator<Item = u64> + Clone,
) {
    let hits = counts.clone().filter(|count| *count > 0).count();
    let _ = writeln!(text, "{found}:{}\n{hit}:{hits}", counts.count());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::coverage::sample;

    #[test]
    fn a_file_is_written_as_lcov_expects_it() {
        let mut text = String::new();
        write_file(&mut text, &sample::file());
        let expected = "\
TN:
SF:/src/a.c
FN:1,main
FN:8,spare
FNDA:1,main
FNDA:0,spare
FNF:2
FNH:1
BRDA:2,0,0,0
BRDA:2,0,1,10
BRDA:2,1,0,4
BRDA:2,1,1,6
BRDA:9,0,0,-
BRDA:9,0,1,-
BRF:6
BRH:3
DA:2,10
DA:3,0
DA:9,0
LF:3
LH:1
end_of_record
";
        assert_eq!(text, expected);
    }
}
