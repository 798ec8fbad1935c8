//! A git repository in a temporary folder, and a compiler that leaves the records of parallax-cc without being it: what a
//! captured program carries beyond its mere being captured is of no concern here.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use parallax_project::{Build, BuildError, Event, Project, Selected, Selection, Toolchain};
use parallax_record::{Kind, encode};

pub struct Folder {
    directory: tempfile::TempDir,
}

pub const PROGRAM: &str = "#include <stdio.h>\nint main(void) { puts(\"one\"); return 0; }\n";
pub const MAKEFILE: &str = "prog: prog.c\n\t$(CC) -o prog prog.c\n";
pub const CONFIG: &str = "[build]\nbuild = \"make\"\n";

impl Folder {
    pub fn new() -> Folder {
        let folder = Folder {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(folder.root()).unwrap();
        folder.make_compiler();
        folder
    }

    /// A project with a program, a makefile and a configuration; not under version control.
    pub fn project() -> Folder {
        let folder = Folder::new();
        folder.write("prog.c", PROGRAM);
        folder.write("Makefile", MAKEFILE);
        folder.write("parallax.toml", CONFIG);
        folder
    }

    /// Likewise, with one commit.
    pub fn repository() -> Folder {
        let folder = Folder::project();
        folder.git(&["init", "-q", "-b", "main"]);
        folder.commit("first");
        folder
    }

    pub fn root(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn git(&self, words: &[&str]) -> String {
        self.git_in(&self.root(), words)
    }

    pub fn git_in(&self, directory: &Path, words: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(directory)
            .args(words)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_AUTHOR_DATE", "2020-01-01T12:00:00Z")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_DATE", "2020-01-01T12:00:00Z")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {words:?}: {output:?}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn find(&self) -> Project {
        Project::find(&self.root()).unwrap()
    }

    pub fn select(&self, selection: Selection) -> Selected {
        self.find().select(&selection).unwrap()
    }

    /// Builds all revisions of a selection.
    pub fn build(&self, selection: Selection) -> Result<Vec<Build>, BuildError> {
        let project = self.find();
        let selected = project.select(&selection).unwrap();
        let builds = project.builds(self.toolchain());
        let all: Vec<_> = selected.all().cloned().collect();
        all.iter()
            .map(|revision| builds.ensure(revision, &mut |_: &Event| ()))
            .collect()
    }

    pub fn toolchain(&self) -> Toolchain {
        Toolchain::new(&self.directory.path().join("compiler"))
    }

    /// What a build's program prints.
    pub fn output(build: &Build) -> String {
        let output = Command::new(&build.programs[0].path).output().unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    fn make_compiler(&self) {
        let records = self.directory.path().join("records");
        let mut bytes = encode(Kind::Link, &"link", b"").unwrap();
        bytes.extend(encode(Kind::Module, &"module", b"bitcode").unwrap());
        fs::write(&records, bytes).unwrap();
        let script = format!(
            "#!/bin/sh\ncc \"$@\" || exit\n\
             while test $# -gt 0; do test \"$1\" = -o && out=$2; shift; done\n\
             objcopy --add-section .parallax='{}' \"$out\"\n",
            records.display()
        );
        let compiler = self.directory.path().join("compiler");
        fs::write(&compiler, script).unwrap();
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A range or revision.
pub fn words(text: &str) -> Selection {
    Selection::Words(text.to_owned())
}
