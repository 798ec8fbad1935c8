//! What recording a test suite gave.

use std::fmt::Write as _;
use std::path::Path;

use parallax_recorder::{End, Summary};
use serde_json::json;

use crate::palette::Palette;
use crate::words::{counted, show_bytes};

/// Everything that is shown.
pub struct Shown<'a> {
    pub summary: &'a Summary,
    /// Scenarios that the store had not known.
    pub fresh: u64,
    /// Where the output of the tests is.
    pub log: Option<&'a Path>,
    pub store: &'a Path,
}

pub fn render_text(shown: &Shown, palette: &Palette) -> String {
    let Summary {
        runs,
        scenarios,
        programs,
        tests,
        bytes,
        notes,
        unsteady,
        skipped,
        ended,
        seconds,
        ..
    } = shown.summary;
    let mut text = String::new();
    let (verdict, is_good) = verdict(shown.summary.end);
    let verdict = match is_good {
        true => palette.good(&verdict),
        false => palette.warn(&verdict),
    };
    let _ = write!(text, "tests {verdict} after {seconds:.1} s");
    let _ = match shown.log {
        Some(log) => writeln!(text, " (output: {})", log.display()),
        None => writeln!(text),
    };
    let _ = writeln!(
        text,
        "{} of {}, {} of {}, {} repeated",
        palette.heading(&counted(*scenarios, "scenario")),
        show_bytes(*bytes),
        counted(*runs, "run"),
        counted(programs.len() as u64, "program"),
        runs.saturating_sub(*scenarios)
    );
    let _ = writeln!(
        text,
        "{}; {} new in {}",
        counted(tests.len() as u64, "test"),
        shown.fresh,
        shown.store.display()
    );
    for (note, count) in notes {
        let _ = writeln!(text, "  {} {note}", palette.dim(&format!("{count} ×")));
    }
    if !unsteady.is_empty() {
        let _ = writeln!(
            text,
            "may come out otherwise the next time, because the program"
        );
    }
    for (reason, count) in unsteady {
        let _ = writeln!(text, "  {} {reason}", palette.dim(&format!("{count} ×")));
    }
    for (reason, count) in skipped {
        let what = counted(*count, "run");
        let _ = writeln!(
            text,
            "{} {what} not recorded: {reason}",
            palette.warn("note:")
        );
    }
    if *ended > 0 {
        let what = counted(*ended, "process/processes");
        let _ = writeln!(
            text,
            "{} {what} that the tests left behind had to be ended",
            palette.warn("note:")
        );
    }
    if *runs == 0 {
        let _ = writeln!(
            text,
            "{} the tests ran none of the programs under test: look at the output of the tests, and at --program",
            palette.warn("note:")
        );
    }
    text
}

/// How the test command ended, and whether that is well.
fn verdict(end: Option<End>) -> (String, bool) {
    match end {
        Some(End::Exit(0)) => ("passed".to_owned(), true),
        Some(End::Exit(status)) => (format!("failed (exit code {status})"), false),
        Some(End::Signal(signal)) => (format!("were ended by signal {signal}"), false),
        None => ("did not end".to_owned(), false),
    }
}

pub fn render_json(shown: &Shown) -> String {
    let summary = shown.summary;
    let (exit, signal) = match summary.end {
        Some(End::Exit(status)) => (Some(status), None),
        Some(End::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let programs: serde_json::Map<String, serde_json::Value> = summary
        .programs
        .iter()
        .map(|(name, runs)| (name.display().to_string(), json!(runs)))
        .collect();
    let document = json!({
        "schema": super::SCHEMA,
        "command": "record",
        "stats": {"runs": summary.runs, "paths": 0, "queries": 0, "seconds": summary.seconds},
        "losses": [],
        "findings": [],
        "targets": [],
        "exit": exit,
        "signal": signal,
        "runs": summary.runs,
        "scenarios": summary.scenarios,
        "new": shown.fresh,
        "bytes": summary.bytes,
        "tests": summary.tests,
        "programs": programs,
        "notes": summary.notes,
        "unsteady": summary.unsteady,
        "skipped": summary.skipped,
        "ended": summary.ended,
        "seconds": summary.seconds,
    });
    let mut text = serde_json::to_string_pretty(&document).expect("plain data");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_tests_and_runs_that_were_left_out_are_said() {
        let summary = Summary {
            end: Some(End::Exit(2)),
            runs: 3,
            scenarios: 2,
            unsteady: [("asks the stars".to_owned(), 1)].into(),
            skipped: [("a debugger ran it", 1)].into(),
            ..Summary::default()
        };
        let shown = Shown {
            summary: &summary,
            fresh: 1,
            log: None,
            store: Path::new(".parallax"),
        };
        let text = render_text(&shown, &Palette);
        for part in [
            "failed (exit code 2)",
            "2 scenarios",
            "1 repeated",
            "asks the stars",
            "1 run not recorded",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let document: serde_json::Value = serde_json::from_str(&render_json(&shown)).unwrap();
        assert_eq!(document["exit"], 2);
        assert_eq!(document["new"], 1);
    }
}
