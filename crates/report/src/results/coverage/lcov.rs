//! What was counted as lcov's tracefile ([`crate::lcov`]).

use crate::lcov::Record;
use parallax_exec::coverage::{Coverage, FileCoverage};

/// The whole tracefile.
pub fn render(coverage: &Coverage) -> String {
    let files = coverage.files().iter().map(record);
    files.map(|record| record.render()).collect()
}

fn record(file: &FileCoverage) -> Record<'_> {
    let functions = file.functions.iter();
    let branches = file.branches.iter();
    Record {
        name: &file.name,
        functions: functions
            .map(|function| (function.line, function.name.as_str(), function.count))
            .collect(),
        branches: branches
            .map(|branch| (branch.line, [branch.sides.taken, branch.sides.not_taken]))
            .collect(),
        lines: file
            .lines
            .iter()
            .map(|(line, count)| (*line, *count))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::coverage::sample;

    #[test]
    fn a_file_is_written_as_lcov_expects_it() {
        let file = sample::file();
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
        assert_eq!(record(&file).render(), expected);
    }
}
