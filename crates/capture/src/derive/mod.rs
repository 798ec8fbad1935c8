//! Making a captured program's variants.
//!
//! Each module becomes another object: from its bitcode by way of the plug-in, or, for
//! the checked variant, from its source. Then the program's own link line is run again with these
//! objects instead of the captured ones. Objects and programs are cached by everything that
//! they depend on, and appear by rename: processes that derive at the same time at worst do the
//! same work twice.
//!
//! Without its source a module of the checked variant is made from bitcode, with AddressSanitizer alone. In that variant every argument of
//! the program is copied to a block of its own, because AddressSanitizer cannot see reads beyond an argument where the kernel puts them.

mod compile;
mod error;
mod making;
mod relink;
mod sides;
mod source;
mod support;
mod symbols;

pub use error::DeriveError;
pub use sides::side;

use crate::program::{Program, ReadError, read_program};
use crate::store::put;
use compile::VariantObject;
use parallax_bundle::Bundle;
use parallax_files::hash;
use parallax_record::InputKind;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What to make of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// Values carry labels; linked with the runtime.
    Traced,
    /// AddressSanitizer and UBSan; goes on after a report, does not look for leaks.
    Checked,
    /// Blocks and branches are counted.
    Covered,
    /// As it would be without Parallax: for programs that were not built, but made from parts.
    Plain,
}

impl Variant {
    /// As used in file names and messages.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Traced => "traced",
            Variant::Checked => "checked",
            Variant::Covered => "covered",
            Variant::Plain => "plain",
        }
    }
}

/// How to derive.
pub struct Options<'a> {
    /// Objects and programs are kept here. May be shared by processes.
    pub cache_dir: PathBuf,
    /// Compilers to run at once.
    pub jobs: usize,
    /// Called from several threads.
    pub progress: &'a (dyn Fn(Progress<'_>) + Sync),
}

/// What is happening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A module's object is there; `cached` if it was before.
    Compiled {
        source: &'a str,
        done: usize,
        total: usize,
        cached: bool,
    },
    /// All objects are there.
    Linking { output: &'a Path },
}

/// A derived program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derived {
    /// Has the plain program's file name.
    pub path: PathBuf,
    /// Variants of captured shared libraries, which the program finds before others.
    pub libraries: Vec<PathBuf>,
    /// What is less than it could be, and why: for the user.
    pub notes: Vec<String>,
}

/// Makes a variant of a program, or finds it in the cache.
pub fn derive(
    program: &Program,
    variant: Variant,
    options: &Options<'_>,
) -> Result<Derived, DeriveError> {
    let bundle = Bundle::unpack()?;
    let derivation = Derivation {
        variant,
        options,
        bundle: &bundle,
        ancestors: Vec::new(),
    };
    derivation.derive(program).map(|result| result.derived)
}

/// How many of a program's modules need not be compiled again to derive a variant.
pub fn cached_modules(
    program: &Program,
    variant: Variant,
    options: &Options<'_>,
) -> Result<usize, DeriveError> {
    let bundle = Bundle::unpack()?;
    Ok(compile::cached(program, variant, &bundle, options))
}

/// One call of [`derive()`], including the libraries that it leads to.
struct Derivation<'a> {
    variant: Variant,
    options: &'a Options<'a>,
    bundle: &'a Bundle,
    /// Programs and libraries that this one is derived for: libraries may need each other in circles.
    ancestors: Vec<PathBuf>,
}

/// A variant of a captured shared library.
struct Library {
    /// The original, as the link line resolved to it.
    original: PathBuf,
    derived: PathBuf,
    /// Variants of the libraries that it needs itself.
    further: Vec<PathBuf>,
    /// Symbols that the program must supply, also for those.
    wants: Vec<String>,
}

struct Outcome {
    derived: Derived,
    wants: Vec<String>,
}

impl Derivation<'_> {
    fn derive(&self, program: &Program) -> Result<Outcome, DeriveError> {
        let mut notes = Vec::new();
        let libraries = self.libraries(program, &mut notes)?;
        let objects = compile::modules(program, self.variant, self.bundle, self.options)?;
        notes.extend(objects.iter().filter_map(|object| object.note.clone()));

        let key = self.key(program, &objects, &libraries);
        let directory = self.options.cache_dir.join("programs").join(&key);
        let name = program.path.file_name().unwrap_or("program".as_ref());
        let path = directory.join(soname(program).unwrap_or_else(|| name.to_owned()));
        let manifest = directory.join("derived.json");
        let mut wants = symbols::wanted_from_runtime(&objects)?;
        wants.extend(libraries.iter().flat_map(|library| library.wants.clone()));
        if let Some(derived) = read_manifest(&manifest, &path) {
            return Ok(Outcome { derived, wants });
        }

        (self.options.progress)(Progress::Linking { output: &path });
        let link = relink::Link {
            program,
            variant: self.variant,
            bundle: self.bundle,
            options: self.options,
            objects: &objects,
            libraries: &libraries,
        };
        notes.extend(link.run(&path)?);
        let derived = Derived {
            path,
            libraries: all(libraries),
            notes,
        };
        let json = serde_json::to_vec(&derived).expect("paths and strings");
        put(&manifest, &json).map_err(|error| DeriveError::Io {
            path: manifest,
            error,
        })?;
        Ok(Outcome { derived, wants })
    }

    /// Derives the captured shared libraries that the program was linked with.
    fn libraries(
        &self,
        program: &Program,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Library>, DeriveError> {
        let mut libraries: Vec<Library> = Vec::new();
        // Plain ones are there already.
        if self.variant == Variant::Plain {
            return Ok(libraries);
        }
        for input in &program.link.inputs {
            let original = PathBuf::from(&input.path);
            let captured = input.kind == InputKind::SharedLibrary && input.captured > 0;
            let known = libraries.iter().any(|library| library.original == original);
            if !captured || known || self.ancestors.contains(&original) {
                continue;
            }
            let library = match read_program(&original) {
                Ok(library) => library,
                Err(error @ (ReadError::Io { .. } | ReadError::NotCaptured { .. })) => {
                    notes.push(format!("shared library left as it is: {error}"));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let mut ancestors = self.ancestors.clone();
            ancestors.push(program.path.clone());
            let outcome = Derivation { ancestors, ..*self }.derive(&library)?;
            notes.extend(outcome.derived.notes);
            libraries.push(Library {
                original,
                derived: outcome.derived.path,
                further: outcome.derived.libraries,
                wants: outcome.wants,
            });
        }
        Ok(libraries)
    }

    /// Everything that the linked file depends on.
    fn key(&self, program: &Program, objects: &[VariantObject], libraries: &[Library]) -> String {
        let mut parts = vec![
            self.variant.name().to_owned(),
            Bundle::identity(),
            program.path.display().to_string(),
            program.link.link.directory.clone(),
        ];
        parts.extend(program.link.link.arguments.iter().cloned());
        parts.extend(
            program
                .link
                .environment
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
        parts.extend(
            objects
                .iter()
                .map(|object| object.path.display().to_string()),
        );
        parts.extend(
            libraries
                .iter()
                .map(|library| library.derived.display().to_string()),
        );
        // Files that are linked as they are: by time and size, as build tools tell them apart.
        for input in &program.link.inputs {
            if let Ok(found) = std::fs::metadata(&input.path) {
                let modified = found.modified().ok();
                parts.push(format!("{} {} {modified:?}", input.path, found.len()));
            }
        }
        hash(parts.join("\0").as_bytes())
    }
}

/// Libraries with those that they need, each once.
fn all(libraries: Vec<Library>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for library in libraries {
        for path in std::iter::once(library.derived).chain(library.further) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

/// The name that programs look for a shared library by, if that is what this is.
fn soname(program: &Program) -> Option<std::ffi::OsString> {
    symbols::soname(&program.path).map(Into::into)
}

fn read_manifest(manifest: &Path, path: &Path) -> Option<Derived> {
    let derived: Derived = serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
    let complete = derived.path == path
        && path.is_file()
        && derived.libraries.iter().all(|library| library.is_file());
    complete.then_some(derived)
}
