//! Changes of a scenario that no solver makes: other words on the command line, variables that are set, bytes that come in
//! between, with the lengths before them.

mod lengths;

pub use lengths::{Length, before, number_at};

use crate::core::turn::contents;
use parallax_scenario::{Bytes, Component, Scenario, Sink};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edit {
    /// These words come before the argument with this index.
    Words { at: usize, words: Vec<Bytes> },
    /// The argument with this index is another word.
    Instead { at: usize, word: Bytes },
    /// There is no argument with this index.
    Without { at: usize },
    /// The argument with one index comes to another.
    Move { from: usize, to: usize },
    /// A file has another name, in the arguments, too.
    Rename { from: Bytes, to: Bytes },
    /// A file is something else.
    File { file: Bytes, by: Becomes },
    /// A file is a symbolic link to another.
    Alias { file: Bytes, to: Bytes },
    /// A file has the contents of another.
    Copy { from: Bytes, to: Bytes },
    /// The files that arguments name are directories, each with an entry of this name that has their contents.
    Nested { entry: Bytes },
    /// Permissions of something that is there; empty: of the directory that all files lie in.
    Mode { path: Bytes, mode: u32 },
    /// What becomes of what the program prints.
    Output { sink: Sink },
    /// What becomes of its messages.
    Messages { sink: Sink },
    /// Standard input is not open.
    ClosedInput,
    /// Standard input is a pipe.
    PipedInput,
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

/// What a file can become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Becomes {
    Missing,
    Directory,
    Unreadable,
    /// A symbolic link that leads nowhere.
    Link,
    /// A symbolic link to itself.
    Loop,
}

impl Edit {
    /// Bytes of an input go, others come in their place, and nothing says how long it is.
    pub fn bytes(
        component: &Component,
        at: usize,
        removed: usize,
        inserted: impl Into<Vec<u8>>,
    ) -> Edit {
        Edit::Bytes {
            component: component.clone(),
            at,
            removed,
            inserted: inserted.into(),
            length: None,
        }
    }

    /// Whether nothing but arguments changes.
    pub fn is_of_arguments(&self) -> bool {
        let is_argument = |component: &Component| matches!(component, Component::Argument(_));
        match self {
            Edit::Words { .. }
            | Edit::Instead { .. }
            | Edit::Without { .. }
            | Edit::Move { .. } => true,
            Edit::Bytes { component, .. } => is_argument(component),
            _ => false,
        }
    }

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
            Edit::Without { at } => {
                if *at >= changed.argv.len() {
                    return None;
                }
                changed.argv.remove(*at);
            }
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
                if let (Component::Stream(number), Some(listening)) =
                    (component, &mut changed.listening)
                {
                    listening.note_change(*number as usize, *at, *removed, inserted.len());
                }
            }
            Edit::Rename { from, to } => {
                let contents = changed.files.remove(from)?;
                let is_taken = changed.files.contains_key(to)
                    || changed.directories.contains(to)
                    || changed.links.contains_key(to);
                if is_taken {
                    return None;
                }
                changed.files.insert(to.clone(), contents);
                for word in changed.argv.iter_mut().filter(|word| *word == from) {
                    word.clone_from(to);
                }
            }
            Edit::File { file, by } => become_something(&mut changed, file, *by)?,
            Edit::Alias { file, to } => {
                if file == to || !changed.files.contains_key(to) {
                    return None;
                }
                forget(&mut changed, file)?;
                changed.links.insert(file.clone(), beside(file, to)?);
            }
            Edit::Copy { from, to } => {
                let contents = changed.files.get(from)?.clone();
                *changed.files.get_mut(to)? = contents;
                changed.sizes.remove(to);
                changed.holes.remove(to);
            }
            Edit::Nested { entry } => nest(&mut changed, entry)?,
            Edit::Mode { path, mode } => {
                let is_there = path.is_empty()
                    || changed.files.contains_key(path)
                    || changed.directories.contains(path);
                if !is_there {
                    return None;
                }
                changed.modes.insert(path.clone(), *mode);
            }
            Edit::Output { sink } => changed.stdout.clone_from(sink),
            Edit::Messages { sink } => changed.stderr.clone_from(sink),
            Edit::ClosedInput => {
                changed.closed_stdin = true;
                changed.piped_stdin = false;
                changed.stdin = Bytes::default();
            }
            Edit::PipedInput => changed.piped_stdin = !changed.closed_stdin,
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

/// Takes a file out, with everything that is said about it; its contents. `None` if it is not there.
fn forget(scenario: &mut Scenario, file: &Bytes) -> Option<Bytes> {
    let contents = scenario.files.remove(file)?;
    for names in [&mut scenario.hard_links, &mut scenario.links] {
        names.retain(|name, to| name == file || to != file);
    }
    scenario.modes.remove(file);
    scenario.sizes.remove(file);
    scenario.holes.remove(file);
    scenario.times.remove(file);
    Some(contents)
}

fn become_something(scenario: &mut Scenario, file: &Bytes, by: Becomes) -> Option<()> {
    if by == Becomes::Unreadable {
        scenario.files.contains_key(file).then_some(())?;
        scenario.modes.insert(file.clone(), 0);
        return Some(());
    }
    forget(scenario, file)?;
    let name = file.rsplit(|byte| *byte == b'/').next()?;
    match by {
        Becomes::Directory => {
            scenario.directories.insert(file.clone());
        }
        Becomes::Link => {
            scenario.links.insert(file.clone(), b"nowhere".into());
        }
        Becomes::Loop => {
            scenario.links.insert(file.clone(), name.into());
        }
        Becomes::Missing | Becomes::Unreadable => {}
    }
    Some(())
}

/// What a link has to say that leads from one file to another; `None` if they do not lie in the same directory.
fn beside(from: &Bytes, to: &Bytes) -> Option<Bytes> {
    let split = |path: &Bytes| {
        let at = path.iter().rposition(|byte| *byte == b'/');
        let at = at.map_or(0, |at| at + 1);
        (path[..at].to_vec(), path[at..].to_vec())
    };
    let ((here, _), (there, name)) = (split(from), split(to));
    (here == there).then_some(Bytes(name))
}

/// The files that arguments name, each with the first such argument's index, in the order of the arguments.
pub fn operands(scenario: &Scenario) -> Vec<(usize, Bytes)> {
    let mut found: Vec<(usize, Bytes)> = Vec::new();
    for (at, word) in scenario.argv.iter().enumerate() {
        let path = match scenario.directory.is_empty() {
            true => word.clone(),
            false => Bytes([&scenario.directory[..], b"/", &word[..]].concat()),
        };
        let is_known = found.iter().any(|(_, known)| *known == path);
        if scenario.files.contains_key(&path) && !is_known {
            found.push((at, path));
        }
    }
    found
}

fn nest(scenario: &mut Scenario, entry: &Bytes) -> Option<()> {
    let mut is_new = false;
    for (_, file) in operands(scenario) {
        let contents = forget(scenario, &file)?;
        let inner = [&file[..], b"/", &entry[..]].concat();
        scenario.directories.insert(file);
        scenario.files.insert(Bytes(inner), contents);
        is_new = true;
    }
    is_new.then_some(())
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
    fn a_file_gets_another_name_or_becomes_something_else() {
        let old = Scenario {
            files: [(b"a".into(), b"text".into())].into(),
            ..scenario(&["-x", "a"])
        };
        let renamed = Edit::Rename {
            from: b"a".into(),
            to: b"a b".into(),
        };
        let new = renamed.apply(&old).unwrap();
        assert_eq!(new.argv, words(&["-x", "a b"]));
        assert_eq!(new.files[&b"a b".into()], b"text".into());
        let by = |by| {
            let file = b"a".into();
            Edit::File { file, by }.apply(&old).unwrap()
        };
        assert!(by(Becomes::Missing).files.is_empty());
        assert!(by(Becomes::Directory).directories.contains(&b"a".into()));
        assert_eq!(by(Becomes::Unreadable).modes[&b"a".into()], 0);
        assert_eq!(by(Becomes::Link).links.len(), 1);
    }

    #[test]
    fn files_become_links_copies_and_directories_with_an_entry() {
        let old = Scenario {
            files: [
                (b"d/a".into(), b"one".into()),
                (b"d/b".into(), b"two".into()),
            ]
            .into(),
            ..scenario(&["d/a", "d/b"])
        };
        let (a, b): (Bytes, Bytes) = (b"d/a".into(), b"d/b".into());
        let alias = Edit::Alias {
            file: b.clone(),
            to: a.clone(),
        };
        let new = alias.apply(&old).unwrap();
        assert_eq!(new.links[&b], b"a".into());
        assert_eq!(new.files.len(), 1);
        let copy = Edit::Copy {
            from: a.clone(),
            to: b.clone(),
        };
        assert_eq!(copy.apply(&old).unwrap().files[&b], b"one".into());
        let entry = b"x".into();
        let new = Edit::Nested { entry }.apply(&old).unwrap();
        assert_eq!(new.directories.len(), 2);
        assert_eq!(new.files[&b"d/b/x".into()], b"two".into());
        let by = Becomes::Loop;
        let new = Edit::File {
            file: a.clone(),
            by,
        }
        .apply(&old)
        .unwrap();
        assert_eq!(new.links[&a], b"a".into());
        assert_eq!(Edit::Without { at: 1 }.apply(&old).unwrap().argv.len(), 1);
        assert_eq!(Edit::Without { at: 2 }.apply(&old), None);
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
