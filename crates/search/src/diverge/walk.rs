//! Two versions on the same input, side by side: where they part, and where they could have.
//!
//! The conditions that both decided are aligned by their common names. Where a condition is not the same expression in
//! both, some input may make one version decide otherwise while the other one stays: these are the questions. A condition
//! that only one version has is asked to go the other way while the other version does what it did (the added and removed
//! conditionals of the paper). Shadow execution ends where the versions go different ways; here both runs are known to their
//! ends, so that the walk goes on where they have come together again.

use std::collections::HashMap;

use parallax_abi::SiteId;
use parallax_expr::Label;

use super::align::align;
use super::visits::{Visit, What};

/// Conditions that are left out of an alignment at most.
const MOST_APART: usize = 1000;
/// Times that one condition is asked about in one run.
const MOST_ASKED: usize = 12;

/// Which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    Old,
    New,
}

/// One of each version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Both<T> {
    pub old: T,
    pub new: T,
}

impl<T> Both<T> {
    pub fn get(&self, version: Version) -> &T {
        match version {
            Version::Old => &self.old,
            Version::New => &self.new,
        }
    }

    pub fn get_mut(&mut self, version: Version) -> &mut T {
        match version {
            Version::Old => &mut self.old,
            Version::New => &mut self.new,
        }
    }
}

impl Version {
    pub fn other(self) -> Version {
        match self {
            Version::Old => Version::New,
            Version::New => Version::Old,
        }
    }
}

/// Where two versions go different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    pub place: Place,
    /// How many decisions each had made when they had parted.
    pub decisions: Both<usize>,
}

/// A place that a difference begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The condition or call, in the versions that have it.
    pub sites: Both<Option<SiteId>>,
    /// The same for all runs that come there, through whatever calls.
    pub name: u64,
}

/// Something that an input could make different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub place: Place,
    pub ask: Ask,
    /// Decisions that are kept as they were.
    pub before: Both<usize>,
    /// Further decisions that are kept, by index.
    pub kept: Both<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The decision of a version goes otherwise. If it stands alone against one decision of the other version, that one's
    /// index.
    Flip {
        version: Version,
        decision: usize,
        against: Option<usize>,
    },
    /// Two values that are put out differ.
    Differ { labels: Both<Label> },
    /// A value that is put out by a version, and the same for all inputs in the other one, is another one.
    Otherwise { version: Version, label: Label },
}

/// What became of a walk.
#[derive(Debug, Default)]
pub struct Walk {
    pub parting: Option<Parting>,
    pub questions: Vec<Question>,
    /// Conditions that both decided.
    pub aligned: usize,
    /// Conditions that were asked about often enough.
    pub left_out: usize,
}

/// Knows whether a decision of the old version and one of the new version are the same expression with the same value.
pub type Same<'s> = &'s dyn Fn(usize, usize) -> bool;

/// Walks both sequences.
pub fn walk(old: &[Visit], new: &[Visit], same: Same<'_>) -> Walk {
    let names = |visits: &[Visit]| visits.iter().map(|visit| visit.name).collect::<Vec<_>>();
    let pairs = align(&names(old), &names(new), MOST_APART);
    let mut walker = Walker {
        visits: Both { old, new },
        same,
        asked: HashMap::new(),
        walk: Walk {
            aligned: pairs.len(),
            ..Walk::default()
        },
    };
    let mut next = Both { old: 0, new: 0 };
    let end = Both {
        old: old.len(),
        new: new.len(),
    };
    let ends = std::iter::once((end.old, end.new));
    for (old_at, new_at) in pairs.into_iter().chain(ends) {
        let until = Both {
            old: old_at,
            new: new_at,
        };
        walker.gap(next, until);
        if until == end {
            break;
        }
        walker.pair(until);
        next = Both {
            old: old_at + 1,
            new: new_at + 1,
        };
    }
    walker.walk
}

struct Walker<'w> {
    visits: Both<&'w [Visit]>,
    same: Same<'w>,
    asked: HashMap<u64, usize>,
    walk: Walk,
}

impl Walker<'_> {
    /// Whether a place may still be asked about.
    fn may_ask(&mut self, name: u64) -> bool {
        let asked = self.asked.entry(name).or_default();
        *asked += 1;
        let may = *asked <= MOST_ASKED;
        self.walk.left_out += usize::from(!may);
        may
    }

    /// How many decisions a version has made before the visit with this number.
    fn position(&self, version: Version, visit: usize) -> usize {
        let visits = *self.visits.get(version);
        match visits.get(visit) {
            Some(visit) => visit.position,
            None => visits.last().map_or(0, end_of),
        }
    }

    /// Notes where the versions went different ways first.
    fn part(&mut self, place: Place, decisions: Both<usize>) {
        let parting = Parting { place, decisions };
        self.walk.parting.get_or_insert(parting);
    }

    /// What only one version has, between conditions that both have.
    fn gap(&mut self, from: Both<usize>, until: Both<usize>) {
        let start = Both {
            old: self.position(Version::Old, from.old),
            new: self.position(Version::New, from.new),
        };
        for version in [Version::New, Version::Old] {
            let visits = &self.visits.get(version)[*from.get(version)..*until.get(version)];
            let other = version.other();
            let others = *start.get(other)..self.position(other, *until.get(other));
            for visit in visits {
                let place = alone(version, visit);
                match &visit.what {
                    What::Output { labels } => {
                        let mut before = start;
                        *before.get_mut(version) = visit.position;
                        *before.get_mut(other) = others.end;
                        for label in labels.iter().filter(|label| **label != 0) {
                            let label = *label;
                            let ask = Ask::Otherwise { version, label };
                            self.ask(place, ask, before, Both::default());
                        }
                    }
                    What::Condition { decisions, exit } => {
                        let own = *start.get(version);
                        for decision in decisions {
                            let mut kept: Both<Vec<usize>> = Both::default();
                            *kept.get_mut(version) = (own..*decision).collect();
                            *kept.get_mut(other) = others.clone().collect();
                            let ask = Ask::Flip {
                                version,
                                decision: *decision,
                                against: None,
                            };
                            self.ask(place, ask, start, kept);
                        }
                        if exit.is_some_and(|exit| exit.is_alone()) {
                            let mut at = start;
                            *at.get_mut(version) = end_of(visit);
                            self.part(place, at);
                        }
                    }
                }
            }
        }
    }

    /// What both have.
    fn pair(&mut self, at: Both<usize>) {
        let (one, other) = (&self.visits.old[at.old], &self.visits.new[at.new]);
        let place = Place {
            sites: Both {
                old: Some(one.site),
                new: Some(other.site),
            },
            name: other.name,
        };
        let before = Both {
            old: one.position,
            new: other.position,
        };
        match (&one.what, &other.what) {
            (What::Output { labels: a }, What::Output { labels: b }) => {
                for index in 0..a.len().max(b.len()) {
                    let of = |labels: &[Label]| labels.get(index).copied().unwrap_or(0);
                    let labels = Both {
                        old: of(a),
                        new: of(b),
                    };
                    let ask = match (labels.old, labels.new) {
                        (0, 0) => continue,
                        (0, label) => Ask::Otherwise {
                            version: Version::New,
                            label,
                        },
                        (label, 0) => Ask::Otherwise {
                            version: Version::Old,
                            label,
                        },
                        _ => Ask::Differ { labels },
                    };
                    self.ask(place, ask, before, Both::default());
                }
            }
            (
                What::Condition {
                    decisions: a,
                    exit: left,
                },
                What::Condition {
                    decisions: b,
                    exit: right,
                },
            ) => {
                let decisions = Both { old: a, new: b };
                self.ask_both(place, before, decisions);
                if let (Some(left), Some(right)) = (left, right)
                    && left.parts_from(*right)
                {
                    let decisions = Both {
                        old: end_of(one),
                        new: end_of(other),
                    };
                    self.part(place, decisions);
                }
            }
            _ => {}
        }
    }

    /// Asks for each part of a condition that only one version has, while the other version decides as it did.
    fn ask_both(&mut self, place: Place, before: Both<usize>, decisions: Both<&Vec<usize>>) {
        let is_same = |a: &usize, b: &usize| (self.same)(*a, *b);
        let all_same = decisions.old.len() == decisions.new.len()
            && (decisions.old.iter().zip(decisions.new)).all(|(a, b)| is_same(a, b));
        if all_same {
            return;
        }
        let mut flips: Vec<(Version, usize)> = Vec::new();
        let in_old = |b: &usize| decisions.old.iter().any(|a| is_same(a, b));
        let in_new = |a: &usize| decisions.new.iter().any(|b| is_same(a, b));
        flips.extend(
            decisions
                .new
                .iter()
                .filter(|b| !in_old(b))
                .map(|b| (Version::New, *b)),
        );
        flips.extend(
            decisions
                .old
                .iter()
                .filter(|a| !in_new(a))
                .map(|a| (Version::Old, *a)),
        );
        let single = (decisions.old.len(), decisions.new.len()) == (1, 1);
        for (version, decision) in flips {
            let other = version.other();
            let mut kept: Both<Vec<usize>> = Both::default();
            *kept.get_mut(version) = (*before.get(version)..decision).collect();
            let last = decisions.get(other).last();
            let whole = last.map_or(0..0, |last| *before.get(other)..last + 1);
            *kept.get_mut(other) = whole.collect();
            let ask = Ask::Flip {
                version,
                decision,
                against: last.copied().filter(|_| single),
            };
            self.ask(place, ask, before, kept);
        }
    }

    fn ask(&mut self, place: Place, ask: Ask, before: Both<usize>, kept: Both<Vec<usize>>) {
        if self.may_ask(place.name) {
            self.walk.questions.push(Question {
                place,
                ask,
                before,
                kept,
            });
        }
    }
}

fn alone(version: Version, visit: &Visit) -> Place {
    let mut sites = Both::default();
    *sites.get_mut(version) = Some(visit.site);
    Place {
        sites,
        name: visit.name,
    }
}

/// How many decisions a version has made when a visit is over.
fn end_of(visit: &Visit) -> usize {
    match &visit.what {
        What::Condition { decisions, .. } => {
            decisions.last().map_or(visit.position, |last| last + 1)
        }
        What::Output { .. } => visit.position,
    }
}

#[cfg(test)]
mod tests {
    use super::super::visits::{Exit, To};
    use super::*;

    fn condition(name: u64, decisions: &[usize], exit: u64, in_both: bool) -> Visit {
        Visit {
            name,
            site: SiteId(name),
            what: What::Condition {
                decisions: decisions.to_vec(),
                exit: Some(Exit::Block(To {
                    name: exit,
                    in_both,
                    landing: None,
                    beside: true,
                    by: name,
                    side: (exit % 2) as u32,
                })),
            },
            position: decisions[0],
        }
    }

    fn flips(walk: &Walk) -> Vec<(Version, usize)> {
        let flip = |question: &Question| match question.ask {
            Ask::Flip {
                version, decision, ..
            } => (version, decision),
            other => panic!("{other:?}"),
        };
        walk.questions.iter().map(flip).collect()
    }

    #[test]
    fn runs_of_one_program_raise_no_question() {
        let run = [
            condition(1, &[0], 10, true),
            condition(2, &[1, 2], 20, true),
        ];
        let walk = walk(&run, &run, &|a, b| a == b);
        assert_eq!((walk.questions.len(), walk.parting), (0, None));
        assert_eq!(walk.aligned, 2);
    }

    #[test]
    fn a_condition_that_was_changed_is_asked_about_from_both_sides() {
        let run = [condition(1, &[0], 10, true)];
        let walk = walk(&run, &run, &|_, _| false);
        assert_eq!(flips(&walk), [(Version::New, 0), (Version::Old, 0)]);
        assert_eq!(walk.questions[0].kept.old, [0]);
        assert!(walk.parting.is_none());
    }

    #[test]
    fn a_condition_that_was_weakened_is_asked_about_its_new_part() {
        let old = [condition(1, &[0], 10, true)];
        let new = [condition(1, &[0, 1], 10, true)];
        let walk = walk(&old, &new, &|a, b| a == b);
        assert_eq!(flips(&walk), [(Version::New, 1)]);
        assert_eq!(
            walk.questions[0].kept,
            Both {
                old: vec![0],
                new: vec![0]
            }
        );
    }

    #[test]
    fn an_added_condition_is_asked_about_and_parts_the_versions_where_it_leads_to_added_code() {
        let old = [condition(1, &[0], 10, true), condition(2, &[1], 20, true)];
        let skipped = [
            condition(1, &[0], 10, true),
            condition(7, &[1], 20, true),
            condition(2, &[2], 20, true),
        ];
        let same = |a: usize, b: usize| a == b || (a, b) == (1, 2);
        let first = walk(&old, &skipped, &same);
        assert_eq!(flips(&first), [(Version::New, 1)]);
        assert!(first.parting.is_none());
        let mut entered = skipped.clone();
        entered[1] = condition(7, &[1], 70, false);
        let second = walk(&old, &entered, &same);
        let parting = second.parting.unwrap();
        assert_eq!(parting.decisions, Both { old: 1, new: 2 });
        assert_eq!(parting.place.sites.old, None);
    }

    #[test]
    fn versions_part_where_one_condition_leads_to_different_places() {
        let old = [condition(1, &[0], 10, true), condition(2, &[1], 20, true)];
        let new = [condition(1, &[0], 11, true), condition(3, &[1], 20, true)];
        let walk = walk(&old, &new, &|_, _| true);
        assert_eq!(walk.parting.unwrap().decisions, Both { old: 1, new: 1 });
        assert_eq!(flips(&walk), [(Version::New, 1), (Version::Old, 1)]);
    }
}
