//! How words that a program looks for come into its input.

use parallax_analysis::words::{OptionWord, Takes};

use crate::edit::Edit;
use crate::scenario::{Bytes, Component, Scenario};

/// What an option's argument is tried with, besides names of files.
const VALUES: [&[u8]; 2] = [b"1", b"A"];

/// The ways to add one of some options to a command line.
pub fn with_options(scenario: &Scenario, options: &[OptionWord]) -> Vec<Edit> {
    let files = scenario.files.keys().take(1).map(|name| name.0.as_slice());
    let values: Vec<&[u8]> = VALUES.into_iter().chain(files).collect();
    let last = scenario.argv.len();
    let mut edits = Vec::new();
    for option in options {
        let mut spellings: Vec<Vec<Bytes>> = Vec::new();
        let spelling = &option.spelling;
        if option.takes != Takes::Argument {
            spellings.push(vec![Bytes(spelling.clone())]);
        }
        if option.takes != Takes::Nothing {
            for value in &values {
                let joint: &[u8] = match spelling.starts_with(b"--") {
                    true => b"=",
                    false => b"",
                };
                spellings.push(vec![Bytes([spelling, joint, value].concat())]);
            }
        }
        for words in spellings {
            // In front, where it is an option for certain, or else behind all others.
            edits.push(Edit::Words {
                at: 0,
                words: words.clone(),
            });
            if last > 0 {
                edits.push(Edit::Words { at: last, words });
            }
        }
    }
    edits
}

/// Ways to have a text in an input: among the words of the command line, or as a line of what is read. With how far-fetched that
/// is.
pub fn with_text(scenario: &Scenario, text: &[u8]) -> Vec<(Edit, u32)> {
    /// Words of one command line that are replaced or preceded.
    const MOST: usize = 8;
    if text.is_empty() || text.contains(&0) {
        return Vec::new();
    }
    let mut edits = Vec::new();
    let last = scenario.argv.len();
    // Tables have the names of options without dashes.
    let spellings: &[&[u8]] = match text[0] {
        b'-' => &[b""],
        _ => &[b"", b"-"],
    };
    for (far, dash) in (0..).zip(spellings) {
        let word = Bytes([dash, text].concat());
        let at = 0..last.min(MOST);
        edits.extend(at.map(|at| {
            let word = word.clone();
            (Edit::Instead { at, word }, far)
        }));
        let at = (0..=last.min(MOST)).chain((last > MOST).then_some(last));
        edits.extend(at.map(|at| {
            let words = vec![word.clone()];
            (Edit::Words { at, words }, far)
        }));
    }
    let stdin = (!scenario.stdin.is_empty()).then_some(Component::Stdin);
    let files = scenario.files.keys().take(2).cloned().map(Component::File);
    for component in stdin.into_iter().chain(files) {
        edits.push((
            Edit::Bytes {
                component,
                at: 0,
                removed: 0,
                inserted: [text, b"\n"].concat(),
                length: None,
            },
            2,
        ));
    }
    edits
}
