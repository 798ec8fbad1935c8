//! The comparison of one program's versions.

use std::sync::OnceLock;
use std::time::Duration;

use parallax_exec::sites::ModuleSites;
use parallax_scenario::Scenario;
use parallax_search::core::goal::{Examiner, Goal};
use parallax_search::diverge::Versions;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::correspond::Correspondence;
use parallax_search::diverge::triage::{Court, Subjects};
use parallax_search::diverge::walk::Both;
use parallax_search::engine::{Natives, Observer, Patch, Prepared, Progress, Summary, search};
use parallax_search::explore::{Bounds, Shape};
use parallax_search::goals::differences::Differences;
use parallax_search::journal::Nowhere;

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

    fn natives(&self) -> Natives {
        let Both { old, new } = &self.subjects.programs;
        let golden = self.subjects.golden.as_ref();
        Natives {
            old: Some(old.plain.clone()),
            new: new.plain.clone(),
            golden: golden.map(|(plain, _)| plain.clone()),
        }
    }

    /// What a search is given beside the programs, which these inputs are for.
    fn prepared(&self, seeds: &[Scenario]) -> Prepared<'_> {
        let golden = self.subjects.golden.as_ref();
        let Both { old, new } = self.subjects.programs.clone();
        Prepared {
            new,
            old: Some(old),
            golden_checked: golden.and_then(|(_, checked)| checked.clone()),
            sites: &self.versions.new.sites,
            tables: &[],
            versions: Some(self.places()),
            vocabulary: self.versions.new.vocabulary(seeds.iter()),
            examiner: None,
        }
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

/// What a search looks for beside differences, and what that needs.
#[derive(Default)]
pub struct Further<'f> {
    pub goals: Vec<&'f mut dyn Goal>,
    /// Of the new version's covered variant.
    pub tables: &'f [ModuleSites],
    pub examiner: Option<&'f dyn Examiner>,
    /// Environment variables that are input, beside the project's.
    pub environment: Vec<Vec<u8>>,
    pub patch: Patch,
    /// Called now and then, and once more at the end.
    pub hear: Option<&'f mut dyn FnMut() -> Result<(), Failure>>,
}

/// Searches from scenarios, for what it is given, too.
pub type Search<'s> = dyn FnMut(&[Seed], Further<'_>) -> Result<Option<Summary>, Failure> + 's;

/// Has more to look for in the programs that are compared.
pub trait Beside {
    /// Searches one program from these scenarios, or from more, within the budget.
    fn search(
        &mut self,
        ready: &Ready,
        seeds: Vec<Seed>,
        budget: Budget,
        search: &mut Search<'_>,
    ) -> Result<Option<Summary>, Failure>;
}

/// Nothing but differences.
pub struct Nothing;

impl Beside for Nothing {
    fn search(
        &mut self,
        _ready: &Ready,
        seeds: Vec<Seed>,
        _budget: Budget,
        search: &mut Search<'_>,
    ) -> Result<Option<Summary>, Failure> {
        search(&seeds, Further::default())
    }
}

/// Compares from scenarios, until the budget is used up; `None` without any scenario.
pub fn compare(
    asked: &Asked,
    pair: &Pair,
    ready: &Ready,
    seeds: &[Seed],
    budget: Budget,
    further: Further<'_>,
    tell: &mut dyn FnMut(Event) -> Result<(), Failure>,
) -> Result<Option<Summary>, Failure> {
    if seeds.is_empty() {
        return Ok(None);
    }
    let all: Vec<_> = seeds.iter().map(|seed| seed.scenario.clone()).collect();
    let shape = Shape::Bounded(Bounds::around(&all));
    let mut variables = variables(&pair.project);
    variables.extend(further.environment);
    let mut searched = asked.searched(&ready.subject.paths.new, budget, all, shape, variables);
    searched.explore.settings.readable.extend(pair.folders());
    searched.patch = further.patch;
    let preparation = OnceLock::from(Some(Prepared {
        tables: further.tables,
        examiner: further.examiner,
        ..ready.prepared(&searched.seeds)
    }));
    let mut teller = Teller::new(asked, seeds, tell);
    if let Some(hear) = further.hear {
        teller.hear = Some(hear);
    }
    let mut differences = Differences::default();
    let mut goals: Vec<&mut dyn Goal> = vec![&mut differences];
    for goal in further.goals {
        goals.push(goal);
    }
    let result = search(
        &ready.natives(),
        &searched,
        &preparation,
        &mut goals,
        &mut Nowhere,
        &mut teller,
    );
    teller.listen();
    match teller.trouble {
        Some(failure) => Err(failure),
        None => Ok(Some(result?)),
    }
}

/// Runs scenarios natively on both versions, before anything is derived from them.
pub fn compare_natively(
    asked: &Asked,
    pair: &Pair,
    subject: &Subject,
    seeds: &[Seed],
    time: Option<Duration>,
    tell: &mut dyn FnMut(Event) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let all: Vec<_> = seeds.iter().map(|seed| seed.scenario.clone()).collect();
    let budget = Budget { runs: None, time };
    let shape = Shape::Bounded(Bounds::default());
    let mut searched = asked.searched(&subject.paths.new, budget, all, shape, Vec::new());
    searched.explore.settings.readable.extend(pair.folders());
    let natives = Natives {
        old: Some(subject.paths.old.clone()),
        new: subject.paths.new.clone(),
        golden: subject.golden.clone(),
    };
    let mut teller = Teller::new(asked, seeds, tell);
    let nothing = OnceLock::from(None);
    let result = search(
        &natives,
        &searched,
        &nothing,
        &mut [],
        &mut Nowhere,
        &mut teller,
    );
    match teller.trouble {
        Some(failure) => Err(failure),
        None => Ok(result.map(|_| ())?),
    }
}

/// Passes on what happens.
struct Teller<'t> {
    seeds: &'t [Seed],
    tell: &'t mut dyn FnMut(Event) -> Result<(), Failure>,
    hear: Option<&'t mut dyn FnMut() -> Result<(), Failure>>,
    cancel: &'t Cancel,
    /// Nothing can be kept any more.
    trouble: Option<Failure>,
}

impl<'t> Teller<'t> {
    fn new(
        asked: &'t Asked,
        seeds: &'t [Seed],
        tell: &'t mut dyn FnMut(Event) -> Result<(), Failure>,
    ) -> Teller<'t> {
        Teller {
            seeds,
            tell,
            hear: None,
            cancel: &asked.setup.context.cancel,
            trouble: None,
        }
    }

    fn listen(&mut self) {
        if let (None, Some(hear)) = (&self.trouble, &mut self.hear) {
            self.trouble = hear().err();
        }
    }

    fn send(&mut self, event: Event) {
        if self.trouble.is_none() {
            self.trouble = (self.tell)(event).err();
        }
    }
}

impl Observer for Teller<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.listen();
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
        self.trouble.is_some() || self.cancel.is_set()
    }
}
