//! The words that inputs of a program are made of: those that the program itself says it understands, and those that its tests
//! use.

use std::collections::{BTreeMap, BTreeSet};

use parallax_analysis::Program;
use parallax_analysis::words::{self, OptionWord};

use crate::edit::operands;
use parallax_scenario::{Bytes, Scenario};

/// Words of one phrase.
const LONGEST_PHRASE: usize = 4;
/// Phrases and texts that are remembered.
const MOST_PHRASES: usize = 400;
const MOST_TEXTS: usize = 400;
/// Longer ones are messages.
const LONGEST_TEXT: usize = 24;
/// Longer values of variables are the test's own matter.
const LONGEST_VALUE: usize = 256;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// From the tables of `getopt`.
    pub options: Vec<OptionWord>,
    /// An option of some scenario with what follows it up to the next one, those of few scenarios first.
    pub phrases: Vec<Vec<Bytes>>,
    /// Texts that the program compares something with.
    pub texts: Vec<Bytes>,
    /// Environment variables that the program asks for, with values that they have somewhere.
    pub variables: BTreeMap<Bytes, BTreeSet<Bytes>>,
}

impl Vocabulary {
    /// From a program's code and from scenarios of it.
    pub fn new<'s>(program: &Program, scenarios: impl Iterator<Item = &'s Scenario>) -> Vocabulary {
        let options = words::options(program, &words::getopt_calls(program));
        let mut texts: Vec<Bytes> = words::compared(program).into_iter().map(Bytes).collect();
        for text in words::listed(program) {
            let is_option = |option: &OptionWord| option.spelling.ends_with(&text);
            if !options.iter().any(is_option) {
                // Tables have the names of options without dashes.
                texts.push(Bytes([b"-", &text[..]].concat()));
                texts.push(Bytes(text));
            }
        }
        texts.retain(|text| {
            let is_word = text.iter().all(|byte| byte.is_ascii_graphic());
            is_word && (1..=LONGEST_TEXT).contains(&text.len())
        });
        texts.truncate(MOST_TEXTS);
        let asked = words::variables(program).into_iter();
        let mut variables: BTreeMap<Bytes, BTreeSet<Bytes>> = asked
            .map(|name| (Bytes(name), BTreeSet::from([b"1".into()])))
            .collect();
        let mut phrases: BTreeMap<Vec<Bytes>, usize> = BTreeMap::new();
        for scenario in scenarios {
            for phrase in phrases_of(scenario) {
                *phrases.entry(phrase).or_default() += 1;
            }
            for (name, value) in &scenario.env {
                if let Some(values) = variables.get_mut(name)
                    && value.len() <= LONGEST_VALUE
                {
                    values.insert(value.clone());
                }
            }
        }
        let mut phrases: Vec<(usize, Vec<Bytes>)> = phrases
            .into_iter()
            .map(|(phrase, count)| (count, phrase))
            .collect();
        phrases.sort();
        phrases.truncate(MOST_PHRASES);
        Vocabulary {
            options,
            phrases: phrases.into_iter().map(|(_, phrase)| phrase).collect(),
            texts,
            variables,
        }
    }
}

/// Each option of a command line by itself, and with the words behind it.
fn phrases_of(scenario: &Scenario) -> BTreeSet<Vec<Bytes>> {
    let is_option = |word: &Bytes| word.len() > 1 && word[0] == b'-' && word.0 != b"--";
    let files: BTreeSet<usize> = operands(scenario).into_iter().map(|(at, _)| at).collect();
    let mut found = BTreeSet::new();
    for (at, word) in scenario.argv.iter().enumerate() {
        if !is_option(word) {
            continue;
        }
        found.insert(vec![word.clone()]);
        let behind = scenario.argv.iter().enumerate().skip(at + 1);
        let own = behind.take_while(|(at, word)| !is_option(word) && !files.contains(at));
        let words = own.map(|(_, word)| word.clone()).take(LONGEST_PHRASE - 1);
        let words: Vec<Bytes> = words.collect();
        for count in 1..=words.len() {
            found.insert(
                std::iter::once(word)
                    .chain(&words[..count])
                    .cloned()
                    .collect(),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_an_option_with_what_follows_it_but_no_file() {
        let words = |words: &[&str]| -> Vec<Bytes> {
            words.iter().map(|word| word.as_bytes().into()).collect()
        };
        let scenario = Scenario {
            argv: words(&["-e", "x", "-exec", "echo", "{}", ";", "-q", "file"]),
            files: [(b"file".into(), b"".into())].into(),
            ..Scenario::default()
        };
        let phrases = phrases_of(&scenario);
        assert!(phrases.contains(&words(&["-e", "x"])));
        assert!(phrases.contains(&words(&["-exec", "echo", "{}", ";"])));
        assert!(phrases.contains(&words(&["-q"])));
        assert!(!phrases.contains(&words(&["-q", "file"])));
    }
}
