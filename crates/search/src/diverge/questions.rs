//! What is asked about a pair of runs, and the inputs that come of it.

use std::sync::Arc;

use parallax_solver::{Answer, Constraint};

use super::common::{self, Next};
use super::comparer::Comparer;
use super::interface::{DivergeError, Phase};
use super::lockstep::{Lockstep, Pair, Reply, changed};
use super::walk::{Place, Question};
use crate::worker::Sources;
use parallax_scenario::Scenario;
use parallax_trace::sensitive;

impl Comparer<'_> {
    /// Asks questions of a walk, in its order, and runs what comes of them.
    pub(super) fn pursue(
        &mut self,
        pair: &Pair,
        lockstep: &Lockstep,
        questions: &[Question],
        generation: u32,
        seed: &Arc<Scenario>,
    ) -> Result<(), DivergeError> {
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

    /// Keeps other paths of a run for later, as far as both versions went together (`most` decisions), and looks for what
    /// can fail on this one.
    pub(super) fn go_beyond(
        &mut self,
        pair: &Pair,
        most: usize,
        generation: u32,
        seed: &Arc<Scenario>,
    ) -> Result<(), DivergeError> {
        self.offer(pair, most, generation + 1, seed);
        for made in self.ask_for_failures(pair) {
            self.meet(made, seed, Phase::Concolic, None)?;
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Looks for inputs with which operations of the new version fail. Where the old version is safe, what made it so is gone.
    fn ask_for_failures(&mut self, pair: &Pair) -> Vec<Scenario> {
        let run = &pair.runs.new;
        let failures = self.failures.of(run, self.versions.sites.new);
        let names = self.solver_names(&run.sources);
        let mut path = self.solver.path(&run.trace, &names);
        let sites = self.versions.sites.new;
        let mut made = Vec::new();
        let mut pushed = 0;
        let limits = self.limits();
        for operation in failures {
            if self.shared.budget.is_over() {
                break;
            }
            pushed = common::advance(&mut path, pushed, run, sites, operation.position);
            let Some(condition) = sensitive::condition(path.expressions(), &operation) else {
                continue;
            };
            for label in condition.near.into_iter().chain([condition.any]) {
                match path.solve(path.len(), &[Constraint::is(label, true)], Some(limits)) {
                    Answer::Sat(model) => {
                        let scenario = changed(&pair.scenario, &model, &self.components);
                        let may = |one: &Scenario| self.options.explore.shape.accepts(one);
                        made.extend(scenario.filter(may));
                        break;
                    }
                    Answer::Unsat(_) => {}
                    Answer::Unknown(_) => self.counts.undecided += 1,
                }
            }
        }
        made.retain(|scenario| self.is_new(scenario));
        made
    }

    /// Names of a run's sources for questions about it alone.
    fn solver_names(&mut self, sources: &Sources) -> Vec<u32> {
        let numbers = self.components.of(sources);
        let named = (0u32..).zip(numbers);
        named
            .map(|(at, number)| number.unwrap_or(u32::MAX - at))
            .collect()
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

    /// Offers other paths of a run, as far as both versions went together.
    fn offer(&mut self, pair: &Pair, most: usize, generation: u32, seed: &Arc<Scenario>) {
        let (run, sites) = (&pair.runs.new, self.versions.sites.new);
        let ways = self.frontier.ways(run, sites, &self.changed, most);
        let names = self.solver_names(&run.sources);
        let mut path = self.solver.path(&run.trace, &names);
        let (mut pushed, mut undecided) = (0, 0);
        let mut made = Vec::new();
        for way in ways {
            if self.shared.budget.is_over() {
                break;
            }
            pushed = common::advance(&mut path, pushed, run, sites, way.position);
            match path.solve(path.len(), &way.goal, Some(self.limits())) {
                Answer::Sat(model) => {
                    let scenario = changed(&pair.scenario, &model, &self.components);
                    made.extend(scenario.map(|scenario| (way, scenario)));
                }
                Answer::Unsat(_) => {}
                Answer::Unknown(_) => undecided += 1,
            }
        }
        drop(path);
        self.counts.undecided += undecided;
        for (way, scenario) in made {
            if self.options.explore.shape.accepts(&scenario) && self.is_new(&scenario) {
                let next = Next {
                    scenario,
                    seed: Arc::clone(seed),
                    generation,
                };
                self.frontier.offer(&way, next);
            }
        }
    }
}
