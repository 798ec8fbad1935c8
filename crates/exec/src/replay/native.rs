//! The plain and the checked build of a program, and what they say about an input.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::execute::{ExecuteError, Later, RunOptions, Settings};
use crate::finding::{self, Finding, Key, Problem};
use crate::minimise::minimise;
use crate::run::{End, Outcome};
use crate::sanitizer::{self, Report, Signature, Stacks};
use parallax_scenario::{Ending, Scenario};

/// How often a problem must be seen, without a miss, to be a finding.
const TIMES: usize = 3;

/// The builds that findings are seen on.
#[derive(Debug)]
pub struct Native {
    plain: Later,
    checked: Option<Checked>,
    /// Runs of either, but for those that only ask for names: what has been asked depends on who else is at work.
    pub runs: u64,
}

/// The checked build.
#[derive(Debug)]
struct Checked {
    /// Without names in stacks.
    quick: Later,
    /// With names.
    full: Later,
    /// Names that were asked for, by this one or by those beside it.
    stacks: Arc<Mutex<Stacks>>,
}

/// One run of each build.
#[derive(Debug)]
struct Look {
    /// `None` if it was not run.
    plain: Option<Outcome>,
    checked: Option<Outcome>,
    /// Of the checked build.
    reports: Vec<Report>,
    problems: Vec<Problem>,
}

/// Which builds to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Builds {
    plain: bool,
    checked: bool,
    /// In fresh processes, as everything that is reported must be seen.
    fresh: bool,
}

impl Builds {
    const BOTH: Builds = Builds {
        plain: true,
        checked: true,
        fresh: false,
    };

    fn options(self) -> RunOptions {
        RunOptions {
            fresh: self.fresh,
            ..RunOptions::default()
        }
    }
}

/// What several looks had in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmed {
    /// Seen every time.
    pub problems: Vec<Problem>,
    /// Seen at the first look, and known.
    #[serde(default)]
    pub known: Vec<Problem>,
    /// Seen once, but not every time: these are no findings.
    pub flaky: Vec<Problem>,
    /// Of a look that showed it.
    pub ending: Ending,
}

impl Checked {
    fn new(path: &Path, settings: &Settings) -> Checked {
        let with = |options, server| {
            let settings = with_variables(settings, options);
            Later::new(path, Settings { server, ..settings })
        };
        Checked {
            quick: with(sanitizer::quick_environment(), settings.server),
            // Its reports are shown.
            full: with(sanitizer::environment(), false),
            stacks: Arc::default(),
        }
    }

    fn beside(&self) -> Checked {
        Checked {
            quick: self.quick.another(),
            full: self.full.another(),
            stacks: Arc::clone(&self.stacks),
        }
    }

    fn stacks(&self) -> MutexGuard<'_, Stacks> {
        self.stacks
            .lock()
            .unwrap_or_else(|error| error.into_inner())
    }

    /// What a run without names reported, with names.
    fn reports(
        &mut self,
        scenario: &Scenario,
        outcome: &Outcome,
    ) -> Result<Vec<Report>, ExecuteError> {
        let unnamed = sanitizer::unnamed(&outcome.stderr.bytes);
        if let Some(known) = self.stacks().name(&unnamed) {
            return Ok(known);
        }
        let again = self.full.run(scenario, &[])?;
        let named = sanitizer::reports(&again.stderr.bytes);
        let mut stacks = self.stacks();
        stacks.learn(&unnamed, &named);
        Ok(stacks.name(&unnamed).unwrap_or(named))
    }
}

impl Native {
    pub fn new(plain: &Path, checked: Option<&Path>, settings: &Settings) -> Native {
        Native {
            plain: Later::new(plain, settings.clone()),
            checked: checked.map(|path| Checked::new(path, settings)),
            runs: 0,
        }
    }

    /// The same builds, to be run at the same time.
    pub fn beside(&self) -> Native {
        Native {
            plain: self.plain.another(),
            checked: self.checked.as_ref().map(Checked::beside),
            runs: 0,
        }
    }

    /// From now on no run goes on after that, as [`Executor::end_by`](crate::execute::Executor::end_by).
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.plain.end_by(until);
        if let Some(checked) = &mut self.checked {
            checked.quick.end_by(until);
            checked.full.end_by(until);
        }
    }

    /// Runs both builds once.
    fn look(&mut self, scenario: &Scenario) -> Result<Look, ExecuteError> {
        self.look_at(scenario, Builds::BOTH)
    }

    fn look_at(&mut self, scenario: &Scenario, builds: Builds) -> Result<Look, ExecuteError> {
        let mut reports = Vec::new();
        let checked = match self.run_checked(scenario, builds)? {
            Some(outcome) => {
                if let Some(checked) = &mut self.checked {
                    reports = checked.reports(scenario, &outcome)?;
                }
                Some(outcome)
            }
            None => None,
        };
        let plain = match builds.plain {
            true => {
                let options = builds.options();
                let outcome = self.plain.run_with(scenario, &[], options)?;
                self.runs += 1;
                Some(outcome)
            }
            false => None,
        };
        Ok(Look {
            problems: finding::explained(plain.as_ref(), &reports),
            plain,
            checked,
            reports,
        })
    }

    /// Runs the checked build without names, if it is to be looked at.
    fn run_checked(
        &mut self,
        scenario: &Scenario,
        builds: Builds,
    ) -> Result<Option<Outcome>, ExecuteError> {
        let Some(checked) = self.checked.as_mut().filter(|_| builds.checked) else {
            return Ok(None);
        };
        let options = builds.options();
        let outcome = checked.quick.run_with(scenario, &[], options)?;
        self.runs += 1;
        Ok(Some(outcome))
    }

    /// Whether there may be a problem, as far as one run of the checked build can tell, or of the plain one where there
    /// is no other.
    pub fn glance(&mut self, scenario: &Scenario) -> Result<bool, ExecuteError> {
        let checked = self.checked.is_some();
        let builds = Builds {
            plain: !checked,
            checked,
            fresh: false,
        };
        let look = self.look_at(scenario, builds)?;
        let outcome = look.checked.as_ref().or(look.plain.as_ref());
        let is_abnormal = outcome.is_some_and(|outcome| !matches!(outcome.end, End::Exit(_)));
        Ok(is_abnormal || !look.problems.is_empty())
    }

    /// Looks until it is clear what happens every time; `None` if the first look shows no problem. If it shows nothing
    /// but what is known, that is not looked at again, and no problem comes back.
    pub fn confirm(
        &mut self,
        scenario: &Scenario,
        is_known: &dyn Fn(&Problem) -> bool,
    ) -> Result<Option<Confirmed>, ExecuteError> {
        let mut first = self.look(scenario)?;
        if !first.problems.is_empty() && first.problems.iter().all(is_known) {
            return Ok(Some(Confirmed {
                problems: Vec::new(),
                ending: first.ending(),
                known: first.problems,
                flaky: Vec::new(),
            }));
        }
        let known = first.problems.extract_if(.., |problem| is_known(problem));
        let known = known.collect();
        let confirmed = self.confirm_from(scenario, first)?;
        Ok(confirmed.map(|confirmed| Confirmed { known, ..confirmed }))
    }

    /// Looks again, at fresh processes, unless there is nothing to be seen.
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
        let mut ending = first.ending();
        for _ in 1..TIMES {
            let look = self.look_at(scenario, builds)?;
            if builds.plain || first.plain.is_none() {
                ending = look.ending();
            }
            let again = look.problems;
            let is_there = |problem: &Problem| again.iter().any(|p| p.key() == problem.key());
            let gone = problems.extract_if(.., |problem| !is_there(problem));
            flaky.extend(gone);
            if problems.is_empty() {
                break;
            }
        }
        Ok(Some(Confirmed {
            problems,
            known: Vec::new(),
            flaky,
            ending,
        }))
    }

    /// Makes the input of a finding smaller, as long as it shows the same problem. A finding whose smaller input was not to be
    /// confirmed stays as it is.
    pub fn minimise(
        &mut self,
        finding: &mut Finding,
        seeds: &[Scenario],
        most_runs: u32,
        may: &dyn Fn(&Scenario) -> bool,
    ) -> Result<(), ExecuteError> {
        let key = &finding.key();
        let builds = self.needed(&finding.scenario, key)?;
        let mut known = HashMap::new();
        let mut judge = |smaller: &Scenario| {
            if !may(smaller) {
                return Ok(false);
            }
            self.shows(smaller, key, builds, &mut known)
        };
        let minimised = minimise(&finding.scenario, seeds, most_runs, &mut judge)?;
        let confirmed = self.confirm(&minimised.scenario, &|_| false)?;
        if let Some(Confirmed {
            problems, ending, ..
        }) = confirmed
            && let Some(problem) = problems.into_iter().find(|one| one.key() == *key)
        {
            finding.problem = problem;
            finding.scenario = minimised.scenario;
            finding.ending = ending;
        }
        Ok(())
    }

    /// Whether a problem is seen. Runs that look alike without names are alike: names are asked for only once.
    fn shows(
        &mut self,
        scenario: &Scenario,
        key: &Key,
        builds: Builds,
        known: &mut HashMap<Glimpse, bool>,
    ) -> Result<bool, ExecuteError> {
        let Some(checked) = self.run_checked(scenario, builds)? else {
            return Ok(self.look_at(scenario, builds)?.shows(key));
        };
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
            let builds = Builds {
                plain,
                checked,
                ..Builds::BOTH
            };
            if self.look_at(scenario, builds)?.shows(key) {
                return Ok(builds);
            }
        }
        Ok(Builds::BOTH)
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
    fn shows(&self, key: &Key) -> bool {
        self.problems.iter().any(|problem| problem.key() == *key)
    }

    /// What the plain program did, with what the checked one reported.
    fn ending(&self) -> Ending {
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
        checked: !look.reports.is_empty(),
        fresh: true,
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
