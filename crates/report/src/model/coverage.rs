//! Coverage of the patch, line by line, from targets, lines without code and guilty hunks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{PatchReport, Role, State};

/// Changed lines of one file, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCoverage {
    pub file: String,
    pub lines: Vec<LineCoverage>,
}

/// A changed line of the new version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCoverage {
    pub line: u32,
    pub state: LineState,
    /// Known inputs that run it.
    pub hits: u64,
    /// A finding that fails the check comes from here.
    pub is_divergent: bool,
    /// Number in [`PatchReport::targets`], if it has code.
    pub target: Option<usize>,
}

/// What is known about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineState {
    Code(State),
    /// Nothing that could run.
    NoCode,
}

/// Lines with code, and how many of them run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub lines: u64,
    /// By the tests.
    pub suite: u64,
    /// By new inputs only.
    pub new: u64,
}

impl Tally {
    pub fn left(&self) -> u64 {
        self.lines - self.suite - self.new
    }

    /// Percent that the tests run; `None` of nothing.
    pub fn before(&self) -> Option<f64> {
        percent(self.suite, self.lines)
    }

    /// Percent that run now.
    pub fn after(&self) -> Option<f64> {
        percent(self.suite + self.new, self.lines)
    }

    fn add(&mut self, state: LineState) {
        let LineState::Code(state) = state else {
            return;
        };
        self.lines += 1;
        match state {
            State::Suite => self.suite += 1,
            State::Covered => self.new += 1,
            _ => {}
        }
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 * 1000.0 / whole as f64).round() / 10.0)
}

impl FileCoverage {
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for line in &self.lines {
            tally.add(line.state);
        }
        tally
    }
}

impl PatchReport {
    /// Every changed line that is known to have code or not, by file.
    pub fn coverage(&self) -> Vec<FileCoverage> {
        let mut files: BTreeMap<&str, BTreeMap<u32, LineCoverage>> = BTreeMap::new();
        let divergent = self.divergent_lines();
        let entry = |file: &str, line, state, hits, target| LineCoverage {
            line,
            state,
            hits,
            is_divergent: divergent.contains(&(file, line)),
            target,
        };
        for skipped in &self.skipped {
            let line = entry(&skipped.file, skipped.line, LineState::NoCode, 0, None);
            let file = files.entry(&skipped.file).or_default();
            file.insert(skipped.line, line);
        }
        for (number, target) in self.targets.iter().enumerate() {
            let file = files.entry(&target.file).or_default();
            for line in &target.lines {
                let state = LineState::Code(target.state);
                let new = entry(&target.file, *line, state, target.hits, Some(number));
                // Some of a line's code may run and some not: what is left to do counts.
                match file.get(line) {
                    Some(known) if known.state != LineState::NoCode && known.state >= state => {}
                    _ => {
                        file.insert(*line, new);
                    }
                }
            }
        }
        let files = files.into_iter();
        files
            .map(|(file, lines)| FileCoverage {
                file: file.to_owned(),
                lines: lines.into_values().collect(),
            })
            .collect()
    }

    /// Over all files.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in self.coverage().iter().map(FileCoverage::tally) {
            sum.lines += tally.lines;
            sum.suite += tally.suite;
            sum.new += tally.new;
        }
        sum
    }

    /// Added lines of hunks that failing findings come from, and the places at which versions part.
    fn divergent_lines(&self) -> BTreeSet<(&str, u32)> {
        let promised = self.promise.is_some();
        let mut lines = BTreeSet::new();
        for finding in self.findings.iter().filter(|found| found.fails(promised)) {
            for (hunk, role) in self.hunks(finding) {
                let guilty = hunk.new.first..hunk.new.first + hunk.new.count;
                if role == Role::Guilty {
                    lines.extend(guilty.map(|line| (hunk.file.as_str(), line)));
                }
            }
            if let Some(parting) = &finding.parting {
                lines.insert((parting.file.as_str(), parting.line));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, Guilty, Hunk, Skipped, Span, Target};
    use super::*;

    fn target(lines: &[u32], state: State) -> Target {
        Target {
            file: "a.c".into(),
            lines: lines.to_vec(),
            state,
            hits: u64::from(state.is_covered()),
            ..Target::default()
        }
    }

    #[test]
    fn coverage_before_and_after_is_that_of_lines() {
        let report = PatchReport {
            targets: vec![
                target(&[3, 4], State::Suite),
                target(&[6], State::Covered),
                target(&[8], State::Blocked),
            ],
            skipped: vec![Skipped {
                file: "a.c".into(),
                line: 5,
                why: "no code".into(),
            }],
            ..PatchReport::default()
        };
        let tally = report.tally();
        assert_eq!((tally.lines, tally.suite, tally.new), (4, 2, 1));
        assert_eq!((tally.before(), tally.after()), (Some(50.0), Some(75.0)));
        let files = report.coverage();
        let lines: Vec<u32> = files[0].lines.iter().map(|line| line.line).collect();
        assert_eq!(lines, [3, 4, 5, 6, 8]);
        assert_eq!(files[0].lines[2].state, LineState::NoCode);
    }

    #[test]
    fn a_line_of_which_only_a_part_runs_is_not_done() {
        let report = PatchReport {
            targets: vec![target(&[3], State::Blocked), target(&[3], State::Suite)],
            ..PatchReport::default()
        };
        assert_eq!(report.tally().left(), 1);
    }

    #[test]
    fn lines_of_guilty_hunks_are_marked_unless_accepted() {
        let mut report = PatchReport {
            targets: vec![target(&[3], State::Suite), target(&[9], State::Suite)],
            ..PatchReport::default()
        };
        report.patch.hunks = vec![Hunk {
            file: "a.c".into(),
            new: Span { first: 3, count: 1 },
            ..Hunk::default()
        }];
        report.findings = vec![Finding {
            hunks: vec![Guilty {
                hunk: 0,
                role: Role::Guilty,
            }],
            ..Finding::default()
        }];
        let marks = |report: &PatchReport| -> Vec<bool> {
            let files = report.coverage();
            files[0]
                .lines
                .iter()
                .map(|line| line.is_divergent)
                .collect()
        };
        assert_eq!(marks(&report), [true, false]);
        report.findings[0].accepted = Some(Default::default());
        assert_eq!(marks(&report), [false, false]);
    }
}
