//! What is kept of each compile and of each link.

use serde::{Deserialize, Serialize};

/// One run of the compiler driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Working directory.
    pub directory: String,
    /// The real compiler and its arguments, response files expanded, without what
    /// Parallax adds itself.
    pub arguments: Vec<String>,
}

/// One captured translation unit. The frame's data is the front end's bitcode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleRecord {
    /// The source as named on the command line.
    pub source: String,
    /// `c`, `c++`, ... as in `-x`.
    pub language: String,
    pub compile: Invocation,
    /// Key of the preprocessed source in the capture store, if it could be kept.
    pub preprocessed: Option<String>,
    /// `#include <parallax.h>` annotations or anything else that later stages
    /// want to know at a glance can be added here; readers ignore what they do not know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One link. Objects are not listed: the program's own section says which were taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRecord {
    pub link: Invocation,
    /// Absolute path of the output as first linked.
    pub output: String,
    /// Environment variables that influence the driver or the linker and were set.
    pub environment: Vec<(String, String)>,
}
