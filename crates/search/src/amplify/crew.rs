//! The workers of the program that is being amplified.
//!
//! Sandboxes, run servers and solvers of all programs of a project at once would be too many: there are those of one program,
//! made when the first of its runs is due.

use std::cell::OnceCell;

use super::WORKERS;
use super::interface::{Options, Target};
use super::tape::Cost;
use crate::explore::ExploreError;
use crate::worker::{Means, Worker};
use parallax_exec::sites::SiteMap;

pub struct Crew<'a> {
    targets: &'a [Target],
    options: &'a Options,
    /// For each program, once they were needed.
    sites: &'a [OnceCell<SiteMap>],
    of: Option<usize>,
    workers: Vec<Worker<'a>>,
    /// Runs that were counted.
    runs: u64,
}

impl<'a> Crew<'a> {
    pub fn new(
        targets: &'a [Target],
        options: &'a Options,
        sites: &'a [OnceCell<SiteMap>],
    ) -> Crew<'a> {
        Crew {
            targets,
            options,
            sites,
            of: None,
            workers: Vec::new(),
            runs: 0,
        }
    }

    /// The workers of a program, and its sites.
    pub fn of(&mut self, target: usize) -> Result<(&mut [Worker<'a>], &'a SiteMap), ExploreError> {
        let given = &self.targets[target];
        let programs = &given.programs;
        let sites = match self.sites[target].get() {
            Some(sites) => sites,
            None => {
                let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
                self.sites[target].get_or_init(|| sites)
            }
        };
        if self.of != Some(target) {
            self.workers.clear();
            self.runs = 0;
            let means = Means {
                limits: self.options.limits,
                symbolic: &given.symbolic,
                settings: &given.settings,
                solver: &self.options.solver,
            };
            let first = Worker::new(programs, means, sites)?;
            while self.workers.len() + 1 < WORKERS {
                self.workers.push(first.beside());
            }
            self.workers.insert(0, first);
            self.of = Some(target);
        }
        Ok((&mut self.workers, sites))
    }

    /// What the workers of a program have done since this was last asked; their solvers are replaced by fresh ones.
    pub fn settle(&mut self, target: usize) -> Cost {
        let mut cost = Cost::default();
        if self.of != Some(target) {
            return cost;
        }
        for worker in &mut self.workers {
            cost.solver.absorb(worker.solver.statistics());
            worker.settle();
        }
        let runs = self.workers.iter().map(Worker::runs).sum();
        cost.executions = runs - self.runs;
        self.runs = runs;
        cost
    }
}
