//! What is wrong with a configuration, and where.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Where a setting stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    File {
        path: PathBuf,
        /// From 1.
        line: usize,
        /// The line itself.
        text: String,
    },
    Variable(String),
    Flag(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Place::File { path, line, .. } => write!(f, "{}:{line}", path.display()),
            Place::Variable(name) => write!(f, "environment variable {name}"),
            Place::Flag(text) => write!(f, "--set {text}"),
        }
    }
}

impl Place {
    /// The line of the file, to be shown below the message.
    pub fn text(&self) -> Option<&str> {
        match self {
            Place::File { text, .. } => Some(text),
            Place::Variable(_) | Place::Flag(_) => None,
        }
    }
}

/// A configuration that cannot be used. The user's to repair, all of them.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{place}: {message}")]
    Syntax { place: Place, message: String },
    #[error("{place}: there is no setting {name:?}")]
    Unknown {
        place: Place,
        name: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    #[error("{place}: {name} must be {wanted}, not {found}")]
    Type {
        place: Place,
        name: String,
        wanted: &'static str,
        found: String,
    },
    #[error("{place}: {name}: {message}")]
    Value {
        place: Place,
        name: String,
        message: String,
    },
}

impl ConfigError {
    /// Where it is, if that is known.
    pub fn place(&self) -> Option<&Place> {
        match self {
            ConfigError::Read { .. } => None,
            ConfigError::Syntax { place, .. }
            | ConfigError::Unknown { place, .. }
            | ConfigError::Type { place, .. }
            | ConfigError::Value { place, .. } => Some(place),
        }
    }
}
