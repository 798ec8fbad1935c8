//! The rules that the code keeps to, checked.
//!
//! 1. Every Rust file opens with a `//!` comment that says what it is.
//! 2. No Rust file is longer than [`MAX_LINES`].
//! 3. Crates depend on each other only as [`ARROWS`] allows.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Longer files hold more than one concept.
const MAX_LINES: usize = 600;

/// Which crates of the workspace a crate may depend on. Whatever a crate links into
/// a traced program or into clang stays small; whatever thinks stays outside of both.
const ARROWS: &[(&str, &[&str])] = &[
    ("parallax-abi", &[]),
    ("parallax-record", &["parallax-abi"]),
    ("parallax-expr", &["parallax-abi"]),
    ("parallax-files", &[]),
    ("parallax-scenario", &[]),
    ("parallax-store", &["parallax-files", "parallax-scenario"]),
    ("parallax-recorder", &["parallax-scenario"]),
    ("parallax-solver", &["parallax-abi", "parallax-expr"]),
    ("parallax-instrument", &["parallax-abi", "parallax-record"]),
    ("parallax-analysis", &["parallax-abi", "parallax-record"]),
    ("parallax-annotate", &[]),
    (
        "parallax-plugin",
        &["parallax-abi", "parallax-record", "parallax-instrument"],
    ),
    ("parallax-serve", &["parallax-abi"]),
    (
        "parallax-runtime",
        &["parallax-abi", "parallax-expr", "parallax-serve"],
    ),
    ("parallax-bundle", &["parallax-abi", "parallax-files"]),
    (
        "parallax-capture",
        &[
            "parallax-abi",
            "parallax-annotate",
            "parallax-record",
            "parallax-bundle",
            "parallax-files",
        ],
    ),
    ("parallax-project", &["parallax-files", "parallax-record"]),
    // The model of a check knows nothing but scenarios. `results` takes what searches, runs and recordings return as it is, by
    // reference: copies of all of it as plain data would be as long as the forms themselves, and say nothing else.
    (
        "parallax-report",
        &[
            "parallax-abi",
            "parallax-analysis",
            "parallax-exec",
            "parallax-expr",
            "parallax-files",
            "parallax-project",
            "parallax-recorder",
            "parallax-scenario",
            "parallax-search",
            "parallax-solver",
            "parallax-store",
            "parallax-trace",
        ],
    ),
    (
        "parallax-exec",
        &[
            "parallax-abi",
            "parallax-bundle",
            "parallax-files",
            "parallax-record",
            "parallax-scenario",
        ],
    ),
    (
        "parallax-trace",
        &[
            "parallax-abi",
            "parallax-exec",
            "parallax-expr",
            "parallax-record",
            "parallax-scenario",
            "parallax-solver",
        ],
    ),
    (
        "parallax-search",
        &[
            "parallax-abi",
            "parallax-analysis",
            "parallax-exec",
            "parallax-expr",
            "parallax-files",
            "parallax-record",
            "parallax-scenario",
            "parallax-solver",
            "parallax-trace",
        ],
    ),
    // Below the command line nothing knows an argument parser or a terminal.
    (
        "parallax-campaign",
        &[
            "parallax-abi",
            "parallax-analysis",
            "parallax-annotate",
            "parallax-capture",
            "parallax-exec",
            "parallax-files",
            "parallax-project",
            "parallax-recorder",
            "parallax-report",
            "parallax-scenario",
            "parallax-search",
            "parallax-solver",
            "parallax-store",
            "parallax-trace",
        ],
    ),
    (
        "parallax-cli",
        &[
            "parallax-campaign",
            "parallax-analysis",
            "parallax-annotate",
            "parallax-record",
            "parallax-scenario",
            "parallax-store",
            "parallax-bundle",
            "parallax-capture",
            "parallax-exec",
            "parallax-files",
            "parallax-project",
            "parallax-recorder",
            "parallax-report",
            "parallax-search",
            "parallax-trace",
        ],
    ),
    ("parallax-torture", &["parallax-scenario"]),
    (
        "xtask",
        &[
            "parallax-exec",
            "parallax-scenario",
            "parallax-search",
            "parallax-solver",
            "parallax-torture",
            "parallax-trace",
        ],
    ),
];

/// All violations, one line each.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    rust_files(&root.join("crates"), &mut files)?;
    files.sort();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).to_owned();
        let text = fs::read_to_string(&file)?;
        problems.extend(check_file(&name, &text));
    }
    problems.extend(check_arrows(root)?);
    Ok(problems)
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                rust_files(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn check_file(name: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let shown = name.display();
    if !text.starts_with("//! ") {
        problems.push(format!("{shown}: does not open with a //! comment"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        problems.push(format!("{shown}: {lines} lines, more than {MAX_LINES}"));
    }
    problems
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build` or nothing.
    kind: Option<String>,
    path: Option<PathBuf>,
}

fn check_arrows(root: &Path) -> Result<Vec<String>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(root)
        .output()
        .context("cargo metadata")?;
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cargo metadata's answer")?;
    Ok(arrow_problems(&metadata))
}

fn arrow_problems(metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
            problems.push(format!(
                "{}: not in the table of dependencies",
                package.name
            ));
            continue;
        };
        // Tests and build scripts may use what they like: nothing of it is linked.
        let linked = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some() && dependency.kind.is_none());
        for dependency in linked {
            if !allowed.contains(&dependency.name.as_str()) {
                problems.push(format!(
                    "{}: must not depend on {}",
                    package.name, dependency.name
                ));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_opening_comment_is_found() {
        let problems = check_file(Path::new("a.rs"), "fn main() {}\n");
        assert_eq!(problems, ["a.rs: does not open with a //! comment"]);
        assert!(check_file(Path::new("a.rs"), "//! What it is.\n").is_empty());
    }

    #[test]
    fn a_file_that_is_too_long_is_found() {
        let text = format!("//! Long.\n{}", "\n".repeat(MAX_LINES));
        assert_eq!(check_file(Path::new("a.rs"), &text).len(), 1);
    }

    #[test]
    fn an_arrow_in_the_wrong_direction_is_found() {
        let metadata = |kind: Option<&str>| Metadata {
            packages: vec![Package {
                name: "parallax-abi".into(),
                dependencies: vec![Dependency {
                    name: "parallax-expr".into(),
                    kind: kind.map(str::to_owned),
                    path: Some("crates/expr".into()),
                }],
            }],
        };
        assert_eq!(
            arrow_problems(&metadata(None)),
            ["parallax-abi: must not depend on parallax-expr"]
        );
        assert!(arrow_problems(&metadata(Some("dev"))).is_empty());
    }
}
