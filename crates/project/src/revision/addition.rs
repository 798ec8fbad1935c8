//! A patch that adds or changes files, as text that `git apply` takes.

use std::fs;
use std::path::Path;

use super::git::{Repository, command, output, whole_output};
use super::{Revision, RevisionError};

/// A file as it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Relative to the top of the project.
    pub path: String,
    pub text: Vec<u8>,
    pub is_executable: bool,
}

impl Repository {
    /// What leads from a revision to the same with these files.
    pub fn addition(
        &self,
        revision: &Revision,
        files: &[NewFile],
        state: &Path,
    ) -> Result<Vec<u8>, RevisionError> {
        let scratch = tempfile::tempdir_in(state).map_err(RevisionError::io(state))?;
        let index = scratch.path().join("index");
        self.with_index(&index, &["read-tree", &revision.id])?;
        for file in files {
            let content = scratch.path().join("file");
            fs::write(&content, &file.text).map_err(RevisionError::io(&content))?;
            let mut hash = command(self.top());
            // As it is: no conversion of line ends by attributes of the user's.
            hash.args(["hash-object", "-w", "--no-filters", "--"])
                .arg(&content);
            let object = String::from_utf8_lossy(&output(hash)?).into_owned();
            let mode = if file.is_executable {
                "100755"
            } else {
                "100644"
            };
            let path = self.prefix().join(&file.path);
            let entry = format!("{mode},{object},{}", path.display());
            self.with_index(&index, &["update-index", "--add", "--cacheinfo", &entry])?;
        }
        let mut diff = command(self.top());
        diff.env("GIT_INDEX_FILE", &index).args([
            "diff",
            "--cached",
            "--binary",
            "--no-color",
            "--no-ext-diff",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            &revision.id,
        ]);
        whole_output(diff)
    }

    /// Whether a patch can be applied to the checkout as it is; what git says if not.
    pub fn applies(&self, patch: &Path) -> Result<(), String> {
        let mut check = command(self.top());
        check.args(["apply", "--check", "--"]).arg(patch);
        match output(check) {
            Ok(_) => Ok(()),
            Err(RevisionError::Git { message, .. }) => Err(message),
            Err(error) => Err(error.to_string()),
        }
    }
}
