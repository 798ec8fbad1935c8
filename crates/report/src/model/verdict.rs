//! Whether a patch is safe to merge, as far as was found out.

use serde::{Deserialize, Serialize};

use super::{Class, Finding, Level, PatchReport, State, Target};

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The patch brings errors, or changes what it promises not to change.
    Broken,
    /// The patch changes behaviour in ways that nobody has accepted.
    Differs,
    /// Nothing of that was found.
    Passed,
    /// Nothing of that was found before it was interrupted.
    Interrupted,
    /// Nothing of that was found, because no input ran what the patch changes.
    Untested,
    /// The patch changes no source.
    Nothing,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Broken => "broken",
            Verdict::Differs => "differs",
            Verdict::Passed => "passed",
            Verdict::Interrupted => "interrupted",
            Verdict::Untested => "untested",
            Verdict::Nothing => "nothing",
        }
    }

    /// Whether a check of this patch fails.
    pub fn is_failure(self) -> bool {
        matches!(self, Verdict::Broken | Verdict::Differs)
    }
}

/// How many findings there are of each kind. Accepted ones are counted as such only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Errors that the patch brings, or that the new version has.
    pub errors: u64,
    /// Behaviour that is not as it was.
    pub differences: u64,
    /// Errors of both versions.
    pub both: u64,
    pub fixed: u64,
    /// As a version that is known to be right does.
    pub intended: u64,
    pub accepted: u64,
}

impl PatchReport {
    pub fn verdict(&self) -> Verdict {
        let promised = self.promise.is_some();
        let failing = self.findings.iter().filter(|found| found.fails(promised));
        match failing.map(|found| found.level(promised)).min() {
            Some(Level::Error) => Verdict::Broken,
            Some(_) => Verdict::Differs,
            None if self.is_interrupted => Verdict::Interrupted,
            None if self.patch.hunks.is_empty() && self.programs.is_empty() => Verdict::Nothing,
            None if !self.is_tested() => Verdict::Untested,
            None => Verdict::Passed,
        }
    }

    /// Whether some input ran what the patch changes: else that nothing was found says nothing.
    fn is_tested(&self) -> bool {
        let is_run = |target: &Target| matches!(target.state, State::Suite | State::Covered);
        let is_shown = !self.findings.is_empty();
        is_shown
            || self.programs.iter().any(|program| program.touching > 0)
            || self.targets.iter().any(is_run)
    }

    pub fn count(&self) -> Count {
        count(self.findings.iter())
    }

    /// How many different things were found: likewise, but of several findings that are one thing only one counts.
    pub fn count_things(&self) -> Count {
        count(self.groups().iter().map(|group| group.first))
    }
}

fn count<'f>(findings: impl Iterator<Item = &'f Finding>) -> Count {
    let mut count = Count::default();
    for finding in findings {
        let place = match (finding.class, &finding.accepted) {
            (_, Some(_)) => &mut count.accepted,
            _ if is_intended(finding) => &mut count.intended,
            (Class::Regression | Class::Error, _) => &mut count.errors,
            (Class::Difference, _) => &mut count.differences,
            (Class::Both, _) => &mut count.both,
            (Class::Fixed, _) => &mut count.fixed,
        };
        *place += 1;
    }
    count
}

fn is_intended(finding: &Finding) -> bool {
    finding.golden == Some(super::Golden::Intended)
}

#[cfg(test)]
mod tests {
    use super::super::{Accepted, Golden, Hunk, Program, Promise};
    use super::*;

    fn report(findings: Vec<Finding>) -> PatchReport {
        PatchReport {
            findings,
            programs: vec![Program {
                touching: 1,
                ..Program::default()
            }],
            ..PatchReport::default()
        }
    }

    fn of(class: Class) -> Finding {
        Finding {
            class,
            ..Finding::default()
        }
    }

    #[test]
    fn what_the_patch_did_not_bring_does_not_fail_it() {
        let verdict = |class| report(vec![of(class)]).verdict();
        assert_eq!(verdict(Class::Regression), Verdict::Broken);
        assert_eq!(verdict(Class::Error), Verdict::Broken);
        assert_eq!(verdict(Class::Difference), Verdict::Differs);
        assert_eq!(verdict(Class::Both), Verdict::Passed);
        assert_eq!(verdict(Class::Fixed), Verdict::Passed);
        assert_eq!(report(Vec::new()).verdict(), Verdict::Passed);
        assert_eq!(PatchReport::default().verdict(), Verdict::Nothing);
    }

    #[test]
    fn a_patch_that_no_input_runs_is_not_tested() {
        let mut report = report(Vec::new());
        report.programs[0].touching = 0;
        report.targets = vec![Target::default()];
        assert_eq!(report.verdict(), Verdict::Untested);
        report.targets[0].state = State::Covered;
        assert_eq!(report.verdict(), Verdict::Passed);
        // Changed files that are in no program.
        let mut report = PatchReport::default();
        report.patch.hunks.push(Hunk::default());
        assert_eq!(report.verdict(), Verdict::Untested);
    }

    #[test]
    fn what_was_accepted_or_intended_passes() {
        let mut finding = of(Class::Difference);
        finding.golden = Some(Golden::Intended);
        assert_eq!(report(vec![finding]).verdict(), Verdict::Passed);
        let mut finding = of(Class::Regression);
        finding.accepted = Some(Accepted::default());
        let accepted = report(vec![finding]);
        assert_eq!(accepted.verdict(), Verdict::Passed);
        assert_eq!(accepted.count().accepted, 1);
        assert_eq!(accepted.count().errors, 0);
    }

    #[test]
    fn a_promise_makes_every_visible_difference_an_error() {
        let mut report = report(vec![of(Class::Difference)]);
        report.promise = Some(Promise::default());
        assert_eq!(report.verdict(), Verdict::Broken);
        let mut fixed = of(Class::Fixed);
        report.findings = vec![fixed.clone()];
        assert_eq!(report.verdict(), Verdict::Passed);
        fixed.differences.push(super::super::Difference::default());
        report.findings = vec![fixed];
        assert_eq!(report.verdict(), Verdict::Broken);
    }

    #[test]
    fn an_interrupted_check_that_found_something_says_what() {
        let mut report = report(vec![of(Class::Both)]);
        report.is_interrupted = true;
        assert_eq!(report.verdict(), Verdict::Interrupted);
        report.findings.push(of(Class::Difference));
        assert_eq!(report.verdict(), Verdict::Differs);
    }
}
