//! Random changes of many bytes and words at a time, guided by what inputs execute.
//!
//! What AFL calls havoc, over scenarios: a few changes on top of each other, of bytes, of tokens that the program or other inputs
//! know, of whole arguments; and parts of one entry in another. Nothing has to be understood for this, so it reaches what no
//! single branch points to, as long as runs are cheap. The corpus keeps what executed something new in either version.

use parallax_scenario::{Bytes, Component, Scenario};

use super::{Context, Proposal, Source};
use crate::core::corpus::{Corpus, Entry, EntryId};
use crate::core::random::Random;
use crate::core::turn::contents;

/// Changes on top of each other, as powers of two at most.
const DEEPEST: usize = 4;
/// Bytes that come or go at a time, mostly and at most.
const SHORT: usize = 8;
const LONG: usize = 64;
/// Inputs made from one entry before the next one is chosen.
const FROM_ONE: usize = 8;
/// Entries among which the least used is taken.
const TOURNAMENT: usize = 4;

/// Bytes that mean something to many programs.
const SPECIAL: &[u8] =
    b"\0\t\n\r \"'#$%&()*+,-./0123456789:;<=>?@AZ[\\]^_`abefnrtxz{|}~\x7f\x80\xff";
/// Numbers that lie at ends.
const NUMBERS: [&[u8]; 14] = [
    b"0",
    b"1",
    b"-1",
    b"2",
    b"10",
    b"127",
    b"128",
    b"255",
    b"256",
    b"32768",
    b"65535",
    b"65536",
    b"2147483648",
    b"18446744073709551616",
];

/// See the module's description.
#[derive(Default)]
pub struct Mutate;

impl Source for Mutate {
    fn name(&self) -> &'static str {
        "mutate"
    }

    fn is_ready(&self, corpus: &Corpus) -> bool {
        !corpus.bases.is_empty()
    }

    fn propose(
        &mut self,
        corpus: &mut Corpus,
        context: &Context<'_>,
        random: &mut Random,
        count: usize,
    ) -> Vec<Proposal> {
        let mut made = Vec::new();
        for _ in 0..count.div_ceil(FROM_ONE) {
            let parent = chosen(corpus, random);
            corpus.entries[parent].turns += 1;
            for _ in 0..FROM_ONE.min(count) {
                let mut scenario = (*corpus.entries[parent].scenario).clone();
                for _ in 0..1 << random.below(DEEPEST) {
                    change(&mut scenario, corpus, context, random);
                }
                if context.shape.accepts(&scenario) {
                    made.push(Proposal {
                        scenario,
                        parent,
                        kind: 0,
                    });
                }
            }
        }
        made
    }
}

/// The entry of a few that was used least for what it yielded; quick ones are preferred.
fn chosen(corpus: &Corpus, random: &mut Random) -> EntryId {
    let rank = |entry: &Entry| {
        let used = f64::from(entry.turns + 1) / f64::from(entry.children + 1);
        used * (0.5 + entry.time.as_secs_f64() * 1e3)
    };
    let picks = (0..TOURNAMENT).filter_map(|_| random.choose(&corpus.bases).copied());
    let best = picks.min_by(|a, b| rank(&corpus.entries[*a]).total_cmp(&rank(&corpus.entries[*b])));
    best.unwrap_or(0)
}

/// Any base.
fn another<'c>(corpus: &'c Corpus, random: &mut Random) -> Option<&'c Entry> {
    random.choose(&corpus.bases).map(|id| &corpus.entries[*id])
}

/// One change.
fn change(scenario: &mut Scenario, corpus: &Corpus, context: &Context<'_>, random: &mut Random) {
    match random.below(8) {
        0 => change_arguments(scenario, corpus, context, random),
        1 => cross(scenario, corpus, random),
        _ => change_bytes(scenario, corpus, context, random),
    }
}

/// An argument comes, goes, is doubled or changes its place.
fn change_arguments(
    scenario: &mut Scenario,
    corpus: &Corpus,
    context: &Context<'_>,
    random: &mut Random,
) {
    let count = scenario.argv.len();
    match random.below(5) {
        0 if count > 0 => {
            scenario.argv.remove(random.below(count));
        }
        1 if count > 1 => {
            let (a, b) = (random.below(count), random.below(count));
            scenario.argv.swap(a, b);
        }
        2 if count > 0 => {
            let word = scenario.argv[random.below(count)].clone();
            scenario.argv.insert(random.below(count + 1), word);
        }
        _ => {
            let word = match random.below(3) {
                0 => other_argument(corpus, random),
                1 => option(context, random),
                _ => token(corpus, context, random),
            };
            if let Some(word) = word {
                scenario.argv.insert(random.below(count + 1), Bytes(word));
            }
        }
    }
}

/// A part of another entry.
fn cross(scenario: &mut Scenario, corpus: &Corpus, random: &mut Random) {
    let Some(other) = another(corpus, random) else {
        return;
    };
    let other = &other.scenario;
    match random.below(3) {
        0 => scenario.stdin = other.stdin.clone(),
        1 => {
            let own: Vec<Bytes> = scenario.files.keys().cloned().collect();
            let theirs: Vec<&Bytes> = other.files.values().collect();
            if let (Some(name), Some(bytes)) = (random.choose(&own), random.choose(&theirs)) {
                scenario.files.insert(name.clone(), (*bytes).clone());
            }
        }
        _ => {
            // Its arguments up to some place, ours from some place on.
            let cut = random.below(other.argv.len() + 1);
            let from = random.below(scenario.argv.len() + 1);
            let mut argv = other.argv[..cut].to_vec();
            argv.extend_from_slice(&scenario.argv[from..]);
            scenario.argv = argv;
            for (name, bytes) in &other.files {
                let is_new = !scenario.files.contains_key(name);
                if is_new && other.argv[..cut].contains(name) {
                    scenario.files.insert(name.clone(), bytes.clone());
                }
            }
        }
    }
}

/// What can be changed byte by byte; arguments are the most likely to matter.
fn component(scenario: &Scenario, random: &mut Random) -> Option<Component> {
    let mut all: Vec<Component> = Vec::new();
    for number in 1..=scenario.argv.len() as u32 {
        all.extend([Component::Argument(number), Component::Argument(number)]);
    }
    if !scenario.stdin.is_empty() || random.one_in(16) {
        all.extend([Component::Stdin, Component::Stdin]);
    }
    let named = |name: &&Bytes| scenario.argv.contains(name);
    for name in scenario.files.keys().filter(named) {
        all.extend([Component::File(name.clone()), Component::File(name.clone())]);
    }
    all.extend(scenario.files.keys().cloned().map(Component::File));
    all.extend((0..scenario.streams.len() as u32).map(Component::Stream));
    random.choose(&all).cloned()
}

fn change_bytes(
    scenario: &mut Scenario,
    corpus: &Corpus,
    context: &Context<'_>,
    random: &mut Random,
) {
    let Some(component) = component(scenario, random) else {
        return;
    };
    let is_argument = matches!(component, Component::Argument(_));
    let Some(bytes) = contents(scenario, &component) else {
        return;
    };
    let length = bytes.len();
    let at = random.below(length + 1);
    let span = |random: &mut Random, at: usize| {
        let most = if random.one_in(4) { LONG } else { SHORT };
        (1 + random.below(most)).min(length - at)
    };
    match random.below(12) {
        0 if at < length => bytes[at] ^= 1 << random.below(8),
        1 if at < length => bytes[at] = random.byte(),
        2 | 3 if at < length => bytes[at] = SPECIAL[random.below(SPECIAL.len())],
        4 => bytes.insert(at, SPECIAL[random.below(SPECIAL.len())]),
        5 if at < length => {
            let span = span(random, at);
            bytes.drain(at..at + span);
        }
        6 if at < length => {
            // A piece is repeated, perhaps several times.
            let span = span(random, at);
            let piece = bytes[at..at + span].to_vec();
            let most = if random.one_in(4) { 16 } else { 2 };
            let times = 1 + random.below(most);
            let repeated = piece.repeat(times);
            bytes.splice(at..at, repeated);
        }
        7 if at < length => {
            // A piece comes to another place.
            let span = span(random, at);
            let piece: Vec<u8> = bytes.drain(at..at + span).collect();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        8 => replace_number(bytes, random),
        9 | 10 => {
            if let Some(token) = token(corpus, context, random) {
                let removed = match random.one_in(2) && at < length {
                    true => token.len().min(length - at),
                    false => 0,
                };
                bytes.splice(at..at + removed, token);
            }
        }
        _ => {
            // A line or an item once more, in front of another.
            let separator = if is_argument { b',' } else { b'\n' };
            let pieces: Vec<&[u8]> = bytes.split(|byte| *byte == separator).collect();
            let (from, to) = (random.below(pieces.len()), random.below(pieces.len()));
            let mut pieces: Vec<Vec<u8>> = pieces.into_iter().map(<[u8]>::to_vec).collect();
            let piece = pieces[from].clone();
            pieces.insert(to, piece);
            bytes.0 = pieces.join(&separator);
        }
    }
    if is_argument {
        // No argument has a NUL inside.
        bytes.retain(|byte| *byte != 0);
    }
}

/// A number becomes one near it or one at an end.
fn replace_number(bytes: &mut Bytes, random: &mut Random) {
    let starts = (0..bytes.len())
        .filter(|at| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[*at - 1].is_ascii_digit()));
    let starts: Vec<usize> = starts.collect();
    let Some(start) = random.choose(&starts).copied() else {
        return;
    };
    let digits = bytes[start..].iter().take_while(|b| b.is_ascii_digit());
    let end = start + digits.count();
    let text = String::from_utf8_lossy(&bytes[start..end]).into_owned();
    let near = text.parse::<i64>().ok().map(|value| {
        let most = if random.one_in(2) { 2 } else { 40 };
        let step = 1 + random.below(most) as i64;
        let changed = match random.one_in(2) {
            true => value.saturating_add(step),
            false => value.saturating_sub(step),
        };
        changed.to_string().into_bytes()
    });
    let number = match near.filter(|_| !random.one_in(3)) {
        Some(near) => near,
        None => NUMBERS[random.below(NUMBERS.len())].to_vec(),
    };
    bytes.splice(start..end, number);
}

fn other_argument(corpus: &Corpus, random: &mut Random) -> Option<Vec<u8>> {
    let other = another(corpus, random)?;
    random
        .choose(&other.scenario.argv)
        .map(|word| word.0.clone())
}

/// An option that the program knows.
fn option(context: &Context<'_>, random: &mut Random) -> Option<Vec<u8>> {
    let option = random.choose(&context.vocabulary.options)?;
    Some(option.spelling.clone())
}

/// A text that the program or another input knows.
fn token(corpus: &Corpus, context: &Context<'_>, random: &mut Random) -> Option<Vec<u8>> {
    match random.below(4) {
        0 => random
            .choose(&context.vocabulary.texts)
            .map(|text| text.0.clone()),
        1 => Some(NUMBERS[random.below(NUMBERS.len())].to_vec()),
        2 => other_argument(corpus, random),
        _ => {
            // A piece of what another input reads.
            let other = another(corpus, random)?;
            let files = other.scenario.files.values();
            let texts: Vec<&Bytes> = files.chain([&other.scenario.stdin]).collect();
            let text = random.choose(&texts)?;
            let at = random.below(text.len());
            let end = (at + 1 + random.below(SHORT)).min(text.len());
            (at < end).then(|| text[at..end].to_vec())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::explore::{Bounds, Shape};
    use crate::sources::vocabulary::Vocabulary;

    fn corpus() -> Corpus {
        let scenario = |words: &[&str], stdin: &str| Scenario {
            argv: words.iter().map(|word| word.as_bytes().into()).collect(),
            stdin: stdin.as_bytes().into(),
            ..Scenario::default()
        };
        let mut corpus = Corpus::default();
        for one in [
            scenario(&["-b", "1-3,7-"], "abcdef\nghi\n"),
            scenario(&["-f2", "-d:"], "a:b:c\n"),
        ] {
            let scenario = Arc::new(one);
            let entry = Entry {
                seed: Arc::clone(&scenario),
                scenario,
                parent: None,
                generation: 0,
                time: Duration::from_millis(1),
                turns: 0,
                differs: false,
                is_traced: false,
                children: 0,
            };
            corpus.add(entry, true);
        }
        corpus
    }

    fn made(seed: u64, count: usize) -> Vec<Scenario> {
        let mut corpus = corpus();
        let seeds: Vec<Scenario> = corpus
            .entries
            .iter()
            .map(|entry| (*entry.scenario).clone())
            .collect();
        let context = Context {
            vocabulary: &Vocabulary::default(),
            shape: &Shape::Bounded(Bounds::around(&seeds)),
        };
        let mut random = Random::new(seed);
        let made = Mutate.propose(&mut corpus, &context, &mut random, count);
        made.into_iter().map(|one| one.scenario).collect()
    }

    #[test]
    fn what_is_made_is_the_same_for_the_same_seed_and_mostly_different_from_each_other() {
        assert_eq!(made(1, 400), made(1, 400));
        let distinct: HashSet<Scenario> = made(1, 400).into_iter().collect();
        assert!(distinct.len() > 250, "{}", distinct.len());
    }

    #[test]
    fn parts_of_different_inputs_come_together_and_numbers_change() {
        let made = made(7, 4000);
        let has = |is_it: &dyn Fn(&Scenario) -> bool| made.iter().any(is_it);
        let word = |one: &Scenario, text: &[u8]| one.argv.iter().any(|word| &word[..] == text);
        assert!(has(&|one| word(one, b"-b") && &one.stdin[..] == b"a:b:c\n"));
        assert!(has(&|one| word(one, b"-f2") && word(one, b"-b")));
        assert!(has(&|one| word(one, b"1-4,7-")));
        assert!(
            made.iter()
                .flat_map(|one| &one.argv)
                .all(|word| !word.contains(&0))
        );
    }
}
