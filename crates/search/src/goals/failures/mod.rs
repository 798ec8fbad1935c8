//! Failures near tests: every given input stands for all inputs of its path, and the paths beside it.
//!
//! After Marinescu and Cadar, "make test-zesti: a symbolic execution solution for improving regression testing", ICSE
//! 2012. At distance 0 every sensitive operation on a test's path is checked against all inputs that follow the same path.
//! At distance D ≥ 1 the path is left at the points (branches whose other side some input takes) that lie D points before a
//! sensitive operation, and what comes then is followed over f(D) = 2D points; D grows over all tests together, the
//! deepest operations come first, and nothing that was done at D is repeated at D + 1. So the goal is an order over
//! alternatives; it knows no more of a path than its [`Outline`].
//!
//! Where this differs from the paper:
//! 1. A path is followed by running the program to its end on a new input, not by forking states. So what a native run
//!    shows after the depth bound is reported, too.
//! 2. The program's memory is that of the run: a write through a symbolic address goes to one place. Queries leave out what was so
//!    fixed, the run shows whether the answer is right, and if it is not they are made again with everything ([`Rigour`]).
//! 3. A `switch` is one point, however many cases it has; a pointer from memory that could point elsewhere is one, too.
//! 4. An access at a concrete address is sensitive where the code could have computed it from input: nothing else
//!    can become symbolic on a path nearby.
//! 5. More kinds of operations: see [`sensitive`](parallax_trace::sensitive).
//! 6. When D is larger than any distance that there is, and is not limited, the bound grows on for all points.
//! 7. Tests that take the very same path are one: what is asked of one holds for the others.

mod check;
mod follow;
mod landscape;
mod ledger;
mod outline;
mod survey;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use parallax_abi::SiteId;
use parallax_exec::finding::{Key, Problem};
use parallax_scenario::Scenario;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::core::alternative::{Alternative, Change};
use crate::core::corpus::{Corpus, EntryId, InputId};
use crate::core::goal::{Came, Goal, Observation, Path, Work, Worth};
use crate::core::limits::Limits;
use crate::engine::Phase;
use crate::worker::Rigour;
use follow::Side;
use landscape::Landscape;
pub use ledger::{Amplified, Checks, Divergence, Record};
use ledger::{Ledger, Origin};
pub use outline::Place;
use outline::{Operation, Outline};
use survey::{Novelty, Test};

/// Queries of one task that are not run.
const ASKED: usize = 128;

/// How far from the tests to look.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// The largest distance; 0 checks the tests' own paths only, `None` goes on while there is anything.
    pub max_distance: Option<usize>,
    /// A path that leaves at distance D is followed over this many times D points.
    pub depth_factor: usize,
}

/// Order of what waits: what is needed at once, checks, surveys, leaving tests' paths, following; then the test; then the deepest
/// point; then points passed since; then age.
type Rank = (Stage, Novelty, usize, Reverse<usize>, usize, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Soon,
    Check,
    Survey,
    Leave,
    Follow,
}

/// What waits.
enum Open {
    Ask(Item),
    /// A run beside a test's path, by number.
    Follow(usize),
}

/// A query.
struct Item {
    rank: Rank,
    entry: EntryId,
    site: SiteId,
    /// Decisions that come before.
    position: usize,
    /// One of them will do; the last comes first.
    changes: Vec<Change>,
    rigour: Rigour,
    purpose: Purpose,
}

enum Purpose {
    /// Does an operation fail? If not, those that come later at the same place are asked about, the next of which is the last here.
    Check {
        place: Place,
        origin: Origin,
        rest: Vec<Operation>,
    },
    /// Is this a point of a test's path?
    Survey { test: usize },
    /// The path of a test is left at a point of this depth.
    Leave { test: usize, point: usize },
    /// That of a run beside it is left.
    Pass { side: usize },
}

/// What is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Tests,
    Survey,
    Beside,
    Done,
}

/// See the module's description.
pub struct Failures {
    reach: Reach,
    /// Given inputs, by content.
    seeds: FxHashMap<InputId, usize>,
    given_left: usize,
    tests: Vec<Test>,
    by_entry: FxHashMap<EntryId, usize>,
    sides: Vec<Side>,
    open: BTreeMap<Rank, Open>,
    under_way: FxHashMap<(EntryId, Change), Item>,
    /// Inputs of checks that are being looked at.
    looks: FxHashMap<EntryId, Item>,
    /// The path that was shown last.
    last: Option<(EntryId, Outline)>,
    ledger: Ledger,
    level: Level,
    distance: usize,
    arrivals: u64,
    /// Sensitive sites that tests come by, and sets of them.
    sites: FxHashSet<SiteId>,
    sets: FxHashSet<BTreeSet<SiteId>>,
}

impl Failures {
    /// For these given inputs.
    pub fn new(seeds: &[Scenario], reach: Reach) -> Failures {
        let ids = seeds.iter().map(InputId::of).enumerate();
        Failures {
            reach,
            seeds: ids.map(|(index, id)| (id, index)).collect(),
            given_left: seeds.len(),
            tests: Vec::new(),
            by_entry: FxHashMap::default(),
            sides: Vec::new(),
            open: BTreeMap::new(),
            under_way: FxHashMap::default(),
            looks: FxHashMap::default(),
            last: None,
            ledger: Ledger::default(),
            level: Level::Tests,
            distance: 0,
            arrivals: 0,
            sites: FxHashSet::default(),
            sets: FxHashSet::default(),
        }
    }

    fn rank(&mut self, stage: Stage, test: usize, point: usize, passed: usize) -> Rank {
        self.arrivals += 1;
        let novelty = self.tests[test].novelty;
        (stage, novelty, test, Reverse(point), passed, self.arrivals)
    }

    fn push(&mut self, item: Item) {
        self.open.insert(item.rank, Open::Ask(item));
    }

    /// Asks once more, before anything else.
    fn again(&mut self, mut item: Item) {
        self.arrivals += 1;
        item.rank.0 = Stage::Soon;
        item.rank.5 = self.arrivals;
        self.push(item);
    }

    /// Goes on to the next level when one is done.
    fn advance(&mut self) {
        while self.open.is_empty()
            && self.under_way.is_empty()
            && self.given_left == 0
            && self.level != Level::Done
        {
            self.level = match self.level {
                Level::Tests if self.reach.max_distance == Some(0) => Level::Done,
                Level::Tests => {
                    for test in 0..self.tests.len() {
                        self.survey(Stage::Survey, test, usize::MAX);
                    }
                    Level::Survey
                }
                Level::Survey => {
                    for test in &mut self.tests {
                        let points = test.points.iter().copied().collect();
                        let positions = test.positions.iter().copied();
                        test.landscape = Landscape::new(points, positions);
                    }
                    self.begin(1)
                }
                Level::Beside => self.begin(self.distance + 1),
                Level::Done => Level::Done,
            };
        }
    }

    /// What the search found out, given the errors that it found.
    pub fn finish(mut self, findings: Vec<parallax_exec::finding::Finding>) -> Record {
        self.give_up_checks();
        let mut order: Vec<usize> = (0..self.tests.len()).collect();
        order.sort_by_key(|test| (self.tests[*test].novelty, *test));
        let order = order.iter().map(|test| self.tests[*test].seed).collect();
        let distance = self.distance;
        let place = |origin: &Origin| (self.tests[origin.test].seed, self.depth(origin));
        let alike = |test: usize| self.tests[test].alike.len() as u64;
        let found = self.ledger.found(findings, place, alike);
        self.ledger.record(found, order, distance)
    }
}

impl Goal for Failures {
    fn name(&self) -> &'static str {
        "failures near tests"
    }

    fn phase(&self) -> Phase {
        Phase::Near
    }

    fn observe(&mut self, run: &Observation<'_>) -> Worth {
        let is_given = run.parent.is_none();
        self.ledger.hanging += u64::from(is_given && run.hung);
        Worth {
            look: is_given,
            ..Worth::default()
        }
    }

    fn entered(&mut self, entry: EntryId, corpus: &Corpus) {
        let of = &corpus.entries[entry];
        let test = match of.parent {
            Some(parent) => self.ledger.origins.get(&parent).map(|known| known.test),
            // What was given for other goals is no test.
            None => self.seeds.get(&InputId::of(&of.scenario)).map(|&seed| {
                let test = self.tests.len();
                self.tests.push(Test {
                    entry,
                    seed,
                    alike: BTreeSet::from([test]),
                    ..Test::default()
                });
                self.by_entry.insert(entry, test);
                test
            }),
        };
        // Better known when it comes from an alternative.
        if let Some(test) = test {
            let origin = Origin {
                test,
                distance: self.distance,
                side: None,
                position: if of.parent.is_none() { 0 } else { usize::MAX },
            };
            self.ledger.origins.insert(entry, origin);
        }
    }

    fn take_path(&mut self, path: &Path<'_>, _corpus: &Corpus, limits: &mut Limits) -> Worth {
        let outline = Outline::new(path, limits);
        self.ledger.come_by(path, &outline);
        let is_test = match self.by_entry.get(&path.entry).copied() {
            Some(test) => {
                self.plant(test, outline, path);
                true
            }
            None => {
                self.last = Some((path.entry, outline));
                false
            }
        };
        self.advance();
        Worth {
            look: path.is_new && !is_test,
            ..Worth::default()
        }
    }

    fn same_path(&mut self, entry: EntryId, shown: EntryId) {
        let tests = [entry, shown].map(|entry| self.by_entry.get(&entry).copied());
        if let [Some(test), Some(shown)] = tests {
            self.tests[shown].alike.insert(test);
        }
    }

    fn given_left(&mut self, left: usize) {
        self.given_left = left;
        self.advance();
    }

    fn is_ready(&self) -> bool {
        !self.open.is_empty()
    }

    fn choose(&mut self, most: usize, _corpus: &Corpus) -> Option<Work> {
        let mut alternatives = Vec::new();
        let mut manner = None;
        let mut later = Vec::new();
        while let Some((rank, open)) = self.open.pop_first() {
            let item = match open {
                Open::Ask(item) => item,
                Open::Follow(side) => {
                    self.follow(side);
                    continue;
                }
            };
            let Some(change) = item.changes.last().copied() else {
                continue;
            };
            if self.is_known(&item) {
                continue;
            }
            let is_run = !matches!(item.purpose, Purpose::Survey { .. });
            let key = (item.entry, change);
            if manner.is_some_and(|manner| manner != (item.rigour, is_run)) {
                later.push((rank, item));
                break;
            }
            // The same may be asked for another reason.
            if self.under_way.contains_key(&key) {
                later.push((rank, item));
                continue;
            }
            manner = Some((item.rigour, is_run));
            self.ask(&item);
            alternatives.push(Alternative {
                entry: item.entry,
                change,
                site: item.site,
                levels: [0; 3],
                path: 0,
                depth: item.position as u32,
                calls: 0,
            });
            self.under_way.insert(key, item);
            if alternatives.len() >= if is_run { most } else { ASKED } {
                break;
            }
        }
        let later = later.into_iter();
        self.open
            .extend(later.map(|(rank, item)| (rank, Open::Ask(item))));
        self.advance();
        let (rigour, is_run) = manner?;
        Some(Work::Solve {
            alternatives,
            rigour,
            is_run,
        })
    }

    fn tried(&mut self, alternative: &Alternative, came: &Came, _corpus: &Corpus) {
        let key = (alternative.entry, alternative.change);
        let Some(item) = self.under_way.remove(&key) else {
            return;
        };
        match item.purpose {
            Purpose::Check { .. } => self.checked(item, came),
            Purpose::Survey { test } => self.surveyed(test, item, came),
            Purpose::Leave { .. } | Purpose::Pass { .. } => self.left(item, came),
        }
        self.advance();
    }

    fn looked(&mut self, entry: EntryId, problems: &[Problem]) -> Vec<Key> {
        self.seen(entry, problems)
    }

    fn open(&self) -> u64 {
        self.open.len() as u64
    }
}
