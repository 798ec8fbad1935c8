//! Watching a search: progress for who looks, inputs to disk as they come.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_exec::finding::Finding;
use parallax_report::palette::Palette;
use parallax_report::results::finding::headline;
use parallax_report::words::{counted, show_count, show_time};
use parallax_scenario::Scenario;
use parallax_search::archive::{Archive, ArchiveError};
use parallax_search::engine::{Observer, Progress};

use crate::context::{Context, Event, Progress as Shown, Step, Task};

/// Of many things that are found, those that are said at once, and the one that says that there are more.
const MOST_ANNOUNCED: u32 = 12;
const LAST_ANNOUNCED: u32 = MOST_ANNOUNCED + 1;

/// Finding → its directory.
pub type Kept = BTreeMap<String, PathBuf>;

/// Shows how far a search is and what it finds, and keeps findings in files.
pub struct Watcher {
    /// Directories of results, each with its program.
    places: Vec<(PathBuf, PathBuf)>,
    context: Context,
    shown: Box<dyn Shown>,
    started: Instant,
    announced: u32,
    time: Option<Duration>,
    /// The first thing that could not be written.
    error: Option<ArchiveError>,
}

impl Watcher {
    /// For a search in programs that keeps results in a directory for each.
    pub fn new(
        context: &Context,
        places: Vec<(PathBuf, PathBuf)>,
        time: Option<Duration>,
    ) -> Watcher {
        Watcher {
            places,
            shown: context.events.begin(Task::Search(time)),
            context: context.clone(),
            started: Instant::now(),
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
        self.context.runs.count(runs);
    }

    /// Shows a line of progress: at once to who looks, now and then to others.
    pub fn tell(&self, line: &str) {
        self.shown.step(Step::Line(line));
    }

    /// Shows a line that stays.
    pub fn announce(&self, line: &str) {
        self.context.say(line);
    }

    /// Tells what is worth knowing.
    pub fn note(&self, note: &str) {
        self.context.note(note);
    }

    /// Something was found that nobody else shows, in one line.
    pub fn found_line(&self, line: &str) {
        self.context.events.tell(Event::Found(line));
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
        // Who takes turns with others runs it on both versions first.
        if !self.context.in_check {
            self.announce(&format!("{} {}", Palette.bad("found"), headline(finding)));
        }
        if let Err(error) = self.keep(index, finding) {
            self.error.get_or_insert(error);
        }
    }

    /// Whether somebody asked for an end, or nothing can be kept.
    pub fn is_over(&self) -> bool {
        self.context.is_cancelled() || self.error.is_some()
    }
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        self.tell(&self.say(progress));
    }

    fn error(&mut self, finding: &Finding) {
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
