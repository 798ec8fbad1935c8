//! Numbers in the input, written as text, replaced by others.
//!
//! A number that is longer by a digit is another path to a solver, one of many, and what a program computes in floating
//! point it cannot be asked about. But numbers in text are easy to see, and few of them are worth trying: ends of
//! types, signs, fractions, neighbours. Programs are so fast that both versions are simply run with them.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Context, Proposal, Source};
use crate::core::corpus::{Corpus, EntryId};
use crate::core::random::Random;
use crate::edit::Edit;
use parallax_scenario::{Component, Scenario};

/// Numbers of one scenario that are replaced, and bytes of a text that are looked at.
const MOST_NUMBERS: usize = 24;
const MOST_BYTES: usize = 4096;

/// What any number is replaced by: what is special, and the ends of types.
const SPECIAL: [&str; 14] = [
    "0",
    "1",
    "-1",
    ".1",
    "1.5",
    "1e1",
    "1e-1",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
];

/// Entries with other numbers.
#[derive(Default)]
pub struct Numbers {
    /// Bases before this one have had a turn.
    next: usize,
    active: VecDeque<(EntryId, VecDeque<Scenario>)>,
}

/// Entries whose variants are in memory at a time.
const ACTIVE: usize = 16;

impl Source for Numbers {
    fn name(&self) -> &'static str {
        "numbers"
    }

    fn is_ready(&self, corpus: &Corpus) -> bool {
        !self.active.is_empty() || self.next < corpus.bases.len()
    }

    fn propose(
        &mut self,
        corpus: &mut Corpus,
        context: &Context<'_>,
        _random: &mut Random,
        count: usize,
    ) -> Vec<Proposal> {
        while self.active.len() < ACTIVE && self.next < corpus.bases.len() {
            let id = corpus.bases[self.next];
            let made = variants(&corpus.entries[id].scenario);
            if !made.is_empty() {
                self.active.push_back((id, made.into()));
            }
            self.next += 1;
        }
        let Some((parent, mut made)) = self.active.pop_front() else {
            return Vec::new();
        };
        let taken = made.drain(..count.min(made.len()));
        let proposals = taken
            .filter(|scenario| context.shape.accepts(scenario))
            .map(|scenario| Proposal {
                scenario,
                parent,
                kind: 0,
            })
            .collect();
        if !made.is_empty() {
            self.active.push_back((parent, made));
        }
        proposals
    }
}

/// The scenario with each of its numbers replaced, in the order of the replacements: what is tried of one number is tried of
/// all before the next thing is.
pub fn variants(scenario: &Scenario) -> Vec<Scenario> {
    let arguments = (1..).zip(&scenario.argv);
    let arguments = arguments.map(|(number, word)| (Component::Argument(number), word));
    let files = scenario.files.iter();
    let files = files.map(|(name, bytes)| (Component::File(name.clone()), bytes));
    let texts = arguments.chain([(Component::Stdin, &scenario.stdin)]);
    let numbers = texts.chain(files).flat_map(|(component, text)| {
        let found = numbers(text).into_iter();
        found.map(move |range| (component.clone(), others(&text[range.clone()]), range))
    });
    let numbers: Vec<(Component, Vec<String>, Range<usize>)> = numbers.take(MOST_NUMBERS).collect();
    let most = numbers.iter().map(|(_, others, _)| others.len()).max();
    let mut made = Vec::new();
    for round in 0..most.unwrap_or(0) {
        for (component, others, range) in &numbers {
            let Some(other) = others.get(round) else {
                continue;
            };
            let edit = Edit::Bytes {
                component: component.clone(),
                at: range.start,
                removed: range.len(),
                inserted: other.clone().into_bytes(),
                length: None,
            };
            made.extend(edit.apply(scenario));
        }
    }
    made
}

/// Where numbers are in a text: digits, with a fraction, an exponent, and a sign that is not between two numbers.
fn numbers(text: &[u8]) -> Vec<Range<usize>> {
    let text = &text[..text.len().min(MOST_BYTES)];
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let is = |at: usize, any: &[u8]| text.get(at).is_some_and(|byte| any.contains(byte));
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let begins = digit(at) || is(at, b".") && digit(at + 1);
        if !begins {
            at += 1;
            continue;
        }
        let signed = at > 0 && is(at - 1, b"+-") && !(at > 1 && digit(at - 2));
        let start = at - usize::from(signed);
        let run = |from: usize| (from..).find(|at| !digit(*at)).unwrap_or(from);
        at = run(at);
        if is(at, b".") && digit(at + 1) {
            at = run(at + 1);
        }
        let exponent = at + 1 + usize::from(is(at + 1, b"+-"));
        if is(at, b"eE") && digit(exponent) {
            at = run(exponent);
        }
        found.push(start..at);
    }
    found
}

/// What a number is replaced by: its neighbours and other ways to write it, then what is special.
fn others(number: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(number).into_owned();
    let mut list = Vec::new();
    if let Ok(value) = text.parse::<i128>() {
        list.extend([value + 1, value - 1, -value].map(|near| near.to_string()));
        list.push(format!("{text}.5"));
        list.push(format!("0{text}"));
    } else if let Some(whole) = text.split('.').next() {
        list.push(whole.to_owned());
        list.push(format!("{text}1"));
        list.push(format!("-{text}"));
    }
    list.extend(SPECIAL.map(str::to_owned));
    let mut known = std::collections::HashSet::new();
    list.retain(|other| !other.is_empty() && *other != text && known.insert(other.clone()));
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_scenario::Bytes;

    fn found(text: &str) -> Vec<&str> {
        let ranges = numbers(text.as_bytes()).into_iter();
        ranges.map(|range| &text[range]).collect()
    }

    #[test]
    fn numbers_are_seen_with_sign_fraction_and_exponent() {
        assert_eq!(found("-b1-3,7-"), ["1", "3", "7"]);
        assert_eq!(found("-1"), ["-1"]);
        assert_eq!(found("+.5 1e-7 2.x 3e"), ["+.5", "1e-7", "2", "3"]);
        assert_eq!(found("none - ."), Vec::<&str>::new());
        assert_eq!(found("-10:-2"), ["-10", "-2"]);
    }

    #[test]
    fn each_number_is_replaced_alone() {
        let scenario = Scenario {
            argv: vec![b"-w".into(), b"1".into(), b"-1".into()],
            stdin: b"7 x\n".into(),
            ..Scenario::default()
        };
        let made = variants(&scenario);
        let has = |argv: [&str; 3], stdin: &str| {
            made.iter().any(|one| {
                let words = argv.map(|word| Bytes::from(word.as_bytes()));
                one.argv == words && one.stdin == Bytes::from(stdin.as_bytes())
            })
        };
        assert!(has(["-w", "1", ".1"], "7 x\n"));
        assert!(has(["-w", "2", "-1"], "7 x\n"));
        assert!(has(["-w", "1", "-1"], "9223372036854775807 x\n"));
        assert!(!made.contains(&scenario));
        let differ = made.iter().map(|one| {
            let words = one.argv.iter().zip(&scenario.argv).filter(|(a, b)| a != b);
            words.count() + usize::from(one.stdin != scenario.stdin)
        });
        assert!(differ.into_iter().all(|count| count == 1));
    }
}
