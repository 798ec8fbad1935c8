//! What covering a patch came to: coverage before and after, new inputs, and what is left.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use parallax_exec::finding::Finding;
use parallax_scenario::Scenario;
use parallax_store::ledger::{Entry, Status};
use serde_json::{Value, json};

use crate::given::command_line;
use crate::palette::Palette;
use crate::results::document::{self, Document};
use crate::results::finding;
use crate::results::ledger;
use crate::results::search::ranked;
use crate::words::{counted, shorten, show_time};

/// Everything that is reported.
pub struct Shown<'s> {
    pub targets: Vec<Target>,
    /// Whether there are lines without code.
    pub has_skipped: bool,
    /// How many scenarios say what is covered.
    pub scenarios: u64,
    /// Errors that were met on the way, each with its program.
    pub findings: &'s [(PathBuf, Finding)],
    pub time: Duration,
    /// Columns of text.
    pub width: usize,
}

/// Lines that run together.
pub struct Target {
    /// What became of them.
    pub entry: Entry,
    /// Whether they were searched for, or nobody had to.
    pub is_searched: bool,
    /// The input that reaches them; a scenario can have been removed since.
    pub scenario: Option<Scenario>,
}

/// Targets, and how many of them are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    targets: usize,
    suite: usize,
    now: usize,
}

impl Tally {
    fn add(&mut self, entry: Option<&Entry>) {
        self.targets += 1;
        match entry.map(|entry| entry.status) {
            Some(Status::Suite) => self.suite += 1,
            Some(Status::Covered) => self.now += 1,
            _ => {}
        }
    }

    fn open(&self) -> usize {
        self.targets - self.suite - self.now
    }

    fn json(&self) -> Value {
        json!({
            "targets": self.targets,
            "suite": self.suite,
            "covered": self.now,
            "before": percent(self.suite, self.targets),
            "after": percent(self.suite + self.now, self.targets),
        })
    }
}

/// `None` of nothing.
fn percent(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| (part as f64 * 1000.0 / whole as f64).round() / 10.0)
}

impl Shown<'_> {
    fn tallies(&self) -> (Tally, BTreeMap<&str, Tally>) {
        let mut total = Tally::default();
        let mut files: BTreeMap<&str, Tally> = BTreeMap::new();
        for target in &self.targets {
            let entry = target.is_searched.then_some(&target.entry);
            total.add(entry);
            files.entry(&target.entry.file).or_default().add(entry);
        }
        (total, files)
    }
}

pub fn render_json(shown: &Shown<'_>) -> String {
    let (total, files) = shown.tallies();
    let mut targets = Vec::new();
    let mut losses: BTreeMap<String, u64> = BTreeMap::new();
    let (mut runs, mut paths, mut queries) = (0, 0, 0);
    for target in &shown.targets {
        let entry = &target.entry;
        if !target.is_searched {
            let mut blank = entry.clone();
            blank.notes.push("not searched for yet".to_owned());
            blank.status = Status::Blocked;
            targets.push(ledger::json(&blank, None));
            continue;
        }
        targets.push(ledger::json(entry, target.scenario.as_ref()));
        (runs, paths, queries) = (
            runs + entry.runs,
            paths + entry.paths,
            queries + entry.queries,
        );
        for (name, count) in &entry.losses {
            *losses.entry(name.clone()).or_default() += count;
        }
    }
    let files: BTreeMap<&str, Value> = files
        .iter()
        .map(|(name, tally)| (*name, tally.json()))
        .collect();
    Document {
        command: "cover",
        runs,
        paths,
        queries,
        seconds: shown.time.as_secs_f64(),
        losses: ranked(&losses),
        findings: shown
            .findings
            .iter()
            .map(|(_, finding)| document::finding(finding, None, None))
            .collect(),
        targets,
        statistics: json!({"coverage": total.json(), "files": files}),
    }
    .render()
}

pub fn render_text(shown: &Shown<'_>) -> String {
    let (total, files) = shown.tallies();
    let mut text = String::new();
    if total.targets == 0 {
        let why = match shown.has_skipped {
            false => "no line of a source file is meant",
            true => "none of the lines has code in these programs",
        };
        return format!("there is nothing to cover: {why}\n");
    }
    new_inputs(&mut text, shown);
    not_covered(&mut text, shown);
    for (program, found) in shown.findings {
        let section = finding::section(program, &BTreeMap::new(), found);
        let mark = Palette.bad("error on the way:");
        let _ = writeln!(text, "{mark} {}", section.trim_end());
    }
    table(&mut text, &total, &files);
    let share = |part| percent(part, total.targets).unwrap_or(0.0);
    let verdict = format!(
        "{:.1} % → {:.1} %",
        share(total.suite),
        share(total.suite + total.now)
    );
    let verdict = match total.open() {
        0 => Palette.good(&verdict),
        _ => Palette.warn(&verdict),
    };
    let _ = writeln!(
        text,
        "coverage of the patch {verdict}: {}, {} by {}, {} by new inputs, {} left; {}",
        counted(total.targets as u64, "target"),
        total.suite,
        counted(shown.scenarios, "scenario"),
        total.now,
        total.open(),
        show_time(shown.time),
    );
    if total.open() > 0 {
        let _ = writeln!(
            text,
            "{}",
            Palette.dim("parallax why FILE:LINE says more about a line")
        );
    }
    text
}

fn new_inputs(text: &mut String, shown: &Shown<'_>) {
    let is_new = |target: &&Target| target.entry.status == Status::Covered;
    for target in shown.targets.iter().filter(is_new) {
        let entry = &target.entry;
        let program = entry.program.as_deref().unwrap_or("program");
        let _ = writeln!(
            text,
            "{}  {}  {}  {}",
            Palette.good("covered"),
            Palette.place(&ledger::place(entry)),
            entry.function,
            Palette.dim(&effort(entry)),
        );
        if let Some(scenario) = &target.scenario {
            let line = command_line(program, scenario);
            let _ = writeln!(text, "  {}", shorten(&line, shown.width.saturating_sub(2)));
        }
        for note in &entry.notes {
            let _ = writeln!(text, "  {}", Palette.dim(note));
        }
    }
}

fn effort(entry: &Entry) -> String {
    match entry.steps.len() {
        0 => String::new(),
        steps => format!(
            "{} in {:.1} s",
            counted(steps as u64, "step"),
            entry.seconds
        ),
    }
}

fn not_covered(text: &mut String, shown: &Shown<'_>) {
    for target in &shown.targets {
        let entry = &target.entry;
        if !target.is_searched {
            let place = Palette.place(&ledger::place(entry));
            let _ = writeln!(
                text,
                "{}  {place}  not searched for yet",
                Palette.warn("open")
            );
            continue;
        }
        if entry.status.is_covered() {
            continue;
        }
        let place = ledger::place(entry);
        let _ = writeln!(
            text,
            "{}  {}  {}",
            Palette.warn(entry.status.name()),
            Palette.place(&place),
            entry.function
        );
        if let Some(why) = ledger::brief(entry) {
            let _ = writeln!(
                text,
                "  {}",
                Palette.dim(&shorten(&why, shown.width.saturating_sub(2)))
            );
        }
    }
}

fn table(text: &mut String, total: &Tally, files: &BTreeMap<&str, Tally>) {
    let longest = files
        .keys()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let longest = longest.max("in total".len());
    let heading = format!(
        "\n{:<longest$}  {:>7}  {:>5}  {:>5}  {:>5}",
        "file", "targets", "tests", "new", "left"
    );
    let _ = writeln!(text, "{}", Palette.dim(&heading));
    let mut row = |name: &str, tally: &Tally| {
        let _ = writeln!(
            text,
            "{name:<longest$}  {:>7}  {:>5}  {:>5}  {:>5}",
            tally.targets,
            tally.suite,
            tally.now,
            tally.open()
        );
    };
    for (name, tally) in files {
        row(name, tally);
    }
    if files.len() > 1 {
        row("in total", total);
    }
    text.push('\n');
}
