//! The alternatives of a run, each with the targets that it has once it is taken.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use parallax_abi::SiteId;
use parallax_analysis::{Analysis, BlockId};
use parallax_trace::path::Choice;

use super::Orders;
use super::choices::{Choice as Offer, Targets};
use super::course::{Station, StepId};
use super::follow::Walked;
use super::marks::Marks;
use crate::core::alternative::{Alternative, Change, inserting, structural};
use crate::core::goal::Path;
use crate::core::guide::{Guide, Standing, Standings};
use crate::core::limits::Limits;
use crate::core::random::mix;
use crate::diverge::clusters::size;

/// A change of structure, or of a value that was fixed, is as good as an alternative so far from its targets.
const STRUCTURE: u32 = 3;
/// An operation that could fail is worth as much as an alternative so near.
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

/// Where a run was in the graph.
struct Stations<'w> {
    /// After so many of its nodes.
    list: Vec<Station>,
    walked: &'w Walked,
}

impl Stations<'_> {
    /// At a decision. What comes after the last decision comes after all nodes, as far as is known.
    fn at(&self, decision: u32) -> Station {
        let before = self.walked.before.get(decision as usize);
        let before = before.map_or(usize::MAX, |before| *before as usize);
        self.list[before.min(self.list.len() - 1)]
    }

    fn end(&self) -> Station {
        self.list[self.list.len() - 1]
    }
}

impl Orders<'_> {
    /// Offers all alternatives of a path.
    pub(super) fn offer(&mut self, path: &Path<'_>, walked: &Walked, limits: &mut Limits) {
        let mut list = vec![Station::default()];
        for node in &walked.nodes {
            list.push(self.course.after(list[list.len() - 1], *node));
        }
        let stations = Stations { list, walked };
        let mut standings = Standings::new(self.following.code.analysis, path.sites, path.traced);
        let mut known: HashMap<(SiteId, u32, u128, Station), Targets> = HashMap::new();
        // How near the run came to what it is after at its end.
        let mut nearest: BTreeMap<StepId, u32> = BTreeMap::new();
        for alternative in path.alternatives {
            let station = stations.at(alternative.depth);
            let Some(index) = alternative.change.decision() else {
                self.offer_failure(path, alternative, station, limits);
                continue;
            };
            let decision = &path.traced.decisions[index];
            let value = alternative.change.value(decision);
            let key = (decision.site, decision.context, value, station);
            let targets = match known.get(&key) {
                Some(targets) => Rc::clone(targets),
                None => {
                    let targets = self.targets(station, &standings.of(decision), value);
                    known.insert(key, Rc::clone(&targets));
                    targets
                }
            };
            if station == stations.end() {
                for (step, distance) in targets.iter() {
                    let known = nearest.entry(*step).or_insert(*distance);
                    *known = (*known).min(*distance);
                }
            }
            let is_fixed = matches!(decision.choice, Choice::Fixed | Choice::Object);
            let [_, here, again] = alternative.levels;
            let offer = Offer {
                alternative: *alternative,
                generation: path.generation,
                // The same branch is another thing after other changes.
                place: [here, again].map(|level| at_station(level, station)),
                // One without any target is not one of which nothing is known.
                wanted: self.course.targets(station).len().max(1) as u32,
                targets,
                more: if is_fixed { STRUCTURE } else { 0 },
            };
            self.choices.offer(offer, &self.course, limits);
        }
        if !path.is_last {
            let farther = nearest.into_iter();
            let farther = farther.map(|(step, distance)| (step, distance + STRUCTURE));
            self.offer_structures(path, stations.end(), farther.collect(), limits);
        }
    }

    /// The targets that a way is known to, with how far they are.
    fn targets(&mut self, station: Station, standing: &Standing<'_>, value: u128) -> Targets {
        let mut found = Vec::new();
        for target in self.course.targets(station).to_vec() {
            if let Some(distance) = self.guides.distance(target, standing, value) {
                found.push((self.course.step(station, target), distance));
            }
        }
        found.into()
    }

    /// An operation behind a change that could fail for another input of the same path.
    fn offer_failure(
        &mut self,
        path: &Path<'_>,
        alternative: &Alternative,
        station: Station,
        limits: &mut Limits,
    ) {
        debug_assert!(matches!(alternative.change, Change::Fail { .. }));
        if station.node.is_none() && !self.course.is_flat() {
            return;
        }
        let here = at_station(alternative.levels[0], station);
        // After other changes it is another operation, and on another path it may fail where it did not on this one.
        let again = mix(here ^ mix(path.traced.path()));
        let offer = Offer {
            alternative: Alternative {
                path: again,
                ..*alternative
            },
            generation: path.generation,
            place: [here, again],
            targets: Rc::from([]),
            wanted: 0,
            more: FAILING,
        };
        self.choices.offer(offer, &self.course, limits);
    }

    /// Longer and shorter inputs, more and fewer arguments, for the sake of what the run is after at its end.
    fn offer_structures(
        &mut self,
        path: &Path<'_>,
        end: Station,
        targets: Targets,
        limits: &mut Limits,
    ) {
        let (wanted, more) = match targets.is_empty() {
            true => (0, STRUCTURE),
            false => (self.course.targets(end).len().max(1) as u32, 0),
        };
        let length = size(path.scenario) as u64;
        let mut list = structural(path.entry, path.traced);
        list.extend(inserting(path.entry, path.traced, path.scenario.argv.len()));
        for alternative in list {
            // A longer input that gets longer is another thing than a short one that does.
            let here = at_station(alternative.levels[2], end);
            let offer = Offer {
                // Late decisions come first; a structure is none.
                alternative: Alternative {
                    depth: 0,
                    ..alternative
                },
                generation: path.generation,
                place: [here, mix(here ^ mix(length))],
                targets: Rc::clone(&targets),
                wanted,
                more,
            };
            self.choices.offer(offer, &self.course, limits);
        }
    }
}

/// Tells places apart by where a run is in the graph, too.
fn at_station(level: u64, station: Station) -> u64 {
    let node = station.node.map_or(0, |node| node as u64 + 1);
    mix(level ^ mix(node ^ mix(u64::from(station.set) ^ 0x7374_6174)))
}
