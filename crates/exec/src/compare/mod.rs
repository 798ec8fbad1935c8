//! Whether two runs showed the same.
//!
//! Ends are compared as they are, outputs after [`normalise`] has taken out what differs between any two runs:
//! addresses, process numbers, times, names of temporary files, and what the program itself is called. What is left
//! is the program's doing.

mod calendar;
mod chance;
mod lines;
mod normalise;

use serde::Serialize;

use crate::finding::signal_name;
use parallax_scenario::{Bytes, Ending};

pub use lines::{Diff, Line, diff};
pub use normalise::{Names, Window};
use normalise::{named, normalise};

/// Something that two runs did not do alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "in")]
pub enum Difference {
    /// How they ended.
    End {
        one: String,
        other: String,
    },
    Stdout(Diff),
    Stderr(Diff),
    /// What a server answered to one of its clients.
    Answer {
        connection: usize,
        #[serde(flatten)]
        diff: Diff,
    },
}

impl Difference {
    /// What differs, for people.
    pub fn part(&self) -> String {
        match self {
            Difference::End { .. } => "end".into(),
            Difference::Stdout(_) => "stdout".into(),
            Difference::Stderr(_) => "stderr".into(),
            Difference::Answer { connection, .. } => format!("answer {}", connection + 1),
        }
    }

    /// The lines that differ, if it is about lines.
    pub fn diff(&self) -> Option<&Diff> {
        match self {
            Difference::End { .. } => None,
            Difference::Stdout(diff) | Difference::Stderr(diff) => Some(diff),
            Difference::Answer { diff, .. } => Some(diff),
        }
    }
}

/// A run to be compared: what came of it, and what the program was called there.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub ending: &'a Ending,
    pub names: &'a Names,
}

/// All differences, in which the program has the name of the first run. `window` is the time in which both runs took place.
pub fn compare(one: Side<'_>, other: Side<'_>, window: Window) -> Vec<Difference> {
    let mut found = Vec::new();
    let ends = [one, other].map(|side| (side.ending.exit, side.ending.signal));
    if ends[0] != ends[1] {
        let [one, other] = [one, other].map(|side| end_in_words(side.ending));
        found.push(Difference::End { one, other });
    }
    let names = [one.names, other.names].into_iter();
    let name = names.filter_map(Names::in_short).next().unwrap_or_default();
    let lines = |one_text: &Bytes, other_text: &Bytes| {
        if one_text == other_text {
            return None;
        }
        let one = normalise(one_text, one.names, window);
        let other = normalise(other_text, other.names, window);
        (one != other).then(|| diff(&named(&one, &name), &named(&other, &name)))
    };
    let (one, other) = (one.ending, other.ending);
    found.extend(lines(&one.stdout, &other.stdout).map(Difference::Stdout));
    found.extend(lines(&one.stderr, &other.stderr).map(Difference::Stderr));
    let nothing = Bytes::default();
    for connection in 0..one.answers.len().max(other.answers.len()) {
        let [one, other] =
            [one, other].map(|ending| ending.answers.get(connection).unwrap_or(&nothing));
        let diff = lines(one, other);
        found.extend(diff.map(|diff| Difference::Answer { connection, diff }));
    }
    found
}

/// Whether one run did what several others have in common, with something else where those vary among themselves.
pub fn is_alike_but_for_chance(one: Side<'_>, others: &[Side<'_>], window: Window) -> bool {
    let ends_alike = |other: &Side<'_>| {
        (one.ending.exit, one.ending.signal) == (other.ending.exit, other.ending.signal)
            && one.ending.answers.len() == other.ending.answers.len()
    };
    let fits = |part: &dyn Fn(&Ending) -> Bytes| {
        let text = |side: &Side<'_>| normalise(&part(side.ending), side.names, window);
        let runs: Vec<Vec<u8>> = others.iter().map(text).collect();
        chance::fits(&text(&one), &runs)
    };
    let mut answers = 0..one.ending.answers.len();
    others.iter().all(ends_alike)
        && fits(&|ending| ending.stdout.clone())
        && fits(&|ending| ending.stderr.clone())
        && answers.all(|index| fits(&|ending| ending.answers[index].clone()))
}

/// `exit 1`, `SIGSEGV`, or that it was ended.
pub fn end_in_words(ending: &Ending) -> String {
    match (ending.exit, ending.signal) {
        (Some(status), _) => format!("exit {status}"),
        (None, Some(signal)) => signal_name(signal),
        (None, None) => "ended by a limit".to_owned(),
    }
}

#[cfg(test)]
mod tests;
