//! What covering a patch came to: coverage before and after, new inputs, and what is left.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use parallax_scenario::Scenario;
use parallax_store::Store;
use parallax_store::ledger::{Entry, Status};
use serde_json::{Value, json};

use crate::commands::cover::Campaign;
use crate::console::{Palette, shorten, width};
use crate::failure::Failure;
use crate::report::document::{self, Document};
use crate::report::finding;
use crate::report::ledger;
use crate::report::scenario::command_line;
use crate::report::search::ranked;
use crate::size::{counted, show_time};

/// Everything that is reported.
pub struct Shown<'s> {
    pub campaign: &'s Campaign<'s>,
    pub store: &'s Store,
    pub time: Duration,
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
        for (target, entry) in self
            .campaign
            .found
            .targets
            .iter()
            .zip(&self.campaign.entries)
        {
            total.add(entry.as_ref());
            files.entry(&target.file).or_default().add(entry.as_ref());
        }
        (total, files)
    }

    fn scenario(&self, entry: &Entry) -> Result<Option<Scenario>, Failure> {
        let id = entry.scenario.as_ref().filter(|id| !id.is_empty());
        let Some(id) = id.filter(|_| entry.status.is_covered()) else {
            return Ok(None);
        };
        // A scenario can have been removed since.
        Ok(self.store.get(id).ok().map(|kept| kept.recorded.scenario))
    }
}

pub fn render_json(shown: &Shown<'_>) -> Result<String, Failure> {
    let (total, files) = shown.tallies();
    let mut targets = Vec::new();
    let mut losses: BTreeMap<String, u64> = BTreeMap::new();
    let (mut runs, mut paths, mut queries) = (0, 0, 0);
    for (index, entry) in shown.campaign.entries.iter().enumerate() {
        let Some(entry) = entry else {
            let mut blank = shown.campaign.blank(index);
            blank.notes.push("not searched for yet".to_owned());
            blank.status = Status::Blocked;
            targets.push(ledger::json(&blank, None));
            continue;
        };
        targets.push(ledger::json(entry, shown.scenario(entry)?.as_ref()));
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
    let document = Document {
        command: "cover",
        runs,
        paths,
        queries,
        seconds: shown.time.as_secs_f64(),
        losses: ranked(&losses),
        findings: shown
            .campaign
            .findings
            .iter()
            .map(|(_, finding)| document::finding(finding, None, None))
            .collect(),
        targets,
        statistics: json!({"coverage": total.json(), "files": files}),
    };
    Ok(document.render())
}

pub fn render_text(shown: &Shown<'_>) -> Result<String, Failure> {
    let (total, files) = shown.tallies();
    let mut text = String::new();
    if total.targets == 0 {
        let why = match shown.campaign.found.skipped.is_empty() {
            true => "no line of a source file is meant",
            false => "none of the lines has code in these programs",
        };
        return Ok(format!("there is nothing to cover: {why}\n"));
    }
    new_inputs(&mut text, shown)?;
    not_covered(&mut text, shown);
    for (program, found) in &shown.campaign.findings {
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
        counted(shown.campaign.found.scenarios as u64, "scenario"),
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
    Ok(text)
}

fn new_inputs(text: &mut String, shown: &Shown<'_>) -> Result<(), Failure> {
    let entries = shown.campaign.entries.iter().flatten();
    for entry in entries.filter(|entry| entry.status == Status::Covered) {
        let program = entry.program.as_deref().unwrap_or("program");
        let _ = writeln!(
            text,
            "{}  {}  {}  {}",
            Palette.good("covered"),
            Palette.place(&ledger::place(entry)),
            entry.function,
            Palette.dim(&effort(entry)),
        );
        if let Some(scenario) = shown.scenario(entry)? {
            let line = command_line(program, &scenario);
            let _ = writeln!(text, "  {}", shorten(&line, width().saturating_sub(2)));
        }
        for note in &entry.notes {
            let _ = writeln!(text, "  {}", Palette.dim(note));
        }
    }
    Ok(())
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
    for (index, entry) in shown.campaign.entries.iter().enumerate() {
        let Some(entry) = entry else {
            let blank = shown.campaign.blank(index);
            let place = Palette.place(&ledger::place(&blank));
            let _ = writeln!(
                text,
                "{}  {place}  not searched for yet",
                Palette.warn("open")
            );
            continue;
        };
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
                Palette.dim(&shorten(&why, width().saturating_sub(2)))
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
