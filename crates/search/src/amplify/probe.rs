//! What a worker does with one run: ask about its sensitive operations, and leave its path.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::sync::Arc;

use parallax_solver::{Answer, Constraint};

use super::interface::Place;
use super::points::{self, goals};
use super::run::{Aim, Branched, Left, Natively, Planted, Probed, Report, Task, trace};
use crate::answers::fingerprint;
use crate::explore::ExploreError;
use crate::question::{Goal, Known, Question, Wanted};
use crate::worker::{Inquiry, Rigour, Worker};
use parallax_exec::execute::ExecuteError;
use parallax_exec::finding::{Key, Problem};
use parallax_exec::replay::Confirmed;
use parallax_exec::run::End;
use parallax_exec::sites::SiteMap;
use parallax_scenario::Scenario;
use parallax_trace::sensitive::{self, Failure, Sensitive};

/// Checks of one place on one path: beyond this only the first and the last ones are made.
const MOST_CHECKS: usize = 64;
/// Violations of one place that did not show natively, after which it is not tried again on the same path.
const MOST_UNCONFIRMED: u64 = 3;

/// Does what is to be done with one run, and says what it cost.
pub fn look(
    worker: &mut Worker<'_>,
    sites: &SiteMap,
    task: Task<'_>,
) -> Result<Report, ExploreError> {
    let before = worker.cpu();
    let mut report = look_at(worker, sites, task)?;
    report.cpu.spent = worker.cpu() - before;
    Ok(report)
}

fn look_at(
    worker: &mut Worker<'_>,
    sites: &SiteMap,
    task: Task<'_>,
) -> Result<Report, ExploreError> {
    let mut report = Report::default();
    let probed = match &task.probed {
        Some(probed) => Arc::clone(probed),
        None => {
            let (scenario, probed) = match trace(worker, task.scenario, sites) {
                Ok(traced) => traced,
                Err(error) if matches!(task.aim, Aim::Plant) && is_about_the_scenario(&error) => {
                    report.planted = Some(Planted::Unusable(in_full(&error)));
                    return Ok(report);
                }
                Err(error) => return Err(error),
            };
            if matches!(task.aim, Aim::Plant) {
                report.planted = Some(Planted::Ran {
                    hangs: probed.end == End::Timeout,
                    digest: probed.digest(),
                    objects: (scenario.objects != task.scenario.objects)
                        .then_some(scenario.objects),
                });
            }
            let probed = Arc::new(probed);
            report.probed = Some(Arc::clone(&probed));
            probed
        }
    };
    report.decisions = probed.traced.decisions.len();
    match &task.aim {
        Aim::Plant => return Ok(report),
        Aim::Survey(limit) => {
            let (points, is_cut) = points::survey(worker, sites, &probed, *limit, &task);
            report.points = Some(points);
            report.is_cut = is_cut;
            return Ok(report);
        }
        Aim::Check | Aim::Leave(_) | Aim::Follow { .. } => {}
    }
    let mut baseline = task.baseline.clone();
    if matches!(task.aim, Aim::Check) {
        // One that does not end by itself would take its whole time again and again.
        if probed.end != End::Timeout {
            report.own = worker.native.confirm_errors(task.scenario)?;
            match &mut report.own {
                Some(own) => leave_out_consequences(own, sites),
                None => report.cpu.plain = worker.native.last_plain,
            }
        }
        let own = report.own.iter().flat_map(|confirmed| &confirmed.problems);
        baseline.extend(own.map(|problem| problem.key()));
    }
    let names = worker.names(&probed.traced);
    let mut look = Look {
        inquiries: Rigour::ALL.map(|rigour| worker.inquiry(&probed.traced, &names, rigour)),
        probed: &probed,
        worker,
        sites,
        task,
        baseline,
        report,
        made: HashSet::new(),
        taken: HashSet::new(),
    };
    look.go()?;
    Ok(look.report)
}

/// What goes wrong inside libraries, or nobody knows where, after something went wrong in the program itself comes of that.
fn leave_out_consequences(confirmed: &mut Confirmed, sites: &SiteMap) {
    let is_own = |problem: &Problem| {
        let location = problem.location.as_ref();
        location.is_some_and(|place| sites.files().any(|file| same_file(file, &place.file)))
    };
    if confirmed.problems.iter().any(is_own) {
        confirmed.problems.retain(is_own);
    }
}

/// Whether this one scenario cannot be laid out; others may.
fn is_about_the_scenario(error: &ExploreError) -> bool {
    let ExploreError::Execute(error) = error else {
        return false;
    };
    matches!(
        error,
        ExecuteError::File { .. }
            | ExecuteError::Outside(_)
            | ExecuteError::NoNetwork
            | ExecuteError::Address(_)
    )
}

/// An error with its causes.
fn in_full(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// The sites of one run's operations that are asked about so often that only some checks are made.
fn counts(operations: &[Sensitive]) -> HashMap<(Place, u32), (usize, usize)> {
    let mut counts = HashMap::new();
    for operation in operations {
        counts.entry(key(operation)).or_insert((0, 0)).1 += 1;
    }
    counts
}

fn key(operation: &Sensitive) -> (Place, u32) {
    (place(operation), operation.context)
}

fn place(operation: &Sensitive) -> Place {
    Place {
        site: operation.site,
        failure: operation.failure,
    }
}

struct Look<'l, 't, 'm> {
    worker: &'l mut Worker<'m>,
    sites: &'l SiteMap,
    probed: &'t Probed,
    /// First what the ways have in common, then everything.
    inquiries: [Inquiry<'t>; 2],
    task: Task<'l>,
    /// Errors that the test itself shows.
    baseline: HashSet<Key>,
    report: Report,
    made: HashSet<u64>,
    taken: HashSet<u64>,
}

impl Look<'_, '_, '_> {
    fn go(&mut self) -> Result<(), ExploreError> {
        match self.task.aim.clone() {
            Aim::Check => self.walk(0, None),
            Aim::Follow { from, points } => self.walk(from, Some(points)),
            Aim::Leave(decisions) => {
                for at in decisions {
                    let site = self.probed.traced.decisions[at].site;
                    self.report.left_at.push(Left { at, site });
                    self.leave(at)?;
                }
                Ok(())
            }
            Aim::Plant | Aim::Survey(_) => Ok(()),
        }
    }

    /// Checks operations from a decision on, and leaves the path at so many points; at none, and to the end, if no
    /// number is given.
    fn walk(&mut self, from: usize, points: Option<usize>) -> Result<(), ExploreError> {
        let decisions = &self.probed.traced.decisions;
        let operations = &self.probed.operations;
        let mut counts = counts(operations);
        let mut next = operations.partition_point(|operation| operation.position < from);
        let mut at = from;
        loop {
            // Operations that come before the next decision, with one that is a decision itself.
            while let Some(operation) = operations.get(next)
                && operation.position <= at
            {
                let (seen, all) = counts.entry(key(operation)).or_insert((0, 0));
                *seen += 1;
                let is_at_an_end = *seen <= MOST_CHECKS / 2 || *all - *seen < MOST_CHECKS / 2;
                if !is_at_an_end || self.report.is_cut {
                    self.report.checks.skipped += 1;
                } else if self.task.is_over() {
                    self.report.is_cut = true;
                    self.report.checks.skipped += 1;
                } else {
                    self.check(operation)?;
                }
                next += 1;
            }
            if at >= decisions.len() || points.is_some_and(|most| self.report.passed >= most) {
                break;
            }
            if points.is_some() {
                if self.task.is_over() {
                    self.report.is_cut = true;
                    break;
                }
                self.leave(at)?;
            }
            at += 1;
        }
        self.report.cursor = at;
        Ok(())
    }

    /// Asks whether an operation can fail, and shows that it does.
    fn check(&mut self, operation: &Sensitive) -> Result<(), ExploreError> {
        let place = place(operation);
        if self.task.settled.contains(&place) || self.report.failed.contains(&place) {
            self.report.checks.skipped += 1;
            return Ok(());
        }
        let mut fruitless = 0;
        let (mut asked, mut is_violated) = (false, false);
        for rigour in 0..self.inquiries.len() {
            let inquiry = &mut self.inquiries[rigour];
            let Some(condition) = sensitive::condition(inquiry.path.expressions(), operation)
            else {
                return Ok(());
            };
            if !asked {
                asked = true;
                self.report.checks.made += 1;
                *self.report.checked_sites.entry(place).or_default() += 1;
            }
            let any = [Constraint::is(condition.any, true)];
            let model = match inquiry.solve(operation.position, &any) {
                Answer::Sat(model) => {
                    is_violated = true;
                    model
                }
                // What no input of the same ways does, none of the very same path does.
                Answer::Unsat(_) => {
                    self.report.checks.safe += u64::from(!is_violated);
                    break;
                }
                Answer::Unknown(_) => {
                    if !is_violated {
                        self.report.checks.undecided += 1;
                        *self.report.undecided.entry(place).or_default() += 1;
                    }
                    break;
                }
            };
            let near = condition.near.map(|near| [Constraint::is(near, true)]);
            let near = near.and_then(|near| match inquiry.solve(operation.position, &near) {
                Answer::Sat(model) => Some(model),
                _ => None,
            });
            for model in near.iter().chain([&model]) {
                let Some(scenario) = self.worker.changed(self.task.scenario, model) else {
                    continue;
                };
                if !self.is_new(&scenario) {
                    continue;
                }
                if let Some(confirmed) = self.natively(&scenario)? {
                    let is_it = self.is_about(operation, &confirmed);
                    self.report.errors.push(Natively {
                        scenario,
                        confirmed,
                        position: operation.position,
                        passed: self.report.passed,
                    });
                    if is_it {
                        self.report.checks.confirmed += 1;
                        self.report.failed.insert(place);
                        return Ok(());
                    }
                }
                fruitless += 1;
            }
            if fruitless >= MOST_UNCONFIRMED {
                break;
            }
        }
        // Also if the input is none that may be run.
        if is_violated {
            self.report.checks.unconfirmed += 1;
            self.report.unconfirmed.insert(place);
        }
        Ok(())
    }

    /// Whether nothing has run the scenario, and it may be run.
    fn is_new(&mut self, scenario: &Scenario) -> bool {
        self.task.accepts(scenario) && self.made.insert(fingerprint(scenario))
    }

    /// Runs the scenario on the plain and the checked program.
    fn natively(&mut self, scenario: &Scenario) -> Result<Option<Confirmed>, ExploreError> {
        let native = &mut self.worker.native;
        let Some(mut confirmed) = native.confirm_errors(scenario)? else {
            return Ok(None);
        };
        self.report.flaky += confirmed.flaky.len() as u64;
        leave_out_consequences(&mut confirmed, self.sites);
        let baseline = &self.baseline;
        confirmed
            .problems
            .retain(|problem| !baseline.contains(&problem.key()));
        Ok((!confirmed.problems.is_empty()).then_some(confirmed))
    }

    /// Whether an error is the failure of the operation: it has the operation's line, or none. What comes of
    /// a wrong size shows elsewhere, and that of a wrong format inside libc.
    fn is_about(&self, operation: &Sensitive, confirmed: &Confirmed) -> bool {
        let Some(site) = self.sites.get(operation.site) else {
            return true;
        };
        confirmed
            .problems
            .iter()
            .any(|problem| match &problem.location {
                Some(location) => {
                    matches!(operation.failure, Failure::Allocation | Failure::Format)
                        || location.line == site.line && same_file(&location.file, site.file)
                }
                None => true,
            })
    }

    /// Leaves the path at a decision, in all ways that there are; counts a point if there is one.
    fn leave(&mut self, at: usize) -> Result<(), ExploreError> {
        let decision = &self.probed.traced.decisions[at];
        if decision.repeated {
            return Ok(());
        }
        let mut is_point = false;
        for ways in goals(self.probed, self.sites, at) {
            let mut child = None;
            for goal in ways {
                let (feasible, run) = self.leave_for(goal)?;
                if feasible {
                    self.report.passed += usize::from(!is_point);
                    is_point = true;
                    child = run;
                    break;
                }
            }
            if let Some((scenario, probed)) = child {
                let path = probed.traced.path();
                let is_new = !self.task.paths.contains(&path) && self.taken.insert(path);
                let confirmed = match (probed.end, is_new) {
                    (End::Exit(_), false) => None,
                    // The plain program has nothing to add to a traced run that ended well.
                    (End::Exit(_), true) if !self.worker.native.glance(&scenario)? => None,
                    _ => self.natively(&scenario)?,
                };
                let passed = self.report.passed;
                let native = confirmed.map(|confirmed| Natively {
                    scenario: scenario.clone(),
                    confirmed,
                    position: at + 1,
                    passed,
                });
                self.report.branched.push(Branched {
                    scenario,
                    digest: probed.digest(),
                    probed: Some(Arc::new(probed)),
                    at,
                    passed,
                    native,
                });
            }
        }
        Ok(())
    }

    /// Whether any input goes that way, and the run of one that does.
    fn leave_for(
        &mut self,
        goal: Goal,
    ) -> Result<(bool, Option<(Scenario, Probed)>), ExploreError> {
        let fixed = Known::new();
        let wanted = Wanted {
            traced: &self.probed.traced,
            sites: self.sites,
            fixed: &fixed,
        };
        for rigour in 0..self.inquiries.len() {
            let inquiry = &mut self.inquiries[rigour];
            let Question::Solve {
                prefix,
                goal: asked,
            } = wanted.question(goal, &mut inquiry.path)
            else {
                return Ok((false, None));
            };
            let Answer::Sat(model) = inquiry.solve(prefix, &asked) else {
                return Ok((rigour > 0, None));
            };
            let Some(scenario) = self.worker.changed(self.task.scenario, &model) else {
                continue;
            };
            if !self.is_new(&scenario) {
                continue;
            }
            let (scenario, probed) = trace(self.worker, &scenario, self.sites)?;
            self.report.runs += 1;
            if wanted.went(goal, &probed.traced) == Some(false) {
                self.report.missed += 1;
                if rigour == 0 {
                    continue;
                }
            }
            return Ok((true, Some((scenario, probed))));
        }
        Ok((true, None))
    }
}

/// Whether two names of a file end alike: sanitizers and debug information write directories differently.
fn same_file(a: &str, b: &str) -> bool {
    fn name(path: &str) -> &str {
        path.rsplit('/').next().unwrap_or(path)
    }
    name(a) == name(b)
}
