//! What tests execute, checked for all inputs of their paths and of paths nearby.

mod keeper;
mod tests;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_exec::finding::Finding;
use parallax_exec::sites::SiteMap;
use parallax_report::results::amplify::{self as report, AmplifyReport, Shown};
use parallax_search::amplify::sample::Sample;
use parallax_search::amplify::{Options as Searched, Summary, Target, amplify};
use parallax_search::archive::Archive;
use parallax_solver::Config;
use parallax_store::{Store, scenario_id};

use crate::budget::Budget;
use crate::checkpoint::{Asked, Checkpoint, End, Outcome};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::setup::{Setup, TRACE_MEMORY};
use crate::watch::{Kept, Watcher};
use crate::{Answer, stored};
use keeper::Keeper;
pub use tests::{Chosen, all, near, one};

/// Where nothing else is said.
pub const DEPTH_FACTOR: usize = 2;
pub const SEED: u64 = 1;

/// How to amplify.
pub struct Options {
    pub setup: Setup,
    pub budget: Budget,
    /// Paths are left at most so many points before what could fail.
    pub max_distance: Option<usize>,
    /// A path that leaves at distance D is followed over so many times D points.
    pub depth_factor: usize,
    /// Only a share of the tests is amplified.
    pub sample: Option<Sample>,
    /// Chooses the sample.
    pub seed: u64,
    /// Whether to begin anew.
    pub fresh: bool,
}

impl Options {
    /// With nothing but what every search has.
    pub fn new(setup: Setup, budget: Budget) -> Options {
        Options {
            setup,
            budget,
            max_distance: None,
            depth_factor: DEPTH_FACTOR,
            sample: None,
            seed: SEED,
            fresh: false,
        }
    }

    fn searched(&self, budget: Budget) -> Searched {
        Searched {
            sample: self.sample,
            max_distance: self.max_distance,
            depth_factor: self.depth_factor,
            runs: budget.runs,
            time: budget.time,
            deadline: None,
            jobs: self.setup.running.jobs,
            seed: self.seed,
            limits: self.setup.limits(),
            solver: self.setup.solver(),
            trace_memory: TRACE_MEMORY,
            halt: self.setup.context.cancel.halt(),
        }
    }
}

/// Amplifies, or says what came of it before.
pub fn run(options: &Options, chosen: &Chosen) -> Result<Answer, Failure> {
    let context = &options.setup.context;
    let places = places(options, chosen);
    let budget = options.budget;
    let searched = options.searched(budget);
    let store = stored::open()?;
    let in_use = store.begin("parallax amplify")?;
    let mut search = Checkpoint::open(
        context,
        &store,
        &Asked {
            strategy: "amplify",
            program: &chosen.paths[0],
            settings: &identity(&searched, &chosen.targets),
            budget,
            fresh: options.fresh,
        },
    )?;
    if let Some(outcome) = search.finished() {
        for (finding, owner) in outcome.findings.iter().zip(&outcome.owners) {
            if let Some((directory, program)) = places.get(*owner) {
                Archive::open(directory)?.add_finding(finding, program)?;
            }
        }
        in_use.end(outcome.exit)?;
        return Ok(outcome.again(context));
    }
    let came = pursue(context, chosen, &searched, &store, &mut search, places)?;
    in_use.end(came.answer.exit as u8)?;
    Ok(came.answer)
}

/// What an amplification has come to.
pub struct Came {
    answer: Answer,
    /// `None` if it was interrupted.
    pub end: Option<End>,
    /// Of each program.
    pub findings: Vec<Vec<Finding>>,
}

/// Goes on with the amplification of these tests for a while, from where it was; what has been found so far, whenever that was. For
/// commands that report it themselves.
pub fn go_on(
    options: &Options,
    chosen: &Chosen,
    time: Duration,
    store: &Store,
) -> Result<Came, Failure> {
    let deadline = Some(Instant::now() + time);
    let context = &options.setup.context;
    let mut budget = Budget::of(time);
    let mut searched = options.searched(budget);
    let mut search = Checkpoint::open(
        context,
        store,
        &Asked {
            strategy: "amplify",
            program: &chosen.paths[0],
            settings: &identity(&searched, &chosen.targets),
            budget,
            fresh: false,
        },
    )?;
    budget.time = Some(search.spent() + time);
    search.allow(budget);
    searched.time = budget.time;
    searched.deadline = deadline;
    if let Some(outcome) = search.finished() {
        let mut findings = vec![Vec::new(); chosen.targets.len()];
        for (finding, owner) in outcome.findings.into_iter().zip(outcome.owners) {
            if let Some(list) = findings.get_mut(owner) {
                list.push(finding);
            }
        }
        return Ok(Came {
            answer: Answer::new(Exit::Clean, outcome.text, outcome.json),
            end: Some(outcome.end),
            findings,
        });
    }
    let places = places(options, chosen);
    pursue(context, chosen, &searched, store, &mut search, places)
}

/// Amplifies until the budget is used up, and keeps what it came to.
fn pursue(
    context: &Context,
    chosen: &Chosen,
    options: &Searched,
    store: &Store,
    search: &mut Checkpoint<'_>,
    places: Vec<(PathBuf, PathBuf)>,
) -> Result<Came, Failure> {
    let budget = Budget {
        runs: options.runs,
        time: options.time,
    };
    let mut watcher = Watcher::new(context, places, options.time);
    let mut keeper = Keeper::new(
        context,
        store,
        &chosen.names,
        &mut watcher,
        search.is_begun(),
    );
    let summary = match amplify(&chosen.targets, options, search, &mut keeper) {
        Ok(summary) => summary,
        Err(error) => {
            keeper.finish(std::iter::empty())?;
            return Err(error.into());
        }
    };
    let found = summary.targets.iter();
    keeper.finish(found.clone().map(|target| &target.findings[..]))?;
    let findings: Vec<Vec<Finding>> = found
        .map(|target| {
            let found = target.findings.iter();
            found.map(|found| found.finding.clone()).collect()
        })
        .collect();
    let kept = watcher.finish(&findings)?;
    let (text, json) = rendered(context, chosen, &summary, &kept)?;
    let exit = context.exit(findings.iter().all(Vec::is_empty));
    let end = End::of(summary.ended);
    if let Some(end) = end {
        let owners = findings.iter().enumerate();
        let owners = owners.flat_map(|(owner, found)| vec![owner; found.len()]);
        search.finish(&Outcome {
            budget,
            end,
            exit: exit as u8,
            text: text.clone(),
            json: json.clone(),
            tests: Vec::new(),
            owners: owners.collect(),
            findings: findings.concat(),
        })?;
    }
    Ok(Came {
        answer: Answer::new(exit, text, json),
        end,
        findings,
    })
}

/// For each program: where results are kept, and its path.
fn places(options: &Options, chosen: &Chosen) -> Vec<(PathBuf, PathBuf)> {
    let each = chosen.paths.iter().zip(&chosen.targets);
    each.map(|(path, target)| {
        let output = options.setup.output("amplify", path);
        let is_shared = options.setup.output.is_some() && chosen.paths.len() > 1;
        let name = path.file_name().filter(|_| is_shared);
        let output = name.map_or(output.clone(), |name| output.join(name));
        (output, target.programs.plain.clone())
    })
    .collect()
}

/// The report in both forms.
fn rendered(
    context: &Context,
    chosen: &Chosen,
    summary: &Summary,
    kept: &[Kept],
) -> Result<(String, String), Failure> {
    let mut programs = Vec::new();
    for (index, target) in chosen.targets.iter().enumerate() {
        let variants = &target.programs;
        programs.push(Shown {
            target,
            path: &chosen.paths[index],
            result: &summary.targets[index],
            sites: SiteMap::load(&variants.traced, &variants.traced_libraries)?,
            kept: &kept[index],
        });
    }
    let report = AmplifyReport {
        summary,
        programs,
        width: context.width,
    };
    Ok((report::render_text(&report), report::render_json(&report)))
}

/// Everything that decides what an amplification finds, but for its budget, as text.
fn identity(options: &Searched, targets: &[Target]) -> String {
    let options = Searched {
        runs: None,
        time: None,
        deadline: None,
        jobs: 1,
        halt: None,
        solver: Config {
            log: None,
            ..options.solver.clone()
        },
        ..options.clone()
    };
    let mut text = format!("{options:?}");
    for target in targets {
        // Derived programs lie where their contents and the version of Parallax say: so libraries count, too.
        let (programs, symbolic) = (&target.programs, &target.symbolic);
        let _ = write!(text, "\n{programs:?} {symbolic:?} {:?}", target.settings);
        for seed in &target.seeds {
            let id = scenario_id(target.name.as_bytes(), &seed.scenario);
            let _ = write!(text, "\n{id}");
        }
    }
    text
}
