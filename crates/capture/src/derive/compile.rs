//! From module to object, for each variant.

use super::making::Making;
use super::source::SourceText;
use super::{DeriveError, Options, Progress, Variant};
use crate::arguments::{Item, for_bitcode, for_source, parse};
use crate::program::{Module, Program};
use crate::store::put;
use crate::tools::{Compiler, clang};
use parallax_bundle::Bundle;
use parallax_files::hash;
use parallax_record::request::{self, Request};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What makes the checked variant.
const CHECKED_FLAGS: &[&str] = &[
    "-fsanitize=address,undefined",
    // Calls through a pointer of a compatible but different function type: many a sound C program
    // lives on them, and none of them crashes.
    "-fno-sanitize=function",
    "-fsanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-g",
    "-O1",
    "-U_FORTIFY_SOURCE",
    "-w",
];

/// An object of a variant.
#[derive(Clone, Debug)]
pub struct VariantObject {
    /// In the cache; the name says what it was made of.
    pub path: PathBuf,
    /// Set if it is less than it could be.
    pub note: Option<String>,
}

/// Compiles all modules of a program, several at once; in the program's order.
pub fn modules(
    program: &Program,
    variant: Variant,
    bundle: &Bundle,
    options: &Options<'_>,
) -> Result<Vec<VariantObject>, DeriveError> {
    let total = program.modules.len();
    if total == 0 {
        return Err(DeriveError::NoModules {
            path: program.path.clone(),
        });
    }
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<VariantObject, DeriveError>>>> =
        Mutex::new((0..total).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, total) {
            scope.spawn(|| {
                while let Some(module) = program.modules.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let recipe = Recipe::new(module, variant, bundle);
                    let cached = recipe.object(options).is_file();
                    let result = recipe.make(options);
                    if result.is_err() {
                        // One failure is enough: the others need not begin.
                        next.store(total, Ordering::Relaxed);
                    }
                    (options.progress)(Progress::Compiled {
                        source: &module.record.source,
                        done: done.fetch_add(1, Ordering::Relaxed) + 1,
                        total,
                        cached,
                    });
                    let index = program.modules.iter().position(|m| std::ptr::eq(m, module));
                    let mut results = results.lock().expect("no panic while it is held");
                    results[index.expect("taken from there")] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("no panic while it was held");
    let mut objects = Vec::with_capacity(total);
    let mut first_error = None;
    for result in results.into_iter().flatten() {
        match result {
            Ok(object) => objects.push(object),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    first_error.map_or(Ok(objects), Err)
}

/// How many of the program's modules have their object in the cache.
pub fn cached(
    program: &Program,
    variant: Variant,
    bundle: &Bundle,
    options: &Options<'_>,
) -> usize {
    let is_cached = |module: &&Module| {
        Recipe::new(module, variant, bundle)
            .object(options)
            .is_file()
    };
    program.modules.iter().filter(is_cached).count()
}

/// Compiles bitcode that does not come from a program: a model.
pub fn bitcode(
    name: &str,
    bitcode: &[u8],
    variant: Variant,
    bundle: &Bundle,
    options: &Options<'_>,
) -> Result<PathBuf, DeriveError> {
    let recipe = Recipe {
        source_file: name,
        variant,
        text: Text::Bitcode(bitcode),
        flags: [backend_flags(variant), vec!["-fPIC".to_owned()]].concat(),
        bundle,
        fallback: None,
    };
    recipe.make(options).map(|object| object.path)
}

/// What an object is made of.
struct Recipe<'a> {
    source_file: &'a str,
    variant: Variant,
    text: Text<'a>,
    flags: Vec<String>,
    bundle: &'a Bundle,
    /// What to make instead if the compiler refuses, and what is lost by it.
    fallback: Option<Box<Recipe<'a>>>,
}

enum Text<'a> {
    Bitcode(&'a [u8]),
    Source(SourceText<'a>),
}

impl<'a> Recipe<'a> {
    fn new(module: &'a Module, variant: Variant, bundle: &'a Bundle) -> Recipe<'a> {
        let record = &module.record;
        let items = parse(record.compile.arguments.get(1..).unwrap_or_default());
        let from_bitcode = Recipe {
            source_file: &record.source,
            variant,
            text: Text::Bitcode(&module.bitcode),
            flags: [
                backend_flags(variant),
                own_level(variant, &items),
                for_bitcode(&items),
            ]
            .concat(),
            bundle,
            fallback: None,
        };
        let wanted = variant == Variant::Checked;
        let Some(text) = wanted.then(|| SourceText::find(record)).flatten() else {
            return from_bitcode;
        };
        Recipe {
            source_file: &record.source,
            variant,
            text: Text::Source(text),
            flags: checked_flags(&items, bundle),
            bundle,
            fallback: Some(Box::new(from_bitcode)),
        }
    }

    /// Where the object is kept.
    fn object(&self, options: &Options<'_>) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        for part in [
            self.variant.name(),
            &Bundle::identity(),
            &self.flags.join("\0"),
        ] {
            hasher
                .update(&(part.len() as u64).to_le_bytes())
                .update(part.as_bytes());
        }
        match &self.text {
            Text::Bitcode(bytes) => hasher.update(bytes),
            Text::Source(source) => hasher.update(source.identity().as_bytes()),
        };
        let key = &hasher.finalize().to_hex()[..32];
        options
            .cache_dir
            .join("objects")
            .join(&key[..2])
            .join(format!("{}.o", &key[2..]))
    }

    fn make(&self, options: &Options<'_>) -> Result<VariantObject, DeriveError> {
        let path = self.object(options);
        let refused = path.with_extension("refused");
        let message = if path.is_file() {
            return Ok(VariantObject {
                path,
                note: self.note(),
            });
        } else if let Ok(message) = std::fs::read_to_string(&refused) {
            message
        } else {
            match self.compile(&path)? {
                Ok(()) => {
                    return Ok(VariantObject {
                        path,
                        note: self.note(),
                    });
                }
                Err(message) => message,
            }
        };
        match &self.fallback {
            Some(fallback) => {
                // Remembered, so that the next time does not try again in vain.
                put(&refused, message.as_bytes()).map_err(|error| DeriveError::Io {
                    path: refused,
                    error,
                })?;
                let mut object = fallback.make(options)?;
                let first = message.lines().next().unwrap_or_default();
                object.note = Some(format!(
                    "{}: no undefined-behaviour checks, because its source does not compile again: {first}",
                    self.source_file
                ));
                Ok(object)
            }
            None => Err(DeriveError::Compile {
                source_file: self.source_file.to_owned(),
                variant: self.variant.name(),
                message,
            }),
        }
    }

    /// What the user should know about an object made from this.
    fn note(&self) -> Option<String> {
        let lesser = self.variant == Variant::Checked && matches!(self.text, Text::Bitcode(_));
        lesser.then(|| {
            format!(
                "{}: no undefined-behaviour checks, because its source is not in the capture store",
                self.source_file
            )
        })
    }

    /// Runs the compiler; the inner result is its message if it refuses.
    fn compile(&self, object: &Path) -> Result<Result<(), String>, DeriveError> {
        let making = Making::begin(object)?;
        let io_error = |error| making.failed(error);
        let made = making.file("module.o");
        let mut command = self.command(making.folder()).map_err(|error| match error {
            CommandError::Tool(error) => DeriveError::Tool(error),
            CommandError::Io(error) => io_error(error),
        })?;
        let output = command.arg("-o").arg(&made).output().map_err(io_error)?;
        if !output.status.success() {
            return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        making.finish(&made)?;
        Ok(Ok(()))
    }

    fn command(&self, scratch: &Path) -> Result<Command, CommandError> {
        // The C driver compiles C++, too, when told the language.
        let mut command = clang(Compiler::C)?;
        match &self.text {
            Text::Bitcode(bytes) => {
                let input = scratch.join("module.bc");
                std::fs::write(&input, bytes)?;
                let request = match self.variant {
                    Variant::Traced => Some(Request::Traced),
                    Variant::Covered => Some(Request::Covered),
                    Variant::Checked => Some(Request::Checked),
                    Variant::Plain => None,
                };
                match request {
                    Some(request) => {
                        let plugin = self.bundle.plugin();
                        command.arg(format!("-fpass-plugin={}", plugin.display()));
                        command.env(request::ENVIRONMENT, request.to_value());
                    }
                    None => {
                        command.env_remove(request::ENVIRONMENT);
                    }
                }
                command.args(["-x", "ir"]).arg(input);
            }
            Text::Source(source) => {
                command.env_remove(request::ENVIRONMENT);
                source.add_to(&mut command, scratch)?;
            }
        }
        command
            .args(&self.flags)
            .args(["-Wno-unused-command-line-argument", "-c"]);
        Ok(command)
    }
}

/// Why the compiler could not even be called.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error(transparent)]
    Tool(#[from] crate::tools::ToolError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

fn checked_flags(items: &[Item], bundle: &Bundle) -> Vec<String> {
    let mut flags = for_source(items);
    flags.extend([
        "-idirafter".to_owned(),
        bundle.include().display().to_string(),
    ]);
    flags.extend(CHECKED_FLAGS.iter().map(|flag| (*flag).to_owned()));
    flags
}

/// Flags for compiling bitcode, before the module's own.
fn backend_flags(variant: Variant) -> Vec<String> {
    let flags: &[&str] = match variant {
        Variant::Traced | Variant::Covered => &["-O2", "-w"],
        Variant::Plain => &["-w"],
        Variant::Checked => &[
            "-O1",
            "-w",
            "-fsanitize=address",
            "-fsanitize-recover=address",
        ],
    };
    flags.iter().map(|flag| (*flag).to_owned()).collect()
}

/// How a plain object is optimised: as its source was.
fn own_level(variant: Variant, items: &[Item]) -> Vec<String> {
    if variant != Variant::Plain {
        return Vec::new();
    }
    let level = |item: &Item| match item {
        Item::Option(words) if words[0].starts_with("-O") => Some(words.clone()),
        _ => None,
    };
    items.iter().rev().find_map(level).unwrap_or_default()
}

/// An object made from C text of Parallax's own, uninstrumented.
pub fn c_text(text: &str, options: &Options<'_>) -> Result<PathBuf, DeriveError> {
    let key = hash(text.as_bytes());
    let object = options.cache_dir.join("support").join(format!("{key}.o"));
    if object.is_file() {
        return Ok(object);
    }
    let making = Making::begin(&object)?;
    let io_error = |error| making.failed(error);
    let (input, made) = (making.file("support.c"), making.file("support.o"));
    std::fs::write(&input, text).map_err(io_error)?;
    let mut command = clang(Compiler::C)?;
    let output = command
        .args(["-w", "-O2", "-fPIC", "-c"])
        .arg(&input)
        .arg("-o")
        .arg(&made)
        .env_remove(request::ENVIRONMENT)
        .output()
        .map_err(io_error)?;
    if !output.status.success() {
        return Err(DeriveError::Compile {
            source_file: "support code".to_owned(),
            variant: "plain",
            message: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    making.finish(&made)?;
    Ok(object)
}
