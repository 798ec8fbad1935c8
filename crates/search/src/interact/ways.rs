//! The ways in which a run could have gone otherwise, each with the targets that it then has.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use parallax_abi::SiteId;
use parallax_analysis::{Analysis, BlockId};

use super::course::{Station, StepId};
use super::follow::Walked;
use super::marks::Marks;
use super::queue::{Targets, Way};
use super::search::Interactor;
use crate::cover::map::{Guide, Standing, Standings};
use crate::diverge::clusters::size;
use crate::explore::frontier::{Candidate, RunId, mix};
use crate::explore::ways::{Place, insertions, others, places, structures};
use crate::question::{Goal, fixed_key};
use crate::worker::Traced;
use parallax_trace::path::{self, Choice};

/// Decisions of one run whose other sides are offered.
pub const MOST_WAYS: usize = 4000;
/// A change of structure, or of a value that was fixed, is as good as a way so far from its targets.
const STRUCTURE: u32 = 3;
/// An operation that could fail is worth as much as a way so near.
const FAILING: u32 = 1;

/// Distances to the nodes of the graph, measured when they are first asked for.
pub struct Guides<'g> {
    analysis: &'g Analysis,
    blocks: Vec<Vec<BlockId>>,
    guides: Vec<OnceCell<Guide<'g>>>,
}

impl<'g> Guides<'g> {
    pub fn new(analysis: &'g Analysis, marks: &Marks<'_>, nodes: usize) -> Guides<'g> {
        Guides {
            analysis,
            blocks: (0..nodes).map(|node| marks.blocks(node).to_vec()).collect(),
            guides: (0..nodes).map(|_| OnceCell::new()).collect(),
        }
    }

    /// Decisions between a node and one of a run, once that has gone for a value.
    fn distance(&self, node: usize, standing: &Standing<'_>, value: u128) -> Option<u32> {
        let measure = || Guide::plain(self.analysis, &self.blocks[node]);
        let guide = self.guides[node].get_or_init(measure);
        guide.behind(standing, value)
    }
}

/// Where a run is at one of its decisions.
struct At<'a> {
    station: Station,
    standing: &'a Standing<'a>,
}

impl Interactor<'_> {
    /// Offers all ways in which the run could have gone otherwise.
    pub(super) fn offer(&mut self, run: RunId, traced: &Traced, walked: &Walked) {
        // Where the run was in the graph after so many of its nodes.
        let mut end = Station::default();
        let mut stations = vec![end];
        for node in &walked.nodes {
            end = self.course.after(end, *node);
            stations.push(end);
        }
        let station = |index: usize| {
            // What comes after the last decision comes after all nodes, as far as is known.
            let before = walked
                .before
                .get(index)
                .map_or(usize::MAX, |before| *before as usize);
            stations[before.min(stations.len() - 1)]
        };
        let (analysis, sites) = (self.code.analysis, self.code.sites);
        let mut standings = Standings::new(analysis, sites, traced);
        let mut known: HashMap<(SiteId, u32, u128, Station), Targets> = HashMap::new();
        // How near the run came to what it is after at its end.
        let mut nearest: BTreeMap<StepId, u32> = BTreeMap::new();
        let places = places(sites, traced).into_iter().enumerate();
        for (index, place) in places.take(MOST_WAYS) {
            let decision = &traced.decisions[index];
            if decision.repeated {
                continue;
            }
            let station = station(index);
            let number = index as u32;
            let mut ways = others(sites, decision, number);
            let is_fixed = matches!(decision.choice, Choice::Fixed | Choice::Object);
            if is_fixed {
                let key = fixed_key(&traced.decisions, index);
                let values = self.fixed.entry(key).or_default();
                let range = (decision.value, decision.high);
                if !values.contains(&range) {
                    values.push(range);
                    let value = u128::MAX - values.len() as u128;
                    ways.push((Goal::Otherwise { decision: number }, value));
                }
            }
            for (goal, value) in ways {
                let key = (decision.site, decision.context, value, station);
                let targets = match known.get(&key) {
                    Some(targets) => Rc::clone(targets),
                    None => {
                        let standing = standings.of(decision);
                        let at = At {
                            station,
                            standing: &standing,
                        };
                        let targets = self.targets(&at, value);
                        known.insert(key, Rc::clone(&targets));
                        targets
                    }
                };
                for (step, distance) in targets.iter().filter(|_| station == end) {
                    let known = nearest.entry(*step).or_insert(*distance);
                    *known = (*known).min(*distance);
                }
                let candidate = self.candidate(run, traced, index, goal, value, place, station);
                let more = if is_fixed { STRUCTURE } else { 0 };
                self.put(candidate, station, targets, more);
            }
        }
        self.offer_failures(run, traced, &station);
        let beyond = nearest
            .into_iter()
            .map(|(step, distance)| (step, distance + STRUCTURE));
        self.offer_structures(run, traced, end, beyond.collect());
    }

    /// The targets that a way is known to, with how far they are.
    fn targets(&mut self, at: &At<'_>, value: u128) -> Targets {
        let mut found = Vec::new();
        for target in self.course.targets(at.station).to_vec() {
            if let Some(distance) = self.guides.distance(target, at.standing, value) {
                found.push((self.course.step(at.station, target), distance));
            }
        }
        found.into()
    }

    #[expect(clippy::too_many_arguments, reason = "what a way is made of")]
    fn candidate(
        &self,
        run: RunId,
        traced: &Traced,
        index: usize,
        goal: Goal,
        value: u128,
        place: Place,
        station: Station,
    ) -> Candidate {
        let decision = &traced.decisions[index];
        let before = match index.checked_sub(1) {
            Some(last) => traced.decisions[last].exact,
            None => path::START,
        };
        let side = path::side(self.code.sites, decision, value);
        let [site, here, again] = place.levels(value, side);
        // The same branch is another thing after other changes.
        let [here, again] = [here, again].map(|level| mix(level ^ station_key(station)));
        Candidate {
            run,
            goal,
            site: decision.site,
            levels: [site, here, again],
            path: path::extend(before, decision.site.0, decision.choice, value),
            depth: index as u32,
            calls: 0,
        }
    }

    fn put(&mut self, candidate: Candidate, station: Station, targets: Targets, more: u32) {
        let way = Way {
            candidate,
            generation: self.runs[candidate.run as usize].generation,
            // One without any target is not one of which nothing is known.
            wanted: self.course.targets(station).len().max(1) as u32,
            targets,
            more,
        };
        self.queue.offer(way, &self.course);
    }

    /// Operations behind a change that could fail for another input of the same path.
    fn offer_failures(&mut self, run: RunId, traced: &Traced, station: &dyn Fn(usize) -> Station) {
        for (index, operation) in traced.operations.iter().take(MOST_WAYS).enumerate() {
            let station = station(operation.position);
            if station.node.is_none() && !self.course.is_flat() {
                continue;
            }
            let view = self.code.sites.get(operation.site);
            let original = view.map_or(operation.site, |view| view.original);
            let failing = mix(original.0 ^ mix(operation.failure as u64 + 1));
            let here = mix(failing ^ station_key(station));
            let path = mix(here ^ mix(traced.path()));
            let goal = Goal::Fail {
                operation: index as u32,
            };
            let candidate = Candidate {
                run,
                goal,
                site: operation.site,
                // After other changes it is another operation, and on another path it may fail where it did not on this one.
                levels: [failing, here, path],
                path,
                depth: operation.position as u32,
                calls: 0,
            };
            self.put_change(candidate, FAILING);
        }
    }

    /// Longer and shorter inputs, more and fewer arguments, for the sake of what the run is after at its end.
    fn offer_structures(&mut self, run: RunId, traced: &Traced, end: Station, targets: Targets) {
        let mut changes: Vec<(Goal, u64)> = structures(traced)
            .into_iter()
            .map(|structure| (structure.goal, structure.name))
            .collect();
        let scenario = &self.runs[run as usize].scenario;
        let length = size(scenario) as u64;
        changes.extend(insertions(scenario.argv.len()));
        for (goal, name) in changes {
            // A longer input that gets longer is another thing than a short one that does.
            let here = mix(name ^ station_key(end));
            let candidate = Candidate {
                run,
                goal,
                site: SiteId(0),
                levels: [name, here, mix(here ^ mix(length))],
                path: mix(name ^ mix(u64::from(run) + 1)),
                depth: 0,
                calls: 0,
            };
            match targets.is_empty() {
                true => self.put_change(candidate, STRUCTURE),
                false => self.put(candidate, end, Rc::clone(&targets), 0),
            }
        }
    }

    /// A way that no distance is known of.
    fn put_change(&mut self, candidate: Candidate, distance: u32) {
        let way = Way {
            candidate,
            generation: self.runs[candidate.run as usize].generation,
            targets: Rc::from([]),
            wanted: 0,
            more: distance,
        };
        self.queue.offer(way, &self.course);
    }
}

/// Tells places of the graph apart.
fn station_key(station: Station) -> u64 {
    let node = station.node.map_or(0, |node| node as u64 + 1);
    mix(node ^ mix(u64::from(station.set) ^ 0x7374_6174))
}
