//! Many inputs at little cost: given scenarios with one thing changed, run on the program with counters and nothing else.
//!
//! A search for one line makes each input with care. But what keeps tests from many lines at once is mostly plain: a file that
//! cannot be opened, output that cannot be written, an option that no test has beside another. Such changes are not found
//! by looking at branches, are the same for all targets, and a run without a trace costs a fraction of one with it. So before
//! the searches scenarios are changed in all such ways, in turns, as long as there is time; what has been tried with
//! the fewest scenarios comes first. Inputs that run something that nothing ran before are changed further, and searches can
//! start from them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::{Coverer, Means, Observer, Progress, Reached, Step};
use crate::edit::Edit;
use crate::explore::ExploreError;
use crate::parallel::in_parallel;
use crate::sources::variations::{kind, variations};
use crate::sources::vocabulary::Vocabulary;
use parallax_exec::coverage::Counter;
use parallax_scenario::Scenario;

/// Changes of one scenario before the next has its turn; of one that has shown something new, for the first time.
const TURN: usize = 16;
const FIRST_TURN: usize = 64;
/// Changes on top of each other.
const DEEPEST: usize = 4;

/// When a survey ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    pub time: Option<Duration>,
    pub runs: Option<u64>,
}

impl Extent {
    /// Whether it ends now.
    pub(super) fn is_used_up(&self, started: Instant, runs: u64) -> bool {
        let is_late = self.time.is_some_and(|time| started.elapsed() >= time);
        is_late || self.runs.is_some_and(|most| runs >= most)
    }
}

/// An input that runs something that nothing ran before it.
#[derive(Clone, Debug)]
pub struct Discovery {
    pub scenario: Scenario,
    /// The number of the scenario that it comes from, and how.
    pub seed: usize,
    pub steps: Vec<Step>,
    pub ran: Vec<Counter>,
}

/// What a survey came to.
#[derive(Clone, Debug, Default)]
pub struct Surveyed {
    pub discoveries: Vec<Discovery>,
    pub runs: u64,
}

/// A scenario that is changed.
struct Base {
    scenario: Scenario,
    /// The number of the given scenario that it comes from, and the inputs in between.
    seed: usize,
    steps: Vec<Step>,
    /// Changes that are still to be tried; `None` before its first turn.
    edits: Option<Vec<Edit>>,
}

impl Base {
    /// The changes that are to be tried next: those that were tried least.
    fn take(&mut self, words: &Vocabulary, tries: &mut HashMap<u64, u32>) -> Vec<Edit> {
        let is_first = self.edits.is_none() && !self.steps.is_empty();
        let count = if is_first { FIRST_TURN } else { TURN };
        let scenario = &self.scenario;
        let edits = self
            .edits
            .get_or_insert_with(|| variations(scenario, words));
        edits.sort_by_cached_key(|edit| tries.get(&kind(edit)).copied().unwrap_or(0));
        let taken: Vec<Edit> = edits.drain(..count.min(edits.len())).collect();
        for edit in &taken {
            *tries.entry(kind(edit)).or_default() += 1;
        }
        taken
    }

    fn is_done(&self) -> bool {
        self.edits.as_ref().is_some_and(Vec::is_empty)
    }
}

impl Coverer<'_> {
    /// Changes the given scenarios, the most promising first, and runs what comes out; `ran` is what is known to run.
    pub fn survey(
        &mut self,
        starts: &[Scenario],
        ran: impl IntoIterator<Item = Counter>,
        words: &Vocabulary,
        extent: Extent,
        observer: &mut dyn Observer,
    ) -> Result<Surveyed, ExploreError> {
        let started = Instant::now();
        let mut seen: HashSet<Counter> = ran.into_iter().collect();
        let mut known: HashSet<Scenario> = starts.iter().cloned().collect();
        let bases = starts.iter().enumerate().map(|(seed, scenario)| Base {
            scenario: scenario.clone(),
            seed,
            steps: Vec::new(),
            edits: None,
        });
        let mut queue: VecDeque<Base> = bases.collect();
        let mut tries: HashMap<u64, u32> = HashMap::new();
        let mut surveyed = Surveyed::default();
        while let Some(mut base) = queue.pop_front() {
            if extent.is_used_up(started, surveyed.runs) || observer.stop() {
                break;
            }
            let edits = base.take(words, &mut tries);
            let changed = edits.iter().filter_map(|edit| edit.apply(&base.scenario));
            let inputs = changed
                .filter(|input| known.insert(input.clone()))
                .collect();
            let mut discoveries = Vec::new();
            for (_, input, counters) in self.run_counted(inputs)? {
                surveyed.runs += 1;
                let step = Step {
                    means: Means::Structure,
                    site: None,
                    scenario: input.clone(),
                    distance: None,
                };
                let mut steps = base.steps.clone();
                steps.push(step);
                observer.ran(&Reached {
                    seed: &starts[base.seed],
                    scenario: &input,
                    counters: &counters,
                    steps: &|| steps.clone(),
                });
                let more = counters.iter().filter(|counter| seen.insert(**counter));
                if more.count() > 0 {
                    discoveries.push(Base {
                        scenario: input.clone(),
                        seed: base.seed,
                        steps: steps.clone(),
                        edits: None,
                    });
                    surveyed.discoveries.push(Discovery {
                        scenario: input,
                        seed: base.seed,
                        steps,
                        ran: counters,
                    });
                }
            }
            observer.progress(&Progress {
                runs: surveyed.runs,
                distance: None,
                open: queue.len() as u64,
            });
            if !base.is_done() {
                queue.push_back(base);
            }
            // What is new has its turn next.
            for discovery in discoveries {
                if discovery.steps.len() < DEEPEST {
                    queue.push_front(discovery);
                }
            }
        }
        Ok(surveyed)
    }

    /// What inputs run, each with its number; those that cannot be laid out are left out.
    pub(super) fn run_counted(
        &mut self,
        inputs: Vec<Scenario>,
    ) -> Result<Vec<(usize, Scenario, Vec<Counter>)>, ExploreError> {
        let jobs = self.options.explore.jobs;
        let mut shares: Vec<Vec<(usize, Scenario)>> =
            self.slots.iter().map(|_| Vec::new()).collect();
        let slots = shares.len();
        for (number, input) in inputs.into_iter().enumerate() {
            shares[number % slots].push((number, input));
        }
        let tasks: Vec<_> = self.slots.iter_mut().zip(shares).collect();
        let done = in_parallel(jobs, tasks, |(slot, share)| {
            let mut done = Vec::new();
            for (number, input) in share {
                match slot.count(&input) {
                    Ok(counters) => done.push((number, input, counters)),
                    Err(error) if error.is_about_the_input() => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(done)
        });
        let mut all = Vec::new();
        for share in done {
            all.extend(share?);
        }
        all.sort_by_key(|(number, ..)| *number);
        Ok(all)
    }
}
