//! `parallax targets`: which lines of a patch have code, and which of them no recorded scenario runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use parallax_abi::SiteId;
use parallax_analysis::lines::{Lines, SourceText, Status, Texts, normalise};
use parallax_analysis::{BlockId, Program};
use parallax_capture::Variant;
use parallax_engine::coverage::{Counted, counted};
use parallax_engine::sites::read_tables;
use parallax_project::Selection;
use parallax_store::{Filter, Store, hash};

use super::project::{ProjectArguments, toolchain};
use super::scenario::cover;
use super::scenarios::SEEDS;
use super::shared::parse_place;
use super::{build, shared, stored};
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::targets::{self as report, Skipped, Target, Targets};

/// Show which changed lines have code, and which of them no recorded scenario runs
///
/// Lines that always run together are one target. For lines without code it says why: comment, declaration, not compiled here.
/// A changed macro means the lines that use it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax targets HEAD~1..HEAD           # what the last commit changed
  parallax targets HEAD..                 # your uncommitted changes
  parallax targets --uncovered            # all code that the scenarios miss
  parallax targets --at src/io.c:235 --program ./diff")]
pub struct Arguments {
    /// OLD..NEW, OLD...NEW or OLD..
    #[arg(conflicts_with_all = ["at", "uncovered"])]
    range: Option<String>,

    /// These lines instead of a patch
    #[arg(long, value_name = "FILE:LINE", value_parser = parse_place, conflicts_with = "uncovered")]
    at: Vec<(String, u32)>,

    /// All lines with code instead of a patch
    #[arg(long)]
    uncovered: bool,

    /// Look at this captured program instead of the project's
    #[arg(long, value_name = "PROGRAM", conflicts_with = "range")]
    program: Option<PathBuf>,

    /// Also show targets that are covered, and every line without code
    #[arg(long)]
    all: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    project: ProjectArguments,
}

/// A program to look at.
struct Subject {
    name: String,
    path: PathBuf,
}

/// Where the lines are that are asked about.
struct Scope {
    subjects: Vec<Subject>,
    /// Top of the source; `None` if it is not known.
    source: Option<PathBuf>,
    /// Where the programs are by the names that scenarios know them by.
    tree: Option<PathBuf>,
    /// File and line; `None` means all.
    wanted: Option<Vec<(String, u32)>>,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let started = Instant::now();
    let scope = match &arguments.program {
        Some(path) => of_program(arguments, path)?,
        None => of_project(arguments)?,
    };
    let store = stored::open_existing()?;
    let mut found = Found::default();
    if let Some(store) = &store {
        let filter = Filter {
            origins: SEEDS.to_vec(),
            ..Filter::default()
        };
        let listed = store.list(&filter)?;
        found.result.scenarios = listed.len();
        if let Some(tree) = &scope.tree {
            cover::measure(store, &listed, tree)?;
        }
    }
    for subject in &scope.subjects {
        found.look_at(&scope, subject, store.as_ref())?;
    }
    let result = found.finish();
    if arguments.json {
        console::print_data(&report::json(&result, started.elapsed()))?;
    } else {
        console::print(&report::text(&result, arguments.all))?;
    }
    Ok(Exit::Clean)
}

fn of_program(arguments: &Arguments, path: &Path) -> Result<Scope, Failure> {
    if arguments.at.is_empty() && !arguments.uncovered {
        let message = "say which lines of the program: --at FILE:LINE or --uncovered";
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(Scope {
        subjects: vec![Subject {
            name: path.display().to_string(),
            path: path.to_owned(),
        }],
        source: None,
        tree: None,
        wanted: (!arguments.uncovered).then(|| arguments.at.clone()),
    })
}

fn of_project(arguments: &Arguments) -> Result<Scope, Failure> {
    let project = arguments.project.find()?;
    let is_patch = arguments.at.is_empty() && !arguments.uncovered;
    let selection = match &arguments.range {
        Some(range) => Selection::Words(range.clone()),
        None if is_patch => Selection::Worktree {
            base: "HEAD".to_owned(),
        },
        None => Selection::Current,
    };
    let selected = project.select(&selection)?;
    let mut wanted = (!arguments.uncovered).then(|| arguments.at.clone());
    if is_patch {
        let Some(old) = &selected.old else {
            let message = "targets needs two revisions, as in HEAD~1..HEAD";
            return Err(Failure::new(Exit::Usage, message));
        };
        let repository = project.repository.as_ref();
        let changes = repository.map(|repository| repository.changes(old, &selected.new));
        let changes = changes.transpose()?.unwrap_or_default();
        let lines = changes.into_iter().flat_map(|change| {
            let file = change.file;
            let lines = change.lines.into_iter();
            lines.map(move |line| (file.clone(), line))
        });
        wanted = Some(lines.filter(|(file, _)| is_source(file)).collect());
    }
    let built = build::ensure(&project.builds(toolchain()?), &selected.new)?;
    let programs = built.programs.iter();
    Ok(Scope {
        subjects: programs
            .map(|program| Subject {
                name: program.name.clone(),
                path: program.path.clone(),
            })
            .collect(),
        source: Some(built.source),
        tree: Some(built.tree),
        wanted,
    })
}

/// Whether a changed file can have code of C programs in it.
fn is_source(file: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        "c", "h", "y", "l", "def", "inc", "cc", "cpp", "cxx", "hh", "hpp", "in",
    ];
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// What is known about a line so far.
#[derive(Default)]
struct Seen {
    function: String,
    programs: Vec<String>,
    blocks: BTreeSet<u64>,
    covered: bool,
    why: Option<String>,
}

#[derive(Default)]
struct Found {
    lines: BTreeMap<(String, u32), Seen>,
    result: Targets,
}

impl Found {
    fn look_at(
        &mut self,
        scope: &Scope,
        subject: &Subject,
        store: Option<&Store>,
    ) -> Result<(), Failure> {
        let captured = shared::read(&subject.path)?;
        let derived = shared::derive(&captured, Variant::Covered)?;
        let program = Program::link(shared::read_code(&derived)?);
        let lines = Lines::new(&program);
        let covered = match store {
            Some(store) => {
                let identity = hash(&fs::read(&subject.path)?);
                let tables = read_tables(&derived.path, &derived.libraries)?;
                let meanings: HashMap<u64, Vec<Counted>> = tables
                    .iter()
                    .map(|module| (module.module, counted(&module.table)))
                    .collect();
                let counters = store.coverage_of_all(&identity)?;
                let counted = counters.iter().filter_map(|counter| {
                    let meaning = meanings.get(&counter.module)?.get(counter.index as usize)?;
                    match meaning {
                        Counted::Block(site) => Some(*site),
                        Counted::Side(..) => None,
                    }
                });
                counted.collect()
            }
            None => BTreeSet::new(),
        };
        let look = Look {
            source: scope.source.as_deref(),
            texts: texts(&lines, scope),
            program,
            lines,
            covered,
            name: &subject.name,
        };
        match &scope.wanted {
            Some(wanted) => {
                for (file, line) in wanted {
                    look.line(file, *line, &mut self.lines);
                }
            }
            None => look.everything(&mut self.lines),
        }
        Ok(())
    }

    /// Lines with the same blocks become one target.
    fn finish(mut self) -> Targets {
        let mut grouped: BTreeMap<(String, BTreeSet<u64>), usize> = BTreeMap::new();
        for ((file, line), seen) in self.lines {
            if seen.blocks.is_empty() {
                self.result.skipped.push(Skipped {
                    file,
                    line,
                    why: seen.why.unwrap_or_else(|| "not compiled here".to_owned()),
                });
                continue;
            }
            let targets = &mut self.result.targets;
            let key = (file.clone(), seen.blocks.clone());
            let at = *grouped.entry(key).or_insert_with(|| {
                targets.push(Target {
                    file,
                    lines: Vec::new(),
                    function: seen.function,
                    programs: seen.programs,
                    blocks: seen.blocks.into_iter().collect(),
                    covered: seen.covered,
                });
                targets.len() - 1
            });
            targets[at].lines.push(line);
        }
        self.result
    }
}

/// One program, ready to be asked about lines.
struct Look<'a> {
    source: Option<&'a Path>,
    texts: Texts,
    program: Program,
    lines: Lines,
    covered: BTreeSet<SiteId>,
    name: &'a str,
}

impl Look<'_> {
    fn line(&self, file: &str, line: u32, known: &mut BTreeMap<(String, u32), Seen>) {
        let top = |file: &str| Some(normalise(&self.source?.join(file).to_string_lossy()));
        // A header with nothing but macros is no file of the program's, but its text is there.
        let names = match top(file).filter(|path| self.texts.contains_key(path)) {
            Some(path) => vec![path],
            None => {
                let named = self.lines.files_named(file);
                named.into_iter().map(str::to_owned).collect()
            }
        };
        let seen = known.entry((file.to_owned(), line)).or_default();
        for name in names {
            match self.lines.status(&name, line, &self.texts) {
                Status::Code(blocks) | Status::PartOf(_, blocks) => self.add(seen, &blocks),
                Status::Macro { uses, .. } => {
                    for (file, line) in uses {
                        self.add(seen, self.lines.blocks(&file, line));
                    }
                }
                Status::NoCode(why) => seen.why = Some(why.text().to_owned()),
            }
        }
    }

    fn everything(&self, known: &mut BTreeMap<(String, u32), Seen>) {
        for file in self.lines.files() {
            let shown = match self
                .source
                .and_then(|top| Path::new(file).strip_prefix(top).ok())
            {
                Some(inside) => inside.to_string_lossy().into_owned(),
                // Headers of the system are nobody's patch.
                None if self.source.is_some() || file.starts_with("/usr/") => continue,
                None => file.to_owned(),
            };
            for (line, blocks) in self.lines.of_file(file) {
                self.add(known.entry((shown.clone(), line)).or_default(), blocks);
            }
        }
    }

    fn add(&self, seen: &mut Seen, blocks: &[BlockId]) {
        for id in blocks {
            let block = self.program.block(*id);
            seen.blocks.insert(block.site.0);
            seen.covered |= self.covered.contains(&block.site);
            if seen.function.is_empty() {
                let function = self.program.function(block.function);
                seen.function.clone_from(&function.name);
            }
        }
        if !blocks.is_empty() && seen.programs.last().is_none_or(|last| last != self.name) {
            seen.programs.push(self.name.to_owned());
        }
    }
}

/// The texts of the program's own files and of those that are asked about, as far as they are there.
fn texts(lines: &Lines, scope: &Scope) -> Texts {
    let is_own = |file: &&str| match &scope.source {
        Some(top) => Path::new(file).starts_with(top),
        None => !file.starts_with("/usr/"),
    };
    let own = lines.all_files().filter(is_own).map(str::to_owned);
    let asked = scope.wanted.iter().flatten().filter_map(|(file, _)| {
        let path = scope.source.as_ref()?.join(file);
        Some(normalise(&path.to_string_lossy()))
    });
    let mut texts = Texts::new();
    for file in own.chain(asked) {
        if !texts.contains_key(&file)
            && let Ok(bytes) = fs::read(&file)
        {
            let text = SourceText::new(&String::from_utf8_lossy(&bytes));
            texts.insert(file, text);
        }
    }
    texts
}
