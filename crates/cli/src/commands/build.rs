//! `parallax build`: builds revisions with parallax-cc, away from the user's checkout.

use std::time::Instant;

use parallax_campaign::project::toolchain;
use parallax_campaign::{Failure, build};
use parallax_project::{Build, Selection};
use parallax_report::results::build as report;

use super::project::ProjectArguments;
use crate::console;
use crate::events::context;
use crate::exit::Exit;

/// Build revisions of the project with parallax-cc, outside of your checkout
///
/// Each revision is built once, in .parallax/builds/, as parallax.toml says, and found again the next time. Your files,
/// the index and the stash stay as they are. Without RANGE the source is built as it is now.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax build                    # the source as it is now
  parallax build HEAD~1..HEAD       # both sides of the last commit
  parallax build main...topic       # a branch against where it left main
  parallax build HEAD..             # HEAD, and your uncommitted changes on top of it
  parallax build --cached           # HEAD, and what is staged

The whole output of each step is kept below .parallax/builds/*/logs.
Exit code: 0 built, 3 a revision does not build.")]
pub struct Arguments {
    /// OLD..NEW, OLD...NEW, OLD.. or a single revision
    range: Option<String>,

    /// Build RANGE (default: HEAD) and what is staged
    #[arg(long)]
    cached: bool,

    /// Build RANGE (default: HEAD) and the source as it is now
    #[arg(long, conflicts_with = "cached")]
    worktree: bool,

    /// Build again what was built before
    #[arg(long)]
    force: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let started = Instant::now();
    let project = arguments.project.find()?;
    let selected = project.select(&selection(arguments)?)?;
    if selected
        .old
        .as_ref()
        .is_some_and(|old| old.id == selected.new.id)
    {
        let note = "old and new are the same; there is nothing to compare";
        console::note(note);
    }
    let builds = project.builds(toolchain()?);
    let context = context();
    let mut done = Vec::new();
    for revision in selected.all() {
        if arguments.force {
            builds.remove(revision)?;
        }
        let build = build::ensure(&context, &builds, revision)?;
        if !arguments.json {
            console::print(&report::text(
                &build,
                selected.old.is_some(),
                &project.root,
                console::width(),
            ))?;
        }
        done.push(build);
    }
    if arguments.json {
        console::print_data(&report::json(&done, started.elapsed()))?;
    }
    no_programs(&done)?;
    Ok(Exit::Clean)
}

fn selection(arguments: &Arguments) -> Result<Selection, Failure> {
    let base = || arguments.range.clone().unwrap_or_else(|| "HEAD".to_owned());
    let is_range = arguments
        .range
        .as_ref()
        .is_some_and(|range| range.contains(".."));
    if is_range && (arguments.cached || arguments.worktree) {
        let message = "--cached and --worktree take a single revision, not a range";
        return Err(Failure::new(Exit::Usage, message)
            .hint("a range is built without them; with them name what your files are compared with, as in HEAD"));
    }
    Ok(
        match (&arguments.range, arguments.cached, arguments.worktree) {
            (_, true, _) => Selection::Cached { base: base() },
            (_, _, true) => Selection::Worktree { base: base() },
            (Some(range), ..) => Selection::Words(range.clone()),
            (None, ..) => Selection::Current,
        },
    )
}

/// A build without a program under test is of no use to any other command.
fn no_programs(builds: &[Build]) -> Result<(), Failure> {
    match builds.iter().find(|build| build.programs.is_empty()) {
        None => Ok(()),
        Some(build) => {
            let message = format!(
                "{} was built, but `programs` in parallax.toml names none of what was captured",
                build.revision.label
            );
            Err(Failure::new(Exit::Usage, message)
                .hint("leave `programs` empty to take every captured program"))
        }
    }
}
