//! Submodules of a worktree, filled from the user's own copies: nothing is fetched.

use std::fs;
use std::path::{Path, PathBuf};

use super::git::{Repository, command, output};
use super::{Revision, RevisionError};

/// Puts the files of all submodules in place. Returns a remark for each that cannot be had.
pub(super) fn fill(
    repository: &Repository,
    revision: &Revision,
    destination: &Path,
) -> Result<Vec<String>, RevisionError> {
    let mut notes = Vec::new();
    let mut open = vec![(PathBuf::new(), revision.id.clone())];
    while let Some((path, id)) = open.pop() {
        let source = repository.top().join(&path);
        for (inner, wanted) in links(&source, &id)? {
            let path = path.join(inner);
            let copy = repository.top().join(&path);
            if has_commit(&copy, &wanted) {
                write_files(&copy, &wanted, &destination.join(&path))?;
                open.push((path, wanted));
            } else {
                let short = wanted.get(..12).unwrap_or(&wanted);
                notes.push(format!(
                    "submodule {} is left empty: its commit {short} is not in your checkout (git submodule update --init gets it)",
                    path.display()
                ));
            }
        }
    }
    Ok(notes)
}

/// Paths and commits of the submodules of a commit.
fn links(checkout: &Path, id: &str) -> Result<Vec<(PathBuf, String)>, RevisionError> {
    let mut list = command(checkout);
    list.args(["ls-tree", "-r", "-z", id]);
    let list = String::from_utf8_lossy(&output(list)?).into_owned();
    let link = |entry: &str| {
        let (head, path) = entry.split_once('\t')?;
        let id = head.strip_prefix("160000 commit ")?;
        Some((PathBuf::from(path), id.to_owned()))
    };
    Ok(list.split('\0').filter_map(link).collect())
}

/// Whether the user's copy of a submodule is there and has this commit. (In a folder that is not filled, git would answer
/// for the repository around it.)
fn has_commit(checkout: &Path, id: &str) -> bool {
    let mut look = command(checkout);
    look.args(["cat-file", "-e", &format!("{id}^{{commit}}")]);
    checkout.join(".git").exists() && output(look).is_ok()
}

/// Writes a commit's files without a trace in the repository.
fn write_files(checkout: &Path, id: &str, destination: &Path) -> Result<(), RevisionError> {
    fs::create_dir_all(destination).map_err(RevisionError::io(destination))?;
    let scratch = tempfile::tempdir().map_err(RevisionError::io(destination))?;
    let index = scratch.path().join("index");
    let mut read = command(checkout);
    read.env("GIT_INDEX_FILE", &index).args(["read-tree", id]);
    output(read)?;
    let mut write = command(checkout);
    let mut prefix = std::ffi::OsString::from("--prefix=");
    prefix.push(destination);
    prefix.push("/");
    write
        .env("GIT_INDEX_FILE", &index)
        .args(["checkout-index", "--all", "--force"])
        .arg(prefix);
    output(write).map(drop)
}
