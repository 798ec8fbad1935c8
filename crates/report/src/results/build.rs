//! What `parallax build` made.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use parallax_project::Build;
use serde_json::{Value, json};

use super::SCHEMA;
use crate::palette::Palette;
use crate::words::{counted, shorten, show_time};

/// One build, for people.
pub fn text(build: &Build, of_two: bool, root: &Path, width: usize) -> String {
    let mut text = String::new();
    let how = match build.cached {
        true => "built before".to_owned(),
        false => format!("built in {}", show_time(build.time)),
    };
    let shown = build
        .directory
        .strip_prefix(root)
        .unwrap_or(&build.directory);
    let label = match of_two {
        true => format!("{:20}", build.revision.label),
        false => build.revision.label.clone(),
    };
    let _ = writeln!(
        text,
        "{} {}  {}  {how}, {}, in {}",
        Palette.good("✓"),
        Palette.heading(&label),
        Palette.dim(build.revision.short_id()),
        counted(build.programs.len() as u64, "program"),
        Palette.place(&shown.display().to_string())
    );
    if !build.programs.is_empty() {
        let names: Vec<&str> = build
            .programs
            .iter()
            .map(|program| program.name.as_str())
            .collect();
        let names = names.join(" ");
        let _ = writeln!(text, "  {}", Palette.dim(&shorten(&names, width - 2)));
    }
    for note in &build.notes {
        let _ = writeln!(text, "  {} {note}", Palette.warn("note:"));
    }
    text
}

/// All builds, for programs.
pub fn json(builds: &[Build], time: Duration) -> String {
    let builds: Vec<Value> = builds.iter().map(one).collect();
    let document = json!({
        "schema": SCHEMA,
        "command": "build",
        "stats": {
            "runs": 0,
            "paths": 0,
            "queries": 0,
            "seconds": (time.as_secs_f64() * 1000.0).round() / 1000.0,
        },
        "losses": [],
        "findings": [],
        "targets": [],
        "builds": builds,
    });
    format!("{document}\n")
}

fn one(build: &Build) -> Value {
    json!({
        "revision": build.revision,
        "cached": build.cached,
        "seconds": (build.time.as_secs_f64() * 1000.0).round() / 1000.0,
        "directory": build.directory,
        "source": build.source,
        "tree": build.tree,
        "logs": build.logs,
        "programs": build.programs,
        "notes": build.notes,
    })
}
