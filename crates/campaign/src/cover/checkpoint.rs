//! What searches in a program can start from besides its tests: what changed tests showed that no test shows, and single connections.
//!
//! It takes a share of the time of all targets, so it is kept: a later run goes on with the searches.

use std::collections::HashMap;
use std::time::Duration;

use parallax_exec::coverage::Counter;
use parallax_report::words::counted;
use parallax_scenario::Scenario;
use parallax_search::cover::{Extent, Means, Step};
use parallax_store::{Plan, Store, Work, hash};
use serde::{Deserialize, Serialize};

use super::ranking::Candidate;
use crate::context::Context;
use crate::failure::Failure;
use crate::patch::Test;

/// Not more than this is kept: tests of servers can have large files, and each input has them all.
const ROOM: usize = 32 << 20;

/// How inputs came about: the scenario of the suite that they were made from, and the steps.
pub type Histories = HashMap<Scenario, (Scenario, Vec<Step>)>;

#[derive(Default)]
pub struct Starts {
    pub candidates: Vec<Candidate>,
    pub histories: Histories,
}

/// One candidate as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    scenario: Scenario,
    ran: Vec<(u64, u32)>,
    seed: Scenario,
    /// The inputs between the seed and this one, which is the last.
    steps: Vec<Scenario>,
}

/// How much was spent on it.
#[derive(Serialize, Deserialize)]
struct Outcome {
    seconds: Option<f64>,
    runs: Option<u64>,
}

/// The place where it is kept.
pub struct Checkpoint<'s> {
    context: Context,
    work: Work<'s>,
}

impl<'s> Checkpoint<'s> {
    /// Of a program; the conditions are all that decides what comes out.
    pub fn open(
        context: &Context,
        store: &'s Store,
        program: &str,
        conditions: &str,
    ) -> Result<Checkpoint<'s>, Failure> {
        let plan = Plan {
            key: &hash(format!("survey\n{program}\n{conditions}").as_bytes()),
            strategy: "survey",
            program: program.as_bytes(),
            description: "parallax cover: changing one thing of each test",
        };
        let work = store.work(&plan, &mut |holder| {
            context.note(&format!(
                "waiting for {holder}, which changes {program}'s tests"
            ));
        })?;
        Ok(Checkpoint {
            context: context.clone(),
            work,
        })
    }

    /// What an earlier run came to, if it spent as much as this one would.
    pub fn read(&self, extent: Extent) -> Option<Starts> {
        let outcome: Outcome = serde_json::from_str(self.work.outcome()?).ok()?;
        let is_enough = match (outcome.seconds, extent.time, outcome.runs, extent.runs) {
            (Some(spent), Some(time), ..) => spent >= time.as_secs_f64(),
            (_, _, Some(spent), Some(runs)) => spent >= runs,
            (None, _, None, _) => true,
            _ => false,
        };
        if !is_enough {
            return None;
        }
        let mut starts = Starts::default();
        for number in 0..self.work.chunks() {
            let chunk = self.work.chunk(number).ok()??;
            let kept: Kept = serde_json::from_slice(&chunk).ok()?;
            starts.add(kept);
        }
        Some(starts)
    }

    /// Keeps what was found, as far as there is room.
    pub fn write(
        &mut self,
        extent: Extent,
        candidates: &[Candidate],
        histories: &Histories,
    ) -> Result<(), Failure> {
        self.work.truncate(0)?;
        let mut room = ROOM;
        for (number, candidate) in candidates.iter().enumerate() {
            let Some((seed, steps)) = histories.get(&candidate.scenario) else {
                continue;
            };
            let kept = Kept {
                scenario: candidate.scenario.clone(),
                ran: candidate
                    .test
                    .ran
                    .iter()
                    .map(|one| (one.module, one.index))
                    .collect(),
                seed: seed.clone(),
                steps: steps.iter().map(|step| step.scenario.clone()).collect(),
            };
            let chunk = serde_json::to_vec(&kept).map_err(|error| Failure::defect(&error))?;
            let Some(left) = room.checked_sub(chunk.len()) else {
                let lost = counted((candidates.len() - number) as u64, "input");
                self.context.note(&format!(
                    "{lost} to start from are too large to be kept for the next run"
                ));
                break;
            };
            room = left;
            self.work.append(&chunk)?;
        }
        let outcome = Outcome {
            seconds: extent.time.as_ref().map(Duration::as_secs_f64),
            runs: extent.runs,
        };
        let outcome = serde_json::to_string(&outcome).map_err(|error| Failure::defect(&error))?;
        Ok(self.work.finish(&outcome)?)
    }
}

impl Starts {
    fn add(&mut self, kept: Kept) {
        let step = |scenario: Scenario| Step {
            means: Means::Structure,
            site: None,
            scenario,
            distance: None,
        };
        let steps = kept.steps.into_iter().map(step).collect();
        self.histories
            .insert(kept.scenario.clone(), (kept.seed, steps));
        let counters = kept.ran.into_iter();
        let counters = counters.map(|(module, index)| Counter { module, index });
        self.candidates
            .push(Candidate::made(kept.scenario, counters));
    }
}

impl Candidate {
    /// An input that is in no store.
    pub fn made(scenario: Scenario, ran: impl IntoIterator<Item = Counter>) -> Candidate {
        Candidate {
            test: Test {
                id: String::new(),
                ran: ran.into_iter().collect(),
                is_given: false,
            },
            scenario,
        }
    }
}
