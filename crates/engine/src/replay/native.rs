//! The plain and the checked build of a program, and what they say about an input.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::execute::{ExecuteError, Later, Settings};
use crate::finding::{self, Key, Kind, Problem};
use crate::minimise::{Minimised, minimise};
use crate::run::{End, Outcome};
use crate::sanitizer::{self, Signature};
use crate::scenario::{Ending, Scenario};

/// How often a problem must be seen, without a miss, to be a finding.
const TIMES: usize = 3;

/// The builds that findings are seen on.
#[derive(Debug)]
pub struct Native {
    plain: Later,
    checked: Option<Later>,
    /// For runs of the checked build whose stacks need no names.
    quick: Option<Later>,
    /// Runs of either.
    pub runs: u64,
    /// CPU time of all runs, and that of the last one of the plain build.
    pub cpu: Duration,
    pub last_plain: Duration,
}

/// One run of each build.
#[derive(Debug)]
pub struct Look {
    /// `None` if it was not run.
    pub plain: Option<Outcome>,
    pub checked: Option<Outcome>,
    pub problems: Vec<Problem>,
}

/// Which builds to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Builds {
    plain: bool,
    checked: bool,
}

/// What several looks had in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmed {
    /// Seen every time.
    pub problems: Vec<Problem>,
    /// Seen once, but not every time: these are no findings.
    pub flaky: Vec<Problem>,
    /// Of the first look.
    pub ending: Ending,
}

impl Native {
    pub fn new(plain: &Path, checked: Option<&Path>, settings: &Settings) -> Native {
        let sanitized = |path: &Path| Later::new(path, with_sanitizer_options(settings));
        let quick = |path: &Path| {
            let options = sanitizer::quick_environment();
            Later::new(path, with_variables(settings, options))
        };
        Native {
            plain: Later::new(plain, settings.clone()),
            checked: checked.map(sanitized),
            quick: checked.map(quick),
            runs: 0,
            cpu: Duration::ZERO,
            last_plain: Duration::ZERO,
        }
    }

    /// The same builds, to be run at the same time.
    pub fn beside(&self) -> Native {
        Native {
            plain: self.plain.another(),
            checked: self.checked.as_ref().map(Later::another),
            quick: self.quick.as_ref().map(Later::another),
            runs: 0,
            cpu: Duration::ZERO,
            last_plain: Duration::ZERO,
        }
    }

    /// Runs both builds once.
    pub fn look(&mut self, scenario: &Scenario) -> Result<Look, ExecuteError> {
        let both = Builds {
            plain: true,
            checked: true,
        };
        self.look_at(scenario, both)
    }

    fn look_at(&mut self, scenario: &Scenario, builds: Builds) -> Result<Look, ExecuteError> {
        let mut run = |executor: Option<&mut Later>| {
            let run = executor.map(|executor| executor.run(scenario, &[]));
            self.runs += u64::from(run.is_some());
            let outcome = run.transpose()?;
            self.cpu += outcome
                .as_ref()
                .map_or(Duration::ZERO, |outcome| outcome.cpu);
            Ok::<_, ExecuteError>(outcome)
        };
        let checked = run(self.checked.as_mut().filter(|_| builds.checked))?;
        let plain = run(Some(&mut self.plain).filter(|_| builds.plain))?;
        if let Some(plain) = &plain {
            self.last_plain = plain.cpu;
        }
        Ok(Look {
            problems: finding::problems(plain.as_ref(), checked.as_ref()),
            plain,
            checked,
        })
    }

    /// Whether there may be a problem, as far as one run of the checked build can tell, or of the plain one where there
    /// is no other.
    pub fn glance(&mut self, scenario: &Scenario) -> Result<bool, ExecuteError> {
        let checked = self.checked.is_some();
        let builds = Builds {
            plain: !checked,
            checked,
        };
        let look = self.look_at(scenario, builds)?;
        let outcome = look.checked.as_ref().or(look.plain.as_ref());
        let is_abnormal = outcome.is_some_and(|outcome| !matches!(outcome.end, End::Exit(_)));
        Ok(is_abnormal || !look.problems.is_empty())
    }

    /// Looks until it is clear what happens every time; `None` if the first look shows no problem.
    pub fn confirm(&mut self, scenario: &Scenario) -> Result<Option<Confirmed>, ExecuteError> {
        let first = self.look(scenario)?;
        self.confirm_from(scenario, first)
    }

    /// As [`Native::confirm`], but that a run takes too long is no problem.
    pub fn confirm_errors(
        &mut self,
        scenario: &Scenario,
    ) -> Result<Option<Confirmed>, ExecuteError> {
        let (plain, checked) = (true, false);
        let only_checked = Builds {
            plain: false,
            checked: true,
        };
        let mut first = self.look_at(scenario, only_checked)?;
        let checked_end = first.checked.as_ref().map(|outcome| outcome.end);
        // The plain one would use up its time just the same.
        if checked_end != Some(End::Timeout) {
            first.plain = self.look_at(scenario, Builds { plain, checked })?.plain;
        }
        first.problems = finding::problems(first.plain.as_ref(), first.checked.as_ref());
        let is_error = |problem: &Problem| problem.kind != Kind::Timeout;
        first.problems.retain(is_error);
        self.confirm_from(scenario, first)
    }

    /// Looks again, unless there is nothing to be seen.
    fn confirm_from(
        &mut self,
        scenario: &Scenario,
        first: Look,
    ) -> Result<Option<Confirmed>, ExecuteError> {
        if first.problems.is_empty() {
            return Ok(None);
        }
        let builds = showing(&first);
        let (mut problems, mut flaky) = (first.problems.clone(), Vec::new());
        for _ in 1..TIMES {
            let again = self.look_at(scenario, builds)?.problems;
            let is_there = |problem: &Problem| again.iter().any(|p| p.key() == problem.key());
            let gone = problems.extract_if(.., |problem| !is_there(problem));
            flaky.extend(gone);
            if problems.is_empty() {
                break;
            }
        }
        Ok(Some(Confirmed {
            problems,
            flaky,
            ending: first.ending(),
        }))
    }

    /// Makes a scenario that shows a problem smaller, as long as it shows the same problem. What comes out was confirmed;
    /// `None` if it was not to be confirmed any more.
    pub fn minimise(
        &mut self,
        scenario: &Scenario,
        key: &Key,
        seeds: &[Scenario],
        most_runs: u32,
        may: &dyn Fn(&Scenario) -> bool,
    ) -> Result<Option<(Minimised, Confirmed)>, ExecuteError> {
        let builds = self.needed(scenario, key)?;
        let mut known = HashMap::new();
        let mut judge = |smaller: &Scenario| {
            if !may(smaller) {
                return Ok(false);
            }
            self.shows(smaller, key, builds, &mut known)
        };
        let minimised = minimise(scenario, seeds, most_runs, &mut judge)?;
        let confirmed = self.confirm(&minimised.scenario)?;
        let confirmed = confirmed.filter(|confirmed| {
            let mut problems = confirmed.problems.iter();
            problems.any(|problem| problem.key() == *key)
        });
        Ok(confirmed.map(|confirmed| (minimised, confirmed)))
    }

    /// Whether a problem is seen. Runs that look alike without names are alike: names are asked for only once.
    fn shows(
        &mut self,
        scenario: &Scenario,
        key: &Key,
        builds: Builds,
        known: &mut HashMap<Glimpse, bool>,
    ) -> Result<bool, ExecuteError> {
        let Some(quick) = self.quick.as_mut().filter(|_| builds.checked) else {
            return Ok(self.look_at(scenario, builds)?.shows(key));
        };
        let checked = quick.run(scenario, &[])?;
        self.runs += 1;
        self.cpu += checked.cpu;
        let plain = match builds.plain {
            true => {
                let only_plain = Builds {
                    checked: false,
                    ..builds
                };
                self.look_at(scenario, only_plain)?.problems
            }
            false => Vec::new(),
        };
        let glimpse = Glimpse {
            reports: sanitizer::signatures(&checked.stderr.bytes),
            plain: plain.iter().map(Problem::key).collect(),
        };
        if glimpse.reports.is_empty() && glimpse.plain.is_empty() {
            return Ok(false);
        }
        if let Some(shows) = known.get(&glimpse) {
            return Ok(*shows);
        }
        let shows = self.look_at(scenario, builds)?.shows(key);
        known.insert(glimpse, shows);
        Ok(shows)
    }

    /// The builds that a problem is seen on: one, if that is enough.
    fn needed(&mut self, scenario: &Scenario, key: &Key) -> Result<Builds, ExecuteError> {
        let either = [(true, false), (false, true)];
        for (plain, checked) in either {
            let builds = Builds { plain, checked };
            if self.look_at(scenario, builds)?.shows(key) {
                return Ok(builds);
            }
        }
        Ok(Builds {
            plain: true,
            checked: true,
        })
    }
}

/// What was seen of a problem without names.
#[derive(PartialEq, Eq, Hash)]
struct Glimpse {
    reports: Vec<Signature>,
    plain: Vec<Key>,
}

impl Look {
    /// Whether a problem was seen.
    pub fn shows(&self, key: &Key) -> bool {
        self.problems.iter().any(|problem| problem.key() == *key)
    }

    /// What the plain program did, with what the checked one reported.
    pub fn ending(&self) -> Ending {
        let outcome = self.plain.as_ref().or(self.checked.as_ref());
        let mut ending = outcome.map_or_else(Ending::default, finding::ending);
        ending.sanitizer = self.checked.as_ref().and_then(reported);
        ending
    }
}

/// What sanitizers reported, one line each; `None` if nothing.
pub(super) fn reported(outcome: &Outcome) -> Option<String> {
    let reports = sanitizer::reports(&outcome.stderr.bytes);
    let lines: Vec<_> = reports.into_iter().map(|report| report.message).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The builds that have something to do with what was seen: the others need not be run again, which matters if they
/// hang until their time is over.
fn showing(look: &Look) -> Builds {
    Builds {
        plain: !finding::problems(look.plain.as_ref(), None).is_empty(),
        checked: !finding::problems(None, look.checked.as_ref()).is_empty(),
    }
}

/// Settings for runs of checked builds.
pub(super) fn with_sanitizer_options(settings: &Settings) -> Settings {
    with_variables(settings, sanitizer::environment())
}

fn with_variables(settings: &Settings, added: Vec<(String, String)>) -> Settings {
    let mut environment = settings.environment.clone();
    let added = added.into_iter();
    environment.extend(added.map(|(name, value)| (name.into(), value.into())));
    Settings {
        environment,
        ..settings.clone()
    }
}
