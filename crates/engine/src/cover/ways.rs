//! The ways in which a run could have come nearer to the target.

use super::queue::Way;
use super::{Heuristic, Search};
use crate::explore::frontier::{Candidate, RunId, mix};
use crate::explore::parts::with_part;
use crate::explore::ways::{MOST_WAYS, others, places, structures};
use crate::path::{self, Choice};
use crate::question::{Goal, Part, fixed_key};
use crate::worker::Traced;
use parallax_abi::SiteId;

/// Stands for the distance of what no way to the target is known from. It comes last, but it comes: calls that nobody
/// resolved may lead there.
pub const UNKNOWN: u32 = 1000;
/// A change of structure is as good as a way that is so much farther than the run's nearest.
const STRUCTURE: u32 = 2;
const SPLICE: u32 = 3;
/// Given scenarios that exchange parts.
const PARTNERS: usize = 16;

impl Search<'_> {
    /// Offers all ways in which the run could have gone otherwise.
    pub(super) fn offer(&mut self, run: RunId, traced: &Traced) {
        let generation = self.runs[run as usize].generation;
        let mut nearest = UNKNOWN;
        for (index, place) in places(self.sites, traced)
            .into_iter()
            .enumerate()
            .take(MOST_WAYS)
        {
            let decision = &traced.decisions[index];
            let standing = self.guide.standing(self.sites, traced, decision);
            let mut distance = |value| {
                let distance = standing.behind(value).unwrap_or(UNKNOWN);
                nearest = nearest.min(distance);
                distance
            };
            distance(decision.value);
            if decision.repeated {
                continue;
            }
            let before = match index.checked_sub(1) {
                Some(last) => traced.decisions[last].exact,
                None => path::START,
            };
            let number = index as u32;
            let mut ways = others(self.sites, decision, number);
            if matches!(decision.choice, Choice::Fixed | Choice::Object) {
                let values = self
                    .fixed
                    .entry(fixed_key(&traced.decisions, index))
                    .or_default();
                let range = (decision.value, decision.high);
                if !values.contains(&range) {
                    values.push(range);
                    let value = u128::MAX - values.len() as u128;
                    ways.push((Goal::Otherwise { decision: number }, value));
                }
            }
            for (goal, value) in ways {
                let side = path::side(self.sites, decision, value);
                self.queue.offer(Way {
                    candidate: Candidate {
                        run,
                        goal,
                        site: decision.site,
                        levels: place.levels(value, side),
                        path: path::extend(before, decision.site.0, decision.choice, value),
                        depth: number,
                        calls: 0,
                    },
                    distance: distance(value),
                    generation,
                });
            }
        }
        if nearest < UNKNOWN {
            self.nearest = Some(self.nearest.map_or(nearest, |known| known.min(nearest)));
        }
        if self.options.has(Heuristic::Structure) {
            for structure in structures(traced) {
                self.offer_change(run, structure.goal, structure.name, nearest + STRUCTURE);
            }
            let arguments = self.runs[run as usize].scenario.argv.len() as u32;
            for argument in 0..=arguments {
                for is_option in [true, false] {
                    let goal = Goal::Insert {
                        argument,
                        is_option,
                    };
                    let name = mix(0x696e_7365 ^ u64::from(argument * 2 + u32::from(is_option)));
                    self.offer_change(run, goal, name, nearest + STRUCTURE);
                }
            }
        }
    }

    /// A change of structure; such changes of different runs are different ways, but attempts at the same thing.
    fn offer_change(&mut self, run: RunId, goal: Goal, name: u64, distance: u32) {
        let generation = self.runs[run as usize].generation;
        self.queue.offer(Way {
            candidate: Candidate {
                run,
                goal,
                site: SiteId(0),
                levels: [name; 3],
                path: mix(name ^ mix(u64::from(run) + 1)),
                depth: 0,
                calls: 0,
            },
            distance,
            generation,
        });
    }

    /// Offers to take over parts of the other given scenarios.
    pub(super) fn offer_splices(&mut self) {
        if !self.options.has(Heuristic::Splice) {
            return;
        }
        let nearest = self.nearest.unwrap_or(UNKNOWN);
        let seeds = self.runs.len().min(PARTNERS) as u32;
        for run in 0..seeds {
            for from in (0..seeds).filter(|from| *from != run) {
                let giver = &self.runs[from as usize].scenario;
                let arguments = 0..giver.argv.len() as u32;
                let parts = arguments.flat_map(|index| [Part::Instead(index), Part::Before(index)]);
                for (number, part) in (0u64..).zip(parts.chain([Part::Data])) {
                    let [taker, giver] = [run, from].map(|run| &self.runs[run as usize].scenario);
                    if with_part(taker, giver, part).is_some() {
                        let name = mix(0x7061_7274 ^ mix(u64::from(from) << 32 | number));
                        self.offer_change(run, Goal::Take { from, part }, name, nearest + SPLICE);
                    }
                }
            }
        }
    }
}
