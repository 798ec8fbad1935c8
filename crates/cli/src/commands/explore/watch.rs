//! Watching an exploration: progress for who looks, inputs to disk as they come.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parallax_exec::finding::Finding;
use parallax_scenario::Scenario;
use parallax_search::archive::{Archive, ArchiveError};
use parallax_search::explore::{Observer, Progress};

use crate::console::{self, Line, Palette, shorten};
use crate::exit::Exit;
use crate::size::{counted, show_count, show_time};
use parallax_report::results::finding::headline;

/// Set by Ctrl-C: end with what is known.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether somebody asked for an end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// How a search ends that has found something or not.
pub fn exit(is_clean: bool) -> Exit {
    match (interrupted(), is_clean) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Clean,
        (false, false) => Exit::Findings,
    }
}

/// Ends the process at once, where nothing is known that could be reported.
pub fn leave() -> ! {
    console::clear();
    console::print_error("ended\n");
    std::process::exit(Exit::Interrupted as i32)
}

/// Asks for an end, as the user would.
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Plain lines of progress come no more often than this.
const LINES: Duration = Duration::from_secs(30);
/// Of many things that are found, those that are said at once, and the one that says that there are more.
const MOST_ANNOUNCED: u32 = 12;
const LAST_ANNOUNCED: u32 = MOST_ANNOUNCED + 1;

/// Finding → its directory.
pub type Kept = BTreeMap<String, PathBuf>;

/// Shows how far a search is and what it finds, and keeps findings in files.
pub struct Watcher {
    /// Directories of results, each with its program.
    places: Vec<(PathBuf, PathBuf)>,
    line: Line,
    started: Instant,
    last_line: Instant,
    announced: u32,
    time: Option<Duration>,
    /// The first thing that could not be written.
    error: Option<ArchiveError>,
}

impl Watcher {
    /// For a search in programs that keeps results in a directory for each.
    pub fn new(places: Vec<(PathBuf, PathBuf)>, time: Option<Duration>) -> Watcher {
        catch_interrupt();
        Watcher {
            places,
            line: Line::new("{spinner} {msg}", None),
            started: Instant::now(),
            last_line: Instant::now(),
            announced: 0,
            time,
            error: None,
        }
    }

    /// Time and runs so far, and per second: what every line of progress begins with.
    pub fn pace(&self, runs: u64) -> String {
        self.count_runs(runs);
        let elapsed = self.started.elapsed();
        let rate = runs as f64 / elapsed.as_secs_f64().max(0.001);
        let time = match self.time {
            Some(time) => format!("{} of {}", show_time(elapsed), show_time(time)),
            None => show_time(elapsed),
        };
        format!("{time}  {} ({rate:.0}/s)", counted(runs, "run"))
    }

    fn say(&self, progress: &Progress) -> String {
        format!(
            "{}  {}  {} covered  {} open  {}",
            self.pace(progress.runs),
            counted(progress.paths, "path"),
            show_count(progress.covered),
            show_count(progress.open),
            counted(progress.findings, "error"),
        )
    }

    /// Writes what is still to be written, given the findings in each program; where each is kept.
    pub fn finish(mut self, findings: &[Vec<Finding>]) -> Result<Vec<Kept>, ArchiveError> {
        self.line.bar.finish_and_clear();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let each = findings.iter().enumerate();
        each.map(|(index, findings)| {
            let keep = |finding: &Finding| Ok((finding.id(), self.keep(index, finding)?));
            findings.iter().map(keep).collect()
        })
        .collect()
    }

    fn keep(&self, index: usize, finding: &Finding) -> Result<PathBuf, ArchiveError> {
        let (directory, program) = &self.places[index];
        Archive::open(directory)?.add_finding(finding, program)
    }
}

impl Watcher {
    /// Says how often programs have been run so far.
    pub fn count_runs(&self, runs: u64) {
        if let Some(live) = console::live() {
            live.ran(runs);
        }
    }

    /// Shows a line of progress: at once to who looks, now and then to others.
    pub fn tell(&mut self, line: String) {
        if let Some(live) = console::live() {
            live.tell(&line);
        } else if self.line.is_shown {
            // Lines that wrap would not be cleared.
            let room = console::live_width().saturating_sub(3);
            self.line.bar.set_message(shorten(&line, room));
        } else if self.last_line.elapsed() >= LINES {
            self.last_line = Instant::now();
            console::print_error(&format!("{line}\n"));
        }
    }

    /// Shows a line that stays.
    pub fn announce(&self, line: &str) {
        console::print_error(&format!("{line}\n"));
    }

    /// Shows one of many lines that stay: the first ones, for all are in the report.
    pub fn announce_one_of_many(&mut self, line: &str) {
        self.announced += 1;
        match self.announced {
            1..=MOST_ANNOUNCED => self.announce(line),
            LAST_ANNOUNCED => self.announce("… more are counted, and in the report"),
            _ => {}
        }
    }

    /// Shows a finding in the program with this index and keeps it.
    pub fn found(&mut self, index: usize, finding: &Finding) {
        // Who shares a screen runs it on both versions first.
        if console::live().is_none() {
            self.announce(&format!("{} {}", Palette.bad("found"), headline(finding)));
        }
        if let Err(error) = self.keep(index, finding) {
            self.error.get_or_insert(error);
        }
    }

    /// Whether somebody asked for an end, or nothing can be kept.
    pub fn is_over(&self) -> bool {
        interrupted() || self.error.is_some()
    }
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        self.tell(self.say(progress));
    }

    fn finding(&mut self, finding: &Finding) {
        self.found(0, finding);
    }

    fn test(&mut self, scenario: &Scenario) {
        let (directory, _) = &self.places[0];
        let kept = Archive::open(directory).and_then(|archive| archive.add_test(scenario));
        if let Err(error) = kept {
            self.error.get_or_insert(error);
        }
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}

/// The first Ctrl-C asks for an end; a second one, for whom that takes too long, ends at once.
pub fn catch_interrupt() {
    extern "C" fn interrupt(_: libc::c_int) {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            console::clear_at_once();
            // SAFETY: one of the few functions that a signal handler may call.
            unsafe { libc::_exit(130) };
        }
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: installs a handler that only sets a flag or ends the process.
        unsafe { libc::signal(signal, interrupt as *const () as libc::sighandler_t) };
    }
}
