//! The tests that are amplified: one command line, or the scenarios of a project's programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parallax_project::{Project, Selection};
use parallax_report::given::command_line;
use parallax_report::words::{counted, printable};
use parallax_scenario::Bytes;
use parallax_search::amplify::{Seed, Target};
use parallax_search::explore::Programs;
use parallax_store::{Filter, Listed};
use parallax_trace::region::Symbolic;

use super::Options;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::project::{is_wanted, toolchain, variables};
use crate::setup::Setup;
use crate::stored::SEEDS;
use crate::versions::{self, Pair, Subject};
use crate::{Given, build, stored, variants};

/// Names of scenarios in reports are so long, as in `parallax scenarios`.
const SHOWN_ID: usize = 8;

/// What is amplified.
pub struct Chosen {
    pub targets: Vec<Target>,
    /// Of each: its path as the user would write it.
    pub paths: Vec<PathBuf>,
    /// Of each: its name in the store.
    pub names: Vec<Bytes>,
}

/// One command line of one program.
pub fn one(
    setup: &Setup,
    path: &Path,
    program: &parallax_capture::Program,
    given: Given,
) -> Result<Chosen, Failure> {
    let programs = variants_of(setup, program, path)?;
    setup.context.notes(&given.notes);
    let seed = Seed {
        name: command_line(&path.to_string_lossy(), &given.scenario),
        scenario: given.scenario,
    };
    let target = Target {
        name: path.display().to_string(),
        programs,
        seeds: vec![seed],
        symbolic: Symbolic {
            environment: given.environment,
            accesses: true,
            ..Symbolic::ALL
        },
        settings: setup.settings(path),
    };
    Ok(Chosen {
        targets: vec![target],
        paths: vec![path.to_owned()],
        names: vec![stored::program_name(&stored::open()?, path)?],
    })
}

/// The scenarios of the store; of these programs only, if any are named. The programs are in this build tree, if one is named.
pub fn all(setup: &Setup, only: &[PathBuf], directory: Option<&Path>) -> Result<Chosen, Failure> {
    let context = &setup.context;
    let store = stored::open()?;
    let place = Place::find(context, directory)?;
    let filter = Filter {
        origins: SEEDS.to_vec(),
        ..Filter::default()
    };
    let mut scenarios: BTreeMap<Bytes, Vec<Listed>> = BTreeMap::new();
    for listed in store.list(&filter)? {
        if is_wanted(Path::new(listed.program.as_os_str()), only) {
            let of_program = scenarios.entry(listed.program.clone()).or_default();
            of_program.push(listed);
        }
    }
    let mut chosen = Chosen {
        targets: Vec::new(),
        paths: Vec::new(),
        names: Vec::new(),
    };
    if scenarios.is_empty() {
        return Err(nothing(only));
    }
    for (name, listed) in scenarios {
        let shown = printable(&name);
        let path = match place.program(&name) {
            Some(path) => path,
            None => {
                let tests = counted(listed.len() as u64, "test");
                context.note(&format!("{shown} is not here any more: {tests} left out"));
                continue;
            }
        };
        let programs =
            variants::read(&path).and_then(|program| variants_of(setup, &program, &path));
        let programs = match programs {
            Ok(programs) => programs,
            Err(failure) => {
                context.trouble(&failure, &format!("{shown} is left out"));
                continue;
            }
        };
        let mut seeds = Vec::new();
        for one in listed {
            let kept = store.get(&one.id)?;
            let test = kept.recorded.test.unwrap_or_default();
            let name = format!("{} {test}", &one.id[..SHOWN_ID]);
            seeds.push(Seed {
                name: name.trim_end().to_owned(),
                scenario: kept.recorded.scenario,
            });
        }
        let mut settings = setup.settings(&path);
        settings.readable.extend(place.folders.iter().cloned());
        chosen.targets.push(Target {
            name: shown,
            programs,
            seeds,
            symbolic: Symbolic {
                environment: place.variables.clone(),
                accesses: true,
                ..Symbolic::ALL
            },
            settings,
        });
        chosen.paths.push(path);
        chosen.names.push(name);
    }
    match chosen.targets.is_empty() {
        true => Err(Failure::new(Exit::Usage, "none of the programs is here")
            .hint("parallax build makes them; -C names the build tree that they are in")),
        false => Ok(chosen),
    }
}

/// Scenarios that run changed code of programs of a patch, each with the new version's variants. `None` if there are none.
pub fn near<'p>(
    options: &Options,
    pair: &Pair,
    parts: impl Iterator<Item = (&'p Subject, &'p Programs, Vec<&'p versions::Seed>)>,
) -> Option<Chosen> {
    let environment = variables(&pair.project);
    let mut chosen = Chosen {
        targets: Vec::new(),
        paths: Vec::new(),
        names: Vec::new(),
    };
    for (subject, programs, seeds) in parts.filter(|(.., seeds)| !seeds.is_empty()) {
        let path = &subject.paths.new;
        let mut settings = options.setup.settings(path);
        settings.readable.extend(pair.folders());
        let seeds = seeds.into_iter().map(|seed| Seed {
            name: seed.id[..SHOWN_ID.min(seed.id.len())].to_owned(),
            scenario: seed.scenario.clone(),
        });
        chosen.targets.push(Target {
            name: subject.name.clone(),
            programs: programs.clone(),
            seeds: seeds.collect(),
            symbolic: Symbolic {
                environment: environment.clone(),
                accesses: true,
                ..Symbolic::ALL
            },
            settings,
        });
        chosen.paths.push(path.clone());
        chosen.names.push(subject.name.as_bytes().into());
    }
    (!chosen.targets.is_empty()).then_some(chosen)
}

/// Why there is nothing to amplify.
fn nothing(only: &[PathBuf]) -> Failure {
    match only.is_empty() {
        true => Failure::new(Exit::Usage, "nothing has been recorded here").hint(
            "parallax amplify -- make check records the tests and amplifies them; \
             parallax amplify PROGRAM -- ARGS takes a single command line",
        ),
        false => Failure::new(Exit::Usage, "there are no tests of such a program")
            .hint("parallax scenarios lists what there is"),
    }
}

/// The variants of a program that amplification needs.
fn variants_of(
    setup: &Setup,
    program: &parallax_capture::Program,
    path: &Path,
) -> Result<Programs, Failure> {
    let plain = path.canonicalize().map_err(Failure::cannot("find", path))?;
    setup.programs(program, plain, None)
}

/// Where the programs of the store's scenarios are.
struct Place {
    /// Of the project's build, by name.
    built: BTreeMap<Bytes, PathBuf>,
    /// Where else names are looked up.
    roots: Vec<PathBuf>,
    /// What programs may find at its usual place: tests use files of both trees.
    folders: Vec<PathBuf>,
    /// Environment variables that are input.
    variables: Vec<Vec<u8>>,
}

impl Place {
    /// A build tree that the user names, else the project around here, else where the store is.
    fn find(context: &Context, directory: Option<&Path>) -> Result<Place, Failure> {
        let mut place = Place {
            built: BTreeMap::new(),
            roots: Vec::new(),
            folders: Vec::new(),
            variables: Vec::new(),
        };
        if let Some(directory) = directory {
            let directory = directory
                .canonicalize()
                .map_err(Failure::cannot("find", directory))?;
            place.folders.push(directory.clone());
            place.roots.push(directory);
            return Ok(place);
        }
        if let Ok(project) = Project::find(Path::new(".")) {
            let selected = project.select(&Selection::Current)?;
            let built = build::ensure(context, &project.builds(toolchain()?), &selected.new)?;
            let programs = built.programs.iter();
            let named = programs.map(|one| (one.name.as_bytes().into(), one.path.clone()));
            place.built = named.collect();
            place.folders = vec![built.source, built.tree];
            place.variables = variables(&project);
        }
        place.roots.push(PathBuf::new());
        let beside = stored::directory();
        place.roots.extend(beside.parent().map(Path::to_owned));
        Ok(place)
    }

    fn program(&self, name: &Bytes) -> Option<PathBuf> {
        if let Some(path) = self.built.get(name) {
            return Some(path.clone());
        }
        let name = Path::new(name.as_os_str());
        let mut paths = self.roots.iter().map(|root| root.join(name));
        paths.find(|path| path.is_file())
    }
}
