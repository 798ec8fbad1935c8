//! `parallax graph`: the change sequence graph of two versions.

use std::fs;
use std::path::PathBuf;

use parallax_analysis::sequence::Interactions;
use parallax_project::Selection;

use super::project::ProjectArguments;
use crate::console::{self, Palette};
use crate::events::context;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::build;
use parallax_campaign::changes::Comparison;
use parallax_campaign::project::toolchain;
use parallax_report::results::graph::{self as report, Shown};

/// Show in which order changes can be executed, where they interact, and where it can be seen
///
/// Changed statements of the new version, the statements that depend on two or more of them, and outputs, with what can
/// come next after each. Deleted code counts through the statements that depended on it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax graph old/prog new/prog
  parallax graph old/prog new/prog --svg changes.svg
  parallax graph HEAD~1..HEAD --program src/cut")]
pub struct Arguments {
    /// The version before the change, built with parallax-cc; or OLD..NEW, revisions of the project
    old: PathBuf,

    /// The version after the change, built with parallax-cc
    new: Option<PathBuf>,

    /// Of a project, only this program
    #[arg(long, value_name = "NAME", conflicts_with = "new")]
    program: Option<String>,

    /// Only what this patch (unified format) changes
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,

    /// Also statements that only pass on what met before
    #[arg(long)]
    all: bool,

    /// Write the graph in Graphviz' language
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,

    /// Draw the graph
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let wanted = match arguments.all {
        true => Interactions::All,
        false => Interactions::Important,
    };
    let patch = arguments.patch.as_deref();
    let mut text = String::new();
    let mut drawn: Vec<(String, Comparison)> = Vec::new();
    for (name, old, new) in pairs(arguments)? {
        let comparison = Comparison::new(&context(), &old, &new, patch, wanted)?;
        let is_one = arguments.new.is_some();
        if is_one || !comparison.graph.nodes.is_empty() {
            if !is_one {
                text.push_str(&format!("{}  ", Palette.heading(&name)));
            }
            text.push_str(&report::render_text(&comparison.shown()));
            text.push('\n');
            drawn.push((name, comparison));
        }
    }
    if drawn.is_empty() {
        text.push_str("No program of the project has code that differs.\n");
    }
    let files = [
        (
            &arguments.dot,
            report::render_dot as fn(&Shown<'_>) -> String,
        ),
        (&arguments.svg, report::render_svg),
    ];
    for (path, render) in files {
        let Some(path) = path else {
            continue;
        };
        let [(_, comparison)] = &drawn[..] else {
            let names: Vec<&str> = drawn.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!("one graph goes into a file, and there are {}", names.len());
            let hint = format!("choose one with --program: {}", names.join(", "));
            return Err(Failure::new(Exit::Usage, message).hint(hint));
        };
        fs::write(path, render(&comparison.shown()))
            .map_err(|error| Failure::of_file(Exit::Usage, "cannot write", path, &error))?;
    }
    console::print(text.trim_end_matches('\n'))?;
    console::print("\n")?;
    Ok(Exit::Clean)
}

/// Name, old and new version of each program.
fn pairs(arguments: &Arguments) -> Result<Vec<(String, PathBuf, PathBuf)>, Failure> {
    if let Some(new) = &arguments.new {
        let name = new.display().to_string();
        return Ok(vec![(name, arguments.old.clone(), new.clone())]);
    }
    let range = arguments.old.display().to_string();
    if !range.contains("..") {
        let message = format!("{range} is only one program, and no range");
        return Err(Failure::new(Exit::Usage, message).hint(
            "name the old and the new program, or revisions of the project as in HEAD~1..HEAD",
        ));
    }
    let project = arguments.project.find()?;
    let selected = project.select(&Selection::Words(range))?;
    let Some(old) = &selected.old else {
        let message = "a patch is what lies between two revisions";
        return Err(Failure::new(Exit::Usage, message).hint("as in HEAD~1..HEAD"));
    };
    let builds = project.builds(toolchain()?);
    let (before, after) = (
        build::ensure(&context(), &builds, old)?,
        build::ensure(&context(), &builds, &selected.new)?,
    );
    let is_meant = |name: &str| arguments.program.as_deref().is_none_or(|one| one == name);
    let mut pairs = Vec::new();
    for new in after.programs.into_iter().filter(|one| is_meant(&one.name)) {
        let old = before.programs.iter().find(|old| old.name == new.name);
        if let Some(old) = old {
            pairs.push((new.name, old.path.clone(), new.path));
        }
    }
    Ok(pairs)
}
