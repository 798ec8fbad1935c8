//! The user's repository, through the `git` command.
//!
//! Hooks are off, nothing is fetched, optional locks are not taken, and no command sees the
//! user's index, except to copy it.
//!
//! A revision is checked out as a worktree, so that `git describe` in build scripts is right. All its files get one time, because git leaves the
//! order of times to chance, and `make` would then regenerate committed `configure` scripts.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::{Kind, Revision, RevisionError, set_time};
use crate::accepted;
use crate::config::FILE_NAME;

/// A git repository that the project is in.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Top of the checkout.
    top: PathBuf,
    /// The project's place in it; empty if it is the top.
    prefix: PathBuf,
    git_directory: PathBuf,
}

/// What `git` takes from the environment instead of finding it out; set while hooks run.
const INHERITED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
];

/// Words that [`command`] puts before the subcommand.
const LEADING_WORDS: usize = 10;

/// A `git` command in a directory, without influences from outside.
pub(super) fn command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for name in INHERITED {
        command.env_remove(name);
    }
    command
        .arg("-C")
        .arg(directory)
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "core.fsmonitor=false"])
        .args(["-c", "gc.auto=0"])
        .args(["-c", "advice.detachedHead=false"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    command
}

/// Runs a command; its output, without the last newline.
pub(super) fn output(command: Command) -> Result<Vec<u8>, RevisionError> {
    let mut bytes = whole_output(command)?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok(bytes)
}

/// Runs a command; its output to the last byte.
pub(super) fn whole_output(mut command: Command) -> Result<Vec<u8>, RevisionError> {
    let shown = command
        .get_args()
        .skip(LEADING_WORDS)
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ");
    let failed = |message: String| RevisionError::Git {
        command: shown.clone(),
        message,
    };
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                failed("git is not installed, or not on PATH".to_owned())
            }
            _ => failed(error.to_string()),
        })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(failed(text));
    }
    Ok(output.stdout)
}

/// What git says about a directory in which it does not want to work, unless that is a directory like others.
pub(super) fn complaint(directory: &Path) -> Option<String> {
    let questions: [&[&str]; 2] = [&["log", "-1", "--format=%H"], &["ls-files", "--", "."]];
    questions.iter().find_map(|words| {
        let mut ask = command(directory);
        ask.args(*words);
        match output(ask) {
            Err(RevisionError::Git { message, .. })
                if !message.contains("not a git repository") =>
            {
                Some(message)
            }
            _ => None,
        }
    })
}

impl Repository {
    /// The repository that a directory belongs to: one with commits, in which files of this directory are tracked. (A
    /// source package that was unpacked inside of some repository is none of it.)
    pub fn of(directory: &Path) -> Option<Repository> {
        let ask = |words: &[&str]| {
            let mut command = command(directory);
            command.args(words);
            output(command).ok()
        };
        let path = |bytes: Vec<u8>| PathBuf::from(OsStr::from_bytes(&bytes));
        let top = path(ask(&["rev-parse", "--show-toplevel"])?);
        let prefix = path(ask(&["rev-parse", "--show-prefix"])?);
        let git_directory = path(ask(&["rev-parse", "--absolute-git-dir"])?);
        ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        if ask(&["ls-files", "-z", "--", "."])?.is_empty() {
            return None;
        }
        Some(Repository {
            top,
            prefix,
            git_directory,
        })
    }

    /// Top of the checkout.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The project's place in the checkout.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Files of the project that are tracked or could be, relative to its top.
    pub fn files(&self) -> Result<Vec<PathBuf>, RevisionError> {
        let list = self.ask_in(
            &self.top.join(&self.prefix),
            &["ls-files", "-z", "-co", "--exclude-standard"],
        )?;
        let paths = list
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty());
        let mut files: Vec<PathBuf> = paths.map(|path| OsStr::from_bytes(path).into()).collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    fn ask_in(&self, directory: &Path, words: &[&str]) -> Result<Vec<u8>, RevisionError> {
        let mut command = command(directory);
        command.args(words);
        output(command)
    }

    /// The answer to a question about the repository.
    pub(super) fn ask(&self, words: &[&str]) -> Result<String, RevisionError> {
        let bytes = self.ask_in(&self.top, words)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The commit that a word names.
    pub(super) fn commit(&self, word: &str) -> Result<Revision, RevisionError> {
        let wanted = format!("{word}^{{commit}}");
        let id = self.ask(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &wanted,
        ]);
        let id = id.map_err(|_| RevisionError::Unknown(word.to_owned()))?;
        Ok(Revision {
            label: word.to_owned(),
            id,
            kind: Kind::Commit,
        })
    }

    /// Where two revisions parted.
    pub(super) fn merge_base(
        &self,
        old: &Revision,
        new: &Revision,
    ) -> Result<Revision, RevisionError> {
        let id = self.ask(&["merge-base", &old.id, &new.id]);
        let id = id.map_err(|_| RevisionError::NoBase {
            old: old.label.clone(),
            new: new.label.clone(),
        })?;
        Ok(Revision {
            label: format!("merge base of {} and {}", old.label, new.label),
            id,
            kind: Kind::Commit,
        })
    }

    /// What is staged. Inside of a hook, git says where the index of the commit in the making is.
    pub(super) fn staged(&self, state: &Path) -> Result<Revision, RevisionError> {
        let index = match std::env::var_os("GIT_INDEX_FILE") {
            Some(path) => self.top.join(path),
            None => self.git_directory.join("index"),
        };
        let scratch = self.copy_index(state, &index)?;
        let tree = self.with_index(scratch.path(), &["write-tree"])?;
        self.commit_of_tree(&tree, "staged changes", Kind::Staged)
    }

    /// The checkout as it is: tracked files and new ones that are not ignored. Our own files are left out: what the configuration
    /// says about a build is part of the build's name already, and what is accepted is no part of what is built.
    pub(super) fn uncommitted(&self, state: &Path) -> Result<Revision, RevisionError> {
        let scratch = self.copy_index(state, &self.git_directory.join("index"))?;
        // They are put back as they were instead of excluded, because git refuses to leave out what is ignored anyway.
        let own = [FILE_NAME, accepted::FILE_NAME].map(|name| self.prefix.join(name));
        let mut before = Vec::new();
        for path in &own {
            let path = path.to_string_lossy().into_owned();
            let line = self.with_index(scratch.path(), &["ls-files", "-s", "--", &path])?;
            // MODE OBJECT STAGE, then the name.
            let mut words = line.split_whitespace();
            let known = words.next().zip(words.next());
            let known = known.map(|(mode, object)| format!("{mode},{object},{path}"));
            before.push((path, known));
        }
        self.with_index(scratch.path(), &["add", "-A", "--", ":/"])?;
        for (path, known) in before {
            let forget = ["update-index", "--force-remove", "--", &path];
            self.with_index(scratch.path(), &forget)?;
            if let Some(known) = known {
                let restore = ["update-index", "--add", "--cacheinfo", &known];
                self.with_index(scratch.path(), &restore)?;
            }
        }
        let tree = self.with_index(scratch.path(), &["write-tree"])?;
        self.commit_of_tree(&tree, "working tree", Kind::Uncommitted)
    }

    fn copy_index(
        &self,
        state: &Path,
        index: &Path,
    ) -> Result<tempfile::NamedTempFile, RevisionError> {
        let scratch = tempfile::Builder::new()
            .prefix("index-")
            .tempfile_in(state)
            .map_err(RevisionError::io(state))?;
        if index.exists() {
            let bytes = fs::read(index).map_err(RevisionError::io(index))?;
            fs::write(scratch.path(), bytes).map_err(RevisionError::io(state))?;
            // git looks into files that may have changed in the same moment as the index was written, and takes that moment
            // from the file: a copy that looks younger would hide such changes.
            let written = fs::metadata(index).and_then(|metadata| metadata.modified());
            let kept = written.and_then(|time| scratch.as_file().set_modified(time));
            kept.map_err(RevisionError::io(index))?;
        } else {
            // git takes an empty file for a damaged index, and a missing one for an empty index.
            fs::remove_file(scratch.path()).map_err(RevisionError::io(scratch.path()))?;
        }
        Ok(scratch)
    }

    /// Runs a command on another index than the user's; its answer.
    pub(super) fn with_index(&self, index: &Path, words: &[&str]) -> Result<String, RevisionError> {
        let mut command = command(&self.top);
        command.env("GIT_INDEX_FILE", index).args(words);
        Ok(String::from_utf8_lossy(&output(command)?).into_owned())
    }

    /// `HEAD` itself if the tree is its own; else a commit on top of it whose name depends on nothing but the tree.
    fn commit_of_tree(
        &self,
        tree: &str,
        label: &str,
        kind: Kind,
    ) -> Result<Revision, RevisionError> {
        let head = self.commit("HEAD")?;
        if self.ask(&["rev-parse", "HEAD^{tree}"])? == tree {
            let label = format!("{label} (same as HEAD)");
            return Ok(Revision { label, ..head });
        }
        let mut command = command(&self.top);
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "parallax")
                .env(format!("GIT_{who}_EMAIL"), "parallax@localhost")
                .env(format!("GIT_{who}_DATE"), "2000-01-01T00:00:00Z");
        }
        command.args(["commit-tree", tree, "-p", &head.id, "-m", label]);
        let id = String::from_utf8_lossy(&output(command)?).into_owned();
        Ok(Revision {
            label: label.to_owned(),
            id,
            kind,
        })
    }

    /// Makes a worktree of a commit.
    pub(super) fn check_out(
        &self,
        revision: &Revision,
        destination: &Path,
    ) -> Result<(), RevisionError> {
        let mut command = command(&self.top);
        // Forced, because git remembers worktrees whose directory somebody removed.
        command
            .args(["worktree", "add", "--detach", "--force", "--quiet"])
            .arg(destination)
            .arg(&revision.id);
        output(command).map(drop)
    }

    /// Removes a worktree and what git remembers about it.
    pub(crate) fn remove_worktree(&self, destination: &Path) -> Result<(), RevisionError> {
        let mut remove = command(&self.top);
        remove
            .args(["worktree", "remove", "--force", "--force"])
            .arg(destination);
        // Not a worktree after all, or damaged: then it is a directory like others.
        if output(remove).is_err() && destination.exists() {
            fs::remove_dir_all(destination).map_err(RevisionError::io(destination))?;
            self.ask(&["worktree", "prune"])?;
        }
        Ok(())
    }

    /// Gives all files of a worktree the time of the commit. git leaves the order of their times to chance, and
    /// `make` would take committed generated files (`configure`, `Makefile.in`) for outdated. Uncommitted changes are
    /// newer than the rest, as they are in the user's checkout.
    pub(super) fn even_times(
        &self,
        revision: &Revision,
        destination: &Path,
    ) -> Result<(), RevisionError> {
        let made_up = revision.kind != Kind::Commit;
        let dated = if made_up { "HEAD" } else { &revision.id };
        let seconds = self.ask(&["show", "-s", "--format=%ct", dated])?;
        let seconds = Duration::from_secs(seconds.parse().unwrap_or(0));
        let time = SystemTime::UNIX_EPOCH + seconds;
        let mut changed = BTreeSet::new();
        if made_up {
            let list = self.ask(&["diff-tree", "-r", "-z", "--name-only", "HEAD", &revision.id])?;
            changed.extend(list.split('\0').map(PathBuf::from));
        }
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let directory = destination.join(&folder);
            let entries = fs::read_dir(&directory).map_err(RevisionError::io(&directory))?;
            for entry in entries.flatten() {
                let relative = folder.join(entry.file_name());
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_dir() {
                    open.push(relative);
                } else if kind.is_file() && relative != Path::new(".git") {
                    let later =
                        Duration::from_secs(if changed.contains(&relative) { 2 } else { 0 });
                    set_time(&entry.path(), time + later)
                        .map_err(RevisionError::io(&entry.path()))?;
                }
            }
        }
        Ok(())
    }
}
