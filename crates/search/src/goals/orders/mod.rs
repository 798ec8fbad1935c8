//! Which orders of executed changes break something (Böhme, Oliveira, Roychoudhury: "Regression Tests to Expose Change Interaction
//! Errors", FSE 2013, Algorithm 2).
//!
//! The change sequence graph of the patch comes from the static analysis; [`marks`] finds its nodes in the covered program, and [`follow`]
//! sees in which order a run came to them, between which of its decisions. Each alternative of a run has targets of its own, which
//! move along the graph ([`course`], [`targets`]); [`choices`] says which is tried next. What inputs with and without a change were
//! confirmed to show says whether changes interact ([`sequences`], [`findings`]).
//!
//! Unlike the paper's, the search runs whole inputs instead of stepping through states: a path that comes to a target always goes on to
//! an end, so every input that is made is a test.

mod choices;
mod course;
mod findings;
mod follow;
mod marks;
pub mod sequences;
mod targets;

use std::sync::Arc;
use std::time::Instant;

use parallax_analysis::Analysis;
use parallax_analysis::dependence::Dependences;
use parallax_analysis::sequence::ChangeGraph;
use parallax_exec::replay::ReplayError;
use parallax_exec::sites::{ModuleSites, SiteMap};
use parallax_scenario::Scenario;

use crate::core::corpus::{Corpus, EntryId};
use crate::core::goal::{Examined, Goal, Observation, Path, Work, Worth};
use crate::core::limits::{Limit, Limits};
use crate::core::minimise::Minimiser;
use crate::diverge::triage::Shown;
use crate::engine::Phase;
use choices::Choices;
use course::Course;
use findings::Findings;
pub use findings::{Finding, Kind, Summary};
pub use follow::Following;
use follow::Walked;
use sequences::Test;
use targets::Guides;

/// Alternatives of one turn: as many turns are under way at a time as there are slots, and what a run came to says more than its
/// distance did.
const BATCH: usize = 1;
/// Inputs of one sequence that are run on the builds with sanitizers whatever the plain ones do.
const CHECKED: u64 = 8;

/// What is known of the new version without running it.
#[derive(Clone, Copy)]
pub struct Code<'c> {
    pub analysis: &'c Analysis,
    pub dependences: &'c Dependences,
    pub graph: &'c ChangeGraph,
    /// Of the traced program.
    pub sites: &'c SiteMap,
    /// Of the covered program.
    pub tables: &'c [ModuleSites],
}

/// See the module's description.
pub struct Orders<'c> {
    following: &'c Following<'c>,
    course: Course<'c>,
    guides: Guides<'c>,
    choices: Choices,
    findings: Findings,
    /// Where the entry came to whose path is shown next.
    last: Option<(EntryId, Arc<Walked>)>,
    limits: Limits,
    started: Instant,
}

impl<'c> Orders<'c> {
    /// In isolation changes are taken one by one, without the graph: to see what the graph is good for. The seed decides what is
    /// left to chance.
    pub fn new(following: &'c Following<'c>, isolated: bool, seed: u64) -> Orders<'c> {
        let Code {
            analysis,
            dependences,
            graph,
            ..
        } = following.code;
        Orders {
            following,
            course: match isolated {
                true => Course::isolated(graph, dependences),
                false => Course::along(graph),
            },
            guides: Guides::new(analysis, &following.marks, graph.nodes.len()),
            choices: Choices::new(seed),
            findings: Findings::default(),
            last: None,
            limits: Limits::default(),
            started: Instant::now(),
        }
    }

    /// The number of the test that an input is, and how many steps along the graph nobody had made before; `None` if it executes no
    /// change.
    fn test(
        &mut self,
        scenario: &Arc<Scenario>,
        walked: &Walked,
        differs: bool,
    ) -> Option<(usize, usize)> {
        if let Some(number) = self.findings.number(scenario) {
            return Some((number, 0));
        }
        self.limits
            .hit_by(Limit::OrderLog, u64::from(walked.is_cut));
        let steps = self.course.walk(&walked.nodes);
        let (sequence, is_cut) = self.following.sequence(walked);
        self.limits.hit_by(Limit::Sequence, u64::from(is_cut));
        if sequence.is_empty() {
            return None;
        }
        let number = self.findings.add(Test {
            scenario: Arc::clone(scenario),
            sequence,
            differs,
            is_judged: false,
            shows: None,
        });
        Some((number, steps))
    }

    /// What came out of a search for nothing but this.
    pub fn summary(mut self, mut search: crate::engine::Summary) -> Summary {
        search.executions += self.following.runs();
        search.limits.absorb(&self.limits);
        let nodes = self.following.code.graph.nodes.len() as u64;
        let reached = (self.course.nodes_reached() as u64, nodes);
        let (findings, rows) = self.findings.finish();
        let sum = |of: fn(&sequences::Row) -> u64| rows.iter().map(of).sum();
        Summary {
            tests: sum(|row| row.tests),
            differences: sum(|row| row.differences),
            errors: sum(|row| row.errors),
            nodes: reached,
            edges: self.course.edges(),
            findings,
            rows,
            search,
        }
    }
}

impl Goal for Orders<'_> {
    fn name(&self) -> &'static str {
        "orders of changes"
    }

    fn phase(&self) -> Phase {
        Phase::Orders
    }

    fn observe(&mut self, _run: &Observation<'_>) -> Worth {
        Worth::default()
    }

    fn examined(&mut self, entry: EntryId, seen: &Examined, corpus: &Corpus) -> Worth {
        let Ok(walked) = Arc::clone(seen).downcast::<Walked>() else {
            return Worth::default();
        };
        let base = &corpus.entries[entry];
        let test = self.test(&base.scenario, &walked, base.differs);
        self.last = Some((entry, walked));
        let Some((number, steps)) = test else {
            return Worth::default();
        };
        let test = &self.findings.tests.list[number];
        let is_rare = self.findings.tests.of(&test.sequence) <= CHECKED;
        Worth {
            gain: f64::from(u8::from(steps > 0)),
            look: !test.is_judged && (test.differs || is_rare),
            ..Worth::default()
        }
    }

    fn take_path(&mut self, path: &Path<'_>, _corpus: &Corpus, limits: &mut Limits) -> Worth {
        let last = self.last.take().filter(|(entry, _)| *entry == path.entry);
        let walked = last.map(|(_, walked)| walked).unwrap_or_default();
        self.offer(path, &walked, limits);
        Worth::default()
    }

    fn is_ready(&self) -> bool {
        self.choices.len() > 0
    }

    fn choose(&mut self, most: usize, _corpus: &Corpus) -> Option<Work> {
        let alternatives = self.choices.take(most.min(BATCH), &self.course);
        (!alternatives.is_empty()).then_some(Work::Turn {
            alternatives,
            regenerate: true,
        })
    }

    fn confirmed(
        &mut self,
        scenario: &Arc<Scenario>,
        shown: Option<&Shown>,
        seen: Option<&Examined>,
    ) {
        let walked = seen.and_then(|seen| Arc::clone(seen).downcast::<Walked>().ok());
        let test = match walked {
            Some(walked) => self.test(scenario, &walked, shown.is_some()),
            None => self.findings.number(scenario).map(|number| (number, 0)),
        };
        if let Some((number, _)) = test {
            let seconds = self.started.elapsed().as_secs_f64();
            self.findings.judge(number, shown, seconds);
        }
    }

    fn finish(&mut self, minimiser: &Minimiser<'_>) -> Result<Vec<String>, ReplayError> {
        let following = self.following;
        let changes = |scenario: &Scenario| following.changes(scenario, minimiser.end);
        self.findings.make_small(minimiser, &changes)
    }

    fn open(&self) -> u64 {
        self.choices.len() as u64
    }
}
