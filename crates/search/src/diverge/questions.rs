//! What is asked about a pair of runs, and the inputs that come of it.

use std::sync::Arc;

use super::comparer::Comparer;
use super::lockstep::{Lockstep, Pair, Reply, changed};
use super::walk::{Place, Question};
use crate::engine::{Phase, SearchError};
use parallax_scenario::Scenario;

impl Comparer<'_> {
    /// Asks questions of a walk, in its order, and runs what comes of them.
    pub(super) fn pursue(
        &mut self,
        pair: &Pair,
        lockstep: &Lockstep,
        questions: &[Question],
        generation: u32,
        seed: &Arc<Scenario>,
    ) -> Result<(), SearchError> {
        for (place, made) in self.ask(pair, lockstep, questions) {
            let met = self.meet(made, seed, Phase::Concolic, Some(place))?;
            if let Some((pair, _, walk)) = met {
                self.derive(pair.scenario, seed, &walk, generation + 1);
            }
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Asks questions; inputs that have not been run, each with what it was asked for.
    fn ask(
        &mut self,
        pair: &Pair,
        lockstep: &Lockstep,
        questions: &[Question],
    ) -> Vec<(Place, Scenario)> {
        let mut made = Vec::new();
        let mut undecided = 0;
        let mut asker = lockstep.asker(pair, &self.solver);
        for question in questions {
            if self.shared.budget.is_over() {
                break;
            }
            match asker.ask(question, &mut self.equals) {
                Reply::Inputs(models) => {
                    for model in models {
                        let scenario = changed(&pair.scenario, &model, &self.components);
                        let scenario =
                            scenario.filter(|one| self.options.explore.shape.accepts(one));
                        made.extend(scenario.map(|scenario| (question.place, scenario)));
                    }
                }
                Reply::Undecided => undecided += 1,
                Reply::Equal | Reply::Impossible => {}
            }
        }
        self.counts.undecided += undecided;
        made.retain(|(_, scenario)| self.is_new(scenario));
        made
    }
}
