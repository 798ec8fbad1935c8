//! `parallax tests`: what was found, as tests of the project that can be committed.

mod collect;

use std::fs;
use std::path::PathBuf;

use parallax_project::RevisionError;
use parallax_project::detect::Tree;
use parallax_project::idiom::{Idiom, Listed, Place};
use parallax_project::revision::NewFile;

use super::check::{self, Orders, Work};
use super::means::Running;
use super::patch::Scope;
use super::project::ProjectArguments;
use super::stored;
use super::versions::Pair;
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::size::counted;
use crate::testfile::{Format, Template};
use collect::{Collected, Made};

/// Write what was found as tests of the project, ready to be committed
///
/// Inputs that run changed lines which no test ran, and inputs on which the versions differ, become test files in the project's own way
/// (automake, Meson, CTest, bats or plain shell), on the project's list of tests. The result is a patch for `git apply`. Every
/// test is run first: it executes the line that it is for, passes on the version whose behaviour it states, and fails on the other
/// one where these differ.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax check HEAD~1..HEAD && parallax tests HEAD~1..HEAD -o tests.patch && git apply tests.patch
  parallax tests | git apply
  parallax tests --idiom bats --folder test/regress

What the new version does is taken for right, unless it brings an error: such a test states what the old version does, and fails until
the error is mended. Tests need nothing of Parallax. test.template of parallax.toml says what they look like, if they are to look otherwise.
Exit code: 0, whether there was anything to write or not.")]
pub struct Arguments {
    /// The range that was checked (default: as for parallax check)
    range: Option<String>,

    /// Write the patch to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How tests are written (default: as the project does)
    #[arg(long, value_enum, value_name = "IDIOM")]
    idiom: Option<Way>,

    /// The folder that they go to, relative to the top of the project
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    project: ProjectArguments,
}

/// How tests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Way {
    Automake,
    Meson,
    Ctest,
    Bats,
    Sh,
}

impl Way {
    fn idiom(self) -> Idiom {
        match self {
            Way::Automake => Idiom::Automake,
            Way::Meson => Idiom::Meson,
            Way::Ctest => Idiom::Ctest,
            Way::Bats => Idiom::Bats,
            Way::Sh => Idiom::Shell,
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let project = arguments.project.find()?;
    let template = project.config.test.template.clone();
    let root = project.root.clone();
    let (selected, _) = check::select(&project, arguments.range.as_deref())?;
    let pair = Pair::of_selected(project, selected, None)?;
    // Two revisions are in one.
    let repository = pair.project.repository.as_ref();
    let repository = repository.ok_or_else(|| RevisionError::NoRepository {
        root: root.clone(),
        complaint: None,
    })?;
    let store = stored::open()?;
    let in_use = store.begin("parallax tests")?;
    let orders = Orders::new(&arguments.running.words(), true)?;
    let subjects = pair.changed(&[])?;
    let mut scope = Scope::of_patch(&pair.project, &pair.builds.old.revision, &pair.builds.new)?;
    let is_changed = |name: &str| subjects.iter().any(|subject| subject.name == name);
    scope.subjects.retain(|subject| is_changed(&subject.name));
    let found = scope.find(Some(&store))?;
    let mut work = Work::new(&orders, &pair, &store, subjects, &scope, &found)?;
    let mut place = Place::find(
        &Tree::new(&pair.builds.new.source, repository.files()?),
        arguments.idiom.map(Way::idiom),
    );
    if let Some(folder) = &arguments.folder {
        folder.trim_matches('/').clone_into(&mut place.folder);
        // A list elsewhere would need another name for the file.
        let is_there =
            |list: &String| list.rsplit_once('/').map_or("", |(folder, _)| folder) == place.folder;
        place.list = place.list.filter(is_there);
    }
    let format = match (template.is_empty(), place.idiom) {
        (false, _) => Format::Template(Template::read(&root.join(template))?),
        (true, Idiom::Bats) => Format::Bats,
        (true, _) => Format::Shell,
    };
    let Collected { made, left_out } = collect::all(&mut work, &format)?;
    for (what, why) in &left_out {
        console::note(&format!("no test for {what}: {why}"));
    }
    if made.is_empty() {
        console::note(&format!(
            "nothing to write for {}; parallax check searches for inputs",
            pair.range()
        ));
        in_use.end(Exit::Clean as u8)?;
        return Ok(Exit::Clean);
    }
    let files = files(&pair, &place, &format, &made)?;
    let state = pair.project.state()?;
    let patch = repository.addition(&pair.builds.new.revision, &files, &state)?;
    write(arguments, &patch)?;
    console::print_error(&summary(&place, &made));
    let scratch = tempfile::NamedTempFile::new_in(&state)
        .and_then(|scratch| fs::write(scratch.path(), &patch).map(|()| scratch))
        .map_err(Failure::cannot("write below", &state))?;
    if let Err(complaint) = repository.applies(scratch.path()) {
        let line = complaint.lines().next().unwrap_or_default();
        console::note(&format!(
            "git apply would refuse it in your checkout: {line}"
        ));
    }
    in_use.end(Exit::Clean as u8)?;
    Ok(Exit::Clean)
}

/// The test files, and the list with them on it.
fn files(
    pair: &Pair,
    place: &Place,
    format: &Format,
    made: &[Made],
) -> Result<Vec<NewFile>, Failure> {
    let below = |name: &str| match place.folder.is_empty() {
        true => name.to_owned(),
        false => format!("{}/{name}", place.folder),
    };
    let mut files = Vec::new();
    let mut listed = Vec::new();
    for one in made {
        let name = format!("{}.{}", one.name, format.ending());
        files.push(NewFile {
            path: below(&name),
            text: one.text.clone(),
            is_executable: true,
        });
        listed.push(Listed {
            file: name,
            program: one.program.clone(),
        });
    }
    match &place.list {
        Some(list) => {
            let path = pair.builds.new.source.join(list);
            let text = fs::read_to_string(&path).map_err(Failure::cannot("read", &path))?;
            files.push(NewFile {
                path: list.clone(),
                text: place.with(&text, &listed).into_bytes(),
                is_executable: false,
            });
        }
        None => {
            console::note("if your project has a list of tests, the new ones have to be put on it")
        }
    }
    Ok(files)
}

fn write(arguments: &Arguments, patch: &[u8]) -> Result<(), Failure> {
    match &arguments.output {
        Some(path) => fs::write(path, patch)
            .map_err(|error| Failure::of_file(Exit::Usage, "cannot write", path, &error))?,
        None => console::print_data(patch)?,
    }
    Ok(())
}

fn summary(place: &Place, made: &[Made]) -> String {
    let mut text = format!(
        "{} in {}, as {} tests\n",
        Palette.heading(&counted(made.len() as u64, "test")),
        match place.folder.is_empty() {
            true => "the top folder",
            false => &place.folder,
        },
        place.idiom,
    );
    for one in made {
        text.push_str(&format!("  {}  {}\n", one.name, Palette.dim(&one.about)));
    }
    text
}
