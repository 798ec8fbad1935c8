//! The search for one target: tries ways, takes in what became of them, and tells what it came to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use parallax_abi::SiteId;
use parallax_analysis::{Analysis, BlockId};
use rustc_hash::FxHashSet;

use super::aims::{Aim, Waiting};
use super::queue::Way;
use super::ran::{Counters, Ran, Seen};
use super::remedies::Adviser;
use super::{
    Heuristic, Means, Observer, Obstacle, Options, Progress, Reached, Step, Verdict, ways,
};
use crate::edit::Edit;
use crate::explore::batch;
use crate::explore::frontier::RunId;
use crate::explore::kept::Kept;
use crate::explore::slot::{Attempt, Child, Common, Slot, Tried};
use crate::explore::{ExploreError, Run, Shape, loss_names};
use crate::question::{Goal, Known};
use crate::worker::Traced;
use parallax_exec::finding::{Finding, Problem};
use parallax_exec::run::End;
use parallax_exec::sites::SiteMap;
use parallax_scenario::Scenario;

/// Ways that are tried before the next ones are chosen: looking ahead of the best one costs little.
const BATCH: usize = 8;
/// Inputs on which the program crashes that are looked at.
const CRASHES: usize = 8;

/// How a run was made.
struct Origin {
    parent: RunId,
    means: Means,
    site: Option<SiteId>,
    distance: Option<u32>,
}

/// What a search works with.
#[derive(Clone, Copy)]
pub struct Around<'s> {
    pub options: &'s Options,
    pub analysis: &'s Analysis,
    pub sites: &'s SiteMap,
    pub counters: &'s Counters,
    pub adviser: &'s Adviser<'s>,
    /// Inputs that may be made.
    pub shape: &'s Shape,
}

/// A search for one target.
pub struct Search<'s> {
    pub(super) options: &'s Options,
    pub(super) analysis: &'s Analysis,
    pub(super) sites: &'s SiteMap,
    pub(super) counters: &'s Counters,
    pub(super) adviser: &'s Adviser<'s>,
    shape: &'s Shape,
    /// When it must be over.
    until: Option<Instant>,
    /// The first one is the target.
    pub(super) aims: Vec<Aim<'s>>,
    pub(super) waiting: Vec<Waiting>,
    /// Blocks that are or were aims.
    pub(super) wanted: HashSet<BlockId>,
    /// Runs in which every option was tried.
    pub(super) swept: HashSet<RunId>,
    /// Counts what was chosen, so that aims take turns.
    pub(super) turn: usize,
    /// Ways that were tried, by the path that they make.
    pub(super) tried: HashSet<u64>,
    /// What [`Goal::Edit`] means.
    pub(super) edits: Vec<Edit>,
    pub(super) edit_means: Vec<Means>,
    pub(super) edit_numbers: HashMap<(Edit, Means), u32>,
    pub(super) runs: Vec<Run>,
    /// What each run executed.
    pub(super) executed: Vec<Ran>,
    /// Of each run; `None` for what was given.
    origins: Vec<Option<Origin>>,
    kept: Kept,
    known: HashSet<Scenario>,
    pub(super) paths: HashSet<u64>,
    pub(super) fixed: Known,
    pub(super) losses: BTreeMap<String, u64>,
    /// Places in the program's own code at which input decided.
    pub(super) decided: FxHashSet<SiteId>,
    /// Least number of decisions between anything that ran and the target.
    pub(super) nearest: Option<u32>,
    /// The nearest branch that could not be got past; `contradicts` is there if all attempts at that distance were
    /// contradictions.
    obstacle: Option<Obstacle>,
    pub(super) traced_runs: u64,
    /// The last decisions of runs that were ended by a signal.
    crashes: HashSet<Option<SiteId>>,
    /// Inputs that are to be seen on the plain and the checked program, each with its number of decisions.
    suspects: Vec<(Scenario, usize)>,
    /// What was seen there, each thing once.
    pub(super) findings: Vec<Finding>,
}

impl<'s> Search<'s> {
    pub fn new(around: Around<'s>, target: Aim<'s>, until: Option<Instant>) -> Search<'s> {
        Search {
            options: around.options,
            analysis: around.analysis,
            sites: around.sites,
            counters: around.counters,
            adviser: around.adviser,
            shape: around.shape,
            until,
            wanted: target.blocks.iter().copied().collect(),
            aims: vec![target],
            waiting: Vec::new(),
            swept: HashSet::new(),
            turn: 0,
            tried: HashSet::new(),
            edits: Vec::new(),
            edit_means: Vec::new(),
            edit_numbers: HashMap::new(),
            runs: Vec::new(),
            executed: Vec::new(),
            origins: Vec::new(),
            kept: Kept::default(),
            known: HashSet::new(),
            paths: HashSet::new(),
            fixed: Known::new(),
            losses: BTreeMap::new(),
            decided: FxHashSet::default(),
            nearest: None,
            obstacle: None,
            traced_runs: 0,
            crashes: HashSet::new(),
            suspects: Vec::new(),
            findings: Vec::new(),
        }
    }
}

impl Search<'_> {
    pub fn run(
        &mut self,
        slots: &mut [Slot<'_>],
        seeds: &[Child],
        observer: &mut dyn Observer,
    ) -> Result<(Verdict, bool), ExploreError> {
        let executed: Vec<Ran> = seeds.iter().map(|seed| self.ran(seed)).collect();
        if let Some(seed) = executed.iter().position(|ran| self.reaches(ran)) {
            return Ok((Verdict::Suite(seed), false));
        }
        for (seed, ran) in seeds.iter().zip(executed) {
            if self.known.insert(seed.scenario.clone()) {
                self.add(&seed.scenario, &seed.traced, ran, None);
            }
        }
        self.offer_splices();
        loop {
            observer.progress(&Progress {
                runs: self.traced_runs,
                distance: self.nearest,
                open: self.aims.iter().map(|aim| aim.queue.len() as u64).sum(),
            });
            if observer.stop() {
                return Ok((self.failed(), true));
            }
            let left = self.options.explore.runs.map_or(BATCH, |runs| {
                usize::try_from(runs.saturating_sub(self.traced_runs)).unwrap_or(BATCH)
            });
            if self.is_late() || left == 0 {
                return Ok((self.failed(), false));
            }
            self.look_around();
            let ways = self.choose(BATCH.min(left));
            if ways.is_empty() {
                return Ok((self.failed(), false));
            }
            for (way, attempt) in self.try_all(slots, ways)? {
                if let Some(verdict) = self.merge(way, attempt, observer) {
                    return Ok((verdict, false));
                }
            }
            self.look_at_suspects(&mut slots[0])?;
        }
    }

    /// Whether the time is over.
    pub(super) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Sees on the plain and the checked program what is wrong with suspicious inputs, as long as there is time.
    fn look_at_suspects(&mut self, slot: &mut Slot<'_>) -> Result<(), ExploreError> {
        while !self.is_late()
            && let Some((scenario, depth)) = self.suspects.pop()
        {
            self.look_at(slot, scenario, depth)?;
        }
        Ok(())
    }

    fn look_at(
        &mut self,
        slot: &mut Slot<'_>,
        scenario: Scenario,
        depth: usize,
    ) -> Result<(), ExploreError> {
        let is_known = |problem: &Problem| {
            let mut known = self.findings.iter();
            known.any(|known| known.key() == problem.key())
        };
        let Some(confirmed) = slot.confirm(&scenario, &is_known)? else {
            return Ok(());
        };
        for problem in confirmed.problems {
            self.findings.push(Finding {
                problem,
                scenario: scenario.clone(),
                ending: confirmed.ending.clone(),
                depth,
            });
        }
        Ok(())
    }

    /// Looks at the input that reached the target, whatever the time; what else there was no time for is a loss.
    pub fn close(&mut self, slot: &mut Slot<'_>, verdict: &Verdict) -> Result<(), ExploreError> {
        if let Verdict::Covered { scenario, .. } = verdict {
            self.look_at(slot, scenario.clone(), 0)?;
        }
        self.look_at_suspects(slot)?;
        if !self.suspects.is_empty() {
            let name = "(crashes that there was no time to look at)".to_owned();
            self.losses.insert(name, self.suspects.len() as u64);
        }
        let dropped: u64 = self.aims.iter().map(|aim| aim.queue.dropped()).sum();
        if dropped > 0 {
            let name = "(ways that there was no room for)".to_owned();
            self.losses.insert(name, dropped);
        }
        Ok(())
    }

    /// Tries ways, and keeps the traces that had to be made again for it.
    fn try_all(
        &mut self,
        slots: &mut [Slot<'_>],
        ways: Vec<Way>,
    ) -> Result<Vec<(Way, Attempt)>, ExploreError> {
        let common = Common {
            runs: &self.runs,
            known: &self.known,
            fixed: &self.fixed,
            edits: &self.edits,
            shape: self.shape,
            regenerate: self.options.has(Heuristic::Regenerate),
        };
        let jobs = self.options.explore.jobs;
        let batch = batch::try_all(slots, ways, |way| way.candidate, common, jobs)?;
        for (run, traced) in batch.repeated {
            self.traced_runs += 1;
            self.keep(run, traced);
        }
        Ok(batch.attempts)
    }

    /// Takes in what became of a way; the verdict if it has reached the target.
    fn merge(
        &mut self,
        way: Way,
        attempt: Attempt,
        observer: &mut dyn Observer,
    ) -> Option<Verdict> {
        let is_place = way.candidate.goal.has_place();
        match attempt.result {
            Tried::Infeasible { against } => {
                if is_place {
                    self.failed_at(way, Some(against));
                }
            }
            Tried::Undecided => self.failed_at(way, None),
            // An input would go there, but it may not be made, or it has been run and did not.
            Tried::Rejected => {
                if is_place {
                    self.failed_at(way, None);
                }
            }
            Tried::Ran(child) => {
                self.traced_runs += 1;
                let origin = Origin {
                    parent: way.candidate.run,
                    means: match way.candidate.goal {
                        _ if way.aim > 0 => Means::Switch,
                        Goal::Edit { number } => self.edit_means[number as usize],
                        Goal::Take { .. } => Means::Splice,
                        _ if child.gave_up.is_some() => Means::Regenerate,
                        Goal::Grow { .. }
                        | Goal::Cut { .. }
                        | Goal::Drop { .. }
                        | Goal::Insert { .. } => Means::Structure,
                        _ => Means::Greedy,
                    },
                    site: is_place.then_some(way.place),
                    distance: (way.distance < ways::UNKNOWN).then_some(way.distance),
                };
                self.note_end(&child);
                let ran = self.ran(&child);
                let derivation = || {
                    let mut steps = self.steps(way.candidate.run);
                    steps.push(Step {
                        means: origin.means,
                        site: origin.site,
                        scenario: child.scenario.clone(),
                        distance: origin.distance,
                    });
                    steps
                };
                observer.ran(&Reached {
                    seed: self.root(way.candidate.run),
                    scenario: &child.scenario,
                    counters: &child.ran,
                    steps: &derivation,
                });
                if self.reaches(&ran) {
                    let steps = derivation();
                    return Some(Verdict::Covered {
                        scenario: child.scenario,
                        steps,
                    });
                }
                if let Some(against) = child.gave_up {
                    self.failed_at(way, Some(against));
                } else if child.went == Some(false) {
                    self.failed_at(way, None);
                }
                if self.known.insert(child.scenario.clone()) {
                    self.add(&child.scenario, &child.traced, ran, Some(origin));
                }
            }
        }
        None
    }

    fn note_end(&mut self, child: &Child) {
        let decisions = &child.traced.decisions;
        let site = decisions.last().map(|decision| decision.site);
        if matches!(child.end, End::Signal(_))
            && self.crashes.len() < CRASHES
            && self.crashes.insert(site)
        {
            let suspect = (child.scenario.clone(), decisions.len());
            self.suspects.push(suspect);
        }
    }

    fn ran(&self, child: &Child) -> Ran {
        self.counters.ran(&child.ran)
    }

    fn reaches(&self, ran: &Ran) -> bool {
        ran.has_any(&self.aims[0].blocks)
    }

    /// Takes in a run and offers its ways.
    fn add(&mut self, scenario: &Scenario, traced: &Arc<Traced>, ran: Ran, origin: Option<Origin>) {
        for (name, count) in loss_names(traced, ways::MOST_NEAR) {
            *self.losses.entry(name).or_default() += count;
        }
        let generation = match &origin {
            Some(origin) => self.runs[origin.parent as usize].generation + 1,
            None => 0,
        };
        let run = self.runs.len() as RunId;
        self.runs.push(Run {
            scenario: scenario.clone(),
            generation,
            traced: None,
        });
        self.executed.push(ran);
        self.origins.push(origin);
        self.note_run(run);
        if self.paths.insert(traced.exact_path()) {
            self.offer(run, traced);
            self.keep(run, Arc::clone(traced));
        }
    }

    fn keep(&mut self, run: RunId, traced: Arc<Traced>) {
        let room = self.options.explore.trace_memory;
        self.kept.keep(&mut self.runs, run, traced, room);
    }

    fn failed_at(&mut self, way: Way, against: Option<Vec<SiteId>>) {
        if way.distance >= ways::UNKNOWN || way.aim > 0 {
            return;
        }
        match &mut self.obstacle {
            Some(known) if known.distance < way.distance => {}
            Some(known) if known.distance == way.distance => {
                known.prefixes += 1;
                if against.is_none() {
                    known.contradicts = None;
                }
            }
            _ => {
                self.obstacle = Some(Obstacle {
                    site: way.place,
                    distance: way.distance,
                    scenario: self.runs[way.candidate.run as usize].scenario.clone(),
                    contradicts: against,
                    prefixes: 1,
                    is_concrete: false,
                });
            }
        }
    }

    /// What is said when the target was not reached.
    fn failed(&mut self) -> Verdict {
        let mut obstacle = self.obstacle.take();
        let concrete = self.concrete_obstacle();
        if let Some(concrete) = concrete
            && obstacle
                .as_ref()
                .is_none_or(|known| concrete.distance < known.distance)
        {
            obstacle = Some(concrete);
        }
        match &obstacle {
            // What leads to it directly was tried, and each time something on the way there forbade it.
            Some(Obstacle {
                distance: 0,
                contradicts: Some(_),
                ..
            }) => Verdict::Infeasible(obstacle),
            _ if self.aims[0].guide.is_refuted => Verdict::Infeasible(obstacle),
            None => Verdict::Missed,
            _ => Verdict::Blocked(obstacle),
        }
    }

    /// The branch that runs came to nearest to the target, whether it depends on input or not.
    fn concrete_obstacle(&self) -> Option<Obstacle> {
        let run = self.aims[0].nearest_run()?;
        let seen = Seen {
            analysis: self.analysis,
            counters: self.counters,
            ran: &self.executed[run as usize],
        };
        let blocked = seen.blocked(&self.aims[0].guide).into_iter().next()?;
        Some(Obstacle {
            site: blocked.site,
            distance: blocked.distance,
            scenario: self.runs[run as usize].scenario.clone(),
            contradicts: None,
            prefixes: 0,
            is_concrete: !self.decided.contains(&blocked.site),
        })
    }

    /// The given scenario that a run was made from.
    fn root(&self, run: RunId) -> &Scenario {
        let mut at = run;
        while let Some(origin) = &self.origins[at as usize] {
            at = origin.parent;
        }
        &self.runs[at as usize].scenario
    }

    /// How a run came about.
    fn steps(&self, run: RunId) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = run;
        while let Some(origin) = &self.origins[at as usize] {
            steps.push(Step {
                means: origin.means,
                site: origin.site,
                scenario: self.runs[at as usize].scenario.clone(),
                distance: origin.distance,
            });
            at = origin.parent;
        }
        steps.reverse();
        steps
    }
}
