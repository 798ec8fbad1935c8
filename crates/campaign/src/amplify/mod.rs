//! What tests execute, checked for all inputs of their paths and of paths nearby.
//!
//! There is one search for each program, and a checkpoint for each. Programs have their turns one after the other, each with a share of
//! what is left that is as large as its share of the tests. So none of them waits for the others to be done with a distance, and time
//! that the last ones leave over is not used.

mod part;
mod tests;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_exec::finding::Finding;
use parallax_exec::sites::SiteMap;
use parallax_report::results::amplify::{self as report, AmplifyReport, Shown};
use parallax_scenario::Scenario;
use parallax_search::amplify::sample::{self, Sample};
use parallax_search::amplify::{Amplification, Options as Searched, Reach, Target};
use parallax_search::archive::Archive;
use parallax_search::engine::Ended;
use parallax_search::explore::{self, Bounds, Shape};
use parallax_store::Store;

use crate::budget::Budget;
use crate::checkpoint::{Asked, Checkpoint, End, Outcome};
use crate::context::Context;
use crate::failure::Failure;
use crate::setup::Setup;
use crate::watch::{Kept, Watcher};
use crate::{Answer, stored};
use part::{Part, Watching, identity, open_part, share};
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

    /// For some tests of a program.
    fn searched(&self, target: &Target, tests: &[usize], budget: Budget) -> Searched {
        let scenarios = tests
            .iter()
            .map(|test| target.seeds[*test].scenario.clone());
        let scenarios: Vec<Scenario> = scenarios.collect();
        let shape = match scenarios.as_slice() {
            [one] => Shape::Near(Box::new(one.clone())),
            several => Shape::Bounded(Bounds::around(several)),
        };
        let (symbolic, settings) = (target.symbolic.clone(), target.settings.clone());
        Searched {
            reach: Reach {
                max_distance: self.max_distance,
                depth_factor: self.depth_factor,
            },
            search: explore::Options {
                hangs: false,
                keep_lengths: true,
                ..self.setup.options(budget, shape, symbolic, settings)
            },
        }
    }
}

/// Amplifies, or says what came of it before.
pub fn run(options: &Options, chosen: &Chosen) -> Result<Answer, Failure> {
    let context = &options.setup.context;
    let places = places(options, chosen);
    let budget = options.budget;
    let store = stored::open()?;
    let in_use = store.begin("parallax amplify")?;
    let tests = tests_of(options, chosen);
    let each = 0..chosen.targets.len();
    let identities = each.map(|index| identity(options, chosen, index, &tests[index]));
    let identities: Vec<String> = identities.collect();
    let mut search = Checkpoint::open(
        context,
        &store,
        &Asked {
            strategy: "amplify",
            program: &chosen.paths[0],
            settings: &format!("together\n{}", identities.join("\n")),
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
    let mut watcher = Watcher::new(context, places, budget.time);
    let mut left = budget;
    let mut weight: usize = tests.iter().map(Vec::len).sum();
    let mut results = Vec::new();
    for (index, tests) in tests.iter().enumerate() {
        let part = share(left, tests.len(), weight);
        weight -= tests.len();
        let mut journal = open_part(
            options,
            chosen,
            index,
            &identities[index],
            &store,
            options.fresh,
        )?;
        let searched = options.searched(&chosen.targets[index], tests, part);
        let mut watching = Watching {
            watcher: &mut watcher,
            index,
            name: &chosen.targets[index].name,
            until: None,
        };
        let part = Part {
            options,
            chosen,
            index,
            tests,
            store: &store,
        };
        let result = part.search(&searched, &mut journal, &mut watching)?;
        left.runs = left.runs.map(|runs| runs.saturating_sub(result.runs));
        let seconds = Duration::from_secs_f64(result.seconds);
        left.time = left.time.map(|time| time.saturating_sub(seconds));
        results.push(result);
    }
    let findings: Vec<Vec<Finding>> = results.iter().map(findings_of).collect();
    let kept = watcher.finish(&findings)?;
    let ended = ended(&results);
    let (text, json) = rendered(context, chosen, ended, &results, &kept)?;
    let exit = context.exit(findings.iter().all(Vec::is_empty));
    if let Some(end) = End::of(ended) {
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
    in_use.end(exit as u8)?;
    Ok(Answer::new(exit, text, json))
}

/// What amplifications have come to.
pub struct Came {
    /// Whether nothing is left to try.
    pub is_done: bool,
    /// Of each program, whenever they were found.
    pub findings: Vec<Vec<Finding>>,
}

/// Goes on for a while with the program that has had least of it, from where that was. For commands that report it themselves.
pub fn go_on(
    options: &Options,
    chosen: &Chosen,
    time: Duration,
    store: &Store,
) -> Result<Came, Failure> {
    let until = Instant::now() + time;
    let tests = tests_of(options, chosen);
    let mut journals = Vec::new();
    for (index, tests) in tests.iter().enumerate() {
        let identity = identity(options, chosen, index, tests);
        journals.push(open_part(options, chosen, index, &identity, store, false)?);
    }
    let is_open = |journal: &Checkpoint<'_>| {
        let last = journal.last();
        last.is_none_or(|last| last.end != End::Exhausted)
    };
    let open = (0..journals.len()).filter(|index| is_open(&journals[*index]));
    let next = open.min_by_key(|index| journals[*index].spent());
    if let Some(index) = next {
        let journal = &mut journals[index];
        let budget = Budget::of(journal.spent() + time);
        let searched = options.searched(&chosen.targets[index], &tests[index], budget);
        let context = &options.setup.context;
        let places = places(options, chosen);
        let mut watcher = Watcher::new(context, places, Some(time));
        let mut watching = Watching {
            watcher: &mut watcher,
            index,
            name: &chosen.targets[index].name,
            until: Some(until),
        };
        let part = Part {
            options,
            chosen,
            index,
            tests: &tests[index],
            store,
        };
        let result = part.search(&searched, journal, &mut watching)?;
        let findings = findings_of(&result);
        let mut all = vec![Vec::new(); chosen.targets.len()];
        all[index] = findings.clone();
        watcher.finish(&all)?;
        let end = match result.ended {
            None | Some(Ended::Exhausted) => Some(End::Exhausted),
            // It was not the user who had enough.
            Some(Ended::Stopped) if !context.is_cancelled() => Some(End::Time),
            Some(ended) => End::of(ended),
        };
        if let Some(end) = end {
            journal.finish(&Outcome {
                budget,
                end,
                exit: 0,
                text: String::new(),
                json: String::new(),
                tests: Vec::new(),
                owners: Vec::new(),
                findings,
            })?;
        }
    }
    let found = journals.iter().map(|journal| journal.last());
    Ok(Came {
        is_done: !journals.iter().any(is_open),
        findings: found
            .map(|last| last.map_or_else(Vec::new, |last| last.findings))
            .collect(),
    })
}

/// Tests of each program that are used.
fn tests_of(options: &Options, chosen: &Chosen) -> Vec<Vec<usize>> {
    let counts = chosen.targets.iter().map(|target| target.seeds.len());
    sample::chosen(&counts.collect::<Vec<_>>(), options.sample, options.seed)
}

fn findings_of(result: &Amplification) -> Vec<Finding> {
    let found = result.record.findings.iter();
    found.map(|found| found.finding.clone()).collect()
}

/// How all of them ended together.
fn ended(results: &[Amplification]) -> Ended {
    let order = [Ended::Stopped, Ended::Time, Ended::Runs];
    let is_any = |end: &Ended| results.iter().any(|one| one.ended == Some(*end));
    order.into_iter().find(is_any).unwrap_or(Ended::Exhausted)
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
    ended: Ended,
    results: &[Amplification],
    kept: &[Kept],
) -> Result<(String, String), Failure> {
    let mut programs = Vec::new();
    for (index, target) in chosen.targets.iter().enumerate() {
        let variants = &target.programs;
        programs.push(Shown {
            target,
            path: &chosen.paths[index],
            result: &results[index],
            sites: SiteMap::load(&variants.traced, &variants.traced_libraries)?,
            kept: &kept[index],
        });
    }
    let report = AmplifyReport {
        ended,
        programs,
        width: context.width,
    };
    Ok((report::render_text(&report), report::render_json(&report)))
}
