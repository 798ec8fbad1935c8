//! Parts of one input in another.
//!
//! What an option does often shows only beside another one, or with other data, and no branch of a run that lacks
//! the option says so. So what the first runs of each mode (see `frontier`) have in their inputs is tried in the
//! inputs of the others: arguments at their place, and all that is read.

use std::hash::{DefaultHasher, Hash, Hasher};

use parallax_abi::SiteId;

use super::Explorer;
use super::frontier::{Candidate, RunId};
use crate::question::{Goal, Part};
use parallax_exec::run::End;
use parallax_scenario::Scenario;

/// So many first runs exchange parts with the next one.
const PARTNERS: usize = 48;

/// The first run of a mode.
#[derive(Clone, Copy, Debug)]
pub struct First {
    run: RunId,
    /// What is added to an input that the program refuses is mostly refused, too.
    is_base: bool,
}

impl Explorer<'_> {
    /// Offers to exchange parts between the first run of a mode and those of others.
    pub(super) fn offer_parts(&mut self, run: RunId, end: End) {
        let new = First {
            run,
            is_base: end == End::Exit(0),
        };
        let first = self.firsts.len().saturating_sub(PARTNERS);
        for index in first..self.firsts.len() {
            let old = self.firsts[index];
            if old.is_base {
                self.offer_parts_of(run, old.run);
            }
            if new.is_base {
                self.offer_parts_of(old.run, run);
            }
        }
        self.firsts.push(new);
    }

    fn offer_parts_of(&mut self, from: RunId, run: RunId) {
        let scenario = &self.runs[run as usize].scenario;
        let giver = &self.runs[from as usize].scenario;
        let arguments = 0..giver.argv.len() as u32;
        let parts = arguments.flat_map(|index| [Part::Instead(index), Part::Before(index)]);
        for part in parts.chain([Part::Data]) {
            let Some(changed) = with_part(scenario, giver, part) else {
                continue;
            };
            if !self.options.shape.accepts(&changed) || self.known.contains(&changed) {
                continue;
            }
            let mut hasher = DefaultHasher::new();
            changed.hash(&mut hasher);
            let here = hasher.finish();
            let mut hasher = DefaultHasher::new();
            match part {
                // The same argument of another run is the same part.
                Part::Instead(index) => (1, &giver.argv[index as usize]).hash(&mut hasher),
                Part::Before(index) => (2, &giver.argv[index as usize]).hash(&mut hasher),
                Part::Data => (3, from).hash(&mut hasher),
            }
            self.frontier.offer(Candidate {
                run,
                goal: Goal::Take { from, part },
                site: SiteId(0),
                levels: [hasher.finish(), here, here],
                path: here,
                depth: u32::MAX,
                calls: 0,
            });
        }
    }
}

/// The scenario with a part of another one; `None` if that changes nothing or has no place.
pub fn with_part(scenario: &Scenario, from: &Scenario, part: Part) -> Option<Scenario> {
    let mut changed = scenario.clone();
    match part {
        Part::Instead(index) => {
            let index = index as usize;
            *changed.argv.get_mut(index)? = from.argv.get(index)?.clone();
        }
        Part::Before(index) => {
            let index = index as usize;
            let argument = from.argv.get(index)?.clone();
            if index > changed.argv.len() {
                return None;
            }
            changed.argv.insert(index, argument);
        }
        Part::Data => {
            changed.stdin = from.stdin.clone();
            changed.files = from.files.clone();
            changed.streams = from.streams.clone();
            changed.directories = from.directories.clone();
            changed.pipes = from.pipes.clone();
            changed.links = from.links.clone();
            changed.hard_links = from.hard_links.clone();
            changed.modes = from.modes.clone();
            changed.sizes = from.sizes.clone();
            changed.times = from.times.clone();
            changed.listings = from.listings.clone();
        }
    }
    (changed != *scenario).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_scenario::Bytes;

    fn scenario(arguments: &[&str], stdin: &str) -> Scenario {
        let bytes = |text: &&str| Bytes(text.as_bytes().to_vec());
        Scenario {
            argv: arguments.iter().map(bytes).collect(),
            stdin: bytes(&stdin),
            ..Scenario::default()
        }
    }

    #[test]
    fn an_argument_replaces_the_one_at_its_place_or_comes_before_it() {
        let (old, from) = (scenario(&["-", "-f", "1"], ""), scenario(&["--co"], ""));
        assert_eq!(
            with_part(&old, &from, Part::Instead(0)),
            Some(scenario(&["--co", "-f", "1"], ""))
        );
        assert_eq!(
            with_part(&old, &from, Part::Before(0)),
            Some(scenario(&["--co", "-", "-f", "1"], ""))
        );
        assert_eq!(
            with_part(&from, &old, Part::Before(1)),
            Some(scenario(&["--co", "-f"], ""))
        );
    }

    #[test]
    fn what_changes_nothing_or_has_no_place_is_nothing() {
        let (old, from) = (
            scenario(&["-x"], "data"),
            scenario(&["-x", "2", "3"], "data"),
        );
        assert_eq!(with_part(&old, &from, Part::Instead(0)), None);
        assert_eq!(with_part(&old, &from, Part::Instead(1)), None);
        assert_eq!(with_part(&old, &from, Part::Before(2)), None);
        assert_eq!(with_part(&old, &from, Part::Data), None);
    }

    #[test]
    fn data_comes_without_arguments() {
        let (old, from) = (scenario(&["-x"], "a"), scenario(&["-y"], "b"));
        assert_eq!(
            with_part(&old, &from, Part::Data),
            Some(scenario(&["-x"], "b"))
        );
    }
}
