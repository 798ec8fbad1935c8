//! `parallax cover`: inputs that reach given lines.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use parallax_analysis::Analysis;
use parallax_capture::Variant;
use parallax_engine::archive::Archive;
use parallax_engine::cover::map::{NoTarget, Target};
use parallax_engine::cover::{Coverer, Heuristic, Observer, Options, Progress, Summary, Verdict};
use parallax_engine::explore::{self, Programs};
use parallax_engine::region::Symbolic;
use parallax_engine::sites::{self, SiteMap};

use super::explore::seed;
use super::explore::watch::{self, Watcher};
use super::means::{DEFAULT_TIME, Means, TRACE_MEMORY};
use super::shared;
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::cover::{self as report, CoverReport};
use crate::size::parse_time;

/// Find inputs that reach given lines of a captured program
///
/// Starts from one command line, or from nothing with --sym-arg and the like. The program's code says how many branches lie
/// between each branch of a run and the line; the input is changed so that the nearest one goes the other way, and so
/// on. A line counts as reached when a run of the program with counters says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax cover ./prog --at parse.c:120 -- -x file.txt
  parallax cover ./prog --at parse.c:120 --at lex.c:33 --time 30s --stdin input.txt
  parallax cover ./prog --at parse.c:120 --json -- 1 | jq '.targets[].steps[].scenario.argv'
  parallax cover ./prog --at parse.c:120 --without regenerate

Files that the arguments name are copied; every run has a directory of its own. Generated inputs are run in a
sandbox. Inputs that reach a line are kept in .parallax/cover/ (--output).
Exit code: 0 the search is over, whatever it found; the report says which lines were reached.")]
pub struct Arguments {
    /// A program built with parallax-cc
    program: PathBuf,

    /// A line to reach (may be repeated); the end of the file's path is enough
    #[arg(long, value_name = "FILE:LINE", required = true, value_parser = shared::parse_place)]
    at: Vec<(String, u32)>,

    #[command(flatten)]
    start: seed::StartArguments,

    /// End the search for a line after this time (default: 60 s, unless --runs is given)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,

    /// End the search for a line after this many traced runs
    #[arg(long, value_name = "N")]
    runs: Option<u64>,

    /// Leave out parts of the search: preconditions, pointers, regenerate, switch, structure, splice
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = parse_heuristic)]
    without: Vec<Heuristic>,

    #[command(flatten)]
    means: Means,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

fn parse_heuristic(text: &str) -> Result<Heuristic, String> {
    let known = Heuristic::ALL.into_iter().find(|one| one.name() == text);
    known.ok_or_else(|| {
        let names = Heuristic::ALL.map(Heuristic::name);
        format!("there are: {}", names.join(", "))
    })
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let program = shared::read(&arguments.program)?;
    let shape = seed::shape(&arguments.start, &arguments.arguments)?;
    let covered = shared::derive(&program, Variant::Covered)?;
    let code = shared::read_code(&covered)?;
    let analysis = match arguments.without.contains(&Heuristic::Pointers) {
        true => Analysis::without_pointers(code),
        false => Analysis::new(code, []),
    };
    let mut targets: Vec<Target> = Vec::new();
    for (file, line) in &arguments.at {
        targets.push(Target::named(&analysis, file, *line)?);
    }
    let traced = shared::derive(&program, Variant::Traced)?;
    for note in traced.notes.iter().chain(&shape.notes) {
        console::print_error(&format!("{} {note}\n", Palette.warn("note:")));
    }
    let absolute = std::path::absolute(&arguments.program)?;
    let programs = Programs {
        plain: absolute.clone(),
        traced: traced.path,
        covered: Some(covered.path),
        checked: arguments.means.checked(&program),
        traced_libraries: traced.libraries,
        covered_libraries: covered.libraries,
    };
    let unlimited = arguments.time.is_none() && arguments.runs.is_none();
    let time = arguments.time.or(unlimited.then_some(DEFAULT_TIME));
    let options = Options {
        seeds: shape.shape.seeds(),
        explore: explore::Options {
            shape: shape.shape,
            symbolic: Symbolic {
                environment: shape.environment,
                following: true,
                ..Symbolic::ALL
            },
            runs: arguments.runs,
            time,
            generations: None,
            jobs: arguments.means.jobs(),
            seed: 0,
            limits: arguments.means.limits(),
            settings: arguments.means.settings(&arguments.program),
            solver: arguments.means.solver(),
            keep_paths: false,
            trace_memory: TRACE_MEMORY,
        },
        without: arguments.without.iter().copied().collect::<BTreeSet<_>>(),
    };
    let output = arguments.means.output("cover", &arguments.program);
    let archive = Archive::open(&output)?;
    let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
    let tables = match &programs.covered {
        Some(covered) => sites::read_tables(covered, &programs.covered_libraries)?,
        None => Vec::new(),
    };
    let mut coverer = Coverer::new(&programs, &analysis, &options, &sites, &tables)?;
    let mut results: Vec<(Target, Summary)> = Vec::new();
    let mut watcher = Watcher::new(vec![(output.clone(), absolute)], time);
    for target in targets {
        let summary = coverer.cover(&target, &mut watcher)?;
        if let Verdict::Covered { scenario, .. } = &summary.verdict {
            archive.add_test(scenario)?;
        }
        let stopped = summary.stopped;
        results.push((target, summary));
        if stopped {
            break;
        }
    }
    watcher.finish(&[])?;
    let report = CoverReport {
        program: &arguments.program,
        results: &results,
        seeds: &options.seeds,
        sites: &sites,
        directory: &output,
    };
    match arguments.means.json {
        true => console::print_data(&report::render_json(&report))?,
        false => console::print(&report::render_text(&report))?,
    }
    Ok(match watch::interrupted() {
        true => Exit::Interrupted,
        false => Exit::Clean,
    })
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        let distance = match progress.distance {
            Some(distance) => format!("nearest {distance} branches away"),
            None => "no way there yet".to_owned(),
        };
        let pace = self.pace(progress.runs);
        self.tell(format!("{pace}  {distance}  {} open", progress.open));
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}

impl From<NoTarget> for Failure {
    fn from(error: NoTarget) -> Failure {
        let failure = Failure::from_error(Exit::Usage, &error);
        match error {
            NoTarget::NoFile { .. } => {
                failure.hint("name a source file of the program as FILE:LINE")
            }
            NoTarget::Ambiguous { .. } => failure.hint("write more of the path"),
            NoTarget::NoCode { .. } => failure,
        }
    }
}
