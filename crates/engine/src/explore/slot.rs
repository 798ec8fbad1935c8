//! One worker: executors, a solver and coverage counters of its own.
//!
//! What a slot does depends only on the work that it is given and on what it was given before, not on the other
//! slots: so an exploration is the same however many of them work at a time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_abi::SiteId;
use parallax_abi::trace::SourceKind;
use parallax_solver::{Answer, Solver};

use super::frontier::Candidate;
use super::question::{Known, Question, Wanted, restructured};
use super::{ExploreError, Options, Programs};
use crate::coverage::{Counter, CoverageRegion};
use crate::execute::{Executor, Settings};
use crate::path::{self, Decision};
use crate::region::Region;
use crate::run::{End, Outcome};
use crate::scenario::ktest::objects_of;
use crate::scenario::{Bytes, Component, Scenario, Variable, apply};
use crate::sensitive::{self, Sensitive};
use crate::sites::SiteMap;
use crate::trace::Trace;
use crate::{finding, sanitizer};

/// A run that has been traced.
#[derive(Debug)]
pub struct Traced {
    pub trace: Trace,
    pub decisions: Vec<Decision>,
    pub operations: Vec<Sensitive>,
    pub sources: Sources,
}

impl Traced {
    /// Memory that it holds, roughly.
    pub fn bytes(&self) -> u64 {
        u64::from(self.trace.node_count() + self.trace.event_count()) * 32
            + (self.decisions.len() * size_of::<Decision>()) as u64
            + (64 << 10)
    }

    /// Identifies the whole path.
    pub fn path(&self) -> u64 {
        self.decisions
            .last()
            .map_or(path::START, |last| last.prefix)
    }

    /// Identifies the whole path, with all addresses and sizes.
    pub fn exact_path(&self) -> u64 {
        self.decisions.last().map_or(path::START, |last| last.exact)
    }
}

/// Ways of one run to be tried.
pub struct Work<'w> {
    pub scenario: &'w Scenario,
    /// `None` if the trace was dropped to save memory: the run is repeated.
    pub traced: Option<Arc<Traced>>,
    pub candidates: Vec<Candidate>,
    /// Scenarios that have been run.
    pub known: &'w HashSet<Scenario>,
    /// Values that fixed things have had, by path and site.
    pub fixed: &'w Known,
}

/// What became of one way.
pub struct Attempt {
    pub candidate: Candidate,
    pub result: Tried,
}

/// See [`Attempt`].
pub enum Tried {
    /// No input goes that way.
    Infeasible,
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
}

/// What a slot brings back.
pub struct Done {
    /// If it had to be made again.
    pub traced: Option<Arc<Traced>>,
    pub attempts: Vec<Attempt>,
}

pub struct Slot<'e> {
    options: &'e Options,
    sites: &'e SiteMap,
    traced: Executor,
    covered: Option<Executor>,
    plain: Executor,
    checked: Option<Executor>,
    pub solver: Solver,
    sources: HashMap<Component, u32>,
    components: Vec<Component>,
    counters: CoverageRegion,
    counts: BTreeMap<u64, Vec<u32>>,
    /// Runs of any build.
    pub runs: u64,
}

/// Which component each source of a trace is; `None` if the scenario cannot change it.
pub type Sources = Vec<Option<Component>>;

impl<'e> Slot<'e> {
    pub fn new(
        programs: &Programs,
        options: &'e Options,
        sites: &'e SiteMap,
    ) -> Result<Slot<'e>, ExploreError> {
        let settings = &options.settings;
        let executor = |path: &PathBuf| Executor::new(path, settings.clone());
        let checked = |path: &PathBuf| {
            let mut environment = settings.environment.clone();
            let added = sanitizer::environment().into_iter();
            environment.extend(added.map(|(name, value)| (name.into(), value.into())));
            let settings = Settings {
                environment,
                ..settings.clone()
            };
            Executor::new(path, settings)
        };
        Ok(Slot {
            options,
            sites,
            traced: executor(&programs.traced)?,
            covered: programs.covered.as_ref().map(executor).transpose()?,
            plain: executor(&programs.plain)?,
            checked: programs.checked.as_ref().map(checked).transpose()?,
            solver: Solver::new(options.solver.clone()),
            sources: HashMap::new(),
            components: Vec::new(),
            counters: CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY)?,
            counts: BTreeMap::new(),
            runs: 0,
        })
    }

    pub fn counters(&self) -> &CoverageRegion {
        &self.counters
    }

    /// Runs a scenario that no solver made.
    pub fn start(&mut self, scenario: Scenario) -> Result<Child, ExploreError> {
        let (outcome, traced) = self.trace(&scenario)?;
        let scenario = with_objects(scenario, &traced.trace);
        let ran = self.cover(&scenario)?;
        Ok(Child {
            scenario,
            end: outcome.end,
            traced: Arc::new(traced),
            ran,
            went: None,
            left_at: None,
        })
    }

    fn trace(&mut self, scenario: &Scenario) -> Result<(Outcome, Traced), ExploreError> {
        self.runs += 1;
        let region = Region::create(self.options.limits, &self.options.symbolic, false)?;
        let outcome = self.traced.run(scenario, &[region.shared()])?;
        let trace = Trace::read(region);
        let traced = Traced {
            decisions: path::decisions(&trace, self.sites),
            operations: sensitive::operations(&trace, self.sites),
            sources: sources_of(&trace, scenario, &self.traced.directory()),
            trace,
        };
        Ok((outcome, traced))
    }

    fn cover(&mut self, scenario: &Scenario) -> Result<Vec<Counter>, ExploreError> {
        let Some(covered) = &mut self.covered else {
            return Ok(Vec::new());
        };
        self.runs += 1;
        covered.run(scenario, &[self.counters.shared()])?;
        Ok(self.counters.counted_since(&mut self.counts))
    }

    /// Tries all ways of a group.
    pub fn work(&mut self, work: Work<'_>) -> Result<Done, ExploreError> {
        let (traced, again) = match work.traced {
            Some(traced) => (traced, None),
            None => {
                let traced = Arc::new(self.trace(work.scenario)?.1);
                (Arc::clone(&traced), Some(traced))
            }
        };
        let named = traced.sources.iter().enumerate();
        let names: Vec<u32> = named
            .map(|(index, source)| self.name(index, source))
            .collect();
        let mut path = self.solver.path(&traced.trace, &names);
        // How many constraints the first n decisions are.
        let mut ends = vec![0];
        let mut attempts = Vec::new();
        let mut made: HashSet<Scenario> = HashSet::new();
        for candidate in work.candidates {
            let wanted = Wanted {
                traced: &traced,
                sites: self.sites,
                fixed: work.fixed,
            };
            let changed = match wanted.question(candidate.goal, &mut path) {
                Question::Structure => {
                    Ok(restructured(work.scenario, candidate.goal, &traced.sources))
                }
                Question::Solve { prefix, goal } => {
                    // One decision can be several constraints.
                    while ends.len() <= prefix {
                        let decision = &traced.decisions[ends.len() - 1];
                        for constraint in decision.constraints(self.sites) {
                            path.push(constraint);
                        }
                        ends.push(path.len());
                    }
                    match path.solve(ends[prefix], &goal, None) {
                        Answer::Sat(model) => {
                            let changes = model.bytes.iter().map(|((source, offset), byte)| {
                                let component = self.components.get(*source as usize)?.clone();
                                Some((
                                    Variable {
                                        component,
                                        offset: *offset,
                                    },
                                    *byte,
                                ))
                            });
                            let changes: Option<BTreeMap<Variable, u8>> = changes.collect();
                            Ok(changes.and_then(|changes| apply(work.scenario, &changes)))
                        }
                        Answer::Unsat(_) => Err(Tried::Infeasible),
                        Answer::Unknown(_) => Err(Tried::Undecided),
                    }
                }
                Question::Impossible => Err(Tried::Infeasible),
            };
            let changed = changed.map(|changed| {
                changed.filter(|scenario| {
                    self.options.shape.accepts(scenario)
                        && !work.known.contains(scenario)
                        && made.insert(scenario.clone())
                })
            });
            let result = match changed {
                Err(tried) => tried,
                Ok(None) => Tried::Rejected,
                Ok(Some(scenario)) => {
                    let (outcome, child) = self.trace(&scenario)?;
                    let ran = self.cover(&scenario)?;
                    // Where the list of arguments ended there now is one, and reading it is no
                    // question to the input any more: nothing can be said.
                    let is_longer = scenario.argv.len() > work.scenario.argv.len();
                    let went = wanted.went(candidate.goal, &child);
                    let went = went.filter(|went| *went || !is_longer);
                    let left_at = match went {
                        Some(false) => wanted.parting(&child),
                        _ => None,
                    };
                    let scenario = with_objects(scenario, &child.trace);
                    Tried::Ran(Box::new(Child {
                        scenario,
                        end: outcome.end,
                        traced: Arc::new(child),
                        ran,
                        went,
                        left_at,
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

    /// The stable number of a component; of a source that cannot be changed, one that no component has.
    fn name(&mut self, index: usize, component: &Option<Component>) -> u32 {
        let Some(component) = component else {
            return u32::MAX - index as u32;
        };
        let next = self.components.len() as u32;
        *self.sources.entry(component.clone()).or_insert_with(|| {
            self.components.push(component.clone());
            next
        })
    }

    /// Runs the plain and the checked program; the errors that were seen, each of them twice.
    pub fn check(&mut self, scenario: &Scenario) -> Result<Option<Checked>, ExploreError> {
        let mut once =
            || -> Result<(Outcome, Option<Outcome>, Vec<finding::Problem>), ExploreError> {
                let checked = match &mut self.checked {
                    Some(executor) => Some(executor.run(scenario, &[])?),
                    None => None,
                };
                self.runs += 2;
                let plain = self.plain.run(scenario, &[])?;
                let problems = finding::problems(&plain, checked.as_ref());
                Ok((plain, checked, problems))
            };
        let (plain, checked, first) = once()?;
        if first.is_empty() {
            return Ok(None);
        }
        let (_, _, second) = once()?;
        let problems: Vec<_> = first
            .into_iter()
            .filter(|problem| second.contains(problem))
            .collect();
        let reported = checked.map(|outcome| {
            let reports = sanitizer::reports(&outcome.stderr.bytes);
            let lines: Vec<_> = reports
                .iter()
                .map(|report| report.message.clone())
                .collect();
            lines.join("\n")
        });
        let mut ending = finding::Ending::new(&plain);
        ending.sanitizer = reported.filter(|text| !text.is_empty());
        Ok(Some(Checked { problems, ending }))
    }
}

/// What native runs showed.
pub struct Checked {
    pub problems: Vec<finding::Problem>,
    pub ending: finding::Ending,
}

/// Objects become part of a scenario when the program declares them.
fn with_objects(mut scenario: Scenario, trace: &Trace) -> Scenario {
    let known = scenario.objects.len();
    let declared = objects_of(trace).into_iter().skip(known);
    scenario.objects.extend(declared);
    scenario
}

fn sources_of(trace: &Trace, scenario: &Scenario, directory: &Path) -> Sources {
    let component = |index: u32| {
        let source = trace.source(index)?;
        Some(match source.kind {
            SourceKind::Argument => Component::Argument(source.index),
            SourceKind::ArgumentCount => Component::ArgumentCount,
            SourceKind::Stdin => Component::Stdin,
            SourceKind::Stream => Component::Stream(source.index),
            SourceKind::Object => Component::Object(source.index),
            SourceKind::Environment => Component::Environment(source.name.into()),
            SourceKind::File => {
                let path = PathBuf::from(Bytes::from(source.name).to_os_string());
                let relative = path.strip_prefix(directory).ok()?;
                let name = Bytes::from(relative.as_os_str().as_encoded_bytes());
                scenario.files.contains_key(&name).then_some(())?;
                Component::File(name)
            }
        })
    };
    (0..trace.source_count()).map(component).collect()
}
