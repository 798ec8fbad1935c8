//! `parallax annotate`: two versions of a source in one.

use std::fs;
use std::path::{Path, PathBuf};

use parallax_annotate::{Pattern, Unified, unify};
use parallax_project::Selection;

use super::project::ProjectArguments;
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::size::counted;
use parallax_campaign::Failure;

/// Propose one source for two versions of a program, with change(old, new) where they differ
///
/// Either for two files, or for all C files that a range of revisions modifies. What the proposed source does not express is
/// named: there the new version stands as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax annotate old/cut.c new/cut.c > cut.c
  parallax annotate HEAD~1..HEAD               # files below .parallax/annotated
  parallax-cc -g cut.c -o cut && parallax diverge ./cut -- -c1 file

The source is the old program with -DPARALLAX_OLD, and the new one without.")]
pub struct Arguments {
    /// OLD..NEW, or the file before the change
    #[arg(value_name = "OLD..NEW|OLD")]
    old: String,

    /// The file after the change
    new: Option<PathBuf>,

    /// Write the proposed source here: a file for two files, a folder for a range
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    match &arguments.new {
        Some(new) => two_files(Path::new(&arguments.old), new, arguments),
        None => range(arguments),
    }
}

fn two_files(old: &Path, new: &Path, arguments: &Arguments) -> Result<Exit, Failure> {
    let read = |path: &Path| {
        let bytes = fs::read(path);
        let failed = |error| Failure::of_file(Exit::Usage, "cannot read", path, &error);
        bytes
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .map_err(failed)
    };
    let unified = unify(&read(old)?, &read(new)?);
    match &arguments.output {
        Some(output) => write(output, &unified.text)?,
        None => console::print_data(&unified.text)?,
    }
    console::print_error(&summary(&new.display().to_string(), &unified));
    Ok(Exit::Clean)
}

fn range(arguments: &Arguments) -> Result<Exit, Failure> {
    let project = arguments.project.find()?;
    let selected = project.select(&Selection::Words(arguments.old.clone()))?;
    let (Some(old), Some(repository)) = (&selected.old, &project.repository) else {
        let text = format!("{} is one revision, not two", arguments.old);
        return Err(Failure::new(Exit::Usage, text).hint("write a range: HEAD~1..HEAD"));
    };
    let usual = || project.root.join(".parallax/annotated");
    let folder = arguments.output.clone().unwrap_or_else(usual);
    let modified = repository.modified(old, &selected.new)?;
    let is_source = |file: &str| {
        let ending = Path::new(file).extension();
        ending.is_some_and(|ending| ending == "c" || ending == "h")
    };
    let mut written = 0u64;
    for file in modified.iter().filter(|file| is_source(&file.file)) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let unified = unify(&text(&file.old), &text(&file.new));
        write(&folder.join(&file.file), &unified.text)?;
        console::print(&summary(&file.file, &unified))?;
        written += 1;
    }
    console::print(&match written {
        0 => format!("{} modifies no C source\n", arguments.old),
        _ => format!("{} in {}\n", counted(written, "file"), folder.display()),
    })?;
    Ok(Exit::Clean)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::of_file(Exit::Usage, "cannot write", path, &error);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}

/// What was annotated in a file, and what is left to do.
fn summary(name: &str, unified: &Unified) -> String {
    let mut parts = Vec::new();
    for pattern in Pattern::ALL {
        let count = unified.patterns.iter().filter(|one| **one == pattern);
        match count.count() {
            0 => {}
            count => parts.push(format!("{count} {}", pattern.name())),
        }
    }
    let annotated = match parts.is_empty() {
        true => "nothing to annotate".to_owned(),
        false => format!("annotated: {}", parts.join(", ")),
    };
    let mut text = format!("{}  {annotated}\n", Palette.heading(name));
    for (line, why) in &unified.by_hand {
        text += &format!("  {} {name}:{line}: {why}\n", Palette.warn("by hand"));
    }
    text
}
