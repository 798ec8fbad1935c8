//! Everything that Parallax needs on another machine besides clang, inside one binary:
//! the plug-in, the runtime library, the run server, the models' bitcode, the coverage runtime, and what programs that were written for
//! other tools call.
//!
//! Tools need them as files, so they are unpacked, once, into a directory named
//! by version and content: two versions of Parallax never see each other's files. A directory
//! that is there is complete; files in it that were cut off or removed since are unpacked again.
//!
//! A further file (a header for annotations, say) is one more line in `build.rs` and one more
//! field of [`Bundle`].

mod unpack;

use std::path::{Path, PathBuf};

/// One carried file.
pub(crate) struct Asset {
    /// Path below the unpacked directory.
    name: &'static str,
    /// Of the file when it is unpacked.
    size: u64,
    compressed: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Why the carried files could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Neither the cache directory nor the temporary one can be written.
    #[error(
        "cannot unpack Parallax's own files: {}",
        attempts.iter().map(|(path, error)| format!("{}: {error}", path.display())).collect::<Vec<_>>().join("; ")
    )]
    NoPlace {
        /// Every directory that was tried, and why it would not do.
        attempts: Vec<(PathBuf, std::io::Error)>,
    },
}

impl BundleError {
    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        "set XDG_CACHE_HOME to a directory that can be written"
    }
}

/// The carried files, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    directory: PathBuf,
}

impl Bundle {
    /// Unpacks the files unless that was done before.
    ///
    /// Tried in order: `$XDG_CACHE_HOME/parallax`, `~/.cache/parallax`, a directory of this user's own in
    /// the system's temporary directory.
    pub fn unpack() -> Result<Bundle, BundleError> {
        let mut attempts = Vec::new();
        for base in unpack::bases() {
            match unpack::into(&base, ASSETS, &Self::identity()) {
                Ok(directory) => return Ok(Bundle { directory }),
                Err(error) => attempts.push((base.path, error)),
            }
        }
        Err(BundleError::NoPlace { attempts })
    }

    /// Version and content hash: whoever caches what was made with these files puts
    /// this into the key.
    pub fn identity() -> String {
        format!("{}-{HASH}", env!("CARGO_PKG_VERSION"))
    }

    /// The directory that holds everything below.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The shared library for clang's `-fpass-plugin=`.
    pub fn plugin(&self) -> PathBuf {
        self.directory.join("plugin.so")
    }

    /// The static library that traced programs are linked with.
    pub fn runtime(&self) -> PathBuf {
        self.directory.join("libruntime.a")
    }

    /// The run server, for the dynamic linker to load before a program (`crates/serve`).
    pub fn server(&self) -> PathBuf {
        self.directory.join("serve.so")
    }

    /// Bitcode of the models written in C, to be compiled as the traced program is.
    pub fn models(&self) -> Vec<PathBuf> {
        self.files_below("models/")
    }

    /// Objects that covered programs are linked with: one for each C file in
    /// `crates/runtime/coverage`. They define whatever `Mode::Covered` of the instrumentation
    /// refers to, and nothing that a program could define itself.
    pub fn coverage_runtime(&self) -> Vec<PathBuf> {
        self.files_below("coverage/")
    }

    /// The archive of functions that programs written for other tools call (`klee_make_symbolic`,
    /// `__VERIFIER_nondet_int`, ...), for variants that are not traced. The traced one needs its
    /// reading of test cases.
    pub fn declared(&self) -> PathBuf {
        self.directory.join("libdeclared.a")
    }

    /// The directory of headers that such programs include.
    pub fn include(&self) -> PathBuf {
        self.directory.join("include")
    }

    /// Source of the `main` of programs that have `LLVMFuzzerTestOneInput` instead.
    pub fn fuzzer_main(&self) -> PathBuf {
        self.directory.join("fuzzer/main.c")
    }

    fn files_below(&self, prefix: &str) -> Vec<PathBuf> {
        let below = ASSETS.iter().filter(|asset| asset.name.starts_with(prefix));
        below.map(|asset| self.directory.join(asset.name)).collect()
    }
}
