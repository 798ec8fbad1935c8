//! The connections of a server's test, each by itself.
//!
//! A test of a server often starts it once and then asks it a hundred things. A search that starts from such a scenario
//! plays all of it for every input that it tries, and follows it through all of it for every trace. Mostly one request says as much about a target
//! as the whole conversation does, in a hundredth of the time. So before searches, each connection is run alone; what it runs is
//! known then, and the ranking of scenarios sees to the rest.

use std::collections::HashSet;
use std::time::Instant;

use super::survey::{Discovery, Extent, Surveyed};
use super::{Coverer, Means, Observer, Progress, Reached, Step};
use crate::explore::ExploreError;
use parallax_exec::coverage::Counter;
use parallax_scenario::Scenario;

/// Connections that are run at a time.
const BATCH: usize = 16;

/// What each connection of a server's scenario is without the others; nothing if there is only one.
pub fn apart(scenario: &Scenario) -> Vec<Scenario> {
    let Some(listening) = &scenario.listening else {
        return Vec::new();
    };
    if scenario.streams.len() < 2 {
        return Vec::new();
    }
    let mut known = HashSet::new();
    let mut alone = Vec::new();
    for (number, bytes) in scenario.streams.iter().enumerate() {
        let pauses = listening.pauses.get(number);
        if known.insert((bytes, pauses)) {
            let mut one = scenario.clone();
            one.streams = vec![bytes.clone()];
            if let Some(listening) = &mut one.listening {
                listening.pauses = pauses.cloned().into_iter().collect();
            }
            alone.push(one);
        }
    }
    alone
}

impl Coverer<'_> {
    /// Runs the connections of scenarios one by one: the first ones of all, then the second ones, and so on. Of those that run the
    /// same, one is kept.
    pub fn take_apart(
        &mut self,
        starts: &[Scenario],
        extent: Extent,
        observer: &mut dyn Observer,
    ) -> Result<Surveyed, ExploreError> {
        let started = Instant::now();
        let parts: Vec<Vec<Scenario>> = starts.iter().map(apart).collect();
        let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
        let mut turns: Vec<(usize, &Scenario)> = Vec::new();
        for turn in 0..longest {
            let all = parts.iter().enumerate();
            turns.extend(all.filter_map(|(seed, parts)| Some((seed, parts.get(turn)?))));
        }
        let mut surveyed = Surveyed::default();
        let mut known: HashSet<Vec<Counter>> = HashSet::new();
        for batch in turns.chunks(BATCH) {
            if extent.is_used_up(started, surveyed.runs) || observer.stop() {
                break;
            }
            let inputs = batch.iter().map(|(_, scenario)| (*scenario).clone());
            for (number, scenario, counters) in self.run_counted(inputs.collect())? {
                surveyed.runs += 1;
                let seed = batch[number].0;
                let steps = vec![Step {
                    means: Means::Structure,
                    site: None,
                    scenario: scenario.clone(),
                    distance: None,
                }];
                observer.ran(&Reached {
                    seed: &starts[seed],
                    scenario: &scenario,
                    counters: &counters,
                    steps: &|| steps.clone(),
                });
                let mut ran = counters.clone();
                ran.sort_unstable();
                if known.insert(ran) {
                    surveyed.discoveries.push(Discovery {
                        scenario,
                        seed,
                        steps,
                        ran: counters,
                    });
                }
            }
            observer.progress(&Progress {
                runs: surveyed.runs,
                distance: None,
                open: (turns.len() as u64).saturating_sub(surveyed.runs),
            });
        }
        Ok(surveyed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_scenario::Listening;

    #[test]
    fn each_connection_that_differs_is_a_scenario_with_its_own_pauses() {
        let all = Scenario {
            streams: vec![b"one".into(), b"two".into(), b"one".into(), b"one".into()],
            listening: Some(Listening {
                pauses: vec![vec![], vec![2], vec![], vec![1]],
                ..Listening::default()
            }),
            ..Scenario::default()
        };
        let parts: Vec<_> = apart(&all)
            .into_iter()
            .map(|one| (one.streams, one.listening.unwrap().pauses))
            .collect();
        let one = |bytes: &[u8], pauses: Vec<u64>| (vec![bytes.into()], vec![pauses]);
        assert_eq!(
            parts,
            [
                one(b"one", vec![]),
                one(b"two", vec![2]),
                one(b"one", vec![1])
            ]
        );
        assert!(apart(&apart(&all)[0]).is_empty());
    }
}
