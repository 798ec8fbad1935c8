//! What can be left out of a scenario as a whole.

use crate::scenario::{Bytes, Scenario};

/// A part that a scenario can do without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Argument(usize),
    Variable(Bytes),
    Stdin,
    Stream(usize),
    File(Bytes),
    Link(Bytes),
    Directory(Bytes),
    Mode(Bytes),
    Umask,
    Name,
}

/// All pieces; those that matter least come last, because they are tried first.
pub(super) fn all(scenario: &Scenario) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = (0..scenario.argv.len()).map(Piece::Argument).collect();
    if !scenario.stdin.is_empty() {
        pieces.push(Piece::Stdin);
    }
    pieces.extend((0..scenario.streams.len()).map(Piece::Stream));
    pieces.extend(scenario.files.keys().cloned().map(Piece::File));
    pieces.extend(scenario.links.keys().cloned().map(Piece::Link));
    pieces.extend(scenario.directories.iter().cloned().map(Piece::Directory));
    pieces.extend(scenario.modes.keys().cloned().map(Piece::Mode));
    pieces.extend(scenario.env.keys().cloned().map(Piece::Variable));
    pieces.extend(scenario.umask.map(|_| Piece::Umask));
    pieces.extend(scenario.name.as_ref().map(|_| Piece::Name));
    pieces
}

/// The scenario without some of its pieces.
pub(super) fn without(scenario: &Scenario, pieces: &[Piece]) -> Scenario {
    let mut rest = scenario.clone();
    // From the last on, so that numbers stay what they are.
    for piece in pieces.iter().rev() {
        match piece {
            Piece::Argument(index) => {
                rest.argv.remove(*index);
            }
            Piece::Variable(name) => {
                rest.env.remove(name);
            }
            Piece::Stdin => rest.stdin.clear(),
            Piece::Stream(index) => {
                rest.streams.remove(*index);
                if let Some(listening) = &mut rest.listening
                    && *index < listening.pauses.len()
                {
                    listening.pauses.remove(*index);
                }
            }
            Piece::File(path) => {
                rest.files.remove(path);
                rest.modes.remove(path);
            }
            Piece::Link(path) => {
                rest.links.remove(path);
            }
            Piece::Directory(path) => {
                rest.directories.remove(path);
                rest.modes.remove(path);
            }
            Piece::Mode(path) => {
                rest.modes.remove(path);
            }
            Piece::Umask => rest.umask = None,
            Piece::Name => rest.name = None,
        }
    }
    rest
}
