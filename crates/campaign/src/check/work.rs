//! The searches themselves, each for a slice of time at a time, over what they share: builds, recorded tests, and each other's inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use parallax_report::model::{Interaction, Technique};
use parallax_report::results::diverge::project::headline;
use parallax_report::words::counted;
use parallax_scenario::Scenario;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::explore::Ended;
use parallax_store::{Store, hash};

use super::judge::{Judge, Suspect};
use super::schedule::Gain;
use super::suite;
use crate::amplify::{self, Chosen};
use crate::budget::Budget;
use crate::context::{Context, Event};
use crate::cover::{self, Covering};
use crate::diverge::{self, Part};
use crate::failure::Failure;
use crate::interact::project::Cache;
use crate::patch::{Found, Scope};
use crate::project::variables;
use crate::setup::{Running, Setup};
use crate::stored;
use crate::versions::{Changed, Pair, Seed, Subject, Touching, touching_code};
use crate::watch::Watcher;

/// Time for the comparison of one program: no less.
const LEAST_PART: Duration = Duration::from_secs(3);
/// Time for the search for one target: no less, or it comes to nothing; no more, or others never have their turn.
const LEAST_EACH: Duration = Duration::from_secs(2);
const MOST_EACH: Duration = Duration::from_secs(30);
/// Inputs that showed something before are run again first, for one part in so many of the time at most, or a few seconds.
const KNOWN: u32 = 10;
const LEAST_KNOWN: Duration = Duration::from_secs(3);

/// How the searches do their work.
pub struct Orders {
    pub diverge: diverge::Options,
    pub cover: cover::Options,
    pub amplify: amplify::Options,
}

impl Orders {
    /// Inputs are run alike by all of them, and each has its time when its turn comes.
    pub fn new(context: &Context, running: &Running, blame: bool) -> Orders {
        let context = Context {
            in_check: true,
            ..context.clone()
        };
        let setup = Setup::new(context, running.clone());
        let amplified = Setup {
            output: Some(stored::directory().join("amplify")),
            ..setup.clone()
        };
        let budget = Budget::of(LEAST_EACH);
        Orders {
            diverge: diverge::Options {
                blame,
                ..diverge::Options::new(setup.clone(), budget)
            },
            cover: cover::Options::new(setup, budget),
            amplify: amplify::Options::new(amplified, budget),
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

/// Tests that are amplified together.
struct Batch {
    chosen: Chosen,
    is_done: bool,
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
    batches: Vec<Batch>,
    amplified: BTreeSet<String>,
    /// By program and what it shows: the changes that an input executed.
    pub interactions: BTreeMap<(String, String), Interaction>,
    /// Programs with the graphs of their changes, and how often changes were searched together.
    pub together: Cache,
    pub interact_turns: u64,
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
        let budget = Budget::of(LEAST_EACH);
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
            batches: Vec::new(),
            amplified: BTreeSet::new(),
            interactions: BTreeMap::new(),
            together: Cache::default(),
            interact_turns: 0,
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
                    technique: Technique::Diverge,
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

    /// Judges an input that was just found; whether that shows something new.
    pub fn look_at(
        &mut self,
        name: &str,
        scenario: &Scenario,
        technique: Technique,
    ) -> Result<bool, Failure> {
        let suspect = Suspect {
            scenario,
            technique,
            id: None,
            seconds: self.elapsed().as_secs_f64(),
        };
        self.look(name, &suspect)
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

    /// Compares the versions from the scenarios that run changed code.
    pub fn compare(&mut self, time: Duration) -> Result<Gain, Failure> {
        let started = Instant::now();
        self.find_touching()?;
        let before = self.found();
        let mut parts: Vec<Part> = self
            .subjects
            .iter()
            .filter_map(|subject| {
                let touching = self.touching.get(&subject.name)?;
                let is_known = self.comparing.has_found(&subject.name);
                (is_known || !touching.seeds.is_empty()).then(|| Part {
                    subject: subject.clone(),
                    touching: touching.clone(),
                })
            })
            .collect();
        // To begin takes time: in a short one a few programs have their turn, others the next time.
        let all = parts.len();
        let room = (time.as_secs_f64() / LEAST_PART.as_secs_f64()) as usize;
        parts.rotate_left(self.first_part % all.max(1));
        parts.truncate(room.max(1));
        self.first_part += parts.len();
        let is_all = parts.len() == all;
        let budget = Budget::of(time.saturating_sub(started.elapsed()));
        let mut watcher = Watcher::new(self.context(), Vec::new(), budget.time);
        let ended = self.comparing.compare(parts, budget, &mut watcher)?;
        watcher.finish(&[])?;
        Ok(Gain {
            spent: started.elapsed(),
            found: self.found().saturating_sub(before),
            inputs: 0,
            is_done: is_all && ended == Ended::Exhausted,
        })
    }

    /// Searches for inputs that run changed lines which no test runs.
    pub fn cover(&mut self, time: Duration) -> Result<Gain, Failure> {
        let started = Instant::now();
        let campaign = &mut self.covering.campaign;
        let searched = campaign.found.targets.len();
        let mut budget = (time * 2 / searched.max(1) as u32).clamp(LEAST_EACH, MOST_EACH);
        campaign.reopen(Budget::of(budget));
        // What the last budget was not enough for may need more.
        while campaign.open().is_empty() && budget < time {
            budget *= 2;
            campaign.reopen(Budget::of(budget));
        }
        if campaign.open().is_empty() {
            return Ok(Gain {
                spent: started.elapsed(),
                is_done: true,
                ..Gain::default()
            });
        }
        let (covered, known) = (campaign.covered(), campaign.findings.len());
        let before = campaign.made();
        let mut watcher = Watcher::new(self.context(), Vec::new(), Some(time));
        self.covering
            .search(Budget::of(budget), Some(started + time), &mut watcher)?;
        watcher.finish(&[])?;
        let campaign = &self.covering.campaign;
        let reached = (campaign.covered() - covered) as u64;
        let is_done = campaign.covered() == searched;
        self.is_touching_old |= reached > 0;
        let mut found = reached;
        let errors: Vec<_> = campaign.findings.iter().skip(known).cloned().collect();
        // What was made to reach a line is run on both versions as any other input is.
        for (name, id) in campaign
            .made()
            .difference(&before)
            .cloned()
            .collect::<Vec<_>>()
        {
            let scenario = self.store.get(&id)?.recorded.scenario;
            found += u64::from(self.look_at(&name, &scenario, Technique::Cover)?);
        }
        for (path, finding) in errors {
            let subject = self.subjects.iter().find(|one| one.paths.new == path);
            if let Some(name) = subject.map(|subject| subject.name.clone()) {
                found += u64::from(self.look_at(&name, &finding.scenario, Technique::Cover)?);
            }
        }
        Ok(Gain {
            spent: started.elapsed(),
            found,
            inputs: reached,
            is_done,
        })
    }

    /// Checks what the scenarios execute that run changed code, for other inputs of their paths and of paths nearby.
    pub fn amplify(&mut self, time: Duration) -> Result<Gain, Failure> {
        let started = Instant::now();
        self.find_touching()?;
        self.batch();
        let Some(number) = self.batches.iter().position(|batch| !batch.is_done) else {
            return Ok(Gain {
                spent: started.elapsed(),
                is_done: true,
                ..Gain::default()
            });
        };
        let batch = &self.batches[number];
        let time = time.saturating_sub(started.elapsed());
        let came = amplify::go_on(&self.orders.amplify, &batch.chosen, time, self.store)?;
        let names: Vec<String> = batch
            .chosen
            .targets
            .iter()
            .map(|target| target.name.clone())
            .collect();
        self.batches[number].is_done = came.is_done;
        let mut found = 0;
        for (name, findings) in names.iter().zip(&came.findings) {
            for finding in findings {
                found += u64::from(self.look_at(name, &finding.scenario, Technique::Amplify)?);
            }
        }
        Ok(Gain {
            spent: started.elapsed(),
            found,
            inputs: 0,
            is_done: self.batches.iter().all(|batch| batch.is_done),
        })
    }

    /// Puts scenarios together that are not amplified yet: the project's own first, because a later run finds the same ones, and
    /// what it did with them is gone on with.
    fn batch(&mut self) {
        let mut seeds = self.touching.values().flat_map(|one| &one.seeds);
        let is_first = self.batches.is_empty() && seeds.any(|seed| seed.is_given);
        let is_meant =
            |seed: &&Seed| !self.amplified.contains(&seed.id) && (!is_first || seed.is_given);
        let parts = self.subjects.iter().filter_map(|subject| {
            let programs = &self.comparing.ready(&subject.name)?.versions.new.programs;
            let seeds = self.touching.get(&subject.name)?.seeds.iter();
            Some((subject, programs, seeds.filter(is_meant).collect()))
        });
        let parts: Vec<_> = parts.collect();
        let ids = parts
            .iter()
            .flat_map(|(_, _, seeds): &(_, _, Vec<&Seed>)| seeds);
        let ids: Vec<String> = ids.map(|seed| seed.id.clone()).collect();
        let chosen = amplify::near(&self.orders.amplify, self.pair, parts.into_iter());
        if let Some(chosen) = chosen {
            self.batches.push(Batch {
                chosen,
                is_done: false,
            });
        }
        self.amplified.extend(ids);
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
