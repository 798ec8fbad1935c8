//! Changing single bytes of a scenario, as a solver's model says.
//!
//! A byte is named by the component that it belongs to and its offset there. Some bytes are more than
//! contents: the terminator of an argument made non-zero means a longer argument, a byte of it made zero
//! a shorter one, and the number of arguments adds or removes some.

use std::collections::BTreeMap;

use super::{Bytes, Scenario};

/// A part of a scenario that input bytes are counted in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Component {
    /// Four bytes, little endian; the program's name counts.
    ArgumentCount,
    /// By number; 1 is the first after the program's name.
    Argument(u32),
    Stdin,
    /// By path relative to the working directory.
    File(Bytes),
    /// Value of a variable.
    Environment(Bytes),
    Stream(u32),
    Object(u32),
}

/// One byte of input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable {
    pub component: Component,
    pub offset: u64,
}

/// Arguments that one change may add.
const MAX_ADDED_ARGUMENTS: usize = 8;
/// What an added argument is at first; tracing tells what else it could be.
const ADDED_ARGUMENT: &[u8] = b"A";

/// The scenario with some bytes changed; `None` if one of them is not the scenario's to change.
pub fn apply(scenario: &Scenario, changes: &BTreeMap<Variable, u8>) -> Option<Scenario> {
    let mut changed = scenario.clone();
    let count = changes
        .iter()
        .filter(|(at, _)| at.component == Component::ArgumentCount);
    let mut number = (scenario.argv.len() as u32 + 1).to_le_bytes();
    for (at, byte) in count {
        *number.get_mut(usize::try_from(at.offset).ok()?)? = *byte;
    }
    let arguments = usize::try_from(u32::from_le_bytes(number))
        .ok()?
        .checked_sub(1)?;
    if arguments > scenario.argv.len() + MAX_ADDED_ARGUMENTS {
        return None;
    }
    changed.argv.resize(arguments, ADDED_ARGUMENT.into());
    // Offsets of a component come in ascending order: a terminator that moves is filled in before it is passed.
    for (at, byte) in changes {
        let bytes = match &at.component {
            Component::ArgumentCount => continue,
            Component::Argument(number) => {
                let index = (*number as usize).checked_sub(1)?;
                match changed.argv.get_mut(index) {
                    Some(argument) => argument,
                    // Removed by the same change.
                    None if index < scenario.argv.len() => continue,
                    None => return None,
                }
            }
            Component::Stdin => &mut changed.stdin,
            Component::File(path) => changed.files.get_mut(path)?,
            Component::Environment(name) => changed.env.get_mut(name)?,
            Component::Stream(number) => changed.streams.get_mut(*number as usize)?,
            Component::Object(number) => &mut changed.objects.get_mut(*number as usize)?.bytes,
        };
        let offset = usize::try_from(at.offset).ok()?;
        if let Some(place) = bytes.get_mut(offset) {
            *place = *byte;
        } else if offset == bytes.len() {
            bytes.push(*byte);
        } else {
            return None;
        }
    }
    for argument in &mut changed.argv {
        end_at_zero(argument);
    }
    for value in changed.env.values_mut() {
        end_at_zero(value);
    }
    Some(changed)
}

/// Strings end at their first zero byte.
fn end_at_zero(bytes: &mut Bytes) {
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(list: &[(Component, u64, u8)]) -> BTreeMap<Variable, u8> {
        let change = |(component, offset, byte): &(Component, u64, u8)| {
            let component = component.clone();
            (
                Variable {
                    component,
                    offset: *offset,
                },
                *byte,
            )
        };
        list.iter().map(change).collect()
    }

    fn with_arguments(arguments: &[&str]) -> Scenario {
        let argv = arguments
            .iter()
            .map(|text| text.as_bytes().into())
            .collect();
        Scenario {
            argv,
            ..Scenario::default()
        }
    }

    fn applied(scenario: &Scenario, list: &[(Component, u64, u8)]) -> Vec<String> {
        let changed = apply(scenario, &changes(list)).unwrap();
        let text = |bytes: &Bytes| String::from_utf8(bytes.0.clone()).unwrap();
        changed.argv.iter().map(text).collect()
    }

    #[test]
    fn a_byte_changes_where_it_is() {
        let scenario = with_arguments(&["abc", "def"]);
        let argument = Component::Argument(2);
        assert_eq!(applied(&scenario, &[(argument, 1, b'X')]), ["abc", "dXf"]);
    }

    #[test]
    fn a_terminator_that_is_not_zero_lengthens_the_argument() {
        let scenario = with_arguments(&["ab"]);
        let list = [(Component::Argument(1), 2, b'c')];
        assert_eq!(applied(&scenario, &list), ["abc"]);
    }

    #[test]
    fn a_zero_shortens_the_argument() {
        let scenario = with_arguments(&["abc"]);
        let list = [
            (Component::Argument(1), 1, 0),
            (Component::Argument(1), 2, b'x'),
        ];
        assert_eq!(applied(&scenario, &list), ["a"]);
    }

    #[test]
    fn the_count_adds_and_removes_arguments() {
        let scenario = with_arguments(&["a", "b"]);
        assert_eq!(
            applied(&scenario, &[(Component::ArgumentCount, 0, 2)]),
            ["a"]
        );
        assert_eq!(
            applied(&scenario, &[(Component::ArgumentCount, 0, 4)]),
            ["a", "b", "A"]
        );
        let many = changes(&[(Component::ArgumentCount, 1, 1)]);
        assert_eq!(apply(&scenario, &many), None);
        let none = changes(&[(Component::ArgumentCount, 0, 0)]);
        assert_eq!(apply(&scenario, &none), None);
    }

    #[test]
    fn bytes_of_unknown_files_cannot_be_changed() {
        let scenario = with_arguments(&[]);
        let file = Component::File(b"/etc/passwd".into());
        assert_eq!(apply(&scenario, &changes(&[(file, 0, 1)])), None);
    }

    #[test]
    fn input_grows_only_at_its_end() {
        let scenario = Scenario {
            stdin: b"ab".into(),
            ..Scenario::default()
        };
        let grown = apply(&scenario, &changes(&[(Component::Stdin, 2, b'c')])).unwrap();
        assert_eq!(grown.stdin, Bytes::from(b"abc"));
        assert_eq!(
            apply(&scenario, &changes(&[(Component::Stdin, 3, b'c')])),
            None
        );
    }
}
