//! The comparison of one program's versions.

use std::sync::OnceLock;

use parallax_scenario::Scenario;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::correspond::Correspondence;
use parallax_search::diverge::triage::Court;
use parallax_search::diverge::walk::Both;
use parallax_search::diverge::{
    Natives, Observer, Prepared, Progress, Subjects, Summary, Versions, diverge,
};
use parallax_search::explore::{Bounds, Shape};

use super::Arguments;
use crate::commands::budget::Budget;
use crate::commands::explore::watch;
use crate::commands::shared;
use crate::commands::versions::{Pair, Seed, Subject, Version};
use crate::failure::Failure;

/// Both versions of a program, ready to be compared.
pub struct Ready {
    pub subject: Subject,
    pub versions: Both<Version>,
    correspondence: Correspondence,
    subjects: Subjects,
}

impl Ready {
    pub fn new(arguments: &Arguments, subject: &Subject) -> Result<Ready, Failure> {
        let means = &arguments.means;
        let versions = Both {
            old: Version::new(&subject.paths.old, means)?,
            new: Version::new(&subject.paths.new, means)?,
        };
        let golden = match &subject.golden {
            Some(path) => Some((path.clone(), means.checked(&shared::read(path)?))),
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

    fn natives(&self) -> Natives {
        let Both { old, new } = &self.subjects.programs;
        Natives {
            old: old.plain.clone(),
            new: new.plain.clone(),
            golden: self
                .subjects
                .golden
                .as_ref()
                .map(|(plain, _)| plain.clone()),
        }
    }

    /// What a search is given beside the programs, which these inputs are for.
    fn prepared(&self, seeds: &[Scenario]) -> Prepared<'_> {
        let golden = self.subjects.golden.as_ref();
        Prepared {
            programs: self.subjects.programs.clone(),
            golden_checked: golden.and_then(|(_, checked)| checked.clone()),
            versions: self.places(),
            vocabulary: self.versions.new.vocabulary(seeds.iter()),
        }
    }

    /// Runs inputs on both versions, plain and checked.
    pub fn court(&self, arguments: &Arguments, pair: &Pair) -> Result<Court, Failure> {
        let mut settings = arguments.means.compared(&self.subject.paths.new);
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
    arguments: &Arguments,
    pair: &Pair,
    ready: &Ready,
    seeds: &[Seed],
    budget: Budget,
    tell: &mut dyn FnMut(Event) -> Result<(), Failure>,
) -> Result<Option<Summary>, Failure> {
    if seeds.is_empty() {
        return Ok(None);
    }
    let all: Vec<_> = seeds.iter().map(|seed| seed.scenario.clone()).collect();
    let variables = pair.project.config.inputs.environment.iter();
    let variables: Vec<Vec<u8>> = variables.map(|name| name.clone().into_bytes()).collect();
    let mut shared = arguments.options(
        &ready.subject.paths.new,
        budget,
        Vec::new(),
        Shape::Bounded(Bounds::around(&all)),
        variables,
    );
    shared.explore.settings.readable.extend(pair.folders());
    shared.seeds = all;
    let preparation = OnceLock::from(Some(ready.prepared(&shared.seeds)));
    let mut teller = Teller {
        seeds,
        tell,
        trouble: None,
    };
    let result = diverge(&ready.natives(), &shared, &preparation, &mut teller);
    match teller.trouble {
        Some(failure) => Err(failure),
        None => Ok(Some(result?)),
    }
}

/// Runs scenarios natively on both versions, before anything is derived from them.
pub fn compare_natively(
    arguments: &Arguments,
    pair: &Pair,
    subject: &Subject,
    seeds: &[Seed],
    tell: &mut dyn FnMut(Event) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let all: Vec<_> = seeds.iter().map(|seed| seed.scenario.clone()).collect();
    let budget = Budget {
        runs: None,
        time: None,
    };
    let shape = Shape::Bounded(Bounds::default());
    let program = &subject.paths.new;
    let mut options = arguments.options(program, budget, all, shape, Vec::new());
    options.only_given = true;
    options.explore.settings.readable.extend(pair.folders());
    let mut teller = Teller {
        seeds,
        tell,
        trouble: None,
    };
    let natives = Natives {
        old: subject.paths.old.clone(),
        new: subject.paths.new.clone(),
        golden: subject.golden.clone(),
    };
    let result = diverge(&natives, &options, &OnceLock::from(None), &mut teller);
    match teller.trouble {
        Some(failure) => Err(failure),
        None => result.map(|_| ()).map_err(Failure::from),
    }
}

/// Passes on what happens.
struct Teller<'t> {
    seeds: &'t [Seed],
    tell: &'t mut dyn FnMut(Event) -> Result<(), Failure>,
    /// Nothing can be kept any more.
    trouble: Option<Failure>,
}

impl Teller<'_> {
    fn send(&mut self, event: Event) {
        if self.trouble.is_none() {
            self.trouble = (self.tell)(event).err();
        }
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
        self.send(Event::Settled(self.seeds[seed].id.clone()));
    }

    fn left_out(&mut self, seed: usize, why: &dyn std::fmt::Display) {
        self.send(Event::LeftOut(self.seeds[seed].id.clone(), why.to_string()));
    }

    fn stop(&self) -> bool {
        self.trouble.is_some() || watch::interrupted()
    }
}
