//! `parallax explore`: new inputs for new paths and errors.

mod groups;
pub mod seed;
pub mod start;
pub(super) mod watch;

use std::ffi::OsString;
use std::path::PathBuf;

use parallax_capture::Variant;
use parallax_exec::sites::SiteMap;
use parallax_search::archive::Archive;
use parallax_search::explore::{Options, Programs, explore};
use parallax_solver::Config;
use parallax_trace::region::Symbolic;

use super::budget::BudgetArguments;
use super::means::Means;
use super::search::{self, Asked, End, Keeper, Outcome, Search};
use super::{shared, stored};
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use parallax_report::results::explore::{self as report, ExploreReport};
use watch::Watcher;

/// Find new inputs for a captured program: new paths, new errors
///
/// Starts from one command line, or from nothing with --sym-arg and the like, changes the input so that branches go the
/// other way, operations fail and inputs end elsewhere, and keeps every input that runs new code.
/// Errors (crash, failed assertion, out-of-bounds access and other sanitizer reports, hanging) are reported when they
/// were seen on the plain program or on the one built with sanitizers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax explore ./prog -- -x file.txt
  parallax explore ./prog --stdin input.txt --time 5m
  parallax explore ./prog --sym-args 0 2 10 --sym-stdin 8 --sym-file A 8
  parallax explore ./prog --runs 1000 --seed 7 --json -- 1+2 | jq '.findings[].scenario.argv'

Files that the arguments name are copied; every run has a directory of its own. Generated inputs are run in a
sandbox. Tests and findings are kept in .parallax/explore/ (--output). An exploration that was interrupted goes on
where it was when the same is asked again; one that has ended is not repeated (--fresh does).
Exit code: 0 nothing found, 1 errors were found.")]
pub struct Arguments {
    /// A program built with parallax-cc
    program: PathBuf,

    #[command(flatten)]
    start: seed::StartArguments,

    #[command(flatten)]
    budget: BudgetArguments,

    /// Make inputs only from inputs that are at most so many steps from the first ones
    #[arg(long, value_name = "N")]
    generations: Option<u32>,

    /// Do not measure coverage; inputs are then told apart by branches on the input alone
    #[arg(long)]
    no_coverage: bool,

    /// Number that decides between equally good choices: the same number and --runs give the same result
    #[arg(long, value_name = "K", default_value = "1")]
    seed: u64,

    /// Which inputs are kept
    #[arg(long, value_enum, default_value = "new-code")]
    keep: Keep,

    /// Begin anew, even if the same was explored before
    #[arg(long)]
    fresh: bool,

    #[command(flatten)]
    means: Means,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Keep {
    /// Those that ran code that none before had run
    NewCode,
    /// One for every path
    Paths,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let program = shared::read(&arguments.program)?;
    let shape = seed::shape(&arguments.start, &arguments.arguments)?;
    let traced = shared::derive(&program, Variant::Traced)?;
    let covered = match arguments.no_coverage {
        true => None,
        false => Some(shared::derive(&program, Variant::Covered)?),
    };
    let checked = arguments.means.checked(&program);
    for note in traced.notes.iter().chain(&shape.notes) {
        console::note(note);
    }
    let path = &arguments.program;
    let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
    let programs = Programs {
        plain: absolute.clone(),
        traced: traced.path,
        covered: covered.as_ref().map(|covered| covered.path.clone()),
        checked,
        traced_libraries: traced.libraries,
        covered_libraries: covered.map_or_else(Vec::new, |covered| covered.libraries),
    };
    let budget = arguments.budget.or_of_project()?;
    let symbolic = Symbolic {
        environment: shape.environment,
        ..Symbolic::ALL
    };
    let usual = arguments.means.settings(&arguments.program);
    let options = Options {
        generations: arguments.generations,
        seed: arguments.seed,
        keep_paths: arguments.keep == Keep::Paths,
        ..arguments
            .means
            .options(budget, shape.shape, symbolic, usual)
    };
    let output = arguments.means.output("explore", &arguments.program);
    let archive = Archive::open(&output)?;
    let store = stored::open()?;
    let in_use = store.begin(&format!("parallax explore {}", arguments.program.display()))?;
    let mut search = Search::open(
        &store,
        &Asked {
            strategy: "explore",
            program: &arguments.program,
            settings: &identity(&options, &programs),
            budget,
            fresh: arguments.fresh,
        },
    )?;
    if let Some(outcome) = search.finished() {
        search::say_again(&store, &outcome, &archive, &absolute, arguments.means.json)?;
        in_use.end(outcome.exit)?;
        return Ok(match outcome.findings.as_slice() {
            [] => Exit::Clean,
            _ => Exit::Findings,
        });
    }
    let mut watcher = Watcher::new(vec![(output.clone(), absolute)], options.time);
    let mut keeper = Keeper::new(&store, &search, "explore", &mut watcher);
    let result = explore(&programs, &options, &mut search, &mut keeper);
    let (summary, tests) = match result {
        Ok(summary) => {
            let tests = keeper.finish(&summary.findings)?;
            (summary, tests)
        }
        Err(error) => {
            keeper.finish(&[])?;
            return Err(error.into());
        }
    };
    let kept = watcher
        .finish(std::slice::from_ref(&summary.findings))?
        .remove(0);
    // Reading the tables takes as long as dozens of runs: only if there are places to name.
    let sites = match summary.misses.as_slice() {
        [] => SiteMap::default(),
        _ => SiteMap::load(&programs.traced, &programs.traced_libraries)?,
    };
    let report = ExploreReport {
        program: &arguments.program,
        summary: &summary,
        sites: &sites,
        directory: &output,
        kept: &kept,
    };
    let (text, json) = (report::render_text(&report), report::render_json(&report));
    match arguments.means.json {
        true => console::print_data(&json)?,
        false => console::print(&text)?,
    }
    let exit = watch::exit(summary.findings.is_empty());
    if let Some(end) = End::of(summary.ended) {
        search.finish(&Outcome {
            budget,
            end,
            exit: exit as u8,
            text,
            json,
            tests,
            findings: summary.findings,
            owners: Vec::new(),
        })?;
    }
    in_use.end(exit as u8)?;
    Ok(exit)
}

/// Everything that decides what an exploration finds, but for its budget, as text.
fn identity(options: &Options, programs: &Programs) -> String {
    let options = Options {
        runs: None,
        time: None,
        jobs: 1,
        solver: Config {
            log: None,
            ..options.solver.clone()
        },
        ..options.clone()
    };
    // Derived programs lie where their contents and the version of Parallax say: so libraries count, too.
    let (traced, covered) = (&programs.traced_libraries, &programs.covered_libraries);
    let (program, checked) = (&programs.traced, &programs.checked);
    let is_covered = programs.covered.is_some();
    format!("{options:?} {program:?} {traced:?} {is_covered} {covered:?} {checked:?}")
}
