//! What could be tried to come nearer to the aims of a focus: other sides of a path's branches, other structures of its input, texts
//! that its comparisons look for, parts of other inputs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use parallax_abi::SiteId;
use parallax_scenario::{Bytes, Component, Scenario};
use parallax_trace::path;
use rustc_hash::FxHashMap;

use super::aims::State;
use super::focus::{Focus, Memory, View};
use super::queue::{Way, What};
use super::{Heuristic, Means, compared, shape, structure};
use crate::core::alternative::{
    Alternative, Change, Visit, before, changes, insertions, others, structures, visits,
};
use crate::core::corpus::EntryId;
use crate::core::guide::Standings;
use crate::core::limits::Limit;
use crate::core::random::mix;
use crate::core::turn::{MORE, contents};
use crate::edit::Edit;
use crate::sources::splice::{Part, parts, with_part};
use crate::worker::{Sources, Traced};

/// Stands for the distance of what no way to the target is known from. It comes last, but it comes: calls that nobody
/// resolved may lead there.
pub const UNKNOWN: u32 = 1000;
/// A change of structure is as good as a way that is so much farther than the run's nearest.
const STRUCTURE: u32 = 2;
/// Other arguments of a server, which tell it little more than where its configuration is, are so much farther than what clients send.
const SERVER: u32 = 6;
/// Decisions of a run whose input bytes others come between.
const NEAR: usize = 4;
/// Decisions that are at most so far from an aim are told apart by the shape of their conditions.
const SHAPED: u32 = 1;

/// The decisions of a run that are nearest to an aim, with the distance, the nearest first.
#[derive(Clone, Debug, Default)]
struct Nearest(Vec<(u32, usize)>);

impl Nearest {
    fn note(&mut self, index: usize, distance: Option<u32>) {
        let Some(distance) = distance else {
            return;
        };
        // Both sides of a decision are noted one after the other.
        if let Some(at) = self.0.iter().position(|(_, known)| *known == index) {
            if self.0[at].0 <= distance {
                return;
            }
            self.0.remove(at);
        }
        let at = self.0.partition_point(|(known, _)| *known <= distance);
        self.0.insert(at, (distance, index));
        self.0.truncate(NEAR);
    }

    fn distance(&self) -> Option<u32> {
        self.0.first().map(|(distance, _)| *distance)
    }
}

impl Focus<'_> {
    /// Offers all ways in which a run could have gone otherwise, to some aims.
    pub(super) fn offer_to(
        &mut self,
        aims: Range<usize>,
        view: View<'_, '_>,
        memory: &mut Memory,
        entry: EntryId,
        traced: &Traced,
    ) {
        let aims: Vec<usize> = aims
            .filter(|aim| self.aims[*aim].state == State::Open)
            .collect();
        let mut nearest = vec![Nearest::default(); aims.len()];
        let generation = view.corpus.entries[entry].generation;
        let (analysis, sites) = (view.around.analysis, view.around.sites);
        let mut standings = Standings::new(analysis, sites, traced);
        let visits = visits(sites, traced);
        for index in self.near_decisions(&aims, view, memory, traced, &visits) {
            let decision = &traced.decisions[index];
            let standing = standings.of(decision);
            for (aim, nearest) in aims.iter().zip(&mut nearest) {
                let guide = &self.aims[*aim].guide;
                nearest.note(index, guide.behind(&standing, decision.value));
            }
            if decision.repeated {
                continue;
            }
            let place = visits[index].place(traced, decision);
            let before = before(&traced.decisions, index);
            let changes = changes(sites, traced, index, &mut memory.fixed, &mut memory.limits);
            for (change, value) in changes {
                let guides = aims.iter().map(|aim| &self.aims[*aim].guide);
                let distances: Vec<Option<u32>> =
                    guides.map(|guide| guide.behind(&standing, value)).collect();
                let shape = match distances.iter().flatten().any(|one| *one <= SHAPED) {
                    true => shape::of(traced, decision.label),
                    false => 0,
                };
                let side = path::side(sites, decision, value);
                let levels = place.levels(value, side);
                let alternative = Alternative {
                    entry,
                    change,
                    site: decision.site,
                    levels,
                    path: path::extend(before, decision.site.0, decision.choice, value),
                    depth: index as u32,
                    calls: 0,
                };
                for ((aim, nearest), distance) in aims.iter().zip(&mut nearest).zip(distances) {
                    nearest.note(index, distance);
                    let way = Way {
                        entry,
                        what: What::Turn(alternative),
                        here: levels[2] ^ shape,
                        place: levels[1],
                        path: alternative.path,
                        distance: distance.unwrap_or(UNKNOWN),
                        generation,
                        depth: alternative.depth,
                        aim: *aim,
                        site: standing.place,
                    };
                    self.aims[*aim].queue.offer(way, &mut memory.limits);
                }
            }
        }
        for (aim, nearest) in aims.into_iter().zip(nearest) {
            let distance = nearest.distance().unwrap_or(UNKNOWN);
            if view.around.has(Heuristic::Switch) {
                for (distance, index) in &nearest.0 {
                    let standing = standings.of(&traced.decisions[*index]);
                    let texts = compared::texts(analysis, &standing);
                    let scenario = view.scenario(entry);
                    for edit in compared::put(scenario, traced, *index, &texts) {
                        let way = Changed::new(aim, entry, *distance);
                        self.offer_edit(view, memory, way, edit, Means::Switch);
                    }
                }
            }
            if view.around.has(Heuristic::Structure) {
                let near: Vec<usize> = nearest.0.iter().map(|(_, index)| *index).collect();
                let way = Changed::new(aim, entry, distance + STRUCTURE);
                self.offer_structures(view, memory, way, traced, &near);
            }
        }
    }

    /// Offers other structures of a run's input; `near` are its decisions that are nearest to the aim.
    fn offer_structures(
        &mut self,
        view: View<'_, '_>,
        memory: &mut Memory,
        way: Changed,
        traced: &Traced,
        near: &[usize],
    ) {
        let scenario = view.scenario(way.entry);
        let mut copy = (**scenario).clone();
        let structures = structures(traced).into_iter();
        let all = structures
            .map(|one| (one.change, one.name))
            .chain(insertions(scenario.argv.len()));
        for (change, name) in all {
            if let Some(edit) = as_edit(&mut copy, change, &traced.sources) {
                let what = What::Edit(Rc::new(edit), Means::Structure);
                self.offer_change(view, memory, way, what, name);
            }
        }
        for (edit, far) in structure::changes(scenario, traced, near) {
            let way = way.farther(far);
            self.offer_edit(view, memory, way, edit, Means::Structure);
        }
    }

    /// Which decisions of a run ways are offered at, in order: all, or of a long run those that are nearest to one of the aims, and
    /// of these the first times that each was come to. A server decides much before it comes to its first request.
    fn near_decisions(
        &self,
        aims: &[usize],
        view: View<'_, '_>,
        memory: &mut Memory,
        traced: &Traced,
        visits: &[Visit],
    ) -> Vec<usize> {
        let (count, most) = (
            traced.decisions.len(),
            Limit::NearDecisions.value() as usize,
        );
        if count <= most {
            return (0..count).collect();
        }
        memory
            .limits
            .hit_by(Limit::NearDecisions, (count - most) as u64);
        let (analysis, sites) = (view.around.analysis, view.around.sites);
        let mut standings = Standings::new(analysis, sites, traced);
        // Loops decide the same a thousand times.
        let mut known: FxHashMap<(SiteId, u32), u32> = FxHashMap::default();
        let mut order: Vec<(u32, u32, usize)> = Vec::new();
        for (index, decision) in traced.decisions.iter().enumerate() {
            let place = (decision.site, decision.context);
            let distance = *known.entry(place).or_insert_with(|| {
                let standing = standings.of(decision);
                let others = others(sites, decision, index as u32).into_iter();
                let values = others.map(|(_, value)| value).chain([decision.value]);
                let nearest = |value: u128| {
                    let guides = aims.iter().map(|aim| &self.aims[*aim].guide);
                    guides
                        .filter_map(|guide| guide.behind(&standing, value))
                        .min()
                };
                values.filter_map(nearest).min().unwrap_or(UNKNOWN)
            });
            order.push((distance, visits[index].occurrence, index));
        }
        order.select_nth_unstable(most);
        let mut near: Vec<usize> = order[..most].iter().map(|near| near.2).collect();
        near.sort_unstable();
        near
    }

    /// Offers a change that no solver makes.
    pub(super) fn offer_edit(
        &mut self,
        view: View<'_, '_>,
        memory: &mut Memory,
        way: Changed,
        edit: Edit,
        means: Means,
    ) {
        let mut hasher = DefaultHasher::new();
        (&edit, means).hash(&mut hasher);
        let name = hasher.finish();
        let what = What::Edit(Rc::new(edit), means);
        self.offer_change(view, memory, way, what, name);
    }

    /// Offers to take over parts of one entry's input in another's.
    pub(super) fn offer_parts(
        &mut self,
        view: View<'_, '_>,
        memory: &mut Memory,
        from: EntryId,
        way: Changed,
    ) {
        let [taker, giver] = [way.entry, from].map(|entry| view.scenario(entry));
        for (number, part) in (0u64..).zip(parts(giver)) {
            if with_part(taker, giver, part).is_some() {
                let name = mix(0x7061_7274 ^ mix((from as u64) << 32 | number));
                self.offer_change(view, memory, way, What::Take { from, part }, name);
            }
        }
    }

    /// Such changes of different entries are different ways, but attempts at the same thing.
    fn offer_change(
        &mut self,
        view: View<'_, '_>,
        memory: &mut Memory,
        way: Changed,
        what: What,
        name: u64,
    ) {
        let Changed {
            aim,
            entry,
            mut distance,
        } = way;
        let is_server = view.scenario(entry).listening.is_some();
        if is_server && is_of_arguments(&what) {
            distance += SERVER;
        }
        let way = Way {
            entry,
            what,
            here: name,
            place: name,
            path: mix(name ^ mix(entry as u64 + 1)),
            distance,
            generation: view.corpus.entries[entry].generation,
            depth: 0,
            aim,
            site: SiteId(0),
        };
        self.aims[aim].queue.offer(way, &mut memory.limits);
    }
}

/// Which entry is changed for which aim, and how far that is from it.
#[derive(Clone, Copy)]
pub struct Changed {
    pub aim: usize,
    pub entry: EntryId,
    pub distance: u32,
}

impl Changed {
    pub fn new(aim: usize, entry: EntryId, distance: u32) -> Changed {
        Changed {
            aim,
            entry,
            distance,
        }
    }

    fn farther(self, by: u32) -> Changed {
        Changed {
            distance: self.distance + by,
            ..self
        }
    }
}

/// Whether only the arguments change.
fn is_of_arguments(what: &What) -> bool {
    match what {
        What::Turn(_) => false,
        What::Take { part, .. } => matches!(part, Part::Instead(_) | Part::Before(_)),
        What::Edit(edit, _) => edit.is_of_arguments(),
    }
}

/// A change of structure as one that needs no trace.
fn as_edit(scenario: &mut Scenario, change: Change, sources: &Sources) -> Option<Edit> {
    let component = |source: u32| sources.get(source as usize)?.as_ref();
    let mut length = |component: &Component| Some(contents(scenario, component)?.len());
    match change {
        Change::Grow { source } => {
            let component = component(source)?;
            Some(Edit::bytes(component, length(component)?, 0, [MORE]))
        }
        Change::Cut { source, length: to } => {
            let component = component(source)?;
            let removed = length(component)?.checked_sub(to as usize)?;
            (removed > 0).then(|| Edit::bytes(component, to as usize, removed, []))
        }
        Change::Drop { argument } => Some(Edit::Without {
            at: (argument as usize).checked_sub(1)?,
        }),
        Change::Insert {
            argument,
            is_option,
        } => {
            let word: &[u8] = if is_option { &[b'-', MORE] } else { &[MORE] };
            Some(Edit::Words {
                at: argument as usize,
                words: vec![Bytes(word.to_vec())],
            })
        }
        _ => None,
    }
}
