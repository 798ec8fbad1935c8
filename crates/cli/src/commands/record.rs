//! `parallax record`: runs the test suite and keeps every run of the programs under test as a scenario.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use parallax_recorder::{Command, Limits, Plan, Program, Progress, RecorderError, Summary, record};
use parallax_scenario::Recorded;
use parallax_store::{Origin, Store, StoreError};

use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use crate::size::parse_bytes;

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
  parallax record -- make check
  parallax record -C build --program src/cut -- make check TESTS=tests/misc/cut.pl
  parallax record --show-output -- ctest --output-on-failure

Tests may fail: that is said, and the exit code is 0. It is 3 if the test command cannot be run at all.")]
pub struct Arguments {
    /// The command that runs the tests
    #[arg(last = true, value_name = "TEST COMMAND", required = true)]
    command: Vec<OsString>,

    /// The build tree, in which the test command runs
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// The source tree, if it is not around the build tree (may be repeated)
    #[arg(long, value_name = "DIR")]
    source: Vec<PathBuf>,

    /// A program under test, relative to the build tree (may be repeated; default: all that were built with parallax-cc)
    #[arg(long, value_name = "PATH")]
    program: Vec<PathBuf>,

    /// An environment variable that is always part of scenarios (may be repeated)
    #[arg(long, value_name = "NAME")]
    env: Vec<OsString>,

    /// Where scenarios are kept
    #[arg(long, value_name = "DIR", default_value = ".parallax")]
    store: PathBuf,

    /// Let the tests write to the terminal instead of a log file
    #[arg(long)]
    show_output: bool,

    /// Keep at most so much of each file
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse_bytes)]
    file_limit: u64,

    /// Keep at most so much of standard input
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse_bytes)]
    stdin_limit: u64,

    /// Keep at most so much of standard output and standard error
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse_bytes)]
    output_limit: u64,

    /// Keep at most so much of all files of one scenario
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = parse_bytes)]
    scenario_limit: u64,

    /// Keep at most so many scenarios
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().scenarios)]
    scenarios: u64,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let tree = canonical(&arguments.directory)?;
    let programs = programs(&tree, &arguments.program)?;
    let store = Store::open(&arguments.store).map_err(failure_of_store)?;
    let log = arguments.store.join("record.log");
    let output = match arguments.show_output {
        true => None,
        false => Some(Arc::new(File::create(&log)?)),
    };
    let mut trees = vec![tree.clone()];
    for source in &arguments.source {
        trees.push(canonical(source)?);
    }
    let plan = Plan {
        command: Command {
            words: arguments.command.clone(),
            directory: tree,
            environment: Vec::new(),
            output,
        },
        programs,
        trees,
        variables: arguments
            .env
            .iter()
            .map(|name| name.clone().into_vec())
            .collect(),
        limits: Limits {
            file: arguments.file_limit,
            stdin: arguments.stdin_limit,
            output: arguments.output_limit,
            scenario: arguments.scenario_limit,
            scenarios: arguments.scenarios,
            ..Limits::default()
        },
    };
    let used = store.begin("record").map_err(failure_of_store)?;
    // A connection of its own: scenarios are kept by another thread.
    let kept = Store::open(&arguments.store).map_err(failure_of_store)?;
    let (summary, fresh) = record_into(kept, &plan)?;
    let exit = match STOP.load(Ordering::Relaxed) {
        true => Exit::Interrupted,
        false => Exit::Clean,
    };
    used.end(exit as u8).map_err(failure_of_store)?;
    let shown = report::record::Shown {
        summary: &summary,
        fresh,
        log: (!arguments.show_output).then_some(log.as_path()),
        store: &arguments.store,
    };
    if arguments.json {
        console::print_data(&report::record::render_json(&shown))?;
    } else {
        console::print(&report::record::render_text(&shown, &Palette))?;
    }
    Ok(exit)
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
    let bar = bar(plan);
    let done = AtomicBool::new(false);
    let summary = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let runs = progress.runs.load(Ordering::Relaxed);
                let scenarios = progress.scenarios.load(Ordering::Relaxed);
                bar.set_message(format!("{runs} runs, {scenarios} scenarios"));
                std::thread::park_timeout(Duration::from_millis(200));
            }
        });
        let summary = record(plan, &progress, &STOP, |recorded| keeper.add(recorded));
        done.store(true, Ordering::Relaxed);
        summary
    });
    bar.finish_and_clear();
    keeper.keep().map_err(failure_of_store)?;
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

fn bar(plan: &Plan) -> ProgressBar {
    // With the tests' own output on the terminal, a line that moves would be in its way.
    if !io::stderr().is_terminal() || plan.command.output.is_none() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} recording {elapsed}: {msg}");
    let bar = ProgressBar::new_spinner();
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
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
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", path.display())))
}

/// The programs that are named, or all that were captured.
fn programs(tree: &Path, names: &[PathBuf]) -> Result<Vec<Program>, Failure> {
    if !names.is_empty() {
        let program = |name: &PathBuf| {
            Ok(Program {
                name: name.clone(),
                path: canonical(&tree.join(name))?,
            })
        };
        return names.iter().map(program).collect();
    }
    let mut found = Vec::new();
    find_programs(tree, tree, &mut found)?;
    if found.is_empty() {
        let message = format!(
            "no program below {} was built with parallax-cc",
            tree.display()
        );
        return Err(Failure::new(Exit::Usage, message)
            .hint("build with CC=parallax-cc, or name programs with --program"));
    }
    Ok(found)
}

fn find_programs(tree: &Path, directory: &Path, found: &mut Vec<Program>) -> Result<(), Failure> {
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(directory)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let metadata = entry.metadata()?;
        let is_own = entry.file_name() == ".parallax" || entry.file_name() == ".git";
        if metadata.is_dir() && !is_own {
            find_programs(tree, &path, found)?;
        } else if metadata.is_file()
            && metadata.permissions().mode() & 0o111 != 0
            && parallax_capture::read_program(&path).is_ok()
        {
            let name = path.strip_prefix(tree).unwrap_or(&path).to_owned();
            found.push(Program { name, path });
        }
    }
    Ok(())
}

fn failure_of_store(error: StoreError) -> Failure {
    Failure::from_error(Exit::Internal, &error)
}

impl From<RecorderError> for Failure {
    fn from(error: RecorderError) -> Failure {
        match &error {
            RecorderError::Start { .. } => Failure::from_error(Exit::BuildFailed, &error)
                .hint("give the command that runs the tests behind --"),
            RecorderError::Trace(_) => Failure::from_error(Exit::Internal, &error)
                .hint("allow ptrace: sysctl kernel.yama.ptrace_scope=1, or docker run --cap-add=SYS_PTRACE"),
            RecorderError::Wait(_) | RecorderError::Sink(_) => {
                Failure::from_error(Exit::Internal, &error)
            }
        }
    }
}
