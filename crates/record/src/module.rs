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
    /// Key of the source and the headers that it includes in the capture store, if they could be
    /// kept.
    #[serde(default)]
    pub sources: Option<String>,
    /// Functions that the module defines.
    #[serde(default)]
    pub functions: u32,
    /// Pieces of inline assembly, which no variant can look into: calls, and one more
    /// if the module has assembly outside of functions.
    #[serde(default)]
    pub inline_assembly: u32,
    /// Anything else that later stages want to know at a glance can be added here;
    /// readers ignore what they do not know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One link. Which captured objects were taken is not listed: the program's own
/// section says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRecord {
    pub link: Invocation,
    /// Absolute path of the output as first linked.
    pub output: String,
    /// Environment variables that influence the driver or the linker and were set.
    pub environment: Vec<(String, String)>,
    /// What the command line gave to the linker, as it was found when the link ran: by
    /// the time of another link the files may be gone.
    #[serde(default)]
    pub inputs: Vec<LinkInput>,
}

/// A file that a link line names, by path or by `-l`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkInput {
    /// As on the command line: a path, or `-lname`.
    pub argument: String,
    /// Absolute path.
    pub path: String,
    pub kind: InputKind,
    /// Parts (the object itself, members of the archive) that carry module records.
    pub captured: u32,
    /// Parts that carry none, by member name; for an object its own file name.
    pub foreign: Vec<String>,
}

/// What kind of file a linker input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    Object,
    Archive,
    SharedLibrary,
}
