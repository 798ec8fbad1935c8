//! One worker of an exploration.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use parallax_abi::SiteId;
use parallax_solver::{Answer, Constraint, Model, Statistics};

use super::frontier::Candidate;
use super::parts::with_part;
use super::{ExploreError, Options, Programs, Run, Shape};
use crate::answers::Note;
use crate::edit::Edit;
use crate::question::{Goal, Known, Question, Wanted, restructured};
use crate::worker::{Means, Rigour, Traced, Worker, with_objects};
use parallax_exec::coverage::{Counter, Coverage};
use parallax_exec::finding::Problem;
use parallax_exec::replay::{Confirmed, Native};
use parallax_exec::run::End;
use parallax_exec::sites::{ModuleSites, SiteMap};
use parallax_scenario::Scenario;

/// What all work of a search has in common.
#[derive(Clone, Copy)]
pub struct Common<'c> {
    /// All runs so far.
    pub runs: &'c [Run],
    /// Scenarios that have been run.
    pub known: &'c HashSet<Scenario>,
    /// Values that fixed things have had, by path and site.
    pub fixed: &'c Known,
    /// What [`Goal::Edit`] means.
    pub edits: &'c [Edit],
    /// Inputs that may be made.
    pub shape: &'c Shape,
    /// Whether ways that contradict what was decided before are tried without that.
    pub regenerate: bool,
}

/// Ways of one run to be tried.
pub struct Work<'w> {
    pub scenario: &'w Scenario,
    /// `None` if the trace was dropped to save memory: the run is repeated.
    pub traced: Option<Arc<Traced>>,
    pub candidates: Vec<Candidate>,
    pub common: Common<'w>,
}

/// What became of one way.
pub struct Attempt {
    pub candidate: Candidate,
    pub result: Tried,
}

/// See [`Attempt`].
pub enum Tried {
    /// No input goes that way: it contradicts what was decided at these sites.
    Infeasible {
        against: Vec<SiteId>,
    },
    /// The solver could not tell.
    Undecided,
    /// The input that would is not one that may be made, or has been run already.
    Rejected,
    Ran(Box<Child>),
}

/// A new run.
pub struct Child {
    pub scenario: Scenario,
    pub end: End,
    pub traced: Arc<Traced>,
    /// Everything of the program that ran.
    pub ran: Vec<Counter>,
    /// Whether it went where the solver said; `None` if nothing was said.
    pub went: Option<bool>,
    /// If it did not: where it left the path.
    pub left_at: Option<SiteId>,
    /// What it contradicts of what had been decided before, if some of that was given up for it.
    pub gave_up: Option<Vec<SiteId>>,
    /// If it did not: where it and the run that it was made from lost track of the input.
    pub losses: Vec<String>,
}

/// What a slot brings back.
pub struct Done {
    /// If it had to be made again.
    pub traced: Option<Arc<Traced>>,
    pub attempts: Vec<Attempt>,
}

pub struct Slot<'e> {
    sites: &'e SiteMap,
    worker: Worker<'e>,
}

impl<'e> Slot<'e> {
    pub fn new(
        programs: &Programs,
        options: &'e Options,
        sites: &'e SiteMap,
    ) -> Result<Slot<'e>, ExploreError> {
        let means = Means {
            limits: options.limits,
            symbolic: &options.symbolic,
            settings: &options.settings,
            solver: &options.solver,
        };
        let mut worker = Worker::new(programs, means, sites)?;
        worker.listen();
        Ok(Slot { sites, worker })
    }

    /// Another slot of the same exploration.
    pub fn beside(&self) -> Slot<'e> {
        let mut worker = self.worker.beside();
        worker.listen();
        Slot { worker, ..*self }
    }

    /// What all slots have covered.
    pub fn coverage(&self, tables: &[ModuleSites]) -> Coverage {
        self.worker.coverage(tables)
    }

    /// What its solvers did.
    pub fn statistics(&self) -> Statistics {
        self.worker.statistics()
    }

    /// From now on these answers are given.
    pub fn know(&mut self, notes: Vec<Note>) {
        self.worker.know(notes);
    }

    /// Begins with a fresh solver; see [`Worker::settle`].
    pub fn settle(&mut self) -> (Vec<Note>, bool) {
        self.worker.settle()
    }

    /// See [`Worker::confirm`].
    pub fn confirm(
        &mut self,
        scenario: &Scenario,
        is_known: &dyn Fn(&Problem) -> bool,
    ) -> Result<Option<Confirmed>, ExploreError> {
        self.worker.confirm(scenario, is_known)
    }

    /// See [`Worker::end_by`].
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.worker.end_by(until);
    }

    /// Runs of any build.
    pub fn runs(&self) -> u64 {
        self.worker.runs()
    }

    /// Runs a scenario that no solver made.
    pub fn start(&mut self, scenario: Scenario) -> Result<Child, ExploreError> {
        let (outcome, traced) = self.worker.trace(&scenario)?;
        let scenario = with_objects(scenario, &traced.trace);
        let ran = self.worker.cover(&scenario)?;
        Ok(Child {
            scenario,
            end: outcome.end,
            traced: Arc::new(traced),
            ran,
            went: None,
            left_at: None,
            gave_up: None,
            losses: Vec::new(),
        })
    }

    /// What a scenario runs, without a trace.
    pub fn count(&mut self, scenario: &Scenario) -> Result<Vec<Counter>, ExploreError> {
        self.worker.cover(scenario)
    }

    /// Tries all ways of a group, as long as there is time.
    pub fn work(&mut self, work: Work<'_>) -> Result<Done, ExploreError> {
        let (traced, again) = match work.traced {
            Some(traced) => (traced, None),
            None => {
                let traced = Arc::new(self.worker.trace(work.scenario)?.1);
                (Arc::clone(&traced), Some(traced))
            }
        };
        let names = self.worker.names(&traced);
        let mut inquiry = self.worker.inquiry(&traced, &names, Rigour::Exact);
        let mut attempts = Vec::new();
        let mut made: HashSet<Scenario> = HashSet::new();
        for candidate in work.candidates {
            if self.worker.is_late() {
                break;
            }
            let wanted = Wanted {
                traced: &traced,
                sites: self.sites,
                fixed: work.common.fixed,
            };
            let mut gave_up = None;
            let changed = match wanted.question(candidate.goal, &mut inquiry.path) {
                Question::Structure => Ok(match candidate.goal {
                    Goal::Take { from, part } => {
                        let from = &work.common.runs[from as usize].scenario;
                        with_part(work.scenario, from, part)
                    }
                    Goal::Edit { number } => {
                        work.common.edits[number as usize].apply(work.scenario)
                    }
                    goal => restructured(work.scenario, goal, &traced.sources),
                }),
                Question::Solve { prefix, goal } => match inquiry.solve(prefix, &goal) {
                    Answer::Sat(model) => Ok(self.worker.changed(work.scenario, &model)),
                    Answer::Unsat(core) => {
                        let against = inquiry.decisions_of(&core);
                        // What makes an operation fail is known to this inquiry only.
                        let is_place = !matches!(candidate.goal, Goal::Fail { .. });
                        let model = match work.common.regenerate && is_place {
                            true => regenerate(
                                &mut self.worker,
                                self.sites,
                                &traced,
                                &names,
                                prefix,
                                &goal,
                                &against,
                            ),
                            false => None,
                        };
                        let site = |index: &usize| own_site(self.sites, &traced, *index);
                        let against = against.iter().map(site).collect();
                        match model {
                            Some(model) => {
                                gave_up = Some(against);
                                Ok(self.worker.changed(work.scenario, &model))
                            }
                            None => Err(Tried::Infeasible { against }),
                        }
                    }
                    Answer::Unknown(_) => Err(Tried::Undecided),
                },
                Question::Impossible => Err(Tried::Infeasible {
                    against: Vec::new(),
                }),
            };
            let changed = changed.map(|changed| {
                changed.filter(|scenario| {
                    work.common.shape.accepts(scenario)
                        && !work.common.known.contains(scenario)
                        && made.insert(scenario.clone())
                })
            });
            let result = match changed {
                Err(tried) => tried,
                // What was decided before still forbids it.
                Ok(None) => match gave_up {
                    Some(against) => Tried::Infeasible { against },
                    None => Tried::Rejected,
                },
                Ok(Some(scenario)) => {
                    let (outcome, child) = match self.worker.trace(&scenario) {
                        Err(error) if error.is_about_the_input() => {
                            let result = Tried::Rejected;
                            attempts.push(Attempt { candidate, result });
                            continue;
                        }
                        result => result?,
                    };
                    let ran = self.worker.cover(&scenario)?;
                    // Where the list of arguments ended there now is one, and reading it is no
                    // question to the input any more: nothing can be said.
                    let is_longer = scenario.argv.len() > work.scenario.argv.len();
                    let went = wanted.went(candidate.goal, &child);
                    let went = went.filter(|went| *went || !is_longer && gave_up.is_none());
                    let (left_at, losses) = match went {
                        Some(false) => (wanted.parting(&child), wanted.losses(&child)),
                        _ => (None, Vec::new()),
                    };
                    let scenario = with_objects(scenario, &child.trace);
                    Tried::Ran(Box::new(Child {
                        scenario,
                        end: outcome.end,
                        traced: Arc::new(child),
                        ran,
                        went,
                        left_at,
                        gave_up,
                        losses,
                    }))
                }
            };
            attempts.push(Attempt { candidate, result });
        }
        Ok(Done {
            traced: again,
            attempts,
        })
    }

    /// What findings are seen on.
    pub fn native(&mut self) -> &mut Native {
        &mut self.worker.native
    }
}

/// Where a decision was made, or the call in the program that led there if that is in a model of a library function.
fn own_site(sites: &SiteMap, traced: &Traced, index: usize) -> SiteId {
    let decision = &traced.decisions[index];
    let outward = traced.trace.calls_outward(decision.context);
    let mut places = std::iter::once(decision.site).chain(outward);
    let own = places.find(|site| !sites.is_model(*site));
    own.unwrap_or(decision.site)
}

/// Informed path regeneration (KATCH, section 3.3): where a goal contradicts what was decided before, the last of the
/// decisions that it contradicts is given up and the rest is kept, until there is an input. What the goal says may be
/// something else on the new path; the run shows.
fn regenerate(
    worker: &mut Worker<'_>,
    sites: &SiteMap,
    traced: &Traced,
    names: &[u32],
    prefix: usize,
    goal: &[Constraint],
    against: &[usize],
) -> Option<Model> {
    /// Decisions that are given up at most, and length of a path that this is done for.
    const MOST: usize = 8;
    const LONGEST: usize = 1 << 16;
    if prefix > LONGEST {
        return None;
    }
    let mut given_up = vec![*against.last()?];
    loop {
        let mut path = worker.solver.path(&traced.trace, names);
        let mut owners = Vec::new();
        for (index, decision) in traced.decisions[..prefix].iter().enumerate() {
            if !given_up.contains(&index) {
                for constraint in decision.constraints(sites) {
                    path.push(constraint);
                    owners.push(index);
                }
            }
        }
        match path.solve(path.len(), goal, Some(worker.limits())) {
            Answer::Sat(model) => return Some(model),
            Answer::Unsat(core) if given_up.len() < MOST => {
                given_up.push(owners[*core.constraints.last()?]);
            }
            Answer::Unsat(_) | Answer::Unknown(_) => return None,
        }
    }
}
