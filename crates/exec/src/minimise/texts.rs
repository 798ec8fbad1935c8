//! The byte strings of a scenario, looked at alike.

use std::ops::Range;

use parallax_scenario::{Bytes, Scenario};

/// One of a scenario's byte strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Argument(usize),
    Stdin,
    Stream(usize),
    File(Bytes),
    Variable(Bytes),
    Object(usize),
}

/// All of them.
pub(super) fn all(scenario: &Scenario) -> Vec<Text> {
    let mut texts: Vec<Text> = (0..scenario.argv.len()).map(Text::Argument).collect();
    texts.push(Text::Stdin);
    texts.extend((0..scenario.streams.len()).map(Text::Stream));
    texts.extend(scenario.files.keys().cloned().map(Text::File));
    texts.extend(scenario.env.keys().cloned().map(Text::Variable));
    texts.extend((0..scenario.objects.len()).map(Text::Object));
    texts
}

impl Text {
    /// Its bytes; none if the scenario has no such string any more.
    pub fn of<'s>(&self, scenario: &'s Scenario) -> &'s [u8] {
        let bytes = match self {
            Text::Argument(index) => scenario.argv.get(*index),
            Text::Stdin => Some(&scenario.stdin),
            Text::Stream(index) => scenario.streams.get(*index),
            Text::File(path) => scenario.files.get(path),
            Text::Variable(name) => scenario.env.get(name),
            Text::Object(index) => scenario.objects.get(*index).map(|object| &object.bytes),
        };
        bytes.map_or(&[], |bytes| &bytes.0)
    }

    /// The scenario with other bytes here.
    pub fn with(&self, scenario: &Scenario, bytes: Vec<u8>) -> Scenario {
        let mut changed = scenario.clone();
        let place = match self {
            Text::Argument(index) => changed.argv.get_mut(*index),
            Text::Stdin => Some(&mut changed.stdin),
            Text::Stream(index) => changed.streams.get_mut(*index),
            Text::File(path) => changed.files.get_mut(path),
            Text::Variable(name) => changed.env.get_mut(name),
            Text::Object(index) => changed
                .objects
                .get_mut(*index)
                .map(|object| &mut object.bytes),
        };
        if let Some(place) = place {
            place.0 = bytes;
        }
        changed
    }

    /// The scenario without a range of bytes.
    pub fn without(&self, scenario: &Scenario, range: Range<usize>) -> Scenario {
        let mut bytes = self.of(scenario).to_vec();
        bytes.drain(range.clone());
        let mut changed = self.with(scenario, bytes);
        if let (Text::Stream(index), Some(listening)) = (self, &mut changed.listening) {
            listening.note_change(*index, range.start, range.len(), 0);
        }
        changed
    }

    /// Memory objects are as long as the program made them.
    pub fn may_shrink(&self) -> bool {
        !matches!(self, Text::Object(_))
    }

    /// The seed's string that this one, with the bytes `now`, may have come from: equally long.
    pub fn counterpart<'s>(&self, now: &[u8], seed: &'s Scenario) -> Option<&'s [u8]> {
        let same = self.of(seed);
        if same.len() == now.len() {
            return Some(same);
        }
        // Arguments move when others are left out.
        let others = match self {
            Text::Argument(_) => seed.argv.iter(),
            _ => return None,
        };
        others
            .map(|bytes| &bytes.0[..])
            .filter(|bytes| bytes.len() == now.len())
            .min_by_key(|bytes| differing(now, bytes))
    }
}

fn differing(one: &[u8], other: &[u8]) -> usize {
    let longer = one.len().max(other.len());
    let same = one.iter().zip(other).filter(|(a, b)| a == b).count();
    longer - same
}

/// The seed that is most like a scenario.
pub(super) fn nearest<'s>(scenario: &Scenario, seeds: &'s [Scenario]) -> Option<&'s Scenario> {
    let distance = |seed: &&Scenario| -> usize {
        let texts = all(scenario);
        let far: usize = texts
            .iter()
            .map(|text| differing(text.of(scenario), text.of(seed)))
            .sum();
        far + seed.argv.len().abs_diff(scenario.argv.len())
    };
    seeds.iter().min_by_key(distance)
}

/// Where each line is.
pub(super) fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let range = |line: &[u8]| {
        let range = start..start + line.len();
        start = range.end;
        range
    };
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(range)
        .collect()
}

/// Where each byte is.
pub(super) fn bytes(bytes: &[u8]) -> Vec<Range<usize>> {
    (0..bytes.len()).map(|at| at..at + 1).collect()
}
