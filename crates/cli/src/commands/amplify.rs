//! `parallax amplify`: what a test executes, checked for all inputs of its path and of paths nearby.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use parallax_capture::Variant;
use parallax_engine::amplify::sample::Sample;
use parallax_engine::amplify::{Amplified, Observer, Options, Progress, Seed, amplify};
use parallax_engine::archive::Archive;
use parallax_engine::explore::Programs;
use parallax_engine::finding::Finding;
use parallax_engine::region::Symbolic;
use parallax_engine::sites::SiteMap;

use super::explore::seed::{self, GivenArguments};
use super::explore::watch::{self, Watcher};
use super::means::{DEFAULT_TIME, Means, TRACE_MEMORY};
use super::shared;
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::amplify::{self as report, AmplifyReport};
use crate::report::scenario::command_line;
use crate::size::{counted, parse_time};

/// Check what a test executes for all inputs of its path, and of paths nearby
///
/// Runs the program on one command line and asks of every operation that could fail (memory access, division, signed
/// overflow, shift, allocation size, length of a copy, assertion) whether it does for any input that takes the same path:
/// distance 0. Then the path is left near such operations, nearest first, as long as there is time. Every input
/// that makes something fail is run on the program built with sanitizers, and reported if it fails there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax amplify ./cut -- -c3-5,6- --output-d=: file
  parallax amplify ./prog --stdin input.txt --max-distance 0
  parallax amplify ./prog --max-distance 3 --time 10m --json -- -x | jq '.findings[].distance'

Files that the arguments name are copied; every run has a directory of its own. Generated inputs are run in a
sandbox. Findings are kept in .parallax/amplify/ (--output).
Exit code: 0 nothing found, 1 errors were found.")]
pub struct Arguments {
    /// A program built with parallax-cc
    program: PathBuf,

    #[command(flatten)]
    given: GivenArguments,

    /// Leave the path at most so many points before what could fail; 0: check the path itself only
    #[arg(long, value_name = "D")]
    max_distance: Option<usize>,

    /// Follow a path that leaves at distance D over so many times D points
    #[arg(long, value_name = "F", default_value = "2")]
    depth_factor: usize,

    /// Amplify only a random share of the tests: a number, or a percentage
    #[arg(long, value_name = "K%|N")]
    sample: Option<Sample>,

    /// End after this time (default: 60 s, unless --runs or --max-distance is given)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,

    /// End after this many traced runs
    #[arg(long, value_name = "N")]
    runs: Option<u64>,

    /// Number that chooses the sample
    #[arg(long, value_name = "K", default_value = "1")]
    seed: u64,

    #[command(flatten)]
    means: Means,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let program = shared::read(&arguments.program)?;
    let given = seed::start(&arguments.given, &arguments.arguments)?;
    let traced = shared::derive(&program, Variant::Traced)?;
    let checked = arguments.means.checked(&program);
    for note in traced.notes.iter().chain(&given.notes) {
        console::print_error(&format!("{} {note}\n", Palette.warn("note:")));
    }
    let absolute = std::path::absolute(&arguments.program)?;
    let programs = Programs {
        plain: absolute.clone(),
        traced: traced.path,
        covered: None,
        checked,
        traced_libraries: traced.libraries,
        covered_libraries: Vec::new(),
    };
    let bounds = (arguments.time, arguments.runs, arguments.max_distance);
    let unlimited = matches!(bounds, (None, None, None));
    let options = Options {
        seeds: vec![Seed {
            name: command_line(&arguments.program.to_string_lossy(), &given.scenario),
            scenario: given.scenario,
        }],
        sample: arguments.sample,
        symbolic: Symbolic {
            environment: given.environment,
            accesses: true,
            ..Symbolic::ALL
        },
        max_distance: arguments.max_distance,
        depth_factor: arguments.depth_factor,
        runs: arguments.runs,
        time: arguments.time.or(unlimited.then_some(DEFAULT_TIME)),
        jobs: arguments.means.jobs(),
        seed: arguments.seed,
        limits: arguments.means.limits(),
        settings: arguments.means.settings(&arguments.program),
        solver: arguments.means.solver(),
        trace_memory: TRACE_MEMORY,
    };
    let output = arguments.means.output("amplify", &arguments.program);
    let archive = Archive::open(&output)?;
    let mut watcher = Watcher::new(archive, absolute, options.time);
    let summary = amplify(&programs, &options, &mut watcher)?;
    let found = summary.findings.iter().map(|found| found.finding.clone());
    let findings: Vec<Finding> = found.collect();
    let kept = watcher.finish(&findings)?;
    let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
    let report = AmplifyReport {
        program: &arguments.program,
        seeds: &options.seeds,
        summary: &summary,
        sites: &sites,
        kept: &kept,
    };
    if arguments.means.json {
        console::print_data(&report::render_json(&report))?;
    } else {
        console::print(&report::render_text(&report))?;
    }
    Ok(if watch::interrupted() {
        Exit::Interrupted
    } else if summary.findings.is_empty() {
        Exit::Clean
    } else {
        Exit::Findings
    })
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        let line = format!(
            "{}  distance {}  {}  {}  {} open  {}",
            self.pace(progress.runs),
            progress.distance,
            counted(progress.paths, "path"),
            counted(progress.checks, "check"),
            progress.open,
            counted(progress.findings, "error"),
        );
        self.tell(line);
    }

    fn finding(&mut self, found: &Amplified) {
        self.found(&found.finding);
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}
