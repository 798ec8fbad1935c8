//! The ways in which a run could have come nearer to the target.

use std::collections::hash_map::Entry;
use std::ops::Range;

use super::aims::State;
use super::map::Standings;
use super::queue::Way;
use super::{Heuristic, Means, Search, compared, shape, structure};
use crate::edit::Edit;
use crate::explore::Run;
use crate::explore::frontier::{Candidate, RunId, mix};
use crate::explore::parts::with_part;
use crate::explore::ways::{Visit, insertions, others, structures, visits};
use crate::question::{Goal, Part, fixed_key};
use crate::worker::Traced;
use parallax_abi::SiteId;
use parallax_trace::path::{self, Choice};
use rustc_hash::FxHashMap;

/// Stands for the distance of what no way to the target is known from. It comes last, but it comes: calls that nobody
/// resolved may lead there.
pub const UNKNOWN: u32 = 1000;
/// A change of structure is as good as a way that is so much farther than the run's nearest.
const STRUCTURE: u32 = 2;
const SPLICE: u32 = 3;
/// Other arguments of a server, which tell it little more than where its configuration is, are so much farther than what clients send.
const SERVER: u32 = 6;
/// Decisions of one run that ways are offered at. More than a search can try, and few enough that dozens of long runs are
/// looked at in no time.
pub const MOST_NEAR: usize = 2000;
/// Decisions of a run whose input bytes others come between.
const NEAR: usize = 4;
/// Decisions that are at most so far from an aim are told apart by the shape of their conditions.
const SHAPED: u32 = 1;
/// Given scenarios that exchange parts.
const PARTNERS: usize = 16;

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

impl Search<'_> {
    /// Offers all ways in which the run could have gone otherwise, to all aims.
    pub(super) fn offer(&mut self, run: RunId, traced: &Traced) {
        self.offer_to(0..self.aims.len(), run, traced);
    }

    /// Offers all ways in which the run could have gone otherwise, to some aims.
    pub(super) fn offer_to(&mut self, aims: Range<usize>, run: RunId, traced: &Traced) {
        let aims: Vec<usize> = aims
            .filter(|aim| self.aims[*aim].state == State::Open)
            .collect();
        let mut nearest = vec![Nearest::default(); aims.len()];
        let generation = self.runs[run as usize].generation;
        let mut standings = Standings::new(self.analysis, self.sites, traced);
        let visits = visits(self.sites, traced);
        for index in self.near_decisions(&aims, traced, &visits) {
            let decision = &traced.decisions[index];
            let place = visits[index].place(traced, decision);
            let standing = standings.of(decision);
            let view = self.sites.get(standing.place);
            let original = view.map_or(standing.place, |view| view.original);
            self.decided.insert(original);
            for (aim, nearest) in aims.iter().zip(&mut nearest) {
                let guide = &self.aims[*aim].guide;
                nearest.note(index, guide.behind(&standing, decision.value));
            }
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
            let distances: Vec<Vec<Option<u32>>> = ways
                .iter()
                .map(|(_, value)| {
                    let guides = aims.iter().map(|aim| &self.aims[*aim].guide);
                    guides
                        .map(|guide| guide.behind(&standing, *value))
                        .collect()
                })
                .collect();
            let mut all = distances.iter().flatten().flatten();
            let shape = match all.any(|distance| *distance <= SHAPED) {
                true => shape::of(traced, decision.label),
                false => 0,
            };
            for ((goal, value), distances) in ways.into_iter().zip(distances) {
                let side = path::side(self.sites, decision, value);
                let [site, place, here] = place.levels(value, side);
                let candidate = Candidate {
                    run,
                    goal,
                    site: decision.site,
                    levels: [site, place, here ^ shape],
                    path: path::extend(before, decision.site.0, decision.choice, value),
                    depth: number,
                    calls: 0,
                };
                for ((aim, nearest), distance) in aims.iter().zip(&mut nearest).zip(distances) {
                    nearest.note(index, distance);
                    self.aims[*aim].queue.offer(Way {
                        candidate,
                        distance: distance.unwrap_or(UNKNOWN),
                        generation,
                        aim: *aim as u32,
                        place: standing.place,
                    });
                }
            }
        }
        for (aim, nearest) in aims.into_iter().zip(nearest) {
            let distance = nearest.distance().unwrap_or(UNKNOWN);
            if distance < UNKNOWN && aim == 0 {
                self.nearest = Some(self.nearest.map_or(distance, |known| known.min(distance)));
            }
            if self.options.has(Heuristic::Switch) {
                self.offer_texts(aim, run, traced, &mut standings, &nearest);
            }
            if self.options.has(Heuristic::Structure) {
                let near: Vec<usize> = nearest.0.iter().map(|(_, index)| *index).collect();
                self.offer_structures(aim, run, traced, &near, distance + STRUCTURE);
            }
        }
    }

    /// Offers what the comparisons nearest to an aim look for.
    fn offer_texts<'t>(
        &mut self,
        aim: usize,
        run: RunId,
        traced: &'t Traced,
        standings: &mut Standings<'t>,
        nearest: &Nearest,
    ) {
        for (distance, index) in &nearest.0 {
            let standing = standings.of(&traced.decisions[*index]);
            let texts = compared::texts(self.analysis, &standing);
            let scenario = &self.runs[run as usize].scenario;
            for edit in compared::put(scenario, traced, *index, &texts) {
                self.offer_edit(aim, run, edit, Means::Switch, *distance);
            }
        }
    }

    /// Offers other structures of a run's input; `near` are its decisions that are nearest to the aim.
    fn offer_structures(
        &mut self,
        aim: usize,
        run: RunId,
        traced: &Traced,
        near: &[usize],
        distance: u32,
    ) {
        for structure in structures(traced) {
            self.offer_change(aim, run, structure.goal, structure.name, distance);
        }
        let arguments = self.runs[run as usize].scenario.argv.len();
        for (goal, name) in insertions(arguments) {
            self.offer_change(aim, run, goal, name, distance);
        }
        let scenario = &self.runs[run as usize].scenario;
        for (edit, far) in structure::changes(scenario, traced, near) {
            self.offer_edit(aim, run, edit, Means::Structure, distance + far);
        }
    }

    /// Which decisions of a run ways are offered at, in order: all, or of a long run those that are nearest to one of the aims, and
    /// of these the first times that each was come to. A server decides much before it comes to its first request.
    fn near_decisions(&self, aims: &[usize], traced: &Traced, visits: &[Visit]) -> Vec<usize> {
        let count = traced.decisions.len();
        if count <= MOST_NEAR {
            return (0..count).collect();
        }
        let mut standings = Standings::new(self.analysis, self.sites, traced);
        // Loops decide the same a thousand times.
        let mut known: FxHashMap<(SiteId, u32), u32> = FxHashMap::default();
        let mut order: Vec<(u32, u32, usize)> = Vec::new();
        for (index, decision) in traced.decisions.iter().enumerate() {
            let place = (decision.site, decision.context);
            let distance = *known.entry(place).or_insert_with(|| {
                let standing = standings.of(decision);
                let others = others(self.sites, decision, index as u32).into_iter();
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
        order.select_nth_unstable(MOST_NEAR);
        let mut near: Vec<usize> = order[..MOST_NEAR].iter().map(|near| near.2).collect();
        near.sort_unstable();
        near
    }

    /// Offers a change that no solver makes.
    pub(super) fn offer_edit(
        &mut self,
        aim: usize,
        run: RunId,
        edit: Edit,
        means: Means,
        distance: u32,
    ) {
        let next = self.edits.len() as u32;
        let number = match self.edit_numbers.entry((edit, means)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.edits.push(new.key().0.clone());
                self.edit_means.push(means);
                *new.insert(next)
            }
        };
        let name = mix(0x6564_6974 ^ u64::from(number));
        self.offer_change(aim, run, Goal::Edit { number }, name, distance);
    }

    /// A change of structure; such changes of different runs are different ways, but attempts at the same thing.
    pub(super) fn offer_change(
        &mut self,
        aim: usize,
        run: RunId,
        goal: Goal,
        name: u64,
        distance: u32,
    ) {
        let Run {
            scenario,
            generation,
            ..
        } = &self.runs[run as usize];
        let generation = *generation;
        let distance = match scenario.listening.is_some() && self.is_of_arguments(goal) {
            true => distance + SERVER,
            false => distance,
        };
        self.aims[aim].queue.offer(Way {
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
            aim: aim as u32,
            place: SiteId(0),
        });
    }

    /// Whether only the arguments change.
    fn is_of_arguments(&self, goal: Goal) -> bool {
        match goal {
            Goal::Insert { .. } => true,
            Goal::Take { part, .. } => matches!(part, Part::Instead(_) | Part::Before(_)),
            Goal::Edit { number } => self.edits[number as usize].is_of_arguments(),
            _ => false,
        }
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
                self.offer_parts(0, from, run, nearest + SPLICE);
            }
        }
    }

    /// Offers to take over parts of one run's input in another's.
    pub(super) fn offer_parts(&mut self, aim: usize, from: RunId, run: RunId, distance: u32) {
        let giver = &self.runs[from as usize].scenario;
        let arguments = 0..giver.argv.len() as u32;
        let parts = arguments.flat_map(|index| [Part::Instead(index), Part::Before(index)]);
        for (number, part) in (0u64..).zip(parts.chain([Part::Data])) {
            let [taker, giver] = [run, from].map(|run| &self.runs[run as usize].scenario);
            if with_part(taker, giver, part).is_some() {
                let name = mix(0x7061_7274 ^ mix(u64::from(from) << 32 | number));
                self.offer_change(aim, run, Goal::Take { from, part }, name, distance);
            }
        }
    }
}
