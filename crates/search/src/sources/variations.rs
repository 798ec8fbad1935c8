//! What one input becomes when one thing about it changes: what the system answers, an option, a word, the data.
//!
//! The likeliest to show something new come first.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

use parallax_analysis::words::{OptionWord, Takes};

use super::spelling::spellings;
use super::tokens::{streams, words};
use super::vocabulary::Vocabulary;
use crate::edit::{Becomes, Edit, operands};
use parallax_scenario::{Bytes, Component, Scenario, Sink};

/// Files of one scenario that become something else.
const MOST_FILES: usize = 4;
/// Longer contents are not taken apart.
const LONGEST: usize = 64 << 10;
/// Arguments that are left out or replaced.
const MOST_WORDS: usize = 8;
/// What an option's argument is tried with: numbers, a word, programs that answer otherwise than the one that would be called.
const VALUES: [&[u8]; 7] = [
    b"1",
    b"0",
    b"A",
    b"echo",
    b"false",
    b"cat",
    b"99999999999999999999",
];
/// Locales that every system has.
const LOCALES: [&[u8]; 2] = [b"C.UTF-8", b"C"];
/// What nobody may write to.
const READ_ONLY: u32 = 0o555;

/// All changes of one thing.
pub fn variations(scenario: &Scenario, words: &Vocabulary) -> Vec<Edit> {
    let all = tiered(scenario, words).into_iter();
    all.map(|(_, edit)| edit).collect()
}

/// All changes of one thing, each with how far-fetched it is: 0 for what tests of such a program would have.
pub fn tiered(scenario: &Scenario, words: &Vocabulary) -> Vec<(u8, Edit)> {
    let mut edits: Vec<(u8, Edit)> = Vec::new();
    let mut add = |tier: u8, more: Vec<Edit>| {
        edits.extend(more.into_iter().map(|edit| (tier, edit)));
    };
    add(0, sent(scenario));
    add(0, surroundings(scenario));
    let named: Vec<Bytes> = operands(scenario)
        .into_iter()
        .map(|(at, _)| scenario.argv[at].clone())
        .collect();
    let mut first: Vec<&[u8]> = vec![VALUES[0]];
    first.extend(named.first().map(|word| &word[..]));
    for option in &words.options {
        add(0, with_option(scenario, option, &first));
    }
    add(0, arguments(scenario));
    add(0, numbers(scenario));
    add(0, contents(scenario));
    for (name, values) in &words.variables {
        let others = [b"".into(), b"true".into()];
        let set = values.iter().cloned().chain(others).map(|value| {
            let name = name.clone();
            Edit::Variable { name, value }
        });
        add(0, set.collect());
    }
    let end = scenario.argv.len();
    for phrase in &words.phrases {
        let at = |at| Edit::Words {
            at,
            words: phrase.clone(),
        };
        add(0, [0, end].map(at).into());
    }
    for option in &words.options {
        add(1, with_option(scenario, option, &VALUES[1..]));
    }
    for text in &words.texts {
        let instead = (0..end.min(MOST_WORDS)).map(|at| {
            let word = text.clone();
            Edit::Instead { at, word }
        });
        add(2, instead.collect());
        let at = |at| Edit::Words {
            at,
            words: vec![text.clone()],
        };
        add(1, [0, end].map(at).into());
    }
    for option in words
        .options
        .iter()
        .filter(|one| one.takes != Takes::Nothing)
    {
        let texts: Vec<&[u8]> = words.texts.iter().map(|text| &text[..]).collect();
        add(3, with_option(scenario, option, &texts));
    }
    let mut known = HashSet::new();
    edits.retain(|(_, edit)| known.insert(edit.clone()));
    edits
}

/// What kind of change it is: the same for changes of different inputs that are alike.
pub fn kind(edit: &Edit) -> u64 {
    /// So many bytes say what an insertion is.
    const BEGIN: usize = 8;
    let mut hasher = DefaultHasher::new();
    discriminant(edit).hash(&mut hasher);
    match edit {
        Edit::Words { at, words } => (*at == 0, words).hash(&mut hasher),
        Edit::Instead { word, .. } => word.hash(&mut hasher),
        Edit::Without { at } => at.hash(&mut hasher),
        Edit::Move { from, to } => (from, to).hash(&mut hasher),
        Edit::File { by, .. } => by.hash(&mut hasher),
        Edit::Mode { path, mode } => (path.is_empty(), mode).hash(&mut hasher),
        Edit::Output { sink } | Edit::Messages { sink } => sink.hash(&mut hasher),
        Edit::Variable { name, value } => (name, value).hash(&mut hasher),
        Edit::Bytes {
            at,
            removed,
            inserted,
            ..
        } => {
            let begin = &inserted[..inserted.len().min(BEGIN)];
            (*at == 0, *removed > 0, begin).hash(&mut hasher);
        }
        Edit::Rename { .. }
        | Edit::Alias { .. }
        | Edit::Copy { .. }
        | Edit::Nested { .. }
        | Edit::ClosedInput
        | Edit::PipedInput => {}
    }
    hasher.finish()
}

/// What the program finds otherwise.
fn surroundings(scenario: &Scenario) -> Vec<Edit> {
    let mut edits = vec![
        Edit::Output { sink: Sink::Full },
        Edit::Output { sink: Sink::Closed },
        Edit::ClosedInput,
        Edit::PipedInput,
        Edit::Messages { sink: Sink::Closed },
    ];
    let named: Vec<Bytes> = operands(scenario)
        .into_iter()
        .map(|(_, file)| file)
        .collect();
    let others = scenario.files.keys().filter(|file| !named.contains(file));
    let files: Vec<&Bytes> = named.iter().chain(others).take(MOST_FILES).collect();
    for file in &files {
        for by in [
            Becomes::Missing,
            Becomes::Directory,
            Becomes::Unreadable,
            Becomes::Link,
            Becomes::Loop,
        ] {
            let file = (*file).clone();
            edits.push(Edit::File { file, by });
        }
    }
    for (from, to) in files.iter().zip(files.iter().skip(1)) {
        let (from, to) = ((*from).clone(), (*to).clone());
        edits.push(Edit::Alias {
            file: to.clone(),
            to: from.clone(),
        });
        edits.push(Edit::Copy { from, to });
    }
    if !named.is_empty() {
        edits.push(Edit::Nested {
            entry: b"entry".into(),
        });
    }
    let places = std::iter::once(scenario.directory.clone());
    let places = places.chain(scenario.directories.iter().take(MOST_FILES).cloned());
    for path in places {
        for mode in [READ_ONLY, 0] {
            let path = path.clone();
            edits.push(Edit::Mode { path, mode });
        }
    }
    edits.extend(LOCALES.map(|value| Edit::Variable {
        name: b"LC_ALL".into(),
        value: value.into(),
    }));
    edits
}

/// An option in front, where it is one for certain, and behind all others; with each of the values if it takes one.
fn with_option(scenario: &Scenario, option: &OptionWord, values: &[&[u8]]) -> Vec<Edit> {
    let end = scenario.argv.len();
    let words = spellings(option, values).into_iter().map(|word| vec![word]);
    words
        .flat_map(|words| {
            [0, end].map(|at| Edit::Words {
                at,
                words: words.clone(),
            })
        })
        .collect()
}

/// Arguments that are left out, doubled, moved, or something else.
fn arguments(scenario: &Scenario) -> Vec<Edit> {
    const OTHERS: [&[u8]; 7] = [b"-", b"/dev/null", b".", b"", b"missing", b"--", b"0"];
    let end = scenario.argv.len();
    let mut edits = Vec::new();
    for at in 0..end.min(MOST_WORDS) {
        edits.push(Edit::Without { at });
        let words = vec![scenario.argv[at].clone()];
        edits.push(Edit::Words { at, words });
        if at > 0 {
            edits.push(Edit::Move { from: at, to: 0 });
            let word = scenario.argv[at - 1].clone();
            edits.push(Edit::Instead { at, word });
        }
    }
    for word in OTHERS {
        let word = Bytes::from(word);
        if let Some(at) = end.checked_sub(1) {
            let word = word.clone();
            edits.push(Edit::Instead { at, word });
        }
        let words = vec![word];
        edits.push(Edit::Words { at: end, words });
    }
    edits
}

/// Numbers in arguments that are too large for one type or the other, the largest of one, below zero, or not quite numbers.
fn numbers(scenario: &Scenario) -> Vec<Edit> {
    const OTHERS: [&[u8]; 6] = [
        b"99999999999999999999",
        b"9223372036854775807",
        b"2147483648",
        b"-1",
        b"0",
        b"1x",
    ];
    let mut edits = Vec::new();
    for (number, word) in (1..).zip(scenario.argv.iter().take(MOST_WORDS)) {
        let Some(at) = word.iter().position(u8::is_ascii_digit) else {
            continue;
        };
        let digits = word[at..].iter().take_while(|byte| byte.is_ascii_digit());
        let removed = digits.count();
        let word = Component::Argument(number);
        edits.extend(OTHERS.map(|inserted| Edit::bytes(&word, at, removed, inserted)));
    }
    edits
}

/// What a server's client sends, otherwise: bytes inside of words that protocols and logs have to escape or refuse, lines
/// that are missing, come twice or do not end.
fn sent(scenario: &Scenario) -> Vec<Edit> {
    const SPECIAL: [&[u8]; 13] = [
        b"\t", b"\xff", b"\"", b"\x08", b"%00", b"\x0b", b"\n", b"\\", b"\x7f", b"\x01", b"\r",
        b"\0", b"../",
    ];
    let mut edits = Vec::new();
    for (component, bytes) in streams(scenario) {
        if !matches!(component, Component::Stream(_)) {
            continue;
        }
        let mut change = |at: usize, removed: usize, inserted: &[u8]| {
            edits.push(Edit::bytes(&component, at, removed, inserted));
        };
        for word in words(bytes) {
            for inserted in SPECIAL {
                change(word.end, 0, inserted);
            }
            change(word.start, word.len(), b"");
        }
        let mut begin = 0;
        for line in bytes
            .split_inclusive(|byte| *byte == b'\n')
            .take(MOST_WORDS)
        {
            change(begin, line.len(), b"");
            change(begin, 0, line);
            let text = line.trim_ascii_end().len();
            change(begin + text, 0, &b"x".repeat(5000));
            change(begin + text, line.len() - text, b"");
            begin += line.len();
        }
    }
    edits
}

/// Data of another form.
fn contents(scenario: &Scenario) -> Vec<Edit> {
    let named = operands(scenario).into_iter().map(|(_, file)| file);
    let mut inputs: Vec<(Component, &Bytes)> = Vec::new();
    for file in named.take(MOST_FILES) {
        if let Some(bytes) = scenario.files.get(&file) {
            inputs.push((Component::File(file), bytes));
        }
    }
    let mut edits = Vec::new();
    if scenario.stdin.is_empty() {
        // What somebody types.
        let lines = ["x\n".to_owned(), "1\n".to_owned(), "x\n".repeat(4)];
        edits.extend(lines.map(|line| Edit::bytes(&Component::Stdin, 0, 0, line)));
    } else {
        inputs.push((Component::Stdin, &scenario.stdin));
    }
    for (component, bytes) in inputs {
        if bytes.len() > LONGEST {
            continue;
        }
        let mut change = |at: usize, removed: usize, inserted: &[u8]| {
            edits.push(Edit::bytes(&component, at, removed, inserted));
        };
        let end = bytes.len();
        change(0, end, b"");
        match bytes.strip_suffix(b"\n") {
            Some(_) => change(end - 1, 1, b""),
            None => change(end, 0, b"\n"),
        }
        let first = bytes.iter().position(|byte| *byte == b'\n');
        let first = first.map_or(end, |at| at + 1);
        change(0, first, b"");
        change(0, 0, &bytes[..first]);
        change(end, 0, &bytes[..first]);
        change(end, 0, bytes);
        let half = end / 2;
        change(half, end - half, b"");
        for inserted in [
            &b"\0"[..],
            b"\xff",
            b"\n",
            b"\r\n",
            b"\t ",
            b"\xc3\xa9",
            b"x\n",
        ] {
            change(0, 0, inserted);
            change(end, 0, inserted);
        }
        let line = [&b"x".repeat(5000)[..], b"\n"].concat();
        change(0, 0, &line);
        let crs: Vec<u8> = bytes
            .iter()
            .flat_map(|byte| match byte {
                b'\n' => &b"\r\n"[..],
                other => std::slice::from_ref(other),
            })
            .copied()
            .collect();
        change(0, end, &crs);
        change(0, end, &bytes.to_ascii_uppercase());
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_scenario::Listening;

    #[test]
    fn every_variation_is_another_input_and_no_two_are_the_same_change() {
        let scenario = Scenario {
            argv: vec![b"-x".into(), b"a".into(), b"b".into(), b"-k12c".into()],
            files: [(b"a".into(), b"1\n2\n".into()), (b"b".into(), b"3".into())].into(),
            ..Scenario::default()
        };
        let words = Vocabulary {
            options: vec![OptionWord {
                spelling: b"-n".to_vec(),
                takes: Takes::Argument,
                value: 0,
                flag: None,
            }],
            texts: vec![b"text".into()],
            ..Vocabulary::default()
        };
        let edits = variations(&scenario, &words);
        let distinct: HashSet<&Edit> = edits.iter().collect();
        assert_eq!(distinct.len(), edits.len());
        let changed: HashSet<Scenario> = edits.iter().filter_map(|e| e.apply(&scenario)).collect();
        let has = |is_it: &dyn Fn(&Scenario) -> bool| changed.iter().any(is_it);
        assert!(has(&|new| new.argv.first() == Some(&b"-n1".into())));
        assert!(has(&|new| new.argv.last() == Some(&b"-ntext".into())));
        assert!(has(&|new| new.argv.get(3) == Some(&b"-k2147483648c".into())));
        assert!(has(&|new| new.stdout == Sink::Full));
        assert!(has(&|new| new.files.contains_key(&Bytes::from(b"b/entry"))));
        assert!(has(
            &|new| new.links.get(&Bytes::from(b"b")) == Some(&b"a".into())
        ));
        assert!(has(&|new| new.modes.contains_key(&Bytes::default())));
        let first = Bytes::from(b"a");
        assert!(has(&|new| new
            .files
            .get(&first)
            .is_some_and(|bytes| bytes.is_empty())));
    }

    #[test]
    fn what_clients_send_is_changed_inside_of_words_and_by_lines() {
        let scenario = Scenario {
            streams: vec![b"GET / HTTP/1.0\r\nHost: a\r\n".into()],
            listening: Some(Listening::default()),
            ..Scenario::default()
        };
        let edits = variations(&scenario, &Vocabulary::default());
        let changed: HashSet<Vec<u8>> = edits
            .iter()
            .filter_map(|edit| edit.apply(&scenario))
            .map(|new| new.streams[0].to_vec())
            .collect();
        for expected in [
            &b"GET / HTTP/1.0\r\nHost: a\t\r\n"[..],
            b"GET /../ HTTP/1.0\r\nHost: a\r\n",
            b"Host: a\r\n",
            b"GET / HTTP/1.0Host: a\r\n",
            b"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n",
        ] {
            assert!(changed.contains(expected), "{}", expected.escape_ascii());
        }
    }
}
