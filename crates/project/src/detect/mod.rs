//! Looks at a source tree and proposes how to build and test it.
//!
//! Nothing is run: what is proposed comes from reading the files that build systems read. A tree with several build systems
//! gets the one that needs least: a `configure` script that is there, then Meson, then CMake, then autoconf sources from
//! which `configure` has to be made, then a plain makefile (which, beside another build system, is often a mere front end
//! to it).

mod automake;
mod cmake;
mod make;
mod meson;
mod sources;
mod tree;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::{Filled, render};
use crate::pattern::lies_in;
use crate::programs::{Program, captured};
use crate::revision::{Repository, RevisionError};

pub use tree::Tree;

/// How a project is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    Autotools,
    Meson,
    Cmake,
    Make,
}

impl System {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            System::Autotools => "autotools",
            System::Meson => "meson",
            System::Cmake => "cmake",
            System::Make => "make",
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            System::Autotools => "autotools",
            System::Meson => "Meson",
            System::Cmake => "CMake",
            System::Make => "plain make",
        })
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    pub system: System,
    pub commands: Commands,
    /// For `programs`; empty: whatever the build captures.
    pub programs: Vec<String>,
    /// Where they are known from.
    pub programs_from: String,
    pub folders: Vec<String>,
    pub skip: Vec<String>,
    /// Environment variables that the source asks for.
    pub environment: Vec<String>,
    /// What the user should look at.
    pub notes: Vec<String>,
}

/// Commands of one build system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    pub bootstrap: String,
    pub configure: String,
    pub build: String,
    pub tree: String,
    pub test: String,
}

/// Programs that a build system is told to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Declared {
    /// As patterns for `programs`, with the folder that they were declared in.
    programs: Vec<DeclaredProgram>,
    /// Declarations that cannot be understood without configuring; the pattern says why.
    unclear: Vec<DeclaredProgram>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DeclaredProgram {
    pattern: String,
    /// The folder's path with a trailing file name, to be compared with folders to skip.
    place: String,
}

/// Why nothing can be proposed.
#[derive(Debug, thiserror::Error)]
pub enum DetectError {
    #[error("no build system was found in {}: no configure, configure.ac, meson.build, CMakeLists.txt or Makefile", .0.display())]
    Nothing(PathBuf),
    #[error("{} has no {}", root.display(), wanted.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>().join(" or "))]
    Missing {
        root: PathBuf,
        wanted: &'static [&'static str],
    },
    #[error(transparent)]
    Revision(#[from] RevisionError),
}

/// Looks at the tree at `root`. `wanted` decides between several build systems; `has_tool` says whether a command is on
/// this machine.
pub fn detect(
    root: &Path,
    wanted: Option<System>,
    has_tool: &dyn Fn(&str) -> bool,
) -> Result<Detected, DetectError> {
    let tree = match Repository::of(root) {
        Some(repository) => Tree::new(root, repository.files()?),
        None => Tree::walk(root),
    };
    let mut notes = Vec::new();
    let system = match wanted {
        Some(system) if files_of(system).iter().any(|file| tree.has(file)) => system,
        Some(system) => {
            return Err(DetectError::Missing {
                root: root.to_owned(),
                wanted: files_of(system),
            });
        }
        None => choose(&tree, has_tool, &mut notes)
            .ok_or_else(|| DetectError::Nothing(root.to_owned()))?,
    };
    let commands = match system {
        System::Autotools => automake::commands(&tree, has_tool, &mut notes),
        System::Meson => meson::commands(&tree, &mut notes),
        System::Cmake => cmake::commands(&tree, &mut notes),
        System::Make => make::commands(&tree, &mut notes),
    };
    let skip = sources::folders_to_skip(&tree);
    let declared = match system {
        System::Autotools => automake::programs(&tree),
        System::Meson => meson::programs(&tree),
        System::Cmake => cmake::programs(&tree),
        System::Make => Declared::default(),
    };
    let built = captured(root);
    let (programs, programs_from) = settle(declared, &built, &skip, &mut notes);
    Ok(Detected {
        system,
        commands,
        programs,
        programs_from,
        folders: sources::folders(&tree, &skip),
        environment: sources::environment(&tree, &skip),
        skip,
        notes,
    })
}

/// The files by which a build system is known.
fn files_of(system: System) -> &'static [&'static str] {
    match system {
        System::Autotools => &["configure", "configure.ac", "configure.in"],
        System::Meson => &["meson.build"],
        System::Cmake => &["CMakeLists.txt"],
        System::Make => &["GNUmakefile", "makefile", "Makefile"],
    }
}

fn choose(tree: &Tree, has_tool: &dyn Fn(&str) -> bool, notes: &mut Vec<String>) -> Option<System> {
    let has = |system: System| files_of(system).iter().any(|file| tree.has(file));
    let ready = tree.has("configure");
    let candidates = [
        (System::Autotools, ready, None),
        (System::Meson, has(System::Meson), Some("meson")),
        (System::Cmake, has(System::Cmake), Some("cmake")),
        (
            System::Autotools,
            has(System::Autotools) && !ready,
            Some("autoconf"),
        ),
        (System::Make, has(System::Make), None),
    ];
    let there: Vec<_> = candidates.iter().filter(|(_, there, _)| *there).collect();
    let usable = there
        .iter()
        .find(|(_, _, tool)| tool.is_none_or(has_tool))
        .or(there.first())?;
    let (system, _, tool) = **usable;
    if let Some(tool) = tool.filter(|tool| !has_tool(tool)) {
        notes.push(format!(
            "{tool} is needed to build and is not on PATH: install it"
        ));
    }
    // A makefile beside another build system is generated, or a front end to it.
    let others: Vec<&str> = [System::Autotools, System::Meson, System::Cmake]
        .into_iter()
        .filter(|other| *other != system && has(*other))
        .map(System::name)
        .collect();
    if !others.is_empty() {
        notes.push(format!(
            "this tree can be built with {} as well: --system chooses",
            others.join(" and ")
        ));
    }
    Some(system)
}

/// Which programs to name, and where they are known from. What is declared to be installed says what the project is about, so
/// it wins if it is understood and, where there is a build, was built; else what was built; else nothing.
fn settle(
    declared: Declared,
    built: &[Program],
    skip: &[String],
    notes: &mut Vec<String>,
) -> (Vec<String>, String) {
    let outside: Vec<&DeclaredProgram> = declared
        .programs
        .iter()
        .filter(|program| !lies_in(skip, &program.place))
        .collect();
    let unclear: Vec<&DeclaredProgram> = declared
        .unclear
        .iter()
        .filter(|program| !lies_in(skip, &program.place))
        .collect();
    // A library's programs are its examples and tests.
    let chosen = if outside.is_empty() {
        declared.programs.iter().collect()
    } else {
        outside
    };
    let mut names: Vec<String> = chosen
        .iter()
        .map(|program| program.pattern.clone())
        .collect();
    names.sort();
    names.dedup();
    let is_built = |pattern: &String| {
        let fits = |program: &Program| crate::pattern::fits(pattern, &program.name);
        built.iter().any(fits)
    };
    if unclear.is_empty() && !names.is_empty() && (built.is_empty() || names.iter().all(is_built)) {
        let only_tests = declared
            .programs
            .iter()
            .all(|program| lies_in(skip, &program.place));
        if only_tests {
            notes.push("no program outside of tests and examples is built: these are named as programs under test".to_owned());
        }
        return (names, "declared in the build files".to_owned());
    }
    let mut built: Vec<String> = crate::programs::configured(built, &[], skip)
        .into_iter()
        .map(|program| program.name)
        .collect();
    built.dedup();
    if !built.is_empty() {
        return (built, "captured in this tree".to_owned());
    }
    for declaration in unclear {
        notes.push(format!(
            "the list of programs is only known after configuring: {}",
            declaration.pattern
        ));
    }
    (Vec::new(), String::new())
}

impl Detected {
    /// The text of a `parallax.toml`.
    pub fn config_text(&self) -> String {
        let mut filled = Filled::default();
        if !self.programs.is_empty() {
            let remark = format!("These are {}.", self.programs_from);
            filled.words("programs", &self.programs, &remark);
        }
        if !self.commands.bootstrap.is_empty() {
            filled.text("build.bootstrap", &self.commands.bootstrap, "");
        }
        filled.text("build.configure", &self.commands.configure, "");
        filled.text("build.build", &self.commands.build, "");
        filled.text("build.tree", &self.commands.tree, "");
        filled.text("test.command", &self.commands.test, "");
        filled.words("source.folders", &self.folders, "");
        filled.words("source.skip", &self.skip, "");
        if !self.environment.is_empty() {
            let remark = "The source asks for these.";
            filled.words("inputs.environment", &self.environment, remark);
        }
        render(&filled)
    }
}

#[cfg(test)]
mod tests;
