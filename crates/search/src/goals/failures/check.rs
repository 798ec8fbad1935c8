//! Whether operations fail: asked of the solver, shown by a run, and seen on the builds that errors are looked for on.

use std::collections::BTreeMap;

use parallax_exec::finding::{Key, Problem, same_file};
use parallax_trace::sensitive::Failure;

use super::ledger::Origin;
use super::outline::{Operation, Place};
use super::{Failures, Item, Open, Purpose, Stage};
use crate::core::corpus::EntryId;
use crate::core::goal::Came;
use crate::core::limits::Limit;
use crate::worker::Rigour;

impl Failures {
    /// Asks whether operations on an entry's path can fail, at each place one after the other.
    pub(super) fn check(
        &mut self,
        stage: Stage,
        entry: EntryId,
        operations: &[Operation],
        origin: Origin,
    ) {
        let (point, passed) = match origin.side {
            Some(side) => (self.sides[side].point, self.sides[side].passed()),
            None => (0, 0),
        };
        let mut by_place: BTreeMap<Place, Vec<Operation>> = BTreeMap::new();
        for operation in operations.iter().rev() {
            by_place
                .entry(operation.place)
                .or_default()
                .push(*operation);
        }
        let mut chains: Vec<Vec<Operation>> = by_place.into_values().collect();
        chains.sort_by_key(|chain| chain.last().map(|first| first.position));
        for mut rest in chains {
            let Some(first) = rest.pop() else {
                continue;
            };
            let rank = self.rank(stage, origin.test, point, passed);
            self.push(Item {
                rank,
                entry,
                site: first.place.site,
                position: first.position,
                changes: vec![first.change],
                rigour: Rigour::Ways,
                purpose: Purpose::Check {
                    place: first.place,
                    origin: Origin {
                        position: first.position,
                        ..origin
                    },
                    rest,
                },
            });
        }
    }

    /// A check came to nothing: the next one of the same place comes.
    fn check_next(&mut self, mut item: Item) {
        let Purpose::Check { origin, rest, .. } = &mut item.purpose else {
            return;
        };
        if let Some(next) = rest.pop() {
            origin.position = next.position;
            item.position = next.position;
            item.changes = vec![next.change];
            item.rigour = Rigour::Ways;
            self.again(item);
        }
    }

    /// Whether a check need not be made any more.
    pub(super) fn is_known(&mut self, item: &Item) -> bool {
        let Purpose::Check {
            place,
            origin,
            rest,
        } = &item.purpose
        else {
            return false;
        };
        // One that was begun is finished.
        if item.rigour == Rigour::Exact {
            return false;
        }
        let often = Limit::ShownOften.value();
        let is_often = self.ledger.failed(place) >= often || self.ledger.unshown(place) >= often;
        let is_known = match origin.distance {
            0 => is_often || self.ledger.failed_on.contains(&(item.entry, *place)),
            _ => self.ledger.failed(place) > 0,
        };
        if is_known {
            let skipped = 1 + rest.len() as u64;
            self.ledger.checks.skipped += skipped;
            let often = if is_often { skipped } else { 0 };
            self.ledger.limits.hit_by(Limit::ShownOften, often);
        }
        is_known
    }

    /// Counts a check that is made.
    pub(super) fn ask(&mut self, item: &Item) {
        if let (Purpose::Check { place, .. }, Rigour::Ways) = (&item.purpose, item.rigour) {
            self.ledger.made(place);
        }
    }

    /// What the solver said, or an input was run.
    pub(super) fn checked(&mut self, mut item: Item, came: &Came) {
        let Purpose::Check { place, origin, .. } = item.purpose else {
            return;
        };
        match (came, item.rigour) {
            (Came::Ran { entry, .. }, _) => {
                self.ledger.origins.insert(*entry, origin);
                self.looks.insert(*entry, item);
                return;
            }
            // What no input of the same ways does, none of the very same path does.
            (Came::Infeasible { .. }, Rigour::Ways) => self.ledger.checks.safe += 1,
            (Came::Undecided, Rigour::Ways) => self.ledger.undecided(&place),
            // It fails for some input, but that may not be run.
            (_, Rigour::Ways) => {
                item.rigour = Rigour::Exact;
                self.again(item);
                return;
            }
            (_, Rigour::Exact) => self.ledger.unconfirmed(&place),
        }
        self.check_next(item);
    }

    /// What an entry shows; what of that it shows better than any before.
    pub(super) fn seen(&mut self, entry: EntryId, problems: &[Problem]) -> Vec<Key> {
        if let Some(mut item) = self.looks.remove(&entry)
            && let Purpose::Check { place, rest, .. } = &item.purpose
        {
            let (place, rest) = (*place, rest.len() as u64);
            if self.is_about(&place, problems) {
                self.ledger.confirmed(item.entry, &place);
                self.ledger.checks.skipped += rest;
            } else if item.rigour == Rigour::Ways {
                item.rigour = Rigour::Exact;
                self.again(item);
            } else {
                self.ledger.unconfirmed(&place);
                self.check_next(item);
            }
        }
        let Some(origin) = self.ledger.origins.get(&entry).copied() else {
            return Vec::new();
        };
        // How deep it lies is only known where it is known which branches are points.
        if !problems.is_empty() && origin.distance == 0 && origin.side.is_none() {
            self.survey(Stage::Soon, origin.test, origin.position);
        }
        self.ledger.note(origin, problems)
    }

    /// Whether errors are the failure of an operation: one has the operation's line, or none. What comes of a wrong size shows
    /// elsewhere, and that of a wrong format inside libc.
    fn is_about(&self, place: &Place, problems: &[Problem]) -> bool {
        let line = self.ledger.line(place);
        problems.iter().any(|problem| {
            let (Some(found), Some((file, line))) = (&problem.location, line) else {
                return true;
            };
            matches!(place.failure, Failure::Allocation | Failure::Format)
                || found.line == *line && same_file(&found.file, file)
        })
    }

    /// There is no time for what was begun.
    pub(super) fn give_up_checks(&mut self) {
        let open = std::mem::take(&mut self.open).into_values();
        let open = open.filter_map(|open| match open {
            Open::Ask(item) => Some((item, false)),
            Open::Follow(_) => None,
        });
        let under_way = self.under_way.drain().map(|(_, item)| (item, true));
        let mut left: Vec<(Item, bool)> = open.chain(under_way).collect();
        // Those that ran made something fail, but it was not seen.
        left.extend(self.looks.drain().map(|(_, mut item)| {
            item.rigour = Rigour::Exact;
            (item, true)
        }));
        for (item, is_made) in left {
            let Purpose::Check { place, rest, .. } = item.purpose else {
                continue;
            };
            self.ledger.checks.skipped += rest.len() as u64;
            match (item.rigour, is_made) {
                (Rigour::Exact, _) => self.ledger.unconfirmed(&place),
                (Rigour::Ways, true) => self.ledger.cut(&place),
                (Rigour::Ways, false) => self.ledger.checks.skipped += 1,
            }
        }
    }
}
