//! Why a variant could not be made.

use crate::program::ReadError;
use crate::tools::ToolError;
use parallax_bundle::BundleError;
use std::path::PathBuf;

/// Why a variant could not be made.
#[derive(Debug, thiserror::Error)]
pub enum DeriveError {
    /// Something is missing on this machine.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// Parallax's own files could not be unpacked.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A captured shared library that the program uses is damaged.
    #[error("a shared library of the program cannot be used")]
    Library(#[from] ReadError),
    /// The program has no captured module: there is nothing to make a variant of.
    #[error("none of the objects of {} was built with parallax-cc", path.display())]
    NoModules { path: PathBuf },
    /// The compiler rejected a module: a defect of Parallax, or a compiler that lacks something.
    #[error("cannot make the {variant} variant of {source_file}:\n{message}")]
    Compile {
        source_file: String,
        variant: &'static str,
        message: String,
    },
    /// The linker rejected the program.
    #[error("cannot link the {variant} variant of {}:\n{message}", path.display())]
    Link {
        path: PathBuf,
        variant: &'static str,
        message: String,
    },
    /// A file that is linked as it is has gone since the program was linked.
    #[error("{} was linked into the program and is gone", path.display())]
    MissingInput { path: PathBuf },
    /// The cache directory cannot be used.
    #[error("cannot use {}: {error}", path.display())]
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
}
