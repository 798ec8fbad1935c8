//! Running the test suite, and keeping every run of the programs under test as a scenario.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parallax_project::{Build, Project, Selection};
use parallax_recorder::{Command, Limits, Plan, Program, Progress, Summary, record};
use parallax_report::palette::Palette;
use parallax_report::results::record as report;
use parallax_scenario::Recorded;
use parallax_store::{Origin, Store, StoreError};

use crate::context::{Context, Step, Task};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::project::{no_such_program, toolchain};
use crate::{Answer, build, stored};

/// Scenarios that are kept in one transaction.
const BATCH: usize = 100;

/// What to record, and how much of it to keep.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The command that runs the tests, if not the project's own.
    pub command: Vec<OsString>,
    /// A build tree to record in, in which the command runs, instead of the project's own.
    pub directory: Option<PathBuf>,
    /// Source trees of that build tree, if they are not around it.
    pub source: Vec<PathBuf>,
    /// Programs under test, by their paths in the build tree; all if none is named.
    pub program: Vec<PathBuf>,
    /// Environment variables that are always part of scenarios.
    pub env: Vec<OsString>,
    /// Whether the tests write to the terminal instead of a log file.
    pub show_output: bool,
    pub limits: Most,
    /// Of the project, instead of what parallax.toml says.
    pub settings: Vec<String>,
}

/// How much is kept at most.
#[derive(Clone, Debug, Default)]
pub struct Most {
    /// Of each file, and of all files of one scenario; if not said, as parallax.toml says.
    pub file: Option<u64>,
    pub scenario: Option<u64>,
    /// Of standard input, and of standard output and standard error.
    pub stdin: Option<u64>,
    pub output: Option<u64>,
    pub scenarios: Option<u64>,
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

/// Records; how that ended, and what is to be told of it.
pub fn keep(context: &Context, options: &Options) -> Result<Answer, Failure> {
    let place = match &options.directory {
        Some(directory) => given(options, directory)?,
        None => of_project(context, options)?,
    };
    keep_at(context, options, place)
}

/// Records the tests of one build of a project; how that ended, and what is to be told of it.
pub fn keep_build(context: &Context, project: &Project, build: &Build) -> Result<Answer, Failure> {
    let options = Options::default();
    let place = of_build(&options, project, build)?;
    keep_at(context, &options, place)
}

fn keep_at(context: &Context, options: &Options, place: Place) -> Result<Answer, Failure> {
    let directory = stored::directory();
    let store = stored::open()?;
    let log = directory.join("record.log");
    let output = match options.show_output {
        true => None,
        false => Some(Arc::new(File::create(&log).map_err(|error| {
            Failure::of_file(Exit::Internal, "cannot write", &log, &error)
        })?)),
    };
    let mut variables = place.variables;
    variables.extend(options.env.iter().map(|name| name.clone().into_vec()));
    let most = &options.limits;
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
            file: most.file.unwrap_or(place.limits.file),
            stdin: most.stdin.unwrap_or(place.limits.stdin),
            output: most.output.unwrap_or(place.limits.output),
            scenario: most.scenario.unwrap_or(place.limits.scenario),
            scenarios: most.scenarios.unwrap_or(place.limits.scenarios),
            ..place.limits
        },
    };
    let used = store.begin("record")?;
    // A connection of its own: scenarios are kept by another thread.
    let kept = stored::open()?;
    let (summary, fresh) = record_into(context, kept, &plan)?;
    let exit = match context.is_cancelled() {
        true => Exit::Interrupted,
        false => Exit::Clean,
    };
    used.end(exit as u8)?;
    let shown = report::Shown {
        summary: &summary,
        fresh,
        log: (!options.show_output).then_some(log.as_path()),
        store: &directory,
    };
    Ok(Answer::new(
        exit,
        report::render_text(&shown, &Palette),
        report::render_json(&shown),
    ))
}

/// Records into the store; returns also how many scenarios it had not known.
fn record_into(context: &Context, store: Store, plan: &Plan) -> Result<(Summary, u64), Failure> {
    let progress = Progress::default();
    let mut keeper = Keeper {
        store,
        batch: Vec::new(),
        fresh: 0,
    };
    let shown = context.events.begin(Task::Record {
        shows_output: plan.command.output.is_none(),
    });
    let done = AtomicBool::new(false);
    let summary = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                shown.step(Step::Recorded {
                    runs: progress.runs.load(Ordering::Relaxed),
                    scenarios: progress.scenarios.load(Ordering::Relaxed),
                });
                std::thread::park_timeout(Duration::from_millis(200));
            }
        });
        let summary = record(plan, &progress, context.cancel.flag(), |recorded| {
            keeper.add(recorded)
        });
        done.store(true, Ordering::Relaxed);
        summary
    });
    drop(shown);
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

fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize()
        .map_err(|error| Failure::of_file(Exit::Usage, "cannot find", path, &error))
}

/// A build tree that the user names.
fn given(options: &Options, directory: &Path) -> Result<Place, Failure> {
    let tree = canonical(directory)?;
    let mut trees = vec![tree.clone()];
    for source in &options.source {
        trees.push(canonical(source)?);
    }
    let programs = if options.program.is_empty() {
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
        let programs: Result<Vec<Program>, Failure> = options.program.iter().map(program).collect();
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
        command: options.command.clone(),
        environment: Vec::new(),
        variables: Vec::new(),
        limits: Limits::default(),
    })
}

/// The project around the current directory, built if it is not yet.
fn of_project(context: &Context, options: &Options) -> Result<Place, Failure> {
    let project = Project::find_with(Path::new("."), &options.settings)?;
    let selected = project.select(&Selection::Current)?;
    let builds = project.builds(toolchain()?);
    let build = build::ensure(context, &builds, &selected.new)?;
    of_build(options, &project, &build)
}

fn of_build(options: &Options, project: &Project, build: &Build) -> Result<Place, Failure> {
    let builds = project.builds(toolchain()?);
    let settings = &project.config;
    let command = if !options.command.is_empty() {
        options.command.clone()
    } else if !settings.test.command.trim().is_empty() {
        ["sh", "-c", &settings.test.command].map(Into::into).into()
    } else {
        let message = "no test command is known, so there is nothing to record";
        return Err(Failure::new(Exit::Usage, message)
            .hint("set test.command in parallax.toml, or give the command behind --"));
    };
    let is_named = |program: &parallax_project::Program| {
        let named = &options.program;
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
