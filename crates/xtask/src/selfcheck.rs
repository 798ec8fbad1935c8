//! The self-check over many command lines of coreutils.
//!
//! For each: the traced program must do what the plain one does, and every expression must
//! have the value that the program computed. Where precision was lost is summed
//! up by function: a list of what to model next.

use crate::commands::{self, CommandFile, CommandLine};
use crate::coreutils::{Place, processors, step};
use anyhow::{Context, Result, ensure};
use parallax_torture::process::{self, End, Finished};
use parallax_torture::report::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const PLAIN_TIMEOUT: Duration = Duration::from_secs(20);
const TRACED_TIMEOUT: Duration = Duration::from_secs(200);

/// What the command lines showed together.
#[derive(Default)]
struct Totals {
    passed: usize,
    failed: Vec<String>,
    branches: u64,
    nodes: u64,
    /// Command lines whose trace a limit cut short.
    stopped: usize,
    /// By kind and function: how often, and in how many command lines.
    losses: BTreeMap<(String, String), (u64, usize)>,
}

/// Runs the command lines that contain `only`; true if none failed.
pub fn run(place: &Place, only: Option<&str>, table: &Path) -> Result<bool> {
    let path = crate::root().join("tests/coreutils-commands.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut file = commands::parse(&text)?;
    if let Some(only) = only {
        file.commands.retain(|command| command.text.contains(only));
        ensure!(!file.commands.is_empty(), "no command line contains {only}");
    }
    let cache = place.folder("selfcheck-cache")?;
    derive(place, &file, &cache)?;
    let totals = run_all(place, &file, &cache)?;
    let losses = losses_table(&totals);
    if let Some(parent) = table.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(table, &losses)?;
    for failure in &totals.failed {
        println!("{failure}");
    }
    println!(
        "{} branches, {} nodes; {} traces cut short by a limit; losses: {}",
        totals.branches,
        totals.nodes,
        totals.stopped,
        table.display()
    );
    println!("{} passed, {} failed", totals.passed, totals.failed.len());
    Ok(totals.failed.is_empty())
}

/// Makes the traced programs beforehand: the runs' time limit is for running, not for compiling.
fn derive(place: &Place, file: &CommandFile, cache: &Path) -> Result<()> {
    let programs: BTreeSet<&str> = file
        .commands
        .iter()
        .map(|command| command.program.as_str())
        .collect();
    eprintln!("deriving {} traced programs", programs.len());
    for name in programs {
        let program = place.program(name);
        ensure!(program.exists(), "coreutils has no program {name}");
        let mut command = Command::new(place.parallax());
        command
            .arg("variant")
            .arg(&program)
            .args(["--kind", "traced"]);
        command.env("XDG_CACHE_HOME", cache).stdout(Stdio::null());
        step(&mut command, "deriving a traced program")?;
    }
    Ok(())
}

fn run_all(place: &Place, file: &CommandFile, cache: &Path) -> Result<Totals> {
    let scratch = tempfile::tempdir()?;
    let next = AtomicUsize::new(0);
    let totals = Mutex::new(Totals::default());
    std::thread::scope(|scope| {
        for worker in 0..processors() {
            let folder = scratch.path().join(worker.to_string());
            let (next, totals) = (&next, &totals);
            scope.spawn(move || {
                while let Some(command) = file.commands.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = one(place, file, command, &folder, cache);
                    let mut totals = totals.lock().expect("a worker panicked");
                    totals.add(command, result);
                    let done = totals.passed + totals.failed.len();
                    if done % 50 == 0 {
                        eprintln!("{done} of {} command lines", file.commands.len());
                    }
                }
            });
        }
    });
    Ok(totals.into_inner().expect("a worker panicked"))
}

impl Totals {
    fn add(&mut self, command: &CommandLine, result: Result<Report>) {
        let report = match result {
            Ok(report) => report,
            Err(error) => {
                self.failed.push(format!("{}\n    {error:#}", command.text));
                return;
            }
        };
        self.passed += 1;
        self.branches += report.branches;
        self.nodes += report.nodes;
        self.stopped += usize::from(report.stopped);
        for loss in report.losses {
            let entry = self.losses.entry((loss.kind, loss.function)).or_default();
            entry.0 += loss.count;
            entry.1 += 1;
        }
    }
}

/// Runs one command line plain and traced. The error says what was wrong.
fn one(
    place: &Place,
    file: &CommandFile,
    command: &CommandLine,
    folder: &Path,
    cache: &Path,
) -> Result<Report> {
    let run = PreparedRun {
        command,
        program: place.program(&command.program),
        home: folder.to_owned(),
        cache: cache.to_owned(),
        room: folder.join("room"),
        stdin: folder.join("stdin"),
    };
    run.prepare(file)?;
    let plain = run.plain()?;
    ensure!(plain.end != End::Timeout, "the plain program does not end");
    // Anew: the program may have changed its files.
    run.prepare(file)?;
    let report = run.traced(place)?;
    ensure!(
        report.end == plain.end,
        "ends differently: plain {:?}, traced {:?}",
        plain.end,
        report.end
    );
    for (name, traced, plain) in [
        ("output", &report.stdout, &plain.stdout),
        ("error output", &report.stderr, &plain.stderr),
    ] {
        ensure!(
            traced.is(plain),
            "{name} differs\n    plain:  {}\n    traced: {}",
            excerpt(plain),
            excerpt(&traced.bytes)
        );
    }
    ensure!(
        report.mismatches.is_empty(),
        "{} self-check mismatches\n    {}",
        report.mismatches.len(),
        report.mismatches.join("\n    ")
    );
    ensure!(report.attached, "the program was not traced");
    Ok(report)
}

struct PreparedRun<'a> {
    command: &'a CommandLine,
    program: PathBuf,
    home: PathBuf,
    /// Where the tool keeps derived programs.
    cache: PathBuf,
    /// Working directory with the fixtures.
    room: PathBuf,
    stdin: PathBuf,
}

impl PreparedRun<'_> {
    fn prepare(&self, file: &CommandFile) -> Result<()> {
        if self.room.exists() {
            fs::remove_dir_all(&self.room)?;
        }
        fs::create_dir_all(&self.room)?;
        for fixture in &file.fixtures {
            let path = self.room.join(&fixture.name);
            fs::write(&path, &fixture.contents)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
        }
        let stdin = match &self.command.stdin {
            None => Vec::new(),
            Some(name) => fs::read(self.room.join(name))?,
        };
        fs::write(&self.stdin, stdin)?;
        Ok(())
    }

    /// Both kinds of run see the same small environment.
    fn environment(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.home)
            .env("XDG_CACHE_HOME", &self.cache)
            .env("LC_ALL", "C")
            .env("TZ", "UTC0")
            .current_dir(&self.room);
        for (name, value) in &self.command.environment {
            command.env(name, value);
        }
    }

    fn arguments(&self) -> impl Iterator<Item = &OsStr> {
        self.command
            .arguments
            .iter()
            .map(|word| OsStr::from_bytes(word))
    }

    fn plain(&self) -> Result<Finished> {
        let mut command = Command::new(&self.program);
        self.environment(&mut command);
        command
            .args(self.arguments())
            .stdin(Stdio::from(fs::File::open(&self.stdin)?));
        Ok(process::run(&mut command, PLAIN_TIMEOUT)?)
    }

    fn traced(&self, place: &Place) -> Result<Report> {
        let mut command = Command::new(place.parallax());
        self.environment(&mut command);
        command
            .args(["trace", "--self-check", "--json", "--timeout", "100"])
            .arg("--stdin")
            .arg(&self.stdin)
            .arg(&self.program)
            .arg("--")
            .args(self.arguments())
            .stdin(Stdio::null());
        let finished = process::run(&mut command, TRACED_TIMEOUT)?;
        ensure!(
            matches!(finished.end, End::Exit(0 | 1)),
            "parallax trace: {:?}\n    {}",
            finished.end,
            excerpt(&finished.stderr)
        );
        Report::parse(&finished.stdout).context("the report is not understood")
    }
}

fn excerpt(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(300)];
    String::from_utf8_lossy(shown).escape_debug().to_string()
}

/// Most frequent first.
fn losses_table(totals: &Totals) -> String {
    let mut rows: Vec<_> = totals.losses.iter().collect();
    rows.sort_by_key(|(_, (count, lines))| (std::cmp::Reverse(*lines), std::cmp::Reverse(*count)));
    let mut text = String::from("| function | kind | command lines | times |\n|---|---|---|---|\n");
    for ((kind, function), (count, lines)) in rows {
        let _ = writeln!(text, "| `{function}` | {kind} | {lines} | {count} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_listed_by_how_many_command_lines_they_touch() {
        let mut totals = Totals::default();
        let name = |function: &str| ("call".to_owned(), function.to_owned());
        totals.losses.insert(name("rare"), (900, 1));
        totals.losses.insert(name("common"), (20, 10));
        let table = losses_table(&totals);
        let lines: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| `common` | call | 10 | 20 |",
                "| `rare` | call | 1 | 900 |"
            ]
        );
    }
}
