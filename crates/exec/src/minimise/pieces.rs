//! What can be left out of a scenario as a whole.

use parallax_scenario::{Bytes, Scenario, Sink};

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
    HardLink(Bytes),
    Pipe(Bytes),
    Size(Bytes),
    Holes(Bytes),
    Time(Bytes),
    Listing(Bytes),
    Elsewhere(Bytes),
    PipedStdin,
    Sinks,
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
    pieces.extend(scenario.hard_links.keys().cloned().map(Piece::HardLink));
    pieces.extend(scenario.pipes.iter().cloned().map(Piece::Pipe));
    pieces.extend(scenario.sizes.keys().cloned().map(Piece::Size));
    pieces.extend(scenario.holes.keys().cloned().map(Piece::Holes));
    pieces.extend(scenario.times.keys().cloned().map(Piece::Time));
    pieces.extend(scenario.listings.keys().cloned().map(Piece::Listing));
    pieces.extend(scenario.elsewhere.keys().cloned().map(Piece::Elsewhere));
    if scenario.piped_stdin {
        pieces.push(Piece::PipedStdin);
    }
    if [&scenario.stdout, &scenario.stderr] != [&Sink::Read; 2] {
        pieces.push(Piece::Sinks);
    }
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
                rest.sizes.remove(path);
                rest.holes.remove(path);
                rest.hard_links.retain(|_, file| file != path);
                forget(&mut rest, path);
            }
            Piece::Link(path) => {
                rest.links.remove(path);
            }
            Piece::Directory(path) => {
                rest.directories.remove(path);
                forget(&mut rest, path);
            }
            Piece::Mode(path) => {
                rest.modes.remove(path);
            }
            Piece::HardLink(path) => {
                rest.hard_links.remove(path);
            }
            Piece::Pipe(path) => {
                rest.pipes.remove(path);
                forget(&mut rest, path);
            }
            Piece::Size(path) => {
                rest.sizes.remove(path);
            }
            Piece::Holes(path) => {
                rest.holes.remove(path);
            }
            Piece::Time(path) => {
                rest.times.remove(path);
            }
            Piece::Listing(path) => {
                rest.listings.remove(path);
            }
            Piece::Elsewhere(place) => {
                rest.elsewhere.remove(place);
            }
            Piece::PipedStdin => rest.piped_stdin = false,
            Piece::Sinks => [rest.stdout, rest.stderr] = [const { Sink::Read }; 2],
            Piece::Umask => rest.umask = None,
            Piece::Name => rest.name = None,
        }
    }
    rest
}

/// What is known of a path besides what is there.
fn forget(scenario: &mut Scenario, path: &Bytes) {
    scenario.modes.remove(path);
    scenario.times.remove(path);
}
