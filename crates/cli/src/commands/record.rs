//! `parallax record`: runs the test suite and keeps every run of the programs under test as a scenario.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parallax_project::{Build, Project, Selection};
use parallax_recorder::{Command, Limits, Plan, Program, Progress, RecorderError, Summary, record};
use parallax_scenario::Recorded;
use parallax_store::{Origin, Store, StoreError};

use super::project::{ProjectArguments, no_such_program, toolchain};
use super::{build, shared, stored};
use crate::console::{self, Line, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::size::parse_bytes;
use parallax_report::results as report;

/// Scenarios that are kept in one transaction.
const BATCH: usize = 100;

/// Run the test suite and keep every run of the programs under test as a scenario
///
/// Whatever way the tests call a program (by PATH, by its full name, through libtool's wrapper), its arguments, standard
/// input, the files and directories that it looked at, the environment that matters, what it printed and how it
/// ended are kept. The programs stay as they are, and the tests see nothing of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax record                                  # builds the project if need be, and runs its tests
  parallax record -- make check TESTS=tests/cut.pl # some of them
  parallax record -C build --program src/cut -- make check
                                                   # another build tree, without parallax.toml

Tests may fail: that is said, and the exit code is 0. It is 3 if the project cannot be built or the test
command cannot be run at all.")]
pub struct Arguments {
    /// The command that runs the tests (default: test.command of parallax.toml)
    #[arg(last = true, value_name = "TEST COMMAND")]
    command: Vec<OsString>,

    /// Record in this build tree, in which the test command runs, instead of the project's own
    #[arg(short = 'C', long, value_name = "DIR", requires = "command")]
    directory: Option<PathBuf>,

    /// With -C: the source tree, if it is not around the build tree (may be repeated)
    #[arg(long, value_name = "DIR", requires = "directory")]
    source: Vec<PathBuf>,

    /// A program under test, by its path in the build tree (may be repeated; default: all that were built with
    /// parallax-cc and that parallax.toml does not exclude)
    #[arg(long, value_name = "PATH")]
    program: Vec<PathBuf>,

    /// An environment variable that is always part of scenarios (may be repeated)
    #[arg(long, value_name = "NAME")]
    env: Vec<OsString>,

    /// Let the tests write to the terminal instead of a log file
    #[arg(long)]
    show_output: bool,

    /// Keep at most so much of each file (default: 1M, or record.file of parallax.toml)
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    file_limit: Option<u64>,

    /// Keep at most so much of standard input
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse_bytes)]
    stdin_limit: u64,

    /// Keep at most so much of standard output and standard error
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse_bytes)]
    output_limit: u64,

    /// Keep at most so much of all files of one scenario (default: 8M, or record.scenario of parallax.toml)
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    scenario_limit: Option<u64>,

    /// Keep at most so many scenarios
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().scenarios)]
    scenarios: u64,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    project: ProjectArguments,
}

/// Where and what to record.
struct Place {
    /// Where the test command runs: at the top of the source for a project, as its configuration says.
    directory: PathBuf,
    /// Directories whose files belong to scenarios.
    trees: Vec<PathBuf>,
    programs: Vec<Program>,
    command: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    variables: Vec<Vec<u8>>,
    limits: Limits,
}

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let (exit, summary) = keep(arguments)?;
    match arguments.json {
        true => console::print_data(&summary)?,
        false => console::print(&summary)?,
    }
    Ok(exit)
}

/// Records; how that ended, and what is to be told of it.
pub fn keep(arguments: &Arguments) -> Result<(Exit, String), Failure> {
    let place = match &arguments.directory {
        Some(directory) => given(arguments, directory)?,
        None => of_project(arguments)?,
    };
    keep_at(arguments, place)
}

/// Records the tests of one build of a project; how that ended, and what is to be told of it.
pub fn keep_build(project: &Project, build: &Build) -> Result<(Exit, String), Failure> {
    let arguments: Arguments = shared::parse("record", &[])?;
    let place = of_build(&arguments, project, build)?;
    keep_at(&arguments, place)
}

fn keep_at(arguments: &Arguments, place: Place) -> Result<(Exit, String), Failure> {
    let directory = stored::directory();
    let store = stored::open()?;
    let log = directory.join("record.log");
    let output = match arguments.show_output {
        true => None,
        false => Some(Arc::new(File::create(&log).map_err(|error| {
            Failure::of_file(Exit::Internal, "cannot write", &log, &error)
        })?)),
    };
    let mut variables = place.variables;
    variables.extend(arguments.env.iter().map(|name| name.clone().into_vec()));
    let plan = Plan {
        command: Command {
            words: place.command,
            directory: place.directory,
            environment: place.environment,
            output,
        },
        programs: place.programs,
        trees: place.trees,
        variables,
        limits: Limits {
            file: arguments.file_limit.unwrap_or(place.limits.file),
            stdin: arguments.stdin_limit,
            output: arguments.output_limit,
            scenario: arguments.scenario_limit.unwrap_or(place.limits.scenario),
            scenarios: arguments.scenarios,
            ..place.limits
        },
    };
    let used = store.begin("record")?;
    // A connection of its own: scenarios are kept by another thread.
    let kept = stored::open()?;
    let (summary, fresh) = record_into(kept, &plan)?;
    let exit = match STOP.load(Ordering::Relaxed) {
        true => Exit::Interrupted,
        false => Exit::Clean,
    };
    used.end(exit as u8)?;
    let shown = report::record::Shown {
        summary: &summary,
        fresh,
        log: (!arguments.show_output).then_some(log.as_path()),
        store: &directory,
    };
    let told = match arguments.json {
        true => report::record::render_json(&shown),
        false => report::record::render_text(&shown, &Palette),
    };
    Ok((exit, told))
}

/// Records into the store; returns also how many scenarios it had not known.
fn record_into(store: Store, plan: &Plan) -> Result<(Summary, u64), Failure> {
    stop_on_interrupt();
    let progress = Progress::default();
    let mut keeper = Keeper {
        store,
        batch: Vec::new(),
        fresh: 0,
    };
    let line = bar(plan);
    let done = AtomicBool::new(false);
    let summary = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let runs = progress.runs.load(Ordering::Relaxed);
                let scenarios = progress.scenarios.load(Ordering::Relaxed);
                line.bar
                    .set_message(format!("{runs} runs, {scenarios} scenarios"));
                std::thread::park_timeout(Duration::from_millis(200));
            }
        });
        let summary = record(plan, &progress, &STOP, |recorded| keeper.add(recorded));
        done.store(true, Ordering::Relaxed);
        summary
    });
    drop(line);
    keeper.keep()?;
    Ok((summary?, keeper.fresh))
}

/// Puts scenarios into the store, many at a time.
struct Keeper {
    store: Store,
    batch: Vec<Recorded>,
    /// Those that the store had not known.
    fresh: u64,
}

impl Keeper {
    fn add(&mut self, recorded: Recorded) -> Result<(), StoreError> {
        self.batch.push(recorded);
        match self.batch.len() {
            BATCH => self.keep(),
            _ => Ok(()),
        }
    }

    fn keep(&mut self) -> Result<(), StoreError> {
        let added = self.store.add_all(&self.batch, Origin::Recorded)?;
        self.fresh += added.iter().filter(|added| added.is_new).count() as u64;
        self.batch.clear();
        Ok(())
    }
}

fn bar(plan: &Plan) -> Line {
    // With the tests' own output on the terminal, a line that moves would be in its way.
    match plan.command.output {
        Some(_) => Line::new("{spinner} recording {elapsed}: {msg}", None),
        None => Line::hidden(),
    }
}

/// Ctrl-C ends the tests; what was recorded is kept.
fn stop_on_interrupt() {
    extern "C" fn interrupted(_: libc::c_int) {
        STOP.store(true, Ordering::Relaxed);
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: installs a handler that only sets a flag. Without SA_RESTART, so that waiting ends.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = interrupted as *const () as libc::sighandler_t;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize()
        .map_err(|error| Failure::of_file(Exit::Usage, "cannot find", path, &error))
}

/// A build tree that the user names.
fn given(arguments: &Arguments, directory: &Path) -> Result<Place, Failure> {
    let tree = canonical(directory)?;
    let mut trees = vec![tree.clone()];
    for source in &arguments.source {
        trees.push(canonical(source)?);
    }
    let programs = if arguments.program.is_empty() {
        parallax_project::programs::captured(&tree)
            .into_iter()
            .map(under_test)
            .collect()
    } else {
        let program = |name: &PathBuf| {
            let path = canonical(&tree.join(name))?;
            let name = name.clone();
            Ok(Program { name, path })
        };
        let programs: Result<Vec<Program>, Failure> =
            arguments.program.iter().map(program).collect();
        programs?
    };
    if programs.is_empty() {
        let message = format!(
            "no program below {} was built with parallax-cc",
            tree.display()
        );
        return Err(Failure::new(Exit::Usage, message)
            .hint("build with CC=parallax-cc, or name programs with --program"));
    }
    Ok(Place {
        directory: tree,
        trees,
        programs,
        command: arguments.command.clone(),
        environment: Vec::new(),
        variables: Vec::new(),
        limits: Limits::default(),
    })
}

/// The project around the current directory, built if it is not yet.
fn of_project(arguments: &Arguments) -> Result<Place, Failure> {
    let project = arguments.project.find()?;
    let selected = project.select(&Selection::Current)?;
    let builds = project.builds(toolchain()?);
    let build = build::ensure(&builds, &selected.new)?;
    of_build(arguments, &project, &build)
}

fn of_build(arguments: &Arguments, project: &Project, build: &Build) -> Result<Place, Failure> {
    let builds = project.builds(toolchain()?);
    let settings = &project.config;
    let command = if !arguments.command.is_empty() {
        arguments.command.clone()
    } else if !settings.test.command.trim().is_empty() {
        ["sh", "-c", &settings.test.command].map(Into::into).into()
    } else {
        let message = "no test command is known, so there is nothing to record";
        return Err(Failure::new(Exit::Usage, message)
            .hint("set test.command in parallax.toml, or give the command behind --"));
    };
    let is_named = |program: &parallax_project::Program| {
        let named = &arguments.program;
        named.is_empty() || named.iter().any(|name| Path::new(&program.name) == name)
    };
    let programs: Vec<Program> = build
        .programs
        .iter()
        .filter(|program| is_named(program))
        .cloned()
        .map(under_test)
        .collect();
    if programs.is_empty() {
        return Err(no_such_program());
    }
    let environment = builds.environment()?;
    let variables = &settings.inputs.environment;
    Ok(Place {
        trees: vec![
            canonical(&build.directory)?,
            canonical(&build.source)?,
            canonical(&build.tree)?,
        ],
        directory: canonical(&build.source)?,
        programs,
        command,
        environment: environment
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        variables: variables
            .iter()
            .map(|name| name.clone().into_bytes())
            .collect(),
        limits: Limits {
            file: settings.record.file,
            scenario: settings.record.scenario,
            ..Limits::default()
        },
    })
}

fn under_test(program: parallax_project::Program) -> Program {
    Program {
        name: program.name.into(),
        path: program.path,
    }
}

/// What to do where recording is forbidden.
pub const ALLOW_TRACING: &str =
    "allow ptrace: sysctl kernel.yama.ptrace_scope=1, or docker run --cap-add=SYS_PTRACE";

impl From<RecorderError> for Failure {
    fn from(error: RecorderError) -> Failure {
        match error {
            RecorderError::Start { .. } => Failure::from_error(Exit::BuildFailed, &error)
                .hint("is it installed, and on PATH? the command that runs the tests is given behind --, or in test.command of parallax.toml"),
            RecorderError::Trace(_) => Failure::from_error(Exit::Internal, &error)
                .hint(ALLOW_TRACING),
            RecorderError::Wait(_) => Failure::from_error(Exit::Internal, &error)
                .hint("does something else trace or kill the tests? run the command alone"),
            RecorderError::Sink(error) => match error.downcast::<StoreError>() {
                Ok(error) => (*error).into(),
                Err(error) => Failure::defect(error.as_ref()),
            },
        }
    }
}
