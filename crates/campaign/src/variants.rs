//! Reading a captured program and deriving its variants, as every search does it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use parallax_analysis::ModuleCode;
use parallax_annotate::Side;
use parallax_capture::{DeriveError, Derived, Options, Program, Progress, ReadError, Variant};
use parallax_exec::execute::Settings;
use parallax_exec::sandbox::Policy;

use parallax_store::{Usage, announce, hash};

use crate::context::{Context, Step, Task};
use crate::exit::Exit;
use crate::failure::{Failure, against};

/// Names the cache directory, instead of the user's own.
pub const CACHE_VARIABLE: &str = "PARALLAX_CACHE";

/// Where derived programs are kept: `$PARALLAX_CACHE`, else below the user's cache directory, else in the
/// system's temporary one.
pub fn cache_directory() -> PathBuf {
    let temporary = || std::env::temp_dir().join("parallax");
    let usual = || parallax_files::cache_directory().unwrap_or_else(temporary);
    parallax_files::named(CACHE_VARIABLE).unwrap_or_else(|| usual().join("derived"))
}

/// Reads a captured program, or says what is wrong with it.
pub fn read(path: &Path) -> Result<Program, Failure> {
    if path.is_dir() {
        let message = format!("{} is a directory, not a program", path.display());
        return Err(Failure::new(Exit::Usage, message).hint("give the program inside it"));
    }
    parallax_capture::read_program(path).map_err(|error| read_failure(path, &error))
}

/// The captured shared libraries that a program loads, with those that they load.
pub fn libraries(program: &Program) -> Result<Vec<Program>, Failure> {
    let mut libraries = Vec::new();
    for path in parallax_exec::libraries::needed(&program.path) {
        match parallax_capture::read_program(&path) {
            Ok(library) => libraries.push(library),
            Err(ReadError::Damaged { .. }) => return read(&path).map(|_| libraries),
            // Not of this project, or not built with it.
            Err(_) => {}
        }
    }
    Ok(libraries)
}

/// What a program is, for who keeps something about it: its contents and those of the captured libraries that it loads. A program
/// need not change when its library does.
pub fn identity(path: &Path) -> Result<String, Failure> {
    let program = read(path)?;
    let contents = |path: &Path| {
        let bytes = fs::read(path).map_err(Failure::cannot("read", path))?;
        Ok::<String, Failure>(hash(&bytes))
    };
    let own = contents(&program.path)?;
    let libraries = libraries(&program)?;
    if libraries.is_empty() {
        return Ok(own);
    }
    let mut all = own;
    for library in libraries {
        all.push_str(&contents(&library.path)?);
    }
    Ok(hash(all.as_bytes()))
}

pub fn read_failure(path: &Path, why: &ReadError) -> Failure {
    if let ReadError::Io { error, .. } = why {
        let shown = path.display();
        let failure = |message| Failure::new(Exit::Usage, message);
        return match error.kind() {
            io::ErrorKind::NotFound => failure(format!("{shown} does not exist"))
                .hint("give the path of the program, as in ./prog; arguments for it come after --"),
            io::ErrorKind::PermissionDenied => {
                failure(format!("{shown} may not be read")).hint(format!("chmod u+rx {shown}"))
            }
            _ => failure(format!("{shown} cannot be read"))
                .cause(error.to_string())
                .hint(why.advice()),
        };
    }
    Failure::from_error(Exit::Usage, why).hint(why.advice())
}

/// Says that the cache is in use, as long as this process lives. Only `clean` looks: where that
/// cannot be said, nothing else suffers.
fn announce_use_of_cache() {
    static IN_USE: OnceLock<Option<Usage>> = OnceLock::new();
    let command = || std::env::args().take(3).collect::<Vec<_>>().join(" ");
    IN_USE.get_or_init(|| announce(&cache_directory(), &command()).ok());
}

/// Makes a variant of the program, and tells how far that is.
pub fn derive(context: &Context, program: &Program, variant: Variant) -> Result<Derived, Failure> {
    announce_use_of_cache();
    let progress = context.events.begin(Task::Derive {
        variant: variant.name(),
        modules: program.modules.len() as u64,
    });
    let jobs = std::thread::available_parallelism().map_or(1, |count| count.get());
    let options = Options {
        cache_dir: cache_directory(),
        jobs,
        progress: &|step| {
            progress.step(match step {
                Progress::Compiled { source, done, .. } => Step::Compiled {
                    source,
                    done: done as u64,
                },
                Progress::Linking { .. } => Step::Linking,
            });
        },
    };
    let derived = parallax_capture::derive(program, variant, &options);
    drop(progress);
    if derived.is_err() && context.is_cancelled() {
        // Ctrl-C also ended the compiler.
        let message = format!("making the {} variant was ended", variant.name());
        return Err(Failure::new(Exit::Interrupted, message).hint("run the same again to go on"));
    }
    derived.map_err(|error| derive_failure(&error))
}

/// A version of a program whose source marks what was changed; `None` if it does not.
pub fn side(program: &Program, side: Side) -> Result<Option<Program>, Failure> {
    announce_use_of_cache();
    let options = Options {
        cache_dir: cache_directory(),
        jobs: 1,
        progress: &|_| {},
    };
    parallax_capture::side(program, side, &options).map_err(|error| derive_failure(&error))
}

/// What every run in a sandbox gets: a small environment, the same everywhere.
pub fn settings(sandbox: bool) -> Settings {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    Settings {
        environment: vec![("PATH".into(), path), ("HOME".into(), "/".into())],
        sandbox: match sandbox {
            true => Policy::Required,
            false => Policy::Off,
        },
        ..Settings::default()
    }
}

/// Which variants of the program are in the cache, and how complete.
pub fn cached_variants(program: &Program) -> Vec<String> {
    let options = Options {
        cache_dir: cache_directory(),
        jobs: 1,
        progress: &|_| {},
    };
    let total = program.modules.len();
    let mut list = Vec::new();
    for variant in [Variant::Traced, Variant::Checked, Variant::Covered] {
        let cached = parallax_capture::cached_modules(program, variant, &options).unwrap_or(0);
        if cached == total && total > 0 {
            list.push(variant.name().to_owned());
        } else if cached > 0 {
            let name = variant.name();
            list.push(format!("{name} ({cached} of {total} modules)"));
        }
    }
    list
}

pub fn derive_failure(error: &DeriveError) -> Failure {
    let exit = match error {
        DeriveError::Library(_) | DeriveError::NoModules { .. } => Exit::Usage,
        DeriveError::Tool(_)
        | DeriveError::Bundle(_)
        | DeriveError::Compile { .. }
        | DeriveError::Link { .. }
        | DeriveError::MissingInput { .. } => Exit::BuildFailed,
        DeriveError::Io { .. } => Exit::Internal,
    };
    let text = error.to_string();
    match error {
        DeriveError::Compile { .. } if text.contains("unable to load plugin") => {
            Failure::with_detail_below(exit, &text).hint(
                "the unpacked plug-in is damaged or does not fit this clang:\n\
                 parallax clean removes it, so that it is unpacked again; parallax doctor looks closer",
            )
        }
        DeriveError::Compile { .. } | DeriveError::Link { .. } => {
            Failure::with_detail_below(exit, &text)
                .hint("if the plain program builds, this is a defect of Parallax: please report it")
        }
        DeriveError::NoModules { .. } => Failure::new(exit, text)
            .hint("build all of it with CC=parallax-cc, its objects included"),
        DeriveError::MissingInput { .. } => Failure::new(exit, text).hint(
            "build the program again; what it is linked with has to stay where it is",
        ),
        DeriveError::Io { path, error } => Failure::new(exit, format!("cannot use {}", path.display()))
            .cause(error.to_string())
            .hint(format!("{}\n{CACHE_VARIABLE} names another place", against(error))),
        DeriveError::Tool(error) => Failure::new(exit, text).hint(error.advice()),
        DeriveError::Bundle(error) => Failure::new(exit, text).hint(error.advice()),
        DeriveError::Library(inner) => Failure::from_error(exit, error).hint(inner.advice()),
    }
}

/// The code of a covered program and its libraries.
pub fn read_code(covered: &Derived) -> Result<Vec<ModuleCode>, Failure> {
    let mut modules = Vec::new();
    for path in std::iter::once(&covered.path).chain(&covered.libraries) {
        let read = parallax_capture::read_code(path);
        modules.extend(read.map_err(|error| Failure::of_derived(&error))?);
    }
    Ok(modules)
}
