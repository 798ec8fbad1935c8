//! The programs that scenarios are run on: versions and builds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parallax_capture::Variant;
use parallax_exec::replay::{Build, Subject};
use parallax_project::{Project, Selection};
use parallax_scenario::Bytes;

use super::{Arguments, On};
use crate::events::context;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::project::toolchain;
use parallax_campaign::{stored, variants};

/// Finds the programs, and makes the builds that are wanted.
pub struct Subjects {
    versions: Vec<Version>,
    builds: Vec<Build>,
    /// What was found before: many scenarios are of the same program.
    known: BTreeMap<Bytes, Vec<Subject>>,
}

/// Where programs are looked for.
enum Version {
    /// This is the program.
    Program(PathBuf),
    /// In a build of the project, which has this name and these programs.
    Built {
        label: &'static str,
        programs: Vec<parallax_project::Program>,
        /// Source and build tree: tests use files of both.
        folders: [PathBuf; 2],
    },
    /// Where it was when it was recorded.
    Recorded,
}

/// What `--on` is about if no range is given.
const LAST_CHANGE: &str = "HEAD~1..HEAD";

impl Subjects {
    pub fn new(arguments: &Arguments, builds: &[Build]) -> Result<Subjects, Failure> {
        let versions = match (&arguments.program, arguments.on) {
            (Some(program), _) => vec![Version::Program(program.clone())],
            (None, Some(on)) => versions(on, arguments.range.as_deref())?,
            (None, None) => match &arguments.range {
                Some(range) => versions(On::Both, Some(range))?,
                None => current()?,
            },
        };
        Ok(Subjects {
            versions,
            builds: builds.to_vec(),
            known: BTreeMap::new(),
        })
    }

    /// Directories that programs may find at their usual place, wherever that is.
    pub fn folders(&self) -> Vec<PathBuf> {
        let folders = self.versions.iter().flat_map(|version| match version {
            Version::Built { folders, .. } => &folders[..],
            Version::Program(_) | Version::Recorded => &[],
        });
        folders.cloned().collect()
    }

    /// What scenarios of a program are run on.
    pub fn of(&mut self, program: &Bytes) -> Result<Vec<Subject>, Failure> {
        if let Some(subjects) = self.known.get(program) {
            return Ok(subjects.clone());
        }
        let mut subjects = Vec::new();
        for version in &self.versions {
            let path = version.program(program)?;
            for build in &self.builds {
                let label = match version {
                    Version::Built { label, .. } if self.versions.len() > 1 => {
                        format!("{label} {}", build.name())
                    }
                    _ => build.name().to_owned(),
                };
                subjects.push(Subject {
                    label,
                    build: *build,
                    program: built(&path, *build)?,
                });
            }
        }
        self.known.insert(program.clone(), subjects.clone());
        Ok(subjects)
    }
}

/// Builds of a project's revisions; made if they are not there.
fn versions(on: On, range: Option<&str>) -> Result<Vec<Version>, Failure> {
    let project = Project::find(Path::new("."))?;
    let range = range.unwrap_or(LAST_CHANGE);
    let selected = project.select(&Selection::Words(range.to_owned()))?;
    let builds = project.builds(toolchain()?);
    let mut wanted = Vec::new();
    if on != On::New {
        let Some(old) = &selected.old else {
            let message = format!("{range} is a single revision: there is no old version");
            return Err(Failure::new(Exit::Usage, message).hint("--range OLD..NEW names two"));
        };
        wanted.push(("old", old));
    }
    if on != On::Old {
        wanted.push(("new", &selected.new));
    }
    let mut versions = Vec::new();
    for (label, revision) in wanted {
        let build = builds.ensure(revision, &mut |_| {})?;
        versions.push(Version::built(label, build));
    }
    Ok(versions)
}

/// The project's build of the source as it is, if it was made; else programs where they were.
fn current() -> Result<Vec<Version>, Failure> {
    let Ok(project) = Project::find(Path::new(".")) else {
        return Ok(vec![Version::Recorded]);
    };
    let selected = project.select(&Selection::Current)?;
    let build = project.builds(toolchain()?).find(&selected.new)?;
    Ok(vec![match build {
        Some(build) => Version::built("new", build),
        None => Version::Recorded,
    }])
}

impl Version {
    fn built(label: &'static str, build: parallax_project::Build) -> Version {
        Version::Built {
            label,
            programs: build.programs,
            folders: [build.source, build.tree],
        }
    }

    fn program(&self, name: &Bytes) -> Result<PathBuf, Failure> {
        match self {
            Version::Program(path) => Ok(path.clone()),
            Version::Recorded => recorded_path(name),
            Version::Built {
                label, programs, ..
            } => {
                let program = programs
                    .iter()
                    .find(|known| known.name.as_bytes() == **name);
                match program {
                    Some(program) => Ok(program.path.clone()),
                    // Findings name the program by its path.
                    None => recorded_path(name).map_err(|failure| {
                        failure.cause(format!("the {label} version has no such program"))
                    }),
                }
            }
        }
    }
}

/// The program itself, or a variant of it.
fn built(path: &Path, build: Build) -> Result<PathBuf, Failure> {
    let variant = match build {
        Build::Plain => return path.canonicalize().map_err(Failure::cannot("find", path)),
        Build::Checked => Variant::Checked,
        Build::Covered => Variant::Covered,
    };
    Ok(variants::derive(&context(), &variants::read(path)?, variant)?.path)
}

/// Programs are named as they were configured: from here, or from where the store is.
fn recorded_path(program: &Bytes) -> Result<PathBuf, Failure> {
    let name = Path::new(program.as_os_str());
    let beside = stored::directory();
    let beside = beside.parent().unwrap_or(Path::new(""));
    let candidates = [name.to_owned(), beside.join(name)];
    let found = candidates.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| {
        let message = match program.is_empty() {
            true => "it is not known which program this is an input of".to_owned(),
            false => format!("the program {} is not here any more", name.display()),
        };
        Failure::new(Exit::Usage, message).hint("--program names the program to run")
    })
}
