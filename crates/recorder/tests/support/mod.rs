//! A small project in a temporary directory, and what recording its tests gives.

// Every file of tests uses its own part of this.
#![allow(dead_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::AtomicBool;

use parallax_recorder::{
    Command, End, Limits, Plan, Program, Progress, RecorderError, Summary, record,
};
use parallax_scenario::{Bytes, Recorded};

pub struct Project {
    _directory: tempfile::TempDir,
    pub root: PathBuf,
    pub limits: Limits,
    programs: Vec<Program>,
}

/// What came out.
#[derive(Debug)]
pub struct Recording {
    pub runs: Vec<Recorded>,
    pub summary: Summary,
}

impl Project {
    pub fn new() -> Project {
        let directory = tempfile::tempdir().unwrap();
        Project {
            root: directory.path().canonicalize().unwrap(),
            _directory: directory,
            limits: Limits::default(),
            programs: Vec::new(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file that can be executed.
    pub fn script(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Compiles a program under test.
    pub fn program(&mut self, name: &str, source: &str) {
        let code = self.path(&format!("{name}.c"));
        self.write(&format!("{name}.c"), source);
        let status = process::Command::new("cc")
            .args(["-w", "-O1", "-o"])
            .arg(self.path(name))
            .arg(&code)
            .status()
            .unwrap();
        assert!(status.success());
        fs::remove_file(code).unwrap();
        self.add(name);
    }

    /// A file of the project is under test.
    pub fn add(&mut self, name: &str) {
        self.programs.push(Program {
            name: name.into(),
            path: self.path(name),
        });
    }

    pub fn record(&self, words: &[&str]) -> Recording {
        self.try_record(words).unwrap()
    }

    pub fn plan(&self, words: &[&str]) -> Plan {
        Plan {
            command: Command {
                words: words.iter().map(Into::into).collect(),
                directory: self.root.clone(),
                environment: Vec::new(),
                output: None,
            },
            programs: self.programs.clone(),
            trees: vec![self.root.clone()],
            variables: vec![b"CHOSEN".to_vec()],
            limits: self.limits,
        }
    }

    pub fn try_record(&self, words: &[&str]) -> Result<Recording, RecorderError> {
        let plan = self.plan(words);
        let mut runs = Vec::new();
        let summary = record(
            &plan,
            &Progress::default(),
            &AtomicBool::new(false),
            |run| {
                runs.push(run);
                Ok::<_, std::io::Error>(())
            },
        );
        Ok(Recording {
            runs,
            summary: summary?,
        })
    }

    /// Records a shell script of one line.
    pub fn sh(&self, line: &str) -> Recording {
        let recording = self.record(&["sh", "-c", line]);
        assert_eq!(recording.summary.end, Some(End::Exit(0)), "{line}");
        recording
    }

    /// What plain running the same line prints.
    pub fn plain(&self, line: &str) -> process::Output {
        process::Command::new("sh")
            .args(["-c", line])
            .current_dir(&self.root)
            .output()
            .unwrap()
    }
}

impl Recording {
    /// The only run.
    pub fn only(mut self) -> Recorded {
        assert_eq!(self.runs.len(), 1, "{:#?}", self.runs);
        self.runs.remove(0)
    }
}

pub fn bytes(text: &str) -> Bytes {
    text.into()
}

/// Names and contents as text.
pub fn texts<'a>(map: impl IntoIterator<Item = (&'a Bytes, &'a Bytes)>) -> Vec<String> {
    let show = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    map.into_iter()
        .map(|(name, value)| format!("{}={}", show(name), show(value)))
        .collect()
}

/// Prints its standard input and the files that it is given, like `cat`.
pub const CAT: &str = r#"
#include <stdio.h>
static void copy(FILE *f) { int c; while ((c = getc(f)) != EOF) putchar(c); }
int main(int argc, char **argv) {
    int failed = 0;
    if (argc == 1) copy(stdin);
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "r");
        if (!f) { fprintf(stderr, "no %s\n", argv[i]); failed = 1; continue; }
        copy(f);
        fclose(f);
    }
    return failed;
}"#;
