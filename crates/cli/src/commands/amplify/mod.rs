//! `parallax amplify`: what tests execute, checked for all inputs of their paths and of paths nearby.

mod keeper;
mod tests;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_exec::finding::Finding;
use parallax_exec::sites::SiteMap;
use parallax_search::amplify::sample::Sample;
use parallax_search::amplify::{Options, Summary, Target, amplify};
use parallax_search::archive::Archive;
use parallax_solver::Config;
use parallax_store::{Store, scenario_id};

use super::budget::{Budget, BudgetArguments};
use super::explore::seed::GivenArguments;
use super::explore::watch::{self, Kept, Watcher};
use super::means::{Means, TRACE_MEMORY};
use super::search::{self, Asked, End, Outcome, Search};
use super::{record, shared, stored};
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use keeper::Keeper;
use parallax_report::results::amplify::{self as report, AmplifyReport, Shown};
pub use tests::{Chosen, near};

/// Check what tests execute for all inputs of their paths, and of paths nearby
///
/// Runs each test and asks of every operation that could fail (memory access, division, signed
/// overflow, shift, allocation size, length of a copy, assertion) whether it does for any input that takes the same path:
/// distance 0. Then the paths are left near such operations, nearest first, as long as there is time. Every input
/// that makes something fail is run on the program built with sanitizers, and reported if it fails there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax amplify -- make check                     # records the tests, then amplifies them
  parallax amplify --time 20m                        # all tests that were recorded
  parallax amplify --program cut --sample 30%        # of one program, some of them
  parallax amplify ./cut -- -c3-5,6- --output-d=: file
  parallax amplify ./prog --stdin input.txt --max-distance 0 --json | jq '.findings[].distance'

With a program, the words behind -- are its arguments, and files that they name are copied; without one, they are
the command that runs the tests. Generated inputs are run in a sandbox. Findings are kept in .parallax/amplify/ (--output).
An amplification that was interrupted goes on where it was when the same is asked again; one that has ended is not
repeated (--fresh does).
Exit code: 0 nothing found, 1 errors were found.",
    mut_arg("time", |time| time.help("End after this time (default: as parallax.toml says, else 60 s, unless --runs or --max-distance is given)")))]
pub struct Arguments {
    /// A program built with parallax-cc (default: all that tests were recorded of)
    program: Option<PathBuf>,

    #[command(flatten)]
    given: GivenArguments,

    /// Without PROGRAM: tests of this program only, by its name in the build tree or the last part of it (may be repeated)
    #[arg(
        long = "program",
        value_name = "NAME",
        id = "only",
        conflicts_with = "program"
    )]
    only: Vec<PathBuf>,

    /// Without PROGRAM: the build tree that the programs are in, and that the test command runs in
    #[arg(short = 'C', long, value_name = "DIR", conflicts_with = "program")]
    directory: Option<PathBuf>,

    /// Leave paths at most so many points before what could fail; 0: check the paths themselves only
    #[arg(long, value_name = "D")]
    max_distance: Option<usize>,

    /// Follow a path that leaves at distance D over so many times D points
    #[arg(long, value_name = "F", default_value = "2")]
    depth_factor: usize,

    /// Amplify only a random share of the tests: a number, or a percentage
    #[arg(long, value_name = "K%|N")]
    sample: Option<Sample>,

    #[command(flatten)]
    budget: BudgetArguments,

    /// Number that chooses the sample
    #[arg(long, value_name = "K", default_value = "1")]
    seed: u64,

    /// Begin anew, even if the same was amplified before
    #[arg(long)]
    fresh: bool,

    #[command(flatten)]
    means: Means,

    /// Arguments for the program; without PROGRAM the command that runs the tests
    #[arg(last = true, value_name = "ARGS")]
    words: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let chosen = match &arguments.program {
        Some(path) => tests::one(arguments, path, &stored::open()?)?,
        None => {
            if !arguments.given.is_empty() {
                let message = "--stdin, --file and --env belong to a command line";
                return Err(Failure::new(Exit::Usage, message).hint(
                    "parallax amplify PROGRAM --stdin FILE -- ARGS; recorded tests have their own input",
                ));
            }
            if !arguments.words.is_empty() && record_first(arguments)? == Exit::Interrupted {
                return Ok(Exit::Interrupted);
            }
            tests::all(arguments, &stored::open()?)?
        }
    };
    let budget = match arguments.max_distance {
        None => arguments.budget.or_of_project()?,
        Some(_) => arguments.budget.asked(),
    };
    search(arguments, &chosen, &arguments.engine_options(budget))
}

impl Arguments {
    /// As words of a command line say.
    pub fn parse(words: &[OsString]) -> Result<Arguments, Failure> {
        shared::parse("amplify", words)
    }

    fn engine_options(&self, budget: Budget) -> Options {
        Options {
            sample: self.sample,
            max_distance: self.max_distance,
            depth_factor: self.depth_factor,
            runs: budget.runs,
            time: budget.time,
            deadline: None,
            jobs: self.means.jobs(),
            seed: self.seed,
            limits: self.means.limits(),
            solver: self.means.solver(),
            trace_memory: TRACE_MEMORY,
            halt: Some(watch::interrupted),
        }
    }
}

/// Runs the tests and keeps what programs were given.
fn record_first(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut words: Vec<OsString> = Vec::new();
    if let Some(directory) = &arguments.directory {
        words.extend(["-C".into(), directory.clone().into_os_string()]);
    }
    words.push("--".into());
    words.extend(arguments.words.iter().cloned());
    let (exit, summary) = record::keep(&shared::parse("record", &words)?)?;
    console::print_error(&summary);
    Ok(exit)
}

/// Amplifies, or says what came of it before.
fn search(arguments: &Arguments, chosen: &Chosen, options: &Options) -> Result<Exit, Failure> {
    let places = places(arguments, chosen);
    let budget = Budget {
        runs: options.runs,
        time: options.time,
    };
    let store = stored::open()?;
    let in_use = store.begin("parallax amplify")?;
    let mut search = Search::open(
        &store,
        &Asked {
            strategy: "amplify",
            program: &chosen.paths[0],
            settings: &identity(options, &chosen.targets),
            budget,
            fresh: arguments.fresh,
        },
    )?;
    if let Some(outcome) = search.finished() {
        for (finding, owner) in outcome.findings.iter().zip(&outcome.owners) {
            if let Some((directory, program)) = places.get(*owner) {
                Archive::open(directory)?.add_finding(finding, program)?;
            }
        }
        search::print_again(&outcome, arguments.means.json)?;
        in_use.end(outcome.exit)?;
        return Ok(match outcome.findings.as_slice() {
            [] => Exit::Clean,
            _ => Exit::Findings,
        });
    }
    let came = pursue(chosen, options, &store, &mut search, places)?;
    match arguments.means.json {
        true => console::print_data(&came.json)?,
        false => console::print(&came.text)?,
    }
    in_use.end(came.exit as u8)?;
    Ok(came.exit)
}

/// What an amplification has come to.
pub struct Came {
    pub exit: Exit,
    /// `None` if it was interrupted.
    pub end: Option<End>,
    /// Of each program.
    pub findings: Vec<Vec<Finding>>,
    text: String,
    json: String,
}

/// Goes on with the amplification of these tests for a while, from where it was; what has been found so far, whenever that was. For
/// commands that report it themselves.
pub fn go_on(
    arguments: &Arguments,
    chosen: &Chosen,
    time: Duration,
    store: &Store,
) -> Result<Came, Failure> {
    let deadline = Some(Instant::now() + time);
    let mut budget = Budget {
        runs: None,
        time: Some(time),
    };
    let mut options = arguments.engine_options(budget);
    let mut search = Search::open(
        store,
        &Asked {
            strategy: "amplify",
            program: &chosen.paths[0],
            settings: &identity(&options, &chosen.targets),
            budget,
            fresh: false,
        },
    )?;
    budget.time = Some(search.spent() + time);
    search.allow(budget);
    options.time = budget.time;
    options.deadline = deadline;
    if let Some(outcome) = search.finished() {
        let mut findings = vec![Vec::new(); chosen.targets.len()];
        for (finding, owner) in outcome.findings.into_iter().zip(outcome.owners) {
            if let Some(list) = findings.get_mut(owner) {
                list.push(finding);
            }
        }
        return Ok(Came {
            exit: Exit::Clean,
            end: Some(outcome.end),
            findings,
            text: outcome.text,
            json: outcome.json,
        });
    }
    let places = places(arguments, chosen);
    pursue(chosen, &options, store, &mut search, places)
}

/// Amplifies until the budget is used up, and keeps what it came to.
fn pursue(
    chosen: &Chosen,
    options: &Options,
    store: &Store,
    search: &mut Search<'_>,
    places: Vec<(PathBuf, PathBuf)>,
) -> Result<Came, Failure> {
    let budget = Budget {
        runs: options.runs,
        time: options.time,
    };
    let mut watcher = Watcher::new(places, options.time);
    let mut keeper = Keeper::new(store, &chosen.names, &mut watcher, search.is_begun());
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
    let (text, json) = rendered(chosen, &summary, &kept)?;
    let exit = watch::exit(findings.iter().all(Vec::is_empty));
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
        exit,
        end,
        findings,
        text,
        json,
    })
}

/// For each program: where results are kept, and its path.
fn places(arguments: &Arguments, chosen: &Chosen) -> Vec<(PathBuf, PathBuf)> {
    let each = chosen.paths.iter().zip(&chosen.targets);
    each.map(|(path, target)| {
        let output = arguments.means.output("amplify", path);
        let is_shared = arguments.means.has_output() && chosen.paths.len() > 1;
        let name = path.file_name().filter(|_| is_shared);
        let output = name.map_or(output.clone(), |name| output.join(name));
        (output, target.programs.plain.clone())
    })
    .collect()
}

/// The report in both forms.
fn rendered(
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
        width: console::width(),
    };
    Ok((report::render_text(&report), report::render_json(&report)))
}

/// Everything that decides what an amplification finds, but for its budget, as text.
fn identity(options: &Options, targets: &[Target]) -> String {
    let options = Options {
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
