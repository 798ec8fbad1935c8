//! What a focus goes for: its target, and definitions that must run before the target can be reached.
//!
//! The target is the first aim. Where runs do not get past a branch on the way to an aim, [`super::remedies`] says what could
//! help; statements that have to run become aims of their own, above the one that needs them, as on KATCH's stack of
//! intermediate targets. All aims share the runs; each has its own distances and its own queue of ways, and they take turns, the
//! target every other time. So a run that executes a definition is at once looked at
//! from where the definition was wanted.

use std::collections::{HashMap, HashSet};

use parallax_analysis::BlockId;
use parallax_scenario::Bytes;

use super::focus::{Focus, Memory, View};
use super::queue::{Kind, Queue, Way};
use super::ran::Blocked;
use super::remedies::{Advice, Remedy};
use super::ways::Changed;
use super::{Heuristic, Means, structure};
use crate::core::corpus::EntryId;
use crate::core::guide::Guide;
use crate::edit::Edit;
use crate::sources::spelling::{with_options, with_system, with_text};
use crate::sources::tokens;

/// Aims beside the target that are gone for at a time.
const ACTIVE: usize = 3;
/// A change costs a native run, a turn a query and a traced one: so many changes come with a turn.
const CHANGES: u32 = 4;
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
    pub nearest: Vec<(u32, EntryId)>,
    examined: HashSet<(BlockId, BlockId, EntryId)>,
    /// How often branches have been looked at, with any run.
    looks: HashMap<(BlockId, BlockId), u32>,
    /// Something is new since its branches were looked at, or so many ways were tried.
    is_due: bool,
    next_look: u32,
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
            next_look: 0,
        }
    }

    /// Decisions between the nearest run and the aim.
    pub fn distance(&self) -> Option<u32> {
        self.nearest.first().map(|(distance, _)| *distance)
    }

    /// Takes note of a run; whether none was as near.
    pub fn note(&mut self, distance: u32, run: EntryId) -> bool {
        let is_nearer = self.distance().is_none_or(|known| distance < known);
        if is_nearer {
            self.tries = 0;
            self.next_look = 0;
        }
        // Of runs that are as near as each other the last ones: they have what was found out since.
        let at = self.nearest.partition_point(|(known, _)| *known < distance);
        self.nearest.insert(at, (distance, run));
        self.is_due |= at == 0;
        self.nearest.truncate(NEAREST);
        is_nearer
    }
}

impl<'c> Focus<'c> {
    /// The next way to be tried; one that turns a branch only if these are asked for.
    pub fn take(&mut self, turns: bool) -> Option<Way> {
        let kinds: &[Kind] = match (turns, self.due > 0) {
            (false, _) => &[Kind::Change],
            (true, true) => &[Kind::Change, Kind::Turn, Kind::Other],
            (true, false) => &[Kind::Turn, Kind::Change, Kind::Other],
        };
        kinds.iter().find_map(|kind| self.take_of(*kind))
    }

    /// The aims take turns, the target every other time.
    fn take_of(&mut self, kind: Kind) -> Option<Way> {
        let open: Vec<usize> = (1..self.aims.len())
            .filter(|aim| self.aims[*aim].state == State::Open)
            .collect();
        let turn = self.taken[kind as usize];
        let first = match open.len() {
            0 => 0,
            count if turn % 2 == 1 => open[(turn / 2) % count],
            _ => 0,
        };
        let others = std::iter::once(0).chain(open);
        let mut order = std::iter::once(first).chain(others.filter(|aim| *aim != first));
        let way = order.find_map(|aim| self.aims[aim].queue.take(kind))?;
        self.aims[way.aim].tries += 1;
        self.taken[kind as usize] += 1;
        self.due = match kind {
            Kind::Change => self.due.saturating_sub(1),
            Kind::Turn | Kind::Other => CHANGES,
        };
        Some(way)
    }

    /// Takes note of what an entry executed, from the point of view of all aims; how far the target is then.
    pub fn note(&mut self, view: View<'_, '_>, entry: EntryId) -> Option<u32> {
        let seen = view.seen(entry);
        let mut distance = None;
        for (number, aim) in self.aims.iter_mut().enumerate() {
            if aim.state != State::Open {
                continue;
            }
            if seen.ran.has_any(&aim.blocks) {
                aim.state = State::Reached;
            } else if let Some(blocked) = seen.blocked(&aim.guide).first() {
                aim.note(blocked.distance + 1, entry);
                if number == 0 {
                    distance = Some(blocked.distance + 1);
                }
            }
        }
        distance
    }

    /// Looks at what keeps runs from the aims that they do not come nearer to.
    pub fn look_around(&mut self, view: View<'_, 'c>, memory: &mut Memory) {
        if !view.around.has(Heuristic::Switch) {
            return;
        }
        for at in 0..self.aims.len() {
            let aim = &mut self.aims[at];
            if aim.state != State::Open {
                continue;
            }
            if at > 0 && aim.tries > PATIENCE {
                aim.state = State::GivenUp;
                aim.queue = Queue::default();
            } else if aim.is_due || aim.tries >= aim.next_look {
                aim.is_due = false;
                aim.next_look = aim.tries + AGAIN;
                self.examine(view, memory, at);
            }
        }
        self.open_waiting(view, memory);
    }

    /// Finds out what could be done about the branches that keep runs from an aim.
    fn examine(&mut self, view: View<'_, 'c>, memory: &mut Memory, aim: usize) {
        let bases: Vec<EntryId> = self.aims[aim].nearest.iter().map(|(_, run)| *run).collect();
        let mut advice: Vec<(u32, EntryId, Remedy)> = Vec::new();
        let mut looked_at = 0;
        for run in bases {
            let seen = view.seen(run);
            let ran = seen.ran;
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
                let program = &view.around.analysis.program;
                let entered = std::iter::once(side).chain(ahead.iter().map(|(_, to)| *to));
                let blocks = entered.chain(self.aims[aim].blocks.iter().copied());
                let mut functions: Vec<_> = blocks.map(|to| program.block(to).function).collect();
                functions.dedup();
                let own = program.block(branch).function;
                for function in functions.into_iter().filter(|function| *function != own) {
                    for remedy in view.around.adviser.calling(function, ran) {
                        advice.push((blocked.distance, run, remedy));
                    }
                }
                let decisions = std::iter::once((branch, side)).chain(ahead).take(AHEAD);
                for (number, (branch, side)) in (0..).zip(decisions) {
                    // Decisions that lie ahead may look different once they are there.
                    let later = u32::from(number > 0);
                    for Advice { cost, remedy } in view.around.adviser.advise(branch, side, ran) {
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
        let mut given: Vec<(EntryId, Remedy)> = Vec::new();
        for (cost, run, remedy) in advice {
            if !given.contains(&(run, remedy.clone())) {
                given.push((run, remedy.clone()));
                self.follow(view, memory, Changed::new(aim, run, cost), remedy, &texts);
            }
        }
        if aim == 0 {
            self.sweep(view, memory);
        }
    }

    /// Every option that the program knows, in the nearest run: what a branch needs is not always seen in the code.
    fn sweep(&mut self, view: View<'_, 'c>, memory: &mut Memory) {
        let Some((distance, run)) = self.aims[0].nearest.first().copied() else {
            return;
        };
        if self.swept.len() >= SWEEPS || !self.swept.insert(run) {
            return;
        }
        let way = Changed::new(0, run, distance + 1);
        for option in view.around.adviser.options() {
            let edits = with_options(view.scenario(run), &[option], &[]).into_iter();
            for edit in edits.take(1) {
                self.offer_edit(view, memory, way, edit, Means::Switch);
            }
        }
    }

    /// Offers what a remedy comes to. Options may need one of the texts as their argument.
    fn follow(
        &mut self,
        view: View<'_, 'c>,
        memory: &mut Memory,
        way: Changed,
        remedy: Remedy,
        texts: &[Vec<u8>],
    ) {
        let Changed {
            aim,
            entry: run,
            distance: cost,
        } = way;
        // What the target's nearest run lacks is added there; that run has all the rest.
        let mut bases = vec![run];
        if let Some((_, best)) = self.aims[0].nearest.first() {
            bases.insert(0, *best);
            bases.dedup();
        }
        if let Remedy::Define(block) = remedy {
            let depth = self.aims[aim].depth + 1;
            let waiting = Waiting { cost, depth, block };
            return self.define(view, memory, aim, &bases, waiting);
        }
        let means = match remedy {
            Remedy::Repeat(_) | Remedy::Reorder | Remedy::Length(_) | Remedy::Digits(_) => {
                Means::Structure
            }
            _ => Means::Switch,
        };
        if means == Means::Structure && !view.around.has(Heuristic::Structure) {
            return;
        }
        for base in bases {
            for (edit, far) in edits_for(view, base, &remedy, texts) {
                let way = Changed::new(aim, base, far);
                self.offer_edit(view, memory, way, edit, means);
            }
        }
    }

    /// A block has to run: take over what makes it run elsewhere, or make it an aim.
    fn define(
        &mut self,
        view: View<'_, 'c>,
        memory: &mut Memory,
        aim: usize,
        bases: &[EntryId],
        waiting: Waiting,
    ) {
        match view.running(waiting.block) {
            Some(giver) => {
                for base in bases.iter().filter(|base| **base != giver) {
                    let way = Changed::new(aim, *base, KNOWN + 1);
                    self.offer_parts(view, memory, giver, way);
                }
            }
            None => {
                if waiting.depth <= DEEPEST && self.wanted.insert(waiting.block) {
                    self.waiting.push(waiting);
                }
            }
        }
    }

    /// Goes for further aims if there are few.
    fn open_waiting(&mut self, view: View<'_, 'c>, memory: &mut Memory) {
        self.waiting
            .sort_by_key(|waiting| (waiting.depth, waiting.cost));
        self.waiting.reverse();
        loop {
            let open = self.aims[1..].iter();
            if open.filter(|aim| aim.state == State::Open).count() >= ACTIVE {
                break;
            }
            let Some(Waiting { depth, block, .. }) = self.waiting.pop() else {
                break;
            };
            if view.running(block).is_some() {
                continue;
            }
            let blocks = vec![block];
            let guide = Guide::plain(view.around.analysis, &blocks);
            let mut aim = Aim::new(guide, blocks, depth);
            for entry in 0..view.known.len() {
                if let Some(blocked) = view.seen(entry).blocked(&aim.guide).first() {
                    aim.note(blocked.distance + 1, entry);
                }
            }
            let nearest = self.aims[0].nearest.iter().chain(&aim.nearest);
            let mut bases: Vec<EntryId> = nearest.map(|(_, entry)| *entry).collect();
            bases.sort_unstable();
            bases.dedup();
            let number = self.aims.len();
            self.aims.push(aim);
            for entry in bases {
                if let Some(traced) = view.corpus.traces.get(entry) {
                    self.offer_to(number..number + 1, view, memory, entry, &traced);
                }
            }
        }
    }
}

/// The edits of a scenario that a remedy comes to, each with how far-fetched it is.
fn edits_for(
    view: View<'_, '_>,
    entry: EntryId,
    remedy: &Remedy,
    texts: &[Vec<u8>],
) -> Vec<(Edit, u32)> {
    let scenario = view.scenario(entry);
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
            let is_known = |word: &[u8]| view.around.adviser.has_text(word);
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
