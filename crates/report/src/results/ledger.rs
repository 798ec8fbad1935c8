//! Entries of the ledger in words: why a line is covered, or why it is not.

use std::fmt::Write as _;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use parallax_scenario::Scenario;
use parallax_store::ledger::{Entry, Obstacle, Spot, Status, Step};
use serde_json::{Value, json};

use super::search::LISTED;
use crate::given::{command_line, inputs};
use crate::palette::Palette;
use crate::words::{counted, shorten, spans};

/// Lines around a place that are shown.
const AROUND: u32 = 2;
/// Names of scenarios are so long, as in `parallax scenarios`.
const SHOWN_ID: usize = 12;

/// `src/io.c:235-237`.
pub fn place(entry: &Entry) -> String {
    format!("{}:{}", entry.file, spans(&entry.lines))
}

fn spot(spot: &Spot) -> String {
    match (spot.file.is_empty(), spot.text.is_empty()) {
        (true, _) => "an unknown place".to_owned(),
        (false, true) => format!("{}:{}", spot.file, spot.line),
        (false, false) => format!("{}:{} ({})", spot.file, spot.line, spot.text),
    }
}

/// Why a line was not reached, in one line; `None` if it was.
pub fn why(entry: &Entry) -> Option<String> {
    let mut parts = Vec::new();
    match (entry.status, &entry.obstacle) {
        (Status::Suite | Status::Covered, _) => return None,
        (Status::Missed, _) => parts.push("no way leads there from anything that ran".to_owned()),
        (Status::Blocked, None) => parts.push("not reached in the time given".to_owned()),
        (Status::Infeasible, None) => {
            parts.push("every way there contradicts what leads to it".to_owned());
        }
        (_, Some(obstacle)) => {
            let branches = counted(obstacle.distance.into(), "branch/branches");
            parts.push(format!(
                "the branch at {} did not go the other way; from there {branches}",
                spot(&obstacle.branch)
            ));
            parts.extend(circumstances(obstacle));
        }
    }
    parts.extend(entry.notes.iter().cloned());
    Some(parts.join("; "))
}

/// What stands before a line, as short as it can be said; `None` if it was reached.
pub fn brief(entry: &Entry) -> Option<String> {
    /// Of the branch's own text.
    const LONGEST: usize = 48;
    let (Some(obstacle), false) = (&entry.obstacle, entry.status.is_covered()) else {
        return why(entry);
    };
    let branch = &obstacle.branch;
    let mut text = format!("{}:{}", branch.file, branch.line);
    if !branch.text.is_empty() {
        let _ = write!(text, " {}", shorten(&branch.text, LONGEST));
    }
    let _ = match obstacle.distance {
        0 => write!(text, ", right before it"),
        distance => {
            let branches = counted(distance.into(), "branch/branches");
            write!(text, ", {branches} before it")
        }
    };
    for part in circumstances(obstacle).iter().chain(&entry.notes) {
        let _ = write!(text, "; {part}");
    }
    Some(text)
}

/// What else is known about a branch that was not got past.
fn circumstances(obstacle: &Obstacle) -> Vec<String> {
    let mut parts = Vec::new();
    if obstacle.is_concrete {
        parts.push("no input byte decides it".to_owned());
    }
    let spots = obstacle.contradicts.iter();
    let names: Vec<String> = spots
        .map(|spot| format!("{}:{}", spot.file, spot.line))
        .collect();
    if !names.is_empty() {
        let prefixes = counted(obstacle.prefixes, "prefix/prefixes");
        parts.push(format!("tried on {prefixes}"));
        let names = names.join(", ");
        parts.push(format!("it contradicts what was decided at {names}"));
    }
    parts
}

/// An entry as the `targets` of the shared document have it.
pub fn json(entry: &Entry, scenario: Option<&Scenario>) -> Value {
    let step = |step: &Step| {
        json!({
            "kind": step.kind,
            "condition": step.branch.as_ref().map(spot),
            "scenario": step.scenario,
            "distance": step.distance,
        })
    };
    let obstacle = entry.obstacle.as_ref();
    json!({
        "file": entry.file,
        "line": entry.lines.first(),
        "lines": entry.lines,
        "function": entry.function,
        "status": entry.status.name(),
        "scenario": scenario.or(obstacle.map(|obstacle| &obstacle.scenario)),
        "steps": entry.steps.iter().map(step).collect::<Vec<_>>(),
        "why": why(entry),
        "programs": entry.programs,
        "program": entry.program,
        "id": entry.scenario,
        "seed": entry.seed,
        "seeds": entry.seeds,
        "distance": entry.distance,
        "obstacle": obstacle.map(|obstacle| json!({
            "branch": place_of(&obstacle.branch),
            "distance": obstacle.distance,
            "concrete": obstacle.is_concrete,
            "prefixes": obstacle.prefixes,
            "contradicts": obstacle.contradicts.iter().map(place_of).collect::<Vec<_>>(),
        })),
        "losses": entry.losses.iter()
            .map(|(function, count)| json!({"function": function, "count": count}))
            .collect::<Vec<_>>(),
        "notes": entry.notes,
        "runs": entry.runs,
        "seconds": (entry.seconds * 1000.0).round() / 1000.0,
    })
}

fn place_of(spot: &Spot) -> Value {
    json!({"file": spot.file, "line": spot.line, "function": spot.function, "text": spot.text})
}

/// What became of a target, in colour.
pub fn state(status: Status) -> String {
    match status {
        Status::Suite => Palette.good("covered by the tests"),
        Status::Covered => Palette.good("covered by a new input"),
        Status::Infeasible => Palette.warn("infeasible on all that was explored"),
        Status::Blocked => Palette.warn("blocked"),
        Status::Missed => Palette.warn("out of reach"),
    }
}

/// Everything that is known about a target, for people, in lines of about `width` columns. The scenario is the one that covers it.
pub fn whole(entry: &Entry, scenario: Option<&Scenario>, width: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}  {}  {}",
        Palette.place(&place(entry)),
        entry.function,
        state(entry.status)
    );
    let first = entry.lines.first().copied().unwrap_or(0);
    let last = entry.lines.last().copied().unwrap_or(first).min(first + 8);
    let shown = Excerpt { entry, width };
    shown.write(&mut text, &entry.file, first..=last, "");
    let program = entry.program.as_ref().or(entry.programs.first());
    let program = program.map_or("program", String::as_str);
    if let Some(scenario) = scenario {
        let name = entry.scenario.as_deref().unwrap_or_default();
        let short = name.get(..SHOWN_ID).unwrap_or(name);
        let _ = writeln!(text, "\nscenario {}", Palette.heading(short));
        input(&mut text, program, scenario, width);
    }
    if !entry.steps.is_empty() {
        let from = entry.seed.as_deref().unwrap_or_default();
        let short = from.get(..SHOWN_ID).unwrap_or(from);
        let steps = counted(entry.steps.len() as u64, "step");
        let _ = writeln!(
            text,
            "\nin {steps} from scenario {}",
            Palette.heading(short)
        );
        for (number, step) in (1..).zip(&entry.steps) {
            let branch = step.branch.as_ref().map(spot).unwrap_or_default();
            let line = format!("{number}. {:<10} {branch}", step.kind);
            let _ = writeln!(text, "  {}", shorten(&line, width.saturating_sub(2)));
            let mut made = String::new();
            input(&mut made, program, &step.scenario, width);
            for line in made.lines() {
                let _ = writeln!(text, "   {}", Palette.dim(line));
            }
        }
    }
    if let Some(obstacle) = &entry.obstacle {
        blocked(&mut text, &shown, program, obstacle);
    } else if let Some(why) = why(entry) {
        let _ = writeln!(text, "\n{why}");
    }
    if !entry.status.is_covered() && !entry.losses.is_empty() {
        let shown = entry.losses.iter().take(LISTED);
        let names: Vec<String> = shown
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        let _ = writeln!(
            text,
            "\ntrack of the input was lost in {}",
            names.join(", ")
        );
    }
    if entry.obstacle.is_some() || entry.status.is_covered() {
        for note in &entry.notes {
            let _ = writeln!(text, "\n{note}");
        }
    }
    if entry.runs > 0 {
        let distance = entry.distance.map(|distance| {
            let branches = counted(distance.into(), "branch/branches");
            format!(", the nearest {branches} away")
        });
        let limit = match (entry.time_limit, entry.run_limit) {
            (None, None) => "",
            _ => ": as long as it was given",
        };
        let effort = format!(
            "started from {}{}; {} on {}, {} in {:.1} s{limit}",
            counted(entry.seeds.len() as u64, "scenario"),
            distance.unwrap_or_default(),
            counted(entry.runs, "run"),
            counted(entry.paths, "path"),
            counted(entry.queries, "question"),
            entry.seconds,
        );
        let _ = writeln!(text, "\n{}", Palette.dim(&effort));
    }
    text
}

fn blocked(text: &mut String, shown: &Excerpt<'_>, program: &str, obstacle: &Obstacle) {
    let branch = &obstacle.branch;
    let said = match (shown.entry.status, obstacle.contradicts.is_empty()) {
        (Status::Infeasible, _) => "no input of any explored path goes the other way at",
        (_, false) => "not got past, because of what was decided before:",
        (_, true) if obstacle.is_concrete => {
            "not got past, and dependent on no input byte in any run:"
        }
        (_, true) => "not got past:",
    };
    let place = Palette.place(&format!("{}:{}", branch.file, branch.line));
    let distance = match obstacle.distance {
        0 => "its other side leads to the line".to_owned(),
        distance => {
            let branches = counted(distance.into(), "branch/branches");
            format!("from its other side {branches} to the line")
        }
    };
    let _ = writeln!(text, "\n{said} {place}  {}  {distance}", branch.function);
    shown.write(text, &branch.file, branch.line..=branch.line, &branch.text);
    for spot in &obstacle.contradicts {
        let place = Palette.place(&format!("{}:{}", spot.file, spot.line));
        let _ = writeln!(
            text,
            "it contradicts what was decided at {place}  {}",
            spot.function
        );
        shown.write(text, &spot.file, spot.line..=spot.line, &spot.text);
    }
    let _ = writeln!(text, "\nthe nearest that came there");
    input(text, program, &obstacle.scenario, shown.width);
}

fn input(text: &mut String, program: &str, scenario: &Scenario, width: usize) {
    let room = width.saturating_sub(4);
    let line = command_line(program, scenario);
    let _ = writeln!(text, "  {}", shorten(&line, room));
    for (name, bytes) in inputs(scenario) {
        let _ = writeln!(text, "  {}", shorten(&format!("{name}: {bytes}"), room));
    }
}

/// Shows lines of the source that an entry is about.
struct Excerpt<'e> {
    entry: &'e Entry,
    /// Columns.
    width: usize,
}

impl Excerpt<'_> {
    /// Lines of a file with what is around them; the one line that is known where the file is gone or has changed.
    fn write(&self, text: &mut String, file: &str, wanted: RangeInclusive<u32>, known: &str) {
        let (first, last) = (*wanted.start(), *wanted.end());
        let top = self.entry.top.as_deref().unwrap_or("");
        let bytes = fs::read(Path::new(top).join(file)).unwrap_or_default();
        let source = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = source.lines().collect();
        let at = |number: u32| lines.get((number as usize).checked_sub(1)?).copied();
        let is_same = known.is_empty() || at(first).is_some_and(|line| line.trim() == known);
        if at(first).is_none() || !is_same {
            if !known.is_empty() {
                let _ = writeln!(text, "  {first:>6}  {known}");
            }
            return;
        }
        for number in first.saturating_sub(AROUND).max(1)..=last + AROUND {
            let Some(line) = at(number) else {
                break;
            };
            let is_it = wanted.contains(&number);
            let mark = if is_it { ">" } else { " " };
            let line = format!("{mark} {number:>5}  {}", line.replace('\t', "    "));
            let line = shorten(&line, self.width.saturating_sub(2));
            let _ = match is_it {
                true => writeln!(text, "  {line}"),
                false => writeln!(text, "  {}", Palette.dim(&line)),
            };
        }
    }
}
