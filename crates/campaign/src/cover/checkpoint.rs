//! What searches in a program can start from besides its tests: inputs of earlier searches that run what no test runs.
//!
//! They are kept, so that a later run goes on from them.

use std::collections::HashMap;

use parallax_report::words::counted;
use parallax_scenario::Scenario;
use parallax_search::cover::{Discovery, Means, Step};
use parallax_store::{Plan, Store, Work, hash};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::failure::Failure;

/// Not more than this is kept: tests of servers can have large files, and each input has them all.
const ROOM: usize = 32 << 20;

/// How inputs came about: the scenario of the suite that they were made from, and the steps.
pub type Histories = HashMap<Scenario, (Scenario, Vec<Step>)>;

/// One input as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    scenario: Scenario,
    seed: Scenario,
    /// The inputs between the seed and this one, which is the last.
    steps: Vec<Scenario>,
}

/// The place where they are kept.
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
            key: &hash(format!("starts\n{program}\n{conditions}").as_bytes()),
            strategy: "cover",
            program: program.as_bytes(),
            description: "parallax cover: inputs to start from",
        };
        let work = store.work(&plan, &mut |holder| {
            context.note(&format!(
                "waiting for {holder}, which searches in {program}"
            ));
        })?;
        Ok(Checkpoint {
            context: context.clone(),
            work,
        })
    }

    /// What earlier runs found, in the order in which they did, with their histories; `None` if there was none.
    pub fn read(&self) -> Option<(Vec<Scenario>, Histories)> {
        self.work.outcome()?;
        let (mut starts, mut histories) = (Vec::new(), Histories::new());
        for number in 0..self.work.chunks() {
            let chunk = self.work.chunk(number).ok()??;
            let kept: Kept = serde_json::from_slice(&chunk).ok()?;
            let step = |scenario: Scenario| Step {
                means: Means::Structure,
                site: None,
                scenario,
                distance: None,
            };
            let steps = kept.steps.into_iter().map(step).collect();
            histories.insert(kept.scenario.clone(), (kept.seed, steps));
            starts.push(kept.scenario);
        }
        Some((starts, histories))
    }

    /// Keeps what was found beside what is known, as far as there is room.
    pub fn write(
        &mut self,
        discoveries: Vec<Discovery>,
        histories: &Histories,
    ) -> Result<(), Failure> {
        let mut room = ROOM;
        let mut left_out = 0;
        for one in discoveries {
            // An input that later ones were made from may have been made itself.
            let (seed, before) = match histories.get(&*one.seed) {
                Some((seed, steps)) => (seed.clone(), steps.as_slice()),
                None => ((*one.seed).clone(), &[][..]),
            };
            let steps = before.iter().chain(&one.steps);
            let kept = Kept {
                scenario: (*one.scenario).clone(),
                seed,
                steps: steps.map(|step| step.scenario.clone()).collect(),
            };
            let chunk = serde_json::to_vec(&kept).map_err(|error| Failure::defect(&error))?;
            match room.checked_sub(chunk.len()) {
                Some(left) => {
                    room = left;
                    self.work.append(&chunk)?;
                }
                None => left_out += 1,
            }
        }
        if left_out > 0 {
            let lost = counted(left_out, "input");
            self.context.note(&format!(
                "{lost} to start from are too large to be kept for the next run"
            ));
        }
        Ok(self.work.finish("{}")?)
    }

    /// Forgets what earlier runs found.
    pub fn clear(&mut self) -> Result<(), Failure> {
        Ok(self.work.truncate(0)?)
    }
}
