//! The report of the last check, kept so that it can be shown again in any form.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parallax_files::write_whole;

use crate::PatchReport;

/// Why a kept report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    #[error("{}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// Of another version of Parallax, or damaged.
    #[error("{} is no report of this version of parallax", path.display())]
    Form {
        path: PathBuf,
        source: serde_json::Error,
    },
}

/// Its file in the directory in which Parallax keeps what it knows.
pub fn path(directory: &Path) -> PathBuf {
    directory.join("check.json")
}

/// Keeps a report; the one that was there is replaced at once or not at all.
pub fn save(directory: &Path, report: &PatchReport) -> Result<(), KeptError> {
    let path = path(directory);
    let failed = |source| KeptError::File {
        path: path.clone(),
        source,
    };
    let text = serde_json::to_string(report).map_err(|source| KeptError::Form {
        path: path.clone(),
        source,
    })?;
    fs::create_dir_all(directory).map_err(failed)?;
    write_whole(&path, text.as_bytes()).map_err(failed)
}

/// The report that was kept last; `None` if there is none.
pub fn load(directory: &Path) -> Result<Option<PatchReport>, KeptError> {
    let path = path(directory);
    match fs::read(&path) {
        Ok(text) => {
            let report = serde_json::from_slice(&text);
            report.map_err(|source| KeptError::Form { path, source })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(KeptError::File { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Finding;
    use parallax_scenario::Ending;

    #[test]
    fn a_report_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join(".parallax");
        assert_eq!(load(&directory).unwrap(), None);
        let report = PatchReport {
            findings: vec![Finding {
                new: Some(Ending {
                    stdout: vec![0xff, 0, b'a'].into(),
                    ..Ending::default()
                }),
                ..Finding::default()
            }],
            ..PatchReport::default()
        };
        save(&directory, &report).unwrap();
        assert_eq!(load(&directory).unwrap(), Some(report));
        fs::write(path(&directory), "{}").unwrap();
        assert!(matches!(load(&directory), Err(KeptError::Form { .. })));
    }
}
