//! The amplification of one program of several: its share of the budget, its checkpoint, and what is kept of it.

use std::time::Instant;

use parallax_exec::finding::Finding;
use parallax_report::words::{counted, show_count};
use parallax_search::amplify::{Amplification, Options as Searched, amplify};
use parallax_search::engine::{Observer, Progress};
use parallax_solver::Config;
use parallax_store::{Store, scenario_id};

use super::{Chosen, Options};
use crate::budget::Budget;
use crate::checkpoint::{Asked, Checkpoint};
use crate::failure::Failure;
use crate::keeper::{Keeper, kept_finding};
use crate::watch::Watcher;

/// What a program with some of the tests may use of what is left for so many.
pub fn share(left: Budget, tests: usize, all: usize) -> Budget {
    let (tests, all) = (tests as u32, all.max(1) as u32);
    Budget {
        runs: left
            .runs
            .map(|runs| (runs * u64::from(tests)).div_ceil(all.into())),
        time: left.time.map(|time| time * tests / all),
    }
}

pub fn open_part<'s>(
    options: &Options,
    chosen: &Chosen,
    index: usize,
    identity: &str,
    store: &'s Store,
    fresh: bool,
) -> Result<Checkpoint<'s>, Failure> {
    let asked = Asked {
        strategy: "amplify",
        program: &chosen.paths[index],
        settings: identity,
        budget: options.budget,
        fresh,
    };
    Checkpoint::open(&options.setup.context, store, &asked)
}

/// The amplification of one program.
pub struct Part<'p> {
    pub options: &'p Options,
    pub chosen: &'p Chosen,
    pub index: usize,
    pub tests: &'p [usize],
    pub store: &'p Store,
}

impl Part<'_> {
    /// Amplifies until the budget is used up, and keeps what is found.
    pub fn search(
        &self,
        searched: &Searched,
        journal: &mut Checkpoint<'_>,
        watching: &mut Watching<'_>,
    ) -> Result<Amplification, Failure> {
        let context = &self.options.setup.context;
        let name = &self.chosen.names[self.index];
        let keeper = Keeper::new(context, self.store, journal, "amplify", watching);
        let mut keeper = keeper.of(name.clone());
        let target = &self.chosen.targets[self.index];
        let result = amplify(target, self.tests, searched, journal, &mut keeper);
        keeper.finish(&[])?;
        let result = result?;
        for found in &result.record.findings {
            let distance = Some(found.distance as u64);
            let kept = kept_finding(name.clone(), "amplify", &found.finding, distance);
            self.store.put_finding(&kept)?;
        }
        Ok(result)
    }
}

/// Tells who watches about one of several programs.
pub struct Watching<'w> {
    pub watcher: &'w mut Watcher,
    pub index: usize,
    /// Of the program.
    pub name: &'w str,
    /// Then it is over, however long it took to come to where it was.
    pub until: Option<Instant>,
}

impl Observer for Watching<'_> {
    fn progress(&mut self, progress: &Progress) {
        let line = format!(
            "{}  {}  {}  {} open  {}",
            self.watcher.pace(progress.runs),
            self.name,
            counted(progress.paths, "path"),
            show_count(progress.open),
            counted(progress.findings, "error"),
        );
        self.watcher.tell(&line);
    }

    fn error(&mut self, finding: &Finding) {
        self.watcher.found(self.index, finding);
    }

    fn stop(&self) -> bool {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        is_late || self.watcher.is_over()
    }
}

/// Everything that decides what the amplification of a program finds, but for its budget, as text.
pub fn identity(options: &Options, chosen: &Chosen, index: usize, tests: &[usize]) -> String {
    let target = &chosen.targets[index];
    let nothing = Budget {
        runs: None,
        time: None,
    };
    let mut searched = options.searched(target, tests, nothing);
    searched.search.jobs = 1;
    searched.search.solver = Config {
        log: None,
        ..searched.search.solver
    };
    // Derived programs lie where their contents and the version of Parallax say: so libraries count, too.
    let programs = &target.programs;
    let ids = tests.iter().map(|test| {
        let scenario = &target.seeds[*test].scenario;
        scenario_id(target.name.as_bytes(), scenario)
    });
    let ids: Vec<String> = ids.collect();
    format!("{searched:?}\n{programs:?}\n{}", ids.join("\n"))
}
