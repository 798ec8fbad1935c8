//! Words inside of what a program reads: others in their place, longer ones, numbers with more digits.
//!
//! A solver chooses bytes, it does not move them: a key of a configuration file that is one letter longer shifts all that
//! follows, and a number of one digit is never 123456. So words come and go as a whole.

use std::ops::Range;

use crate::edit::Edit;
use parallax_scenario::{Component, Scenario};

/// Words of one input that others come in place of.
const MOST_WORDS: usize = 12;
/// Lines of one input that become longer.
const MOST_LINES: usize = 4;
/// Files that are looked into.
const MOST_FILES: usize = 2;
/// Connections that are looked into.
const MOST_STREAMS: usize = 2;
/// Inputs are not looked into beyond this.
const FAR: usize = 64 << 10;
/// Longer inputs than this are not made.
const LONGEST: u64 = 64 << 10;
/// Numbers of one input that get more digits.
const MOST_NUMBERS: usize = 6;

/// Whether a byte belongs to words.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./".contains(&byte) || byte >= 0x80
}

/// What is read: what a server's clients send, standard input and the first files.
pub fn streams(scenario: &Scenario) -> Vec<(Component, &[u8])> {
    let sent = (0..).zip(&scenario.streams).take(MOST_STREAMS);
    let sent = sent.map(|(number, bytes)| (Component::Stream(number), bytes.as_slice()));
    let stdin = (Component::Stdin, scenario.stdin.as_slice());
    let files = scenario.files.iter().take(MOST_FILES);
    let files = files.map(|(name, bytes)| (Component::File(name.clone()), bytes.as_slice()));
    let all = sent.chain([stdin]).chain(files);
    all.map(|(component, bytes)| (component, &bytes[..bytes.len().min(FAR)]))
        .filter(|(_, bytes)| !bytes.is_empty())
        .collect()
}

/// The words in some bytes, each text once.
pub fn words(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() && words.len() < MOST_WORDS {
        let length = bytes[at..]
            .iter()
            .take_while(|byte| is_of_word(**byte))
            .count();
        let word = at..at + length;
        let is_new = || {
            words
                .iter()
                .all(|known| bytes[known.clone()] != bytes[word.clone()])
        };
        if length > 0 && is_new() {
            words.push(word);
        }
        at += length.max(1);
    }
    words
}

/// The line around some bytes, with its end.
fn line_around(bytes: &[u8], word: &Range<usize>) -> Range<usize> {
    let begin = bytes[..word.start].iter().rposition(|byte| *byte == b'\n');
    let end = bytes[word.end..].iter().position(|byte| *byte == b'\n');
    begin.map_or(0, |at| at + 1)..end.map_or(bytes.len(), |at| word.end + at + 1)
}

/// Ways to have a text in place of a word that is read, with how far-fetched that is. Words that the program knows, too, are
/// likely to stand where it looks for the text.
pub fn in_place(
    scenario: &Scenario,
    text: &[u8],
    is_known: &dyn Fn(&[u8]) -> bool,
) -> Vec<(Edit, u32)> {
    let mut edits = Vec::new();
    for (component, bytes) in streams(scenario) {
        for word in words(bytes) {
            if bytes[word.clone()] == *text {
                continue;
            }
            let far = if is_known(&bytes[word.clone()]) { 0 } else { 2 };
            let replaced = Edit::bytes(&component, word.start, word.len(), text);
            edits.push((replaced, far));
            // Beside the line as it is: that may be needed as well.
            let line = line_around(bytes, &word);
            let mut inserted = [
                &bytes[line.start..word.start],
                text,
                &bytes[word.end..line.end],
            ]
            .concat();
            let mut places = match inserted.last() {
                Some(b'\n') if bytes.ends_with(b"\n") => vec![line.end, bytes.len()],
                Some(b'\n') => vec![line.end],
                _ => {
                    inserted.push(b'\n');
                    vec![line.start]
                }
            };
            places.dedup();
            for at in places {
                let beside = Edit::bytes(&component, at, 0, inserted.clone());
                edits.push((beside, far + 1));
            }
        }
    }
    edits
}

/// Ways to let a word, a line or an argument be so long.
pub fn lengthened(scenario: &Scenario, length: u64) -> Vec<(Edit, u32)> {
    let mut edits = Vec::new();
    let Some(length) = (length <= LONGEST)
        .then(|| usize::try_from(length).ok())
        .flatten()
    else {
        return edits;
    };
    let mut longer = |component: &Component, bytes: &[u8], part: Range<usize>, far: u32| {
        let Some(missing) = length
            .checked_sub(part.len())
            .filter(|missing| *missing > 0)
        else {
            return;
        };
        let same = match part.is_empty() {
            true => b'A',
            false => bytes[part.end - 1],
        };
        let edit = Edit::bytes(component, part.end, 0, vec![same; missing]);
        edits.push((edit, far));
    };
    for (number, word) in (1..).zip(scenario.argv.iter().take(MOST_WORDS)) {
        longer(&Component::Argument(number), word, 0..word.len(), 0);
    }
    for (component, bytes) in streams(scenario) {
        for word in words(bytes) {
            longer(&component, bytes, word, 0);
        }
        let mut begin = 0;
        for line in bytes.split(|byte| *byte == b'\n').take(MOST_LINES) {
            longer(&component, bytes, begin..begin + line.len(), 1);
            begin += line.len() + 1;
        }
    }
    edits
}

/// Numbers with zeros before them, so that others of so many digits have room: the value stays, and with it the path.
pub fn padded(scenario: &Scenario, digits: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    let arguments = (1..).zip(scenario.argv.iter().take(MOST_WORDS));
    let arguments = arguments.map(|(number, word)| (Component::Argument(number), word.as_slice()));
    for (component, bytes) in arguments.chain(streams(scenario)) {
        let mut at = 0;
        let mut count = 0;
        while at < bytes.len() && count < MOST_NUMBERS {
            let rest = bytes[at..].iter();
            let length = rest.take_while(|byte| byte.is_ascii_digit()).count();
            if (1..digits).contains(&length) {
                edits.push(Edit::bytes(&component, at, 0, vec![b'0'; digits - length]));
                count += 1;
            }
            at += length.max(1);
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(text: &str) -> Scenario {
        Scenario {
            stdin: text.as_bytes().into(),
            ..Scenario::default()
        }
    }

    fn results(scenario: &Scenario, edits: Vec<(Edit, u32)>) -> Vec<(String, u32)> {
        let text = |(edit, far): (Edit, u32)| {
            let stdin = edit.apply(scenario).unwrap().stdin;
            (String::from_utf8(stdin.0).unwrap(), far)
        };
        edits.into_iter().map(text).collect()
    }

    #[test]
    fn a_text_comes_in_place_of_words_and_in_a_line_of_its_own() {
        let old = reading("[top]\nport=80");
        let edits = in_place(&old, b"verbose", &|word| word == b"port");
        let expected = [
            ("[verbose]\nport=80", 2),
            ("[top]\n[verbose]\nport=80", 3),
            ("[top]\nverbose=80", 0),
            ("[top]\nverbose=80\nport=80", 1),
            ("[top]\nport=verbose", 2),
            ("[top]\nport=verbose\nport=80", 3),
        ];
        assert_eq!(
            results(&old, edits),
            expected.map(|(text, far)| (text.to_owned(), far))
        );
    }

    #[test]
    fn words_and_lines_become_as_long_as_is_needed() {
        let old = reading("[ab] c\n");
        let texts = results(&old, lengthened(&old, 4));
        let expected = [("[abbb] c\n", 0), ("[ab] cccc\n", 0), ("[ab] c\nAAAA", 1)];
        assert_eq!(texts, expected.map(|(text, far)| (text.to_owned(), far)));
        assert!(lengthened(&old, LONGEST + 1).is_empty());
    }

    #[test]
    fn numbers_keep_their_value_and_get_more_digits() {
        let old = reading("x=12; y=345");
        let edits = padded(&old, 3).into_iter().map(|edit| (edit, 0));
        let texts = results(&old, edits.collect());
        assert_eq!(texts, [("x=012; y=345".to_owned(), 0)]);
    }
}
