//! One worker: the program's variants, a solver, and what leads from one to the other.
//!
//! What a worker does depends only on what it is given and on what it was given before, not on other
//! workers: so a search that deals out work in a fixed order is the same however many of them work at a time.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use parallax_abi::trace::SourceKind;
use parallax_solver::{Answer, Config, Constraint, Core, Limits, Model, Solver, Statistics};

use crate::answers::{Answers, Note, Told, fingerprint};
use crate::explore::{ExploreError, Programs};
use crate::runners::Runners;
use parallax_exec::coverage::{Counter, Coverage};
use parallax_exec::execute::Settings;
use parallax_exec::finding::Problem;
use parallax_exec::replay::{Confirmed, Native};
use parallax_exec::run::Outcome;
use parallax_exec::sites::{ModuleSites, SiteMap};
use parallax_scenario::{Bytes, Component, Scenario, Variable, apply};
use parallax_trace::Trace;
use parallax_trace::objects::objects_of;
use parallax_trace::path::{self, Choice, Decision};
use parallax_trace::region::{self, Symbolic};
use parallax_trace::sensitive::{self, Sensitive};

/// A run that has been traced.
#[derive(Debug)]
pub struct Traced {
    pub trace: Trace,
    pub decisions: Vec<Decision>,
    pub operations: Vec<Sensitive>,
    pub sources: Sources,
}

/// Which component each source of a trace is; `None` if the scenario cannot change it.
pub type Sources = Vec<Option<Component>>;

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

/// How programs are run and questions are answered.
#[derive(Clone, Copy, Debug)]
pub struct Means<'m> {
    /// Of each trace.
    pub limits: region::Limits,
    pub symbolic: &'m Symbolic,
    pub settings: &'m Settings,
    pub solver: &'m Config,
}

/// See the module's description.
pub struct Worker<'m> {
    means: Means<'m>,
    sites: &'m SiteMap,
    runners: Arc<Runners>,
    /// What findings are seen on.
    pub native: Native,
    pub solver: Solver,
    /// What solvers did that were replaced.
    earlier: Statistics,
    /// Inquiries note in it, too.
    answers: Arc<Mutex<Answers>>,
    names: Names,
    /// When everything must be over.
    until: Option<Instant>,
    /// Runs of the traced and the covered build.
    runs: u64,
}

impl<'m> Worker<'m> {
    pub fn new(
        programs: &Programs,
        means: Means<'m>,
        sites: &'m SiteMap,
    ) -> Result<Worker<'m>, ExploreError> {
        let Means {
            settings,
            limits,
            symbolic,
            ..
        } = means;
        let runners = Arc::new(Runners::new(programs, settings, limits, symbolic)?);
        Ok(Worker::on(runners, programs, means, sites))
    }

    /// One that shares what runs the programs with others.
    pub(crate) fn on(
        runners: Arc<Runners>,
        programs: &Programs,
        means: Means<'m>,
        sites: &'m SiteMap,
    ) -> Worker<'m> {
        Worker {
            native: Native::new(&programs.plain, programs.checked.as_deref(), means.settings),
            means,
            sites,
            runners,
            solver: Solver::new(means.solver.clone()),
            earlier: Statistics::default(),
            answers: Arc::default(),
            names: Names::default(),
            until: None,
            runs: 0,
        }
    }

    /// Another worker, with a solver of its own, that runs the same programs.
    pub fn beside(&self) -> Worker<'m> {
        Worker {
            means: self.means,
            sites: self.sites,
            runners: Arc::clone(&self.runners),
            native: self.native.beside(),
            solver: Solver::new(self.means.solver.clone()),
            earlier: Statistics::default(),
            answers: Arc::default(),
            names: Names::default(),
            until: self.until,
            runs: 0,
        }
    }

    /// From now on nothing takes longer than until then: no run of any build, and no query. What native runs say after that may
    /// be because they were cut short.
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.until = until;
        self.native.end_by(until);
    }

    /// Whether that time is over.
    pub fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// What one question may cost now.
    pub fn limits(&self) -> Limits {
        limits(self.means.solver, self.until)
    }

    /// Runs of any build.
    pub fn runs(&self) -> u64 {
        self.runs + self.native.runs
    }

    /// Runs the traced program.
    pub fn trace(&mut self, scenario: &Scenario) -> Result<(Outcome, Traced), ExploreError> {
        self.runs += 1;
        let (outcome, trace, directory) = self.runners.trace(scenario, self.until)?;
        let decisions = path::decisions(&trace, self.sites);
        let traced = Traced {
            operations: sensitive::operations(&trace, &decisions),
            decisions,
            sources: sources_of(&trace, scenario, &directory),
            trace,
        };
        Ok((outcome, traced))
    }

    /// Runs the covered program; everything of it that ran, nothing if there is no such program.
    pub fn cover(&mut self, scenario: &Scenario) -> Result<Vec<Counter>, ExploreError> {
        let Some(ran) = self.runners.cover(scenario, self.until)? else {
            return Ok(Vec::new());
        };
        self.runs += 1;
        Ok(ran)
    }

    /// What has been covered by this worker and those that it is beside.
    pub fn coverage(&self, tables: &[ModuleSites]) -> Coverage {
        self.runners.coverage(tables)
    }

    /// The names that the solver knows a run's sources by: the same component has the same one in all runs.
    pub fn names(&mut self, traced: &Traced) -> Vec<u32> {
        let sources = traced.sources.iter().enumerate();
        sources
            .map(|(index, component)| self.names.of(index, component))
            .collect()
    }

    /// Opens questions about a run, whose sources have these names.
    pub fn inquiry<'t>(&self, traced: &'t Traced, names: &'t [u32], rigour: Rigour) -> Inquiry<'t>
    where
        'm: 't,
    {
        Inquiry {
            rigour,
            path: self.solver.path(&traced.trace, names),
            ends: vec![0],
            traced,
            sites: self.sites,
            answers: Arc::clone(&self.answers),
            config: self.means.solver,
            until: self.until,
        }
    }

    /// Sees on the plain and the checked program what is wrong with a scenario, unless that is known: see
    /// [`Native::confirm`].
    pub fn confirm(
        &mut self,
        scenario: &Scenario,
        is_known: &dyn Fn(&Problem) -> bool,
    ) -> Result<Option<Confirmed>, ExploreError> {
        let question = fingerprint(scenario);
        if let Some(Told::Native { confirmed, runs }) = locked(&self.answers).recall(question)
            && let Ok(confirmed) = serde_json::from_str(&confirmed)
        {
            self.native.runs += runs;
            return Ok(confirmed);
        }
        let before = self.native.runs;
        let confirmed = self.native.confirm(scenario, is_known)?;
        let text = serde_json::to_string(&confirmed).map_err(ExploreError::note)?;
        locked(&self.answers).note(question, || Told::Native {
            confirmed: text,
            runs: self.native.runs - before,
        });
        Ok(confirmed)
    }

    /// What all solvers of this worker did.
    pub fn statistics(&self) -> Statistics {
        let mut sum = self.earlier.clone();
        sum.absorb(self.solver.statistics());
        sum
    }

    /// From now on answers are noted for [`Worker::settle`].
    pub fn listen(&mut self) {
        locked(&self.answers).listen();
    }

    /// From now on these answers are given.
    pub fn know(&mut self, notes: Vec<Note>) {
        locked(&self.answers).know(notes);
    }

    /// Replaces the solver by a fresh one; gives what was answered, and whether that is something else than what was known.
    pub fn settle(&mut self) -> (Vec<Note>, bool) {
        self.earlier = self.statistics();
        self.solver = Solver::new(self.means.solver.clone());
        locked(&self.answers).take()
    }

    /// What was answered since this was last asked, and whether that is something else than what was known.
    pub fn noted(&mut self) -> (Vec<Note>, bool) {
        locked(&self.answers).take()
    }

    /// The scenario changed as a model says; `None` if it cannot be changed so.
    pub fn changed(&self, scenario: &Scenario, model: &Model) -> Option<Scenario> {
        let changes = model.bytes.iter().map(|((source, offset), byte)| {
            let component = self.names.components.get(*source as usize)?.clone();
            let offset = *offset;
            Some((Variable { component, offset }, *byte))
        });
        let changes: Option<BTreeMap<Variable, u8>> = changes.collect();
        apply(scenario, &changes?)
    }
}

/// What inputs must have in common with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rigour {
    /// Everything that was decided, addresses and sizes included: all that the trace says of the path holds for them.
    Exact,
    /// Which way was taken, but not what was fixed. Memory can differ then from what the trace says, so a
    /// run must show whether the answer is right.
    Ways,
}

impl Rigour {
    /// What is cheaper to refute first.
    pub const ALL: [Rigour; 2] = [Rigour::Ways, Rigour::Exact];
}

/// Questions about one run.
pub struct Inquiry<'t> {
    /// The constraints of the decisions that were needed so far.
    pub path: parallax_solver::Path<'t, Trace>,
    /// How many constraints the first n decisions are: one decision can be several.
    ends: Vec<usize>,
    rigour: Rigour,
    traced: &'t Traced,
    sites: &'t SiteMap,
    answers: Arc<Mutex<Answers>>,
    config: &'t Config,
    until: Option<Instant>,
}

impl Inquiry<'_> {
    /// Looks for an input that decides the first `prefix` times as the run did, and of which the goal holds.
    pub fn solve(&mut self, prefix: usize, goal: &[Constraint]) -> Answer {
        let question = self.fingerprint(prefix, goal);
        if let Some(Told::Solver(answer)) = locked(&self.answers).recall(question) {
            return answer;
        }
        while self.ends.len() <= prefix {
            let decision = &self.traced.decisions[self.ends.len() - 1];
            if self.rigour == Rigour::Exact || decision.choice != Choice::Fixed {
                for constraint in decision.constraints(self.sites) {
                    self.path.push(constraint);
                }
            }
            self.ends.push(self.path.len());
        }
        let limits = limits(self.config, self.until);
        let answer = self.path.solve(self.ends[prefix], goal, Some(limits));
        locked(&self.answers).note(question, || Told::Solver(answer.clone()));
        answer
    }

    /// The decisions that a contradiction is made of, in order.
    pub fn decisions_of(&self, core: &Core) -> Vec<usize> {
        let of = |constraint: &usize| self.ends.partition_point(|end| end <= constraint) - 1;
        let mut decisions: Vec<usize> = core.constraints.iter().map(of).collect();
        decisions.dedup();
        decisions
    }

    /// Expressions that are not of the trace have no number that is the same each time.
    fn fingerprint(&self, prefix: usize, goal: &[Constraint]) -> u64 {
        let nodes = self.traced.trace.node_count();
        let path = prefix
            .checked_sub(1)
            .map(|last| self.traced.decisions[last].exact);
        let goal: Vec<_> = goal
            .iter()
            .map(|constraint| (constraint.label.min(nodes), constraint.holds))
            .collect();
        fingerprint((path, prefix, goal))
    }
}

/// What one question may cost if all must be over by then.
fn limits(config: &Config, until: Option<Instant>) -> Limits {
    /// Back ends that are asked one after the other, each with its own time.
    const BACK_ENDS: u32 = 2;
    let mut limits = config.limits;
    if let Some(until) = until {
        let left = until.saturating_duration_since(Instant::now());
        limits.time = limits.time.min(left / BACK_ENDS);
    }
    limits
}

fn locked(answers: &Mutex<Answers>) -> MutexGuard<'_, Answers> {
    answers.lock().unwrap_or_else(|error| error.into_inner())
}

/// Stable numbers of components.
#[derive(Debug, Default)]
struct Names {
    numbers: HashMap<Component, u32>,
    components: Vec<Component>,
}

impl Names {
    /// The number of a component; of a source that cannot be changed, one that no component has.
    fn of(&mut self, index: usize, component: &Option<Component>) -> u32 {
        let Some(component) = component else {
            return u32::MAX - index as u32;
        };
        let next = self.components.len() as u32;
        *self.numbers.entry(component.clone()).or_insert_with(|| {
            self.components.push(component.clone());
            next
        })
    }
}

/// Objects become part of a scenario when the program declares them.
pub fn with_objects(mut scenario: Scenario, trace: &Trace) -> Scenario {
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
