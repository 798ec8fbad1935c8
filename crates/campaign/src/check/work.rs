//! The search for every goal in the programs of a patch, and what is known of these: builds, recorded tests, findings.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use parallax_report::model::Technique;
use parallax_report::results::diverge::project::headline;
use parallax_report::words::counted;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::engine::{Ended, Phase};
use parallax_store::{Store, hash};

use super::everything::{Code, Everything, Interacting};
use super::judge::{Judge, Suspect};
use super::suite;
use crate::budget::Budget;
use crate::context::{Context, Event};
use crate::cover::{self, Covering};
use crate::diverge::{self, Part};
use crate::failure::Failure;
use crate::patch::{Found, Scope};
use crate::project::variables;
use crate::setup::{Running, Setup};
use crate::versions::{Changed, Pair, Seed, Subject, Touching, touching_code};
use crate::watch::Watcher;

/// Time for the search in one program: no less.
const LEAST_PART: Duration = Duration::from_secs(3);
/// Inputs that showed something before are run again first, for one part in so many of the time at most, or a few seconds.
const KNOWN: u32 = 10;
const LEAST_KNOWN: Duration = Duration::from_secs(3);

/// How the search does its work.
pub struct Orders {
    pub diverge: diverge::Options,
    pub cover: cover::Options,
}

impl Orders {
    /// Inputs are run alike for all goals.
    pub fn new(context: &Context, running: &Running, blame: bool) -> Orders {
        let context = Context {
            in_check: true,
            ..context.clone()
        };
        let setup = Setup::new(context, running.clone());
        // The time is given when it is known.
        let budget = Budget::of(Duration::ZERO);
        Orders {
            diverge: diverge::Options {
                blame,
                ..diverge::Options::new(setup.clone(), budget)
            },
            cover: cover::Options::new(setup, budget),
        }
    }
}

/// Something that inputs show.
pub struct Finding {
    /// The same in every run.
    pub id: String,
    pub cluster: Cluster,
    /// Who found it first.
    pub technique: Technique,
}

/// The work on one patch.
pub struct Work<'w> {
    /// The same for the same versions, searched in the same way.
    pub name: String,
    pub orders: &'w Orders,
    pub pair: &'w Pair,
    pub store: &'w Store,
    /// Programs of both versions that the patch changes.
    pub subjects: Vec<Subject>,
    pub comparing: diverge::Campaign<'w, 'w>,
    pub covering: Covering<'w>,
    pub judge: Judge<'w>,
    /// Of each program: the scenarios that run changed code.
    pub touching: BTreeMap<String, Touching>,
    is_touching_old: bool,
    /// Of each program: what the patch changes.
    changed: BTreeMap<String, Changed>,
    /// The program whose turn it is to be compared first.
    first_part: usize,
    /// How often all programs were searched.
    rounds: usize,
    codes: BTreeMap<String, Option<Rc<Code>>>,
    pub interactions: Interacting,
    begun: Instant,
    /// Whether what is found is reported only in the end.
    pub is_quiet: bool,
}

impl<'w> Work<'w> {
    /// Makes everything that the searches need. Before that, all tests are run on both versions as they were built, if there is time for that: so
    /// long for each program at most.
    pub fn new(
        orders: &'w Orders,
        pair: &'w Pair,
        store: &'w Store,
        subjects: Vec<Subject>,
        scope: &'w Scope,
        found: &'w Found,
        time: Option<Duration>,
    ) -> Result<Work<'w>, Failure> {
        let identity = diverge::identity(&orders.diverge, pair, subjects.iter())?;
        let context = &orders.diverge.setup.context;
        let checkpoint = diverge::Checkpoint::open(
            context,
            store,
            subjects.first().map_or("", |subject| &subject.name),
            &format!("check\n{identity}"),
            &format!("parallax check {}", pair.range()),
            false,
        )?;
        let mut comparing = diverge::Campaign::new(&orders.diverge, pair, store, checkpoint);
        let watcher = Watcher::new(context, Vec::new(), None);
        for subject in subjects.iter().filter(|_| time.is_some()) {
            watcher.tell(&format!(
                "{}: do both versions pass the tests alike?",
                subject.name
            ));
            let tests = suite::tests(store, &subject.name)?;
            comparing.compare_natively(subject, &tests, time, &watcher)?;
        }
        for subject in &subjects {
            watcher.tell(&format!(
                "preparing {}: builds that can be watched while they run",
                subject.name
            ));
            comparing.prepare(subject);
        }
        watcher.tell("which tests run changed code?");
        let budget = Budget::of(LEAST_PART);
        let campaign = cover::Campaign::new(&orders.cover, budget, store, scope, found)?;
        let mut work = Work {
            name: hash(identity.as_bytes()),
            orders,
            pair,
            store,
            subjects,
            comparing,
            covering: Covering {
                options: &orders.cover,
                store,
                scope,
                campaign,
                variables: variables(&pair.project),
                tests: None,
            },
            judge: Judge::new(&orders.diverge, pair),
            touching: BTreeMap::new(),
            is_touching_old: true,
            changed: BTreeMap::new(),
            first_part: 0,
            rounds: 0,
            codes: BTreeMap::new(),
            interactions: Interacting::new(),
            begun: Instant::now(),
            is_quiet: false,
        };
        work.find_touching()?;
        watcher.finish(&[])?;
        work.begun = Instant::now();
        Ok(work)
    }

    fn context(&self) -> &Context {
        &self.orders.diverge.setup.context
    }

    /// Since the search began.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Finds the scenarios that run changed code, when there may be new ones.
    pub fn find_touching(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_touching_old) {
            for subject in &self.subjects {
                let name = &subject.name;
                if !self.changed.contains_key(name) {
                    let changed = Changed::new(self.pair, subject)?;
                    self.changed.insert(name.clone(), changed);
                }
                let Some(changed) = self.changed.get(name) else {
                    continue;
                };
                let mut found = touching_code(self.store, self.pair, subject, changed)?;
                if found.scenarios == 0 {
                    // Without any test the search starts from nothing.
                    found.seeds.push(Seed::nothing(&subject.name));
                }
                self.touching.insert(subject.name.clone(), found);
            }
        }
        Ok(())
    }

    /// How many different findings are known.
    pub fn found(&self) -> u64 {
        let compared = self.comparing.done.iter();
        let compared = compared.map(|done| done.summary.clusters.len());
        (compared.sum::<usize>() + self.judge.list.len()) as u64
    }

    /// Everything that inputs showed, of each program, each finding once.
    pub fn shown(&self) -> Vec<(&Subject, Vec<Finding>)> {
        let mut all = Vec::new();
        for subject in &self.subjects {
            let name = &subject.name;
            let mut list: Vec<Finding> = Vec::new();
            let compared = self.comparing.done.iter();
            let compared = compared.filter(|done| done.ready.subject.name == *name);
            for cluster in compared.flat_map(|done| &done.summary.clusters) {
                list.push(Finding {
                    id: diverge::finding_id(name, cluster),
                    cluster: cluster.clone(),
                    technique: technique(cluster.phase),
                });
            }
            // Those with a name first: others may be the same finding, seen before anybody knew where it comes from.
            let (named, others): (Vec<_>, Vec<_>) = self
                .judge
                .list
                .iter()
                .filter(|judged| judged.program == *name)
                .partition(|judged| judged.id.is_some());
            for judged in named.into_iter().chain(others) {
                let cluster = &judged.cluster;
                let is_same = |known: &&mut Finding| match &judged.id {
                    Some(id) => known.id == *id,
                    None => known.cluster.shown.key() == cluster.shown.key(),
                };
                match list.iter_mut().find(is_same) {
                    Some(known) => known.cluster.count += cluster.count,
                    None => list.push(Finding {
                        id: match &judged.id {
                            Some(id) => id.clone(),
                            None => diverge::finding_id(name, cluster),
                        },
                        cluster: cluster.clone(),
                        technique: judged.technique,
                    }),
                }
            }
            list.sort_by_key(|finding| finding.cluster.rank());
            all.push((subject, list));
        }
        all
    }

    /// Runs inputs again that showed something in an earlier run, whatever that was about.
    pub fn recall(&mut self, budget: Duration) -> Result<(), Failure> {
        let end = Instant::now() + (budget / KNOWN).max(LEAST_KNOWN);
        for number in 0..self.subjects.len() {
            let name = self.subjects[number].name.clone();
            for kept in self.store.findings(Some(&name.as_bytes().into()))? {
                if self.pair.context.is_cancelled() || Instant::now() >= end {
                    return Ok(());
                }
                let technique = match kept.command.as_str() {
                    "cover" => Technique::Cover,
                    "amplify" => Technique::Amplify,
                    "interact" => Technique::Interact,
                    _ => Technique::Diverge,
                };
                let is_named = kept.command == "diverge";
                self.look(
                    &name,
                    &Suspect {
                        scenario: &kept.scenario,
                        technique,
                        id: is_named.then_some(kept.id.as_str()),
                        seconds: self.elapsed().as_secs_f64(),
                    },
                )?;
            }
        }
        Ok(())
    }

    fn look(&mut self, name: &str, suspect: &Suspect<'_>) -> Result<bool, Failure> {
        let Some(ready) = self.comparing.ready(name) else {
            return Ok(false);
        };
        let is_new = self.judge.look(ready, suspect)?;
        if let Some(judged) = self.judge.list.last().filter(|_| is_new) {
            if !self.is_quiet {
                let line = headline(self.pair.tops(), &judged.cluster);
                let line = format!("{name}: {line}");
                self.pair.context.events.tell(Event::Found(&line));
            }
            // What has a name is kept under it already.
            if judged.id.is_none() {
                diverge::keep(self.store, name, &judged.cluster, None)?;
            }
        }
        Ok(is_new)
    }

    /// Searches all programs once, for everything, as many of them as there is time for; whether nothing is left to try. `tell` hears how
    /// many changed lines are run.
    pub fn search(
        &mut self,
        time: Duration,
        tell: &mut dyn FnMut(&cover::Campaign<'w>),
    ) -> Result<bool, Failure> {
        let started = Instant::now();
        self.is_touching_old = true;
        self.find_touching()?;
        let parts = self.subjects.iter().filter_map(|subject| {
            let touching = self.touching.get(&subject.name)?;
            Some(Part {
                subject: subject.clone(),
                touching: touching.clone(),
            })
        });
        let mut parts: Vec<Part> = parts.collect();
        // To begin takes time: in a short one a few programs have their turn, others the next time.
        let all = parts.len();
        let room = (time.as_secs_f64() / LEAST_PART.as_secs_f64()) as usize;
        parts.rotate_left(self.first_part % all.max(1));
        parts.truncate(room.max(1));
        self.first_part += parts.len();
        let is_all = parts.len() == all;
        let budget = Budget::of(time.saturating_sub(started.elapsed()));
        let mut watcher = Watcher::new(&self.orders.diverge.setup.context, Vec::new(), budget.time);
        let mut everything = Everything {
            options: &self.orders.diverge,
            pair: self.pair,
            covering: &mut self.covering,
            codes: &mut self.codes,
            interactions: &mut self.interactions,
            round: self.rounds,
            tell,
        };
        let comparing = &mut self.comparing;
        let ended = comparing.compare(parts, budget, &mut everything, &mut watcher)?;
        watcher.finish(&[])?;
        self.rounds += 1;
        Ok(is_all && ended == Ended::Exhausted)
    }

    /// Says what could not be looked at.
    pub fn complain(&self) {
        if self.comparing.left_out > 0 {
            let count = counted(self.comparing.left_out, "scenario");
            self.context()
                .note(&format!("{count} could not be run on both versions"));
        }
    }
}

/// What an input was made for.
fn technique(phase: Phase) -> Technique {
    match phase {
        Phase::Lines => Technique::Cover,
        Phase::Near => Technique::Amplify,
        Phase::Orders => Technique::Interact,
        _ => Technique::Diverge,
    }
}
