//! What was found, as tests of the project that can be committed.

mod collect;

use std::fs;

use parallax_project::detect::Tree;
use parallax_project::idiom::{Idiom, Listed, Place};
use parallax_project::revision::NewFile;
use parallax_project::{Project, RevisionError};
use parallax_report::palette::Palette;
use parallax_report::words::counted;

use crate::check::{self, Orders, Work};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::patch::Scope;
use crate::setup::Running;
use crate::stored;
use crate::testfile::{Format, Template};
use crate::versions::Pair;
use collect::{Collected, Made};

/// What to make tests of, and what they are to be.
pub struct Options {
    pub running: Running,
    /// The range that was checked.
    pub range: Option<String>,
    /// How tests are written, if not as the project does.
    pub idiom: Option<Idiom>,
    /// The folder that they go to, relative to the top of the project.
    pub folder: Option<String>,
}

/// Makes a patch that adds tests, if there is anything to test; `write` gets it.
pub fn run(
    context: &Context,
    options: &Options,
    project: Project,
    write: &dyn Fn(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let template = project.config.test.template.clone();
    let root = project.root.clone();
    let (selected, _) = check::select(context, &project, options.range.as_deref())?;
    let pair = Pair::of_selected(context, project, selected, None)?;
    // Two revisions are in one.
    let repository = pair.project.repository.as_ref();
    let repository = repository.ok_or_else(|| RevisionError::NoRepository {
        root: root.clone(),
        complaint: None,
    })?;
    let store = stored::open()?;
    let in_use = store.begin("parallax tests")?;
    let orders = Orders::new(context, &options.running, false);
    let subjects = pair.changed(&[])?;
    let mut scope = Scope::of_patch(&pair)?;
    let is_changed = |name: &str| subjects.iter().any(|subject| subject.name == name);
    scope.subjects.retain(|subject| is_changed(&subject.name));
    let found = scope.find(Some(&store))?;
    let mut work = Work::new(&orders, &pair, &store, subjects, &scope, &found, None)?;
    let mut place = Place::find(
        &Tree::new(&pair.builds.new.source, repository.files()?),
        options.idiom,
    );
    if let Some(folder) = &options.folder {
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
        context.note(&format!("no test for {what}: {why}"));
    }
    if made.is_empty() {
        context.note(&format!(
            "nothing to write for {}; parallax check searches for inputs",
            pair.range()
        ));
        in_use.end(Exit::Clean as u8)?;
        return Ok(());
    }
    let files = files(&pair, &place, &format, &made)?;
    let state = pair.project.state()?;
    let patch = repository.addition(&pair.builds.new.revision, &files, &state)?;
    write(&patch)?;
    context.say(summary(&place, &made).trim_end());
    let scratch = tempfile::NamedTempFile::new_in(&state)
        .and_then(|scratch| fs::write(scratch.path(), &patch).map(|()| scratch))
        .map_err(Failure::cannot("write below", &state))?;
    if let Err(complaint) = repository.applies(scratch.path()) {
        let line = complaint.lines().next().unwrap_or_default();
        context.note(&format!(
            "git apply would refuse it in your checkout: {line}"
        ));
    }
    in_use.end(Exit::Clean as u8)?;
    Ok(())
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
        None => pair
            .context
            .note("if your project has a list of tests, the new ones have to be put on it"),
    }
    Ok(files)
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
