//! Changes of a scenario that no solver makes: other words on the command line, variables that are set, bytes that come in
//! between, with the lengths before them.

mod lengths;

pub use lengths::{Length, before, number_at};

use crate::question::contents;
use crate::scenario::{Bytes, Component, Scenario};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edit {
    /// These words come before the argument with this index.
    Words { at: usize, words: Vec<Bytes> },
    /// The argument with this index is another word.
    Instead { at: usize, word: Bytes },
    /// The argument with one index comes to another.
    Move { from: usize, to: usize },
    /// An environment variable has this value.
    Variable { name: Bytes, value: Bytes },
    /// Bytes of an input go, others come in their place; what says how long it is changes with it.
    Bytes {
        component: Component,
        at: usize,
        removed: usize,
        inserted: Vec<u8>,
        length: Option<Length>,
    },
}

impl Edit {
    /// The scenario with the change; `None` if that changes nothing or has no place.
    pub fn apply(&self, scenario: &Scenario) -> Option<Scenario> {
        let mut changed = scenario.clone();
        match self {
            Edit::Words { at, words } => {
                if *at > changed.argv.len() {
                    return None;
                }
                changed.argv.splice(at..at, words.iter().cloned());
            }
            Edit::Instead { at, word } => changed.argv.get_mut(*at)?.clone_from(word),
            Edit::Move { from, to } => {
                if *from >= changed.argv.len() || *to >= changed.argv.len() {
                    return None;
                }
                let word = changed.argv.remove(*from);
                changed.argv.insert(*to, word);
            }
            Edit::Bytes {
                component,
                at,
                removed,
                inserted,
                length,
            } => {
                let bytes = contents(&mut changed, component)?;
                let end = at.checked_add(*removed)?;
                if end > bytes.len() {
                    return None;
                }
                bytes.splice(*at..end, inserted.iter().copied());
                if let Some(length) = length {
                    length.add(bytes, inserted.len() as i64 - *removed as i64)?;
                }
            }
            Edit::Variable { name, value } => {
                changed.env.insert(name.clone(), value.clone());
                // Where the whole environment is given, it is part of it.
                if let Some(order) = &mut changed.env_order
                    && !order.contains(name)
                {
                    order.push(name.clone());
                }
            }
        }
        (changed != *scenario).then_some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(arguments: &[&str]) -> Scenario {
        Scenario {
            argv: words(arguments),
            ..Scenario::default()
        }
    }

    fn words(texts: &[&str]) -> Vec<Bytes> {
        texts.iter().map(|text| text.as_bytes().into()).collect()
    }

    #[test]
    fn words_come_before_an_argument_or_in_its_place() {
        let old = scenario(&["a", "b"]);
        let more = Edit::Words {
            at: 1,
            words: words(&["-x", "1"]),
        };
        assert_eq!(more.apply(&old), Some(scenario(&["a", "-x", "1", "b"])));
        let other = Edit::Instead {
            at: 1,
            word: b"c".into(),
        };
        assert_eq!(other.apply(&old), Some(scenario(&["a", "c"])));
        assert_eq!(other.apply(&scenario(&["a", "c"])), None);
        assert_eq!(other.apply(&scenario(&["a"])), None);
    }

    #[test]
    fn an_argument_comes_to_another_place() {
        let old = scenario(&["a", "b", "c"]);
        let moved = Edit::Move { from: 2, to: 0 };
        assert_eq!(moved.apply(&old), Some(scenario(&["c", "a", "b"])));
        assert_eq!(moved.apply(&scenario(&["a", "b"])), None);
    }

    #[test]
    fn bytes_come_in_between_and_the_number_before_them_says_so() {
        let old = Scenario {
            stdin: b"9:abcdefghi;".into(),
            ..Scenario::default()
        };
        let edit = |removed: usize, inserted: &[u8], length: Option<Length>| Edit::Bytes {
            component: Component::Stdin,
            at: 4,
            removed,
            inserted: inserted.to_vec(),
            length,
        };
        let length = before(&old.stdin, 4).into_iter().next();
        let stdin = |edit: Edit| edit.apply(&old).map(|new| new.stdin.0);
        assert_eq!(stdin(edit(0, b"X", length)).unwrap(), b"10:abXcdefghi;");
        assert_eq!(stdin(edit(2, b"", length)).unwrap(), b"7:abefghi;");
        assert_eq!(stdin(edit(0, b"X", None)).unwrap(), b"9:abXcdefghi;");
        assert_eq!(stdin(edit(9, b"", None)), None);
    }

    #[test]
    fn a_variable_becomes_part_of_an_environment_that_is_given_as_a_whole() {
        let old = Scenario {
            env_order: Some(Vec::new()),
            ..Scenario::default()
        };
        let set = Edit::Variable {
            name: b"MODE".into(),
            value: b"1".into(),
        };
        let new = set.apply(&old).unwrap();
        assert_eq!(new.env_order, Some(vec![b"MODE".into()]));
        assert_eq!(new.env.len(), 1);
    }
}
