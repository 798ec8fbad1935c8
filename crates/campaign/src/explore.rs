//! New inputs for a single program: new paths and errors.

use std::path::Path;

use parallax_capture::{Program, Variant};
use parallax_exec::sites::SiteMap;
use parallax_report::results::explore::{self as report, ExploreReport};
use parallax_search::archive::Archive;
use parallax_search::explore::{Options as Searched, Programs, explore};
use parallax_search::sources::vocabulary::Vocabulary;
use parallax_solver::Config;
use parallax_trace::region::Symbolic;

use crate::budget::Budget;
use crate::checkpoint::{self, Asked, Checkpoint, End, Outcome};
use crate::failure::Failure;
use crate::keeper::Keeper;
use crate::setup::Setup;
use crate::watch::Watcher;
use crate::{Answer, Start, stored, variants};

/// How to explore.
pub struct Options {
    pub setup: Setup,
    pub budget: Budget,
    /// Inputs are only made from those that are at most so many steps from the first ones.
    pub generations: Option<u32>,
    /// Whether inputs are told apart by the code that they run.
    pub coverage: bool,
    /// Decides between equally good choices.
    pub seed: u64,
    /// Whether an input is kept for every path, instead of for new code.
    pub keep_paths: bool,
    /// Whether to begin anew.
    pub fresh: bool,
}

/// Explores a program, or says what came of it before.
pub fn run(
    options: &Options,
    path: &Path,
    program: &Program,
    start: Start,
) -> Result<Answer, Failure> {
    let setup = &options.setup;
    let context = &setup.context;
    let covered = match options.coverage {
        true => Some(variants::derive(context, program, Variant::Covered)?),
        false => None,
    };
    let vocabulary = match &covered {
        Some(covered) => {
            let code = parallax_analysis::Program::link(variants::read_code(covered)?);
            Vocabulary::new(&code, start.seeds.iter())
        }
        None => Vocabulary::default(),
    };
    let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
    let programs = setup.programs(program, absolute.clone(), covered.as_ref())?;
    context.notes(&start.notes);
    let budget = options.budget;
    let symbolic = Symbolic {
        environment: start.environment,
        ..Symbolic::ALL
    };
    let usual = setup.settings(path);
    let searched = Searched {
        generations: options.generations,
        seed: options.seed,
        keep_paths: options.keep_paths,
        ..setup.options(budget, start.shape, symbolic, usual)
    };
    let output = setup.output("explore", path);
    let archive = Archive::open(&output)?;
    let store = stored::open()?;
    let in_use = store.begin(&format!("parallax explore {}", path.display()))?;
    let mut search = Checkpoint::open(
        context,
        &store,
        &Asked {
            strategy: "explore",
            program: path,
            settings: &identity(&searched, &programs),
            budget,
            fresh: options.fresh,
        },
    )?;
    if let Some(outcome) = search.finished() {
        in_use.end(outcome.exit)?;
        return checkpoint::say_again(context, &store, outcome, &archive, &absolute);
    }
    let mut watcher = Watcher::new(context, vec![(output.clone(), absolute)], searched.time);
    let mut keeper = Keeper::new(context, &store, &search, "explore", &mut watcher);
    let result = explore(&programs, &searched, vocabulary, &mut search, &mut keeper);
    let (summary, tests) = match result {
        Ok(summary) => {
            let tests = keeper.finish(&summary.search.findings)?;
            (summary, tests)
        }
        Err(error) => {
            keeper.finish(&[])?;
            return Err(error.into());
        }
    };
    let kept = watcher
        .finish(std::slice::from_ref(&summary.search.findings))?
        .remove(0);
    // Reading the tables takes as long as dozens of runs: only if there are places to name.
    let sites = match summary.search.misses.as_slice() {
        [] => SiteMap::default(),
        _ => SiteMap::load(&programs.traced, &programs.traced_libraries)?,
    };
    let report = ExploreReport {
        program: path,
        summary: &summary,
        sites: &sites,
        directory: &output,
        kept: &kept,
    };
    let (text, json) = (report::render_text(&report), report::render_json(&report));
    let exit = context.exit(summary.search.findings.is_empty());
    if let Some(end) = End::of(summary.search.ended) {
        search.finish(&Outcome {
            budget,
            end,
            exit: exit as u8,
            text: text.clone(),
            json: json.clone(),
            tests,
            findings: summary.search.findings,
            owners: Vec::new(),
        })?;
    }
    in_use.end(exit as u8)?;
    Ok(Answer::new(exit, text, json))
}

/// Everything that decides what an exploration finds, but for its budget, as text.
fn identity(options: &Searched, programs: &Programs) -> String {
    let options = Searched {
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
