//! The comparison of one program's versions, its scenarios dealt out to several threads.

use std::sync::mpsc::{Sender, channel};
use std::thread;

use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::correspond::Correspondence;
use parallax_search::diverge::triage::Court;
use parallax_search::diverge::walk::Both;
use parallax_search::diverge::{
    DivergeError, Diverger, Observer, Options, Progress, Subjects, Summary, Versions,
};
use parallax_search::explore::{Bounds, Shape};

use super::Options as Asked;
use crate::budget::Budget;
use crate::context::Cancel;
use crate::failure::Failure;
use crate::project::variables;
use crate::variants;
use crate::versions::{Pair, Seed, Subject, Version};

/// Both versions of a program, ready to be compared.
pub struct Ready {
    pub subject: Subject,
    pub versions: Both<Version>,
    correspondence: Correspondence,
    subjects: Subjects,
}

impl Ready {
    pub fn new(asked: &Asked, subject: &Subject) -> Result<Ready, Failure> {
        let setup = &asked.setup;
        let versions = Both {
            old: Version::new(&subject.paths.old, setup)?,
            new: Version::new(&subject.paths.new, setup)?,
        };
        let golden = match &subject.golden {
            Some(path) => Some((path.clone(), setup.checked(&variants::read(path)?))),
            None => None,
        };
        Ok(Ready {
            correspondence: Version::correspondence(&versions.old, &versions.new),
            subjects: Subjects {
                programs: Both {
                    old: versions.old.programs.clone(),
                    new: versions.new.programs.clone(),
                },
                golden,
            },
            subject: subject.clone(),
            versions,
        })
    }

    /// Runs inputs on both versions, plain and checked.
    pub fn court(&self, asked: &Asked, pair: &Pair) -> Result<Court, Failure> {
        let mut settings = asked.setup.compared(&self.subject.paths.new);
        settings.readable.extend(pair.folders());
        Ok(Court::new(&self.subjects, &settings)?)
    }

    /// What leads from sites of one version to those of the other.
    pub fn places(&self) -> Versions<'_> {
        Versions {
            sites: Both {
                old: &self.versions.old.sites,
                new: &self.versions.new.sites,
            },
            correspondence: &self.correspondence,
        }
    }
}

/// What happens while versions are compared.
pub enum Event {
    /// Of all threads together.
    Progress(Progress),
    Found(Box<Cluster>),
    /// The scenario with this name has been compared on.
    Settled(String),
    /// It cannot be run.
    LeftOut(String, String),
}

/// Compares from scenarios, until the budget is used up; `None` without any scenario.
pub fn compare(
    asked: &Asked,
    pair: &Pair,
    ready: &Ready,
    seeds: &[Seed],
    budget: Budget,
    tell: &mut dyn FnMut(Event) -> Result<(), Failure>,
) -> Result<Option<Summary>, Failure> {
    let all: Vec<_> = seeds.iter().map(|seed| seed.scenario.clone()).collect();
    let cancel = &asked.setup.context.cancel;
    let mut shared = asked.searched(
        &ready.subject.paths.new,
        budget,
        Vec::new(),
        Shape::Bounded(Bounds::around(&all)),
        variables(&pair.project),
    );
    shared.explore.settings.readable.extend(pair.folders());
    let count = asked.setup.running.jobs.clamp(1, seeds.len().max(1));
    // Dealt out like cards: the best are first, and each thread is to have some of them.
    let shares: Vec<Vec<&Seed>> = (0..count)
        .map(|share| seeds.iter().skip(share).step_by(count).collect())
        .filter(|share: &Vec<&Seed>| !share.is_empty())
        .collect();
    let options: Vec<Options> = shares
        .iter()
        .map(|share| Options {
            seeds: share.iter().map(|seed| seed.scenario.clone()).collect(),
            ..shared.clone()
        })
        .collect();
    let (sender, receiver) = channel::<(usize, Event)>();
    let mut trouble = None;
    let results: Vec<Result<Summary, DivergeError>> = thread::scope(|scope| {
        let mut threads = Vec::new();
        for (number, (share, options)) in shares.iter().zip(&options).enumerate() {
            let mut teller = Teller {
                number,
                share,
                sender: sender.clone(),
                cancel,
            };
            threads.push(scope.spawn(move || {
                let diverger = Diverger::new(&ready.subjects, options, ready.places())?;
                diverger.run(&mut teller)
            }));
        }
        drop(sender);
        let mut progress = vec![Progress::default(); shares.len()];
        for (number, event) in receiver {
            let event = match event {
                Event::Progress(own) => {
                    progress[number] = own;
                    Event::Progress(sum(&progress, own))
                }
                event => event,
            };
            if trouble.is_none()
                && let Err(failure) = tell(event)
            {
                // Nothing can be kept any more.
                cancel.set();
                trouble = Some(failure);
            }
        }
        let joined = threads.into_iter().map(|thread| {
            let result = thread.join();
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect()
    });
    if let Some(failure) = trouble {
        return Err(failure);
    }
    let summaries = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Summary::join(summaries))
}

/// How far all threads are together.
fn sum(all: &[Progress], last: Progress) -> Progress {
    let total = |of: fn(&Progress) -> u64| all.iter().map(of).sum();
    Progress {
        phase: last.phase,
        runs: total(|one| one.runs),
        divergences: total(|one| one.divergences),
        clusters: total(|one| one.clusters),
        open: total(|one| one.open),
    }
}

/// Tells the thread that keeps everything what one of the others sees.
struct Teller<'t> {
    number: usize,
    share: &'t [&'t Seed],
    sender: Sender<(usize, Event)>,
    cancel: &'t Cancel,
}

impl Teller<'_> {
    fn send(&self, event: Event) {
        // Who does not listen any more has a reason, and says so by asking for an end.
        let _ = self.sender.send((self.number, event));
    }
}

impl Observer for Teller<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.send(Event::Progress(*progress));
    }

    fn found(&mut self, cluster: &Cluster) {
        self.send(Event::Found(Box::new(cluster.clone())));
    }

    fn settled(&mut self, seed: usize) {
        self.send(Event::Settled(self.share[seed].id.clone()));
    }

    fn left_out(&mut self, seed: usize, error: &DivergeError) {
        self.send(Event::LeftOut(
            self.share[seed].id.clone(),
            error.to_string(),
        ));
    }

    fn stop(&self) -> bool {
        self.cancel.is_set()
    }
}
