//! What a search goes for: its target, and definitions that must run before the target can be reached.
//!
//! The target is the first aim. Where runs do not get past a branch on the way to an aim, [`super::remedies`] says what could
//! help; statements that have to run become aims of their own, above the one that needs them, as on KATCH's stack of
//! intermediate targets. All aims share the runs; each has its own distances and its own queue of ways, and they take turns, the
//! target every other time. So a run that executes a definition is at once looked at
//! from where the definition was wanted.

use std::collections::{HashMap, HashSet};

use parallax_analysis::BlockId;

use super::map::Guide;
use super::queue::Queue;
use super::ran::{Blocked, Seen};
use super::remedies::{Advice, Remedy};
use super::{Heuristic, Means, Search, structure};
use crate::edit::Edit;
use crate::explore::frontier::RunId;
use crate::sources::spelling::{with_options, with_system, with_text};
use crate::sources::tokens;
use parallax_scenario::{Bytes, Scenario};

/// Aims beside the target that are gone for at a time.
const ACTIVE: usize = 3;
/// How far from the target aims may be.
const DEEPEST: u32 = 4;
/// Ways that are tried for an aim before it is given up, unless it came nearer.
const PATIENCE: u32 = 40;
/// Ways that are tried for an aim before its branches are looked at again.
const AGAIN: u32 = 24;
/// Branches that are looked at in one go.
const BRANCHES: usize = 3;
/// A branch that was looked at before counts as so much farther.
const LOOKED_AT: u32 = 2;
/// Decisions behind a branch that are looked at together with it.
const AHEAD: usize = 12;
/// Texts that options are tried with.
const VALUES: usize = 4;
/// Runs in which every option is tried.
const SWEEPS: usize = 4;
/// Runs that are remembered as the nearest.
const NEAREST: usize = 3;
/// What is known to lead to an aim comes before all ways that only seem to.
const KNOWN: u32 = 0;

/// Something to be reached.
pub struct Aim<'s> {
    pub guide: Guide<'s>,
    /// Reached when one of them runs.
    pub blocks: Vec<BlockId>,
    pub queue: Queue,
    /// Aims between this one and the target.
    pub depth: u32,
    pub state: State,
    /// Ways that were tried since it last came nearer.
    tries: u32,
    /// The runs that came nearest, with the decisions left, the best first.
    nearest: Vec<(u32, RunId)>,
    examined: HashSet<(BlockId, BlockId, RunId)>,
    /// How often branches have been looked at, with any run.
    looks: HashMap<(BlockId, BlockId), u32>,
    /// Something is new since its branches were looked at.
    is_due: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Open,
    Reached,
    GivenUp,
}

/// An aim that is not gone for yet.
pub struct Waiting {
    cost: u32,
    depth: u32,
    block: BlockId,
}

impl<'s> Aim<'s> {
    pub fn new(guide: Guide<'s>, blocks: Vec<BlockId>, depth: u32) -> Aim<'s> {
        Aim {
            guide,
            blocks,
            queue: Queue::default(),
            depth,
            state: State::Open,
            tries: 0,
            nearest: Vec::new(),
            examined: HashSet::new(),
            looks: HashMap::new(),
            is_due: true,
        }
    }

    /// Decisions between the nearest run and the aim.
    pub fn distance(&self) -> Option<u32> {
        self.nearest.first().map(|(distance, _)| *distance)
    }

    pub fn nearest_run(&self) -> Option<RunId> {
        self.nearest.first().map(|(_, run)| *run)
    }

    /// Takes note of a run; whether none was as near.
    pub fn note(&mut self, distance: u32, run: RunId) -> bool {
        let is_nearer = self.distance().is_none_or(|known| distance < known);
        if is_nearer {
            self.tries = 0;
        }
        // Of runs that are as near as each other the last ones: they have what was found out since.
        let at = self.nearest.partition_point(|(known, _)| *known < distance);
        self.nearest.insert(at, (distance, run));
        self.is_due |= at == 0;
        self.nearest.truncate(NEAREST);
        is_nearer
    }
}

impl Search<'_> {
    /// The next ways to be tried, each with the aim that it is for.
    pub(super) fn choose(&mut self, most: usize) -> Vec<super::queue::Way> {
        let mut chosen = Vec::new();
        while chosen.len() < most {
            let open: Vec<usize> = (1..self.aims.len())
                .filter(|aim| self.aims[*aim].state == State::Open)
                .collect();
            self.turn += 1;
            let first = match open.len() {
                0 => 0,
                count if self.turn.is_multiple_of(2) => open[(self.turn / 2) % count],
                _ => 0,
            };
            let others = std::iter::once(0).chain(open);
            let order = std::iter::once(first).chain(others.filter(|aim| *aim != first));
            let Some(way) = order.into_iter().find_map(|aim| self.take_from(aim)) else {
                break;
            };
            chosen.push(way);
        }
        chosen
    }

    fn take_from(&mut self, aim: usize) -> Option<super::queue::Way> {
        loop {
            let way = self.aims[aim].queue.take(1).pop()?;
            self.aims[aim].tries += 1;
            // The same way can lead to several aims.
            if self.tried.insert(way.candidate.path) {
                return Some(way);
            }
        }
    }

    /// Takes note of what a run executed, from the point of view of all aims.
    pub(super) fn note_run(&mut self, run: RunId) {
        let ran = &self.executed[run as usize];
        let seen = Seen {
            analysis: self.analysis,
            counters: self.counters,
            ran,
        };
        for aim in &mut self.aims {
            if aim.state != State::Open {
                continue;
            }
            if ran.has_any(&aim.blocks) {
                aim.state = State::Reached;
            } else if let Some(blocked) = seen.blocked(&aim.guide).first() {
                aim.note(blocked.distance + 1, run);
            }
        }
    }

    /// Looks at what keeps runs from the aims that they do not come nearer to.
    pub(super) fn look_around(&mut self) {
        if !self.options.has(Heuristic::Switch) {
            return;
        }
        let mut at = 0;
        while at < self.aims.len() && !self.is_late() {
            let aim = &mut self.aims[at];
            if aim.state == State::Open {
                if at > 0 && aim.tries > PATIENCE {
                    aim.state = State::GivenUp;
                    aim.queue = Queue::default();
                } else if aim.is_due || aim.tries.is_multiple_of(AGAIN) {
                    aim.is_due = false;
                    self.examine(at);
                }
            }
            at += 1;
        }
        self.open_waiting();
    }

    /// Finds out what could be done about the branches that keep runs from an aim.
    fn examine(&mut self, aim: usize) {
        let bases: Vec<RunId> = self.aims[aim].nearest.iter().map(|(_, run)| *run).collect();
        let mut advice: Vec<(u32, RunId, Remedy)> = Vec::new();
        let mut looked_at = 0;
        for run in bases {
            let ran = &self.executed[run as usize];
            let seen = Seen {
                analysis: self.analysis,
                counters: self.counters,
                ran,
            };
            let mut all = seen.blocked(&self.aims[aim].guide);
            // Each in its turn: runs are many that come to the same branches.
            let looks = &self.aims[aim].looks;
            all.sort_by_key(|blocked| {
                let looked = looks.get(&(blocked.branch, blocked.side));
                blocked.distance + LOOKED_AT * looked.copied().unwrap_or(0)
            });
            for blocked in all {
                if looked_at >= BRANCHES {
                    break;
                }
                let Blocked { branch, side, .. } = blocked;
                if !self.aims[aim].examined.insert((branch, side, run)) {
                    continue;
                }
                looked_at += 1;
                *self.aims[aim].looks.entry((branch, side)).or_default() += 1;
                let ahead = self.aims[aim].guide.way(side);
                let program = &self.analysis.program;
                let entered = std::iter::once(side).chain(ahead.iter().map(|(_, to)| *to));
                let blocks = entered.chain(self.aims[aim].blocks.iter().copied());
                let mut functions: Vec<_> = blocks.map(|to| program.block(to).function).collect();
                functions.dedup();
                let own = program.block(branch).function;
                for function in functions.into_iter().filter(|function| *function != own) {
                    for remedy in self.adviser.calling(function, ran) {
                        advice.push((blocked.distance, run, remedy));
                    }
                }
                let decisions = std::iter::once((branch, side)).chain(ahead).take(AHEAD);
                for (number, (branch, side)) in (0..).zip(decisions) {
                    // Decisions that lie ahead may look different once they are there.
                    let later = u32::from(number > 0);
                    for Advice { cost, remedy } in self.adviser.advise(branch, side, ran) {
                        advice.push((blocked.distance + cost + later, run, remedy));
                    }
                }
            }
        }
        advice.sort_by_key(|(cost, run, _)| (*cost, *run));
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for (_, _, remedy) in &advice {
            if let Remedy::Texts(more) = remedy {
                texts.extend(more.iter().take(VALUES).cloned());
            }
        }
        texts.truncate(VALUES);
        let mut given: Vec<(RunId, Remedy)> = Vec::new();
        for (cost, run, remedy) in advice {
            if !given.contains(&(run, remedy.clone())) {
                given.push((run, remedy.clone()));
                self.follow(aim, cost, run, remedy, &texts);
            }
        }
        if aim == 0 {
            self.sweep();
        }
    }

    /// Every option that the program knows, in the nearest run: what a branch needs is not always seen in the code.
    fn sweep(&mut self) {
        let Some((distance, run)) = self.aims[0].nearest.first().copied() else {
            return;
        };
        if self.swept.len() >= SWEEPS || !self.swept.insert(run) {
            return;
        }
        let scenario = self.runs[run as usize].scenario.clone();
        for option in self.adviser.options() {
            for edit in with_options(&scenario, &[option], &[]).into_iter().take(1) {
                self.offer_edit(0, run, edit, Means::Switch, distance + 1);
            }
        }
    }

    /// Offers what a remedy comes to. Options may need one of the texts as their argument.
    fn follow(&mut self, aim: usize, cost: u32, run: RunId, remedy: Remedy, texts: &[Vec<u8>]) {
        // What the target's nearest run lacks is added there; that run has all the rest.
        let mut bases = vec![run];
        if let Some((_, best)) = self.aims[0].nearest.first() {
            bases.insert(0, *best);
            bases.dedup();
        }
        if let Remedy::Define(block) = remedy {
            let depth = self.aims[aim].depth + 1;
            return self.define(aim, &bases, cost, depth, block);
        }
        let means = match remedy {
            Remedy::Repeat(_) | Remedy::Reorder | Remedy::Length(_) | Remedy::Digits(_) => {
                Means::Structure
            }
            _ => Means::Switch,
        };
        if means == Means::Structure && !self.options.has(Heuristic::Structure) {
            return;
        }
        for base in bases {
            let scenario = &self.runs[base as usize].scenario;
            for (edit, far) in self.edits_for(scenario, &remedy, texts) {
                self.offer_edit(aim, base, edit, means, far);
            }
        }
    }

    /// The edits of a scenario that a remedy comes to, each with how far-fetched it is.
    fn edits_for(
        &self,
        scenario: &Scenario,
        remedy: &Remedy,
        texts: &[Vec<u8>],
    ) -> Vec<(Edit, u32)> {
        let all = |edits: Vec<Edit>, far: u32| edits.into_iter().map(|edit| (edit, far)).collect();
        let lengthened = |length: u64, least: u32| {
            let edits = tokens::lengthened(scenario, length).into_iter();
            edits.map(move |(edit, far)| (edit, least + far))
        };
        match remedy {
            // Not a matter of the input alone.
            Remedy::Define(_) => Vec::new(),
            Remedy::Options(options) => all(with_options(scenario, options, texts), KNOWN),
            Remedy::Texts(texts) => {
                let is_known = |word: &[u8]| self.adviser.has_text(word);
                let spelled = texts.iter().flat_map(|text| {
                    let words = tokens::in_place(scenario, text, &is_known);
                    with_text(scenario, text).into_iter().chain(words)
                });
                spelled.collect()
            }
            Remedy::Variable(name) => {
                let name = Bytes(name.clone());
                let value = b"1".into();
                vec![(Edit::Variable { name, value }, KNOWN)]
            }
            Remedy::System(system) => all(with_system(scenario, *system), KNOWN + 1),
            Remedy::Length(length) => lengthened(*length, KNOWN).collect(),
            Remedy::Digits(digits) => all(tokens::padded(scenario, *digits), KNOWN + 1),
            Remedy::Repeat(count) => {
                let mut edits: Vec<_> = all(structure::repeated(scenario, *count), KNOWN + 1);
                edits.extend(lengthened(count.unwrap_or(0), KNOWN + 2));
                edits
            }
            Remedy::Reorder => all(structure::reordered(scenario), KNOWN),
        }
    }

    /// A block has to run: take over what makes it run elsewhere, or make it an aim.
    fn define(&mut self, aim: usize, bases: &[RunId], cost: u32, depth: u32, block: BlockId) {
        let giver = self.executed.iter().position(|ran| ran.has(block));
        match giver {
            Some(giver) => {
                for base in bases {
                    if *base != giver as RunId {
                        self.offer_parts(aim, giver as RunId, *base, KNOWN + 1);
                    }
                }
            }
            None => {
                if depth <= DEEPEST && self.wanted.insert(block) {
                    self.waiting.push(Waiting { cost, depth, block });
                }
            }
        }
    }

    /// Goes for further aims if there are few.
    fn open_waiting(&mut self) {
        self.waiting
            .sort_by_key(|waiting| (waiting.depth, waiting.cost));
        self.waiting.reverse();
        while !self.is_late() {
            let open = self.aims[1..].iter();
            if open.filter(|aim| aim.state == State::Open).count() >= ACTIVE {
                break;
            }
            let Some(Waiting { depth, block, .. }) = self.waiting.pop() else {
                break;
            };
            if self.executed.iter().any(|ran| ran.has(block)) {
                continue;
            }
            let blocks = vec![block];
            let guide = Guide::plain(self.analysis, &blocks);
            let number = self.aims.len();
            self.aims.push(Aim::new(guide, blocks, depth));
            let nearest: Vec<RunId> = self.aims[0].nearest.iter().map(|(_, run)| *run).collect();
            for run in 0..self.runs.len() as RunId {
                let seen = Seen {
                    analysis: self.analysis,
                    counters: self.counters,
                    ran: &self.executed[run as usize],
                };
                if let Some(blocked) = seen.blocked(&self.aims[number].guide).first() {
                    self.aims[number].note(blocked.distance + 1, run);
                }
            }
            self.aims[number].is_due = false;
            let own = self.aims[number].nearest.iter().map(|(_, run)| *run);
            let mut bases: Vec<RunId> = nearest.into_iter().chain(own).collect();
            bases.sort_unstable();
            bases.dedup();
            for run in bases {
                if let Some(traced) = self.runs[run as usize].traced.clone() {
                    self.offer_to(number..number + 1, run, &traced);
                }
            }
            self.examine(number);
        }
    }
}
