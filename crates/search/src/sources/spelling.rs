//! How words that a program looks for come into its input.

use parallax_analysis::words::{OptionWord, System, Takes};

use crate::edit::{Becomes, Edit};
use parallax_scenario::{Bytes, Component, Scenario, Sink};

/// What an option's argument is tried with, besides names of files.
const VALUES: [&[u8]; 2] = [b"1", b"A"];

/// The ways to add one of some options to a command line.
/// Their arguments are texts that the program compares with, if any are known.
pub fn with_options(scenario: &Scenario, options: &[OptionWord], texts: &[Vec<u8>]) -> Vec<Edit> {
    let files = scenario.files.keys().take(1).map(|name| name.0.as_slice());
    let texts = texts.iter().map(Vec::as_slice);
    let values: Vec<&[u8]> = texts.chain(VALUES).chain(files).collect();
    let last = scenario.argv.len();
    let mut edits = Vec::new();
    for option in options {
        for word in spellings(option, &values) {
            let words = vec![word];
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

/// An option as a word: by itself if it can be, and with each of the values if it takes one.
pub fn spellings(option: &OptionWord, values: &[&[u8]]) -> Vec<Bytes> {
    let spelling = &option.spelling;
    let mut words = Vec::new();
    if option.takes != Takes::Argument {
        words.push(Bytes(spelling.clone()));
    }
    if option.takes != Takes::Nothing {
        let joint: &[u8] = match spelling.starts_with(b"--") {
            true => b"=",
            false => b"",
        };
        let joined = values.iter().map(|value| [spelling, joint, value].concat());
        words.extend(joined.map(Bytes));
    }
    words
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
    // As the argument of an option.
    for (at, word) in scenario.argv.iter().enumerate().take(MOST) {
        let joint = word.iter().position(|byte| *byte == b'=');
        if let Some(joint) = joint
            && word.starts_with(b"--")
        {
            let word = Bytes([&word[..=joint], text].concat());
            edits.push((Edit::Instead { at, word }, 0));
        }
    }
    let stdin = (!scenario.stdin.is_empty()).then_some(Component::Stdin);
    let files = scenario.files.keys().take(2).cloned().map(Component::File);
    for component in stdin.into_iter().chain(files) {
        edits.push((Edit::bytes(&component, 0, 0, [text, b"\n"].concat()), 2));
    }
    edits
}

/// Files of one scenario that become something else.
const MOST_FILES: usize = 3;

/// Ways to let the system answer otherwise.
pub fn with_system(scenario: &Scenario, system: System) -> Vec<Edit> {
    let files = || scenario.files.keys().take(MOST_FILES).cloned();
    let becoming = |by: Becomes| files().map(move |file| Edit::File { file, by });
    let mut edits = Vec::new();
    match system {
        System::Opening => {
            edits.extend(becoming(Becomes::Missing));
            edits.extend(becoming(Becomes::Unreadable));
            edits.extend(becoming(Becomes::Directory));
            edits.extend(with_word(scenario, b"missing"));
            edits.push(Edit::ClosedInput);
            // Nothing can be made or removed there.
            let path = scenario.directory.clone();
            edits.push(Edit::Mode { path, mode: 0o555 });
        }
        System::Kind => {
            edits.extend(becoming(Becomes::Directory));
            edits.extend(becoming(Becomes::Link));
            for name in [&b"."[..], b"/dev/null", b"-"] {
                edits.extend(with_word(scenario, name));
            }
            edits.extend([Edit::ClosedInput, Edit::PipedInput]);
            edits.push(Edit::Nested {
                entry: b"entry".into(),
            });
            let mut others = files().skip(1);
            if let (Some(to), Some(file)) = (files().next(), others.next()) {
                edits.push(Edit::Alias { file, to });
            }
        }
        System::Writing => {
            for sink in [Sink::Full, Sink::Closed] {
                edits.push(Edit::Output { sink });
            }
        }
        System::Locale => edits.push(Edit::Variable {
            name: b"LC_ALL".into(),
            value: b"C.UTF-8".into(),
        }),
    }
    edits
}

/// A word at the end, and in place of the last.
fn with_word(scenario: &Scenario, word: &[u8]) -> Vec<Edit> {
    let end = scenario.argv.len();
    let more = Edit::Words {
        at: end,
        words: vec![word.into()],
    };
    let other = end.checked_sub(1).map(|at| Edit::Instead {
        at,
        word: word.into(),
    });
    std::iter::once(more).chain(other).collect()
}

/// Names that programs have to quote.
pub fn renamed(scenario: &Scenario) -> Vec<Edit> {
    const NAMES: [&[u8]; 5] = [b"a b", b"a\"b", b"a\\b", b"a\nb", b"a\x01\xc3\xa9"];
    let files = scenario
        .files
        .keys()
        .filter(|name| scenario.argv.contains(name));
    let first = files.take(1);
    let names = first.flat_map(|from| NAMES.map(|to| (from.clone(), Bytes::from(to))));
    names.map(|(from, to)| Edit::Rename { from, to }).collect()
}
