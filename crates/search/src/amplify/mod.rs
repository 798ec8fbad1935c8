//! Amplification: what tests of one program could have found. The search with one version and one goal, failures near tests
//! ([`crate::goals::failures`]).

mod interface;
pub mod sample;

use std::fmt::Display;
use std::sync::OnceLock;

use parallax_exec::finding::Finding;
use parallax_exec::sites::SiteMap;

use crate::engine::{
    self, Ended, Natives, Observer, Patch, Prepared, Progress, SearchError, search,
};
use crate::explore::ExploreError;
use crate::goals::failures::Failures;
use crate::journal::Journal;
use crate::sources::vocabulary::Vocabulary;

pub use crate::goals::failures::{Amplified, Checks, Divergence, Place, Reach, Record};
pub use interface::{Amplification, Options, Seed, Target};

/// Amplifies some tests of a program, or goes on where the journal says that another process was.
pub fn amplify(
    target: &Target,
    chosen: &[usize],
    options: &Options,
    journal: &mut dyn Journal,
    observer: &mut dyn Observer,
) -> Result<Amplification, SearchError> {
    let programs = &target.programs;
    let load = || SiteMap::load(&programs.traced, &programs.traced_libraries);
    let sites = load().map_err(ExploreError::from)?;
    let natives = Natives {
        new: programs.plain.clone(),
        old: None,
        golden: None,
    };
    let preparation = OnceLock::from(Some(Prepared {
        new: programs.clone(),
        old: None,
        golden_checked: None,
        sites: &sites,
        tables: &[],
        versions: None,
        examiner: None,
        vocabulary: Vocabulary::default(),
    }));
    let seeds = chosen.iter().map(|index| &target.seeds[*index].scenario);
    let searched = engine::Options {
        seeds: seeds.cloned().collect(),
        without: Vec::new(),
        explore: options.search.clone(),
        patch: Patch::default(),
    };
    let mut failures = Failures::new(&searched.seeds, options.reach);
    let mut watching = Watching {
        observer,
        unusable: Vec::new(),
    };
    let result = search(
        &natives,
        &searched,
        &preparation,
        &mut [&mut failures],
        journal,
        &mut watching,
    );
    let unusable = watching.unusable.into_iter();
    let unusable = unusable.map(|(seed, why)| (chosen[seed], why)).collect();
    let known = Amplification {
        given: target.seeds.len(),
        planned: chosen.len(),
        unusable,
        ..Amplification::default()
    };
    let summary = match result {
        Ok(summary) => summary,
        // Other programs may leave one.
        Err(SearchError::Explore(ExploreError::Untraced)) => return Ok(known),
        Err(error) if chosen.len() == 1 && error.is_about_the_input() => {
            return Ok(Amplification {
                ended: Some(Ended::Exhausted),
                unusable: vec![(chosen[0], error.to_string())],
                ..known
            });
        }
        Err(error) => return Err(error),
    };
    let mut record = failures.finish(summary.findings);
    let numbers = record.findings.iter_mut().map(|found| &mut found.seed);
    let numbers = numbers.chain(record.divergences.iter_mut().map(|at| &mut at.seed));
    for seed in numbers.chain(&mut record.order) {
        *seed = chosen[*seed];
    }
    let mut limits = summary.limits;
    limits.absorb(&record.limits);
    Ok(Amplification {
        ended: Some(summary.ended),
        record,
        runs: summary.progress.runs,
        paths: summary.progress.paths,
        seconds: summary.time.as_secs_f64(),
        missed: summary.flips.missed,
        losses: summary.losses,
        // Those of earlier processes, too.
        queries: summary.progress.queries,
        solver: summary.solver,
        executions: summary.executions,
        flaky: summary.flaky,
        limits,
        ..known
    })
}

/// Notes which tests could not be run.
struct Watching<'o> {
    observer: &'o mut dyn Observer,
    unusable: Vec<(usize, String)>,
}

impl Observer for Watching<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.observer.progress(progress);
    }

    fn error(&mut self, finding: &Finding) {
        self.observer.error(finding);
    }

    fn left_out(&mut self, seed: usize, why: &dyn Display) {
        self.unusable.push((seed, why.to_string()));
    }

    fn caught_up(&mut self, progress: &Progress) {
        self.observer.caught_up(progress);
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }
}
