//! Other structures that a run's input could have: arguments in another order, bytes in between, parts twice.
//!
//! There are endlessly many; those are offered that touch what the decisions nearest to the target look at.

use std::collections::BTreeSet;

use parallax_abi::Op;

use crate::core::turn::contents;
use crate::edit::{Edit, before, number_at};
use crate::sources::spelling::renamed;
use crate::worker::Traced;
use parallax_scenario::{Component, Scenario};

/// Places of one run at which bytes come or go.
const MOST_PLACES: usize = 6;
/// Operators of a condition that are gone through.
const MOST_NODES: usize = 256;
/// Most changes of structure come to nothing.
const UNLIKELY: u32 = 1;
/// Longer lines are not doubled.
const LONGEST_LINE: usize = 4096;

/// Changes that concern what these decisions look at, with how far-fetched they are.
pub fn changes(scenario: &Scenario, traced: &Traced, decisions: &[usize]) -> Vec<(Edit, u32)> {
    let mut edits: Vec<(Edit, u32)> = reordered(scenario)
        .into_iter()
        .map(|edit| (edit, UNLIKELY))
        .collect();
    let names = renamed(scenario).into_iter();
    edits.extend(names.map(|edit| (edit, UNLIKELY + 1)));
    let mut copy = scenario.clone();
    for (source, offset) in places(traced, decisions) {
        let Some(Some(component)) = traced.sources.get(source as usize) else {
            continue;
        };
        let Some(bytes) = contents(&mut copy, component) else {
            continue;
        };
        let is_argument = matches!(component, Component::Argument(_));
        edits.extend(around(component, bytes, offset, is_argument));
    }
    let mut seen = BTreeSet::new();
    edits.retain(|(edit, _)| seen.insert(edit.clone()));
    edits
}

/// The arguments in other orders: one of them comes to the begin, to the end, or behind the next one.
pub fn reordered(scenario: &Scenario) -> Vec<Edit> {
    let mut edits = Vec::new();
    let last = scenario.argv.len().saturating_sub(1);
    for from in 0..scenario.argv.len() {
        for to in [0, from + 1, last] {
            let edit = Edit::Move { from, to };
            // The second before the first is the first behind the second.
            if from != to && to <= last && !(from == 1 && to == 0) && !edits.contains(&edit) {
                edits.push(edit);
            }
        }
    }
    edits
}

/// Parts of an input several times: for loops that must be gone through more often, so often if that is known.
pub fn repeated(scenario: &Scenario, count: Option<u64>) -> Vec<Edit> {
    /// Once more, and often enough for most counters.
    const TIMES: [usize; 2] = [1, 8];
    /// More often than this nothing is repeated.
    const MOST: u64 = 2000;
    let count = count.filter(|count| (2..=MOST).contains(count));
    let known = count.map(|count| [count as usize - 1, count as usize]);
    let mut all: Vec<usize> = TIMES
        .into_iter()
        .chain(known.into_iter().flatten())
        .collect();
    all.sort_unstable();
    all.dedup();
    let mut edits = Vec::new();
    let stdin = (!scenario.stdin.is_empty()).then_some((Component::Stdin, &scenario.stdin));
    let files = scenario.files.iter().take(MOST_PLACES);
    let files = files.map(|(name, bytes)| (Component::File(name.clone()), bytes));
    let streams = (0..).zip(&scenario.streams).take(MOST_PLACES);
    let streams = streams.map(|(number, bytes)| (Component::Stream(number), bytes));
    let arguments = (1..).zip(&scenario.argv).take(MOST_PLACES);
    let arguments = arguments.map(|(number, bytes)| (Component::Argument(number), bytes));
    for (component, bytes) in stdin
        .into_iter()
        .chain(files)
        .chain(streams)
        .chain(arguments)
    {
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let begin = text.iter().rposition(|byte| *byte == b'\n');
        let line = &bytes[begin.map_or(0, |at| at + 1)..];
        if line.is_empty() || line.len() > LONGEST_LINE {
            continue;
        }
        for times in all.iter().copied() {
            edits.push(Edit::bytes(
                &component,
                bytes.len() - line.len(),
                0,
                line.repeat(times),
            ));
            // Lists in arguments are of lines, too.
            if matches!(component, Component::Argument(_)) {
                edits.push(Edit::bytes(
                    &component,
                    bytes.len() - line.len(),
                    0,
                    [line, b"\n"].concat().repeat(times),
                ));
            }
        }
    }
    for (at, word) in scenario.argv.iter().enumerate().take(MOST_PLACES) {
        for times in TIMES {
            edits.push(Edit::Words {
                at,
                words: vec![word.clone(); times.min(4)],
            });
        }
    }
    edits
}

/// Bytes that come or go at a place.
fn around(
    component: &Component,
    bytes: &[u8],
    offset: usize,
    is_argument: bool,
) -> Vec<(Edit, u32)> {
    let mut edits = Vec::new();
    if offset > bytes.len() {
        return edits;
    }
    let lengths = match is_argument {
        true => Vec::new(),
        false => before(bytes, offset),
    };
    // A number that is looked at itself may be the length of what follows it.
    let number = (!is_argument).then(|| number_at(bytes, offset)).flatten();
    if let Some((length, end)) = number {
        let inside = end + 1;
        if inside < bytes.len() {
            for (removed, inserted) in [(0, vec![bytes[inside]]), (1, Vec::new())] {
                let edit = Edit::Bytes {
                    component: component.clone(),
                    at: inside,
                    removed,
                    inserted,
                    length: Some(length),
                };
                edits.push((edit, 0));
            }
        }
    }
    let lengths = std::iter::once(None).chain(lengths.into_iter().map(Some));
    let same = bytes.get(offset).copied().unwrap_or(b'A');
    for length in lengths {
        let edit = |at: usize, removed: usize, inserted: Vec<u8>| {
            let edit = Edit::Bytes {
                component: component.clone(),
                at,
                removed,
                inserted,
                length,
            };
            (edit, UNLIKELY)
        };
        edits.push(edit(offset, 0, vec![same]));
        if offset < bytes.len() {
            edits.push(edit(offset, 1, Vec::new()));
        }
        // The line once more, or the whole argument.
        let begin = bytes[..offset].iter().rposition(|byte| *byte == b'\n');
        let begin = begin.map_or(0, |at| at + 1);
        let end = bytes[offset..].iter().position(|byte| *byte == b'\n');
        let end = end.map_or(bytes.len(), |at| offset + at + 1);
        if begin < end && end - begin <= LONGEST_LINE {
            edits.push(edit(begin, 0, bytes[begin..end].to_vec()));
            edits.push(edit(begin, end - begin, Vec::new()));
        }
    }
    edits
}

/// Sources and offsets of the bytes that decisions look at: the first and the one behind the last of each decision.
pub fn places(traced: &Traced, decisions: &[usize]) -> Vec<(u32, usize)> {
    let trace = &traced.trace;
    let mut places = Vec::new();
    for decision in decisions {
        let mut pending = vec![traced.decisions[*decision].label];
        let mut inputs: BTreeSet<(u32, usize)> = BTreeSet::new();
        let mut seen = BTreeSet::new();
        while let Some(label) = pending.pop()
            && seen.len() < MOST_NODES
        {
            let Some(node) = trace.node(label) else {
                continue;
            };
            let Some(op) = Op::from_byte(node.op) else {
                continue;
            };
            if !seen.insert(label) {
                continue;
            }
            match op {
                Op::Input => {
                    let offset = u64::from(node.b) | u64::from(node.c) << 32;
                    inputs.insert((node.a, usize::try_from(offset).unwrap_or(usize::MAX)));
                }
                _ => pending.extend([node.a, node.b, node.c].into_iter().take(op.arity())),
            }
        }
        let first = inputs.first().copied();
        let last = inputs
            .last()
            .map(|(source, offset)| (*source, offset.saturating_add(1)));
        for place in first.into_iter().chain(last) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places.truncate(MOST_PLACES);
    places
}
