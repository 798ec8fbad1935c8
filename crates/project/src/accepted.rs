//! Differences that somebody has looked at and wants: `parallax-accepted.toml` at the top of the project.
//!
//! A text file of the project's, so that what is accepted is reviewed like code. Entries are written at its end and never
//! rewritten: comments and order stay the user's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parallax_files::write_whole;
use serde::{Deserialize, Serialize};

/// Name of the file.
pub const FILE_NAME: &str = "parallax-accepted.toml";

const HEAD: &str = "\
# Differences between versions that are intended. `parallax accept FINDING --because \"...\"` adds to this file,
# and `parallax check` does not fail because of what is in it. Remove entries that are not needed any more.
";

/// A difference that is intended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The finding's name.
    pub finding: String,
    /// Why it is right so.
    pub because: String,
    /// The program that shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// What it is, for who reads the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    accepted: Vec<Accepted>,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AcceptedError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{} cannot be read", path.display())]
    Form { path: PathBuf, message: String },
}

/// The entries of a project; none if there is no file.
pub fn read(root: &Path) -> Result<Vec<Accepted>, AcceptedError> {
    let path = root.join(FILE_NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(AcceptedError::Io { path, error }),
    };
    let file: File = toml::from_str(&text).map_err(|error| AcceptedError::Form {
        path,
        message: error.to_string(),
    })?;
    Ok(file.accepted)
}

/// Adds entries, all or none; the path of the file.
pub fn add(root: &Path, entries: &[Accepted]) -> Result<PathBuf, AcceptedError> {
    let path = root.join(FILE_NAME);
    let io_error = |error| AcceptedError::Io {
        path: path.clone(),
        error,
    };
    let mut text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => HEAD.to_owned(),
        Err(error) => return Err(io_error(error)),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for entry in entries {
        let body = toml::to_string(entry).map_err(|error| AcceptedError::Form {
            path: path.clone(),
            message: error.to_string(),
        })?;
        text.push_str("\n[[accepted]]\n");
        text.push_str(&body);
    }
    write_whole(&path, text.as_bytes()).map_err(io_error)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> Accepted {
        Accepted {
            finding: name.to_owned(),
            because: "the old one was \"wrong\"\nand everybody knew".to_owned(),
            program: "src/cut".to_owned(),
            message: String::new(),
        }
    }

    #[test]
    fn what_was_added_is_read_and_what_was_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), []);
        let path = add(folder.path(), &[entry("difference-1")]).unwrap();
        let mut text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# Differences"));
        text.push_str("# a remark without a newline");
        fs::write(&path, text).unwrap();
        let more = [entry("difference-2"), entry("difference-3")];
        add(folder.path(), &more).unwrap();
        let expected = [&[entry("difference-1")], &more[..]].concat();
        assert_eq!(read(folder.path()).unwrap(), expected);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("# a remark without a newline\n"));
    }

    #[test]
    fn a_misspelt_key_is_an_error_and_no_silence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        fs::write(&path, "[[accepted]]\nfinding = \"x\"\nbecuase = \"y\"\n").unwrap();
        let error = read(folder.path()).unwrap_err();
        assert!(
            matches!(error, AcceptedError::Form { ref message, .. } if message.contains("becuase"))
        );
    }
}
