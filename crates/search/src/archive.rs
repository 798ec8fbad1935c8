//! Inputs kept on disk: tests worth having, and findings ready to be run again.
//!
//! Everything appears by rename, so that whoever looks sees whole files, and a killed run loses nothing that
//! it had reported.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::{Builder, NamedTempFile};

use parallax_exec::execute::lay_out;
use parallax_exec::finding::Finding;
pub use parallax_scenario::shell_quoted;
use parallax_scenario::{Bytes, Ending, Scenario, Sink, ktest};

/// Why something could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot write below {}", directory.display())]
pub struct ArchiveError {
    pub directory: PathBuf,
    #[source]
    pub source: io::Error,
}

/// What is kept beside a finding's scenario, so that it can be run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Path of the program that it was found in.
    pub program: Bytes,
    pub kind: String,
    pub message: String,
    /// What was seen.
    pub result: Ending,
}

/// The file's name.
pub const ABOUT: &str = "finding.json";

/// A directory of tests and findings of one exploration.
#[derive(Debug)]
pub struct Archive {
    directory: PathBuf,
}

impl Archive {
    /// Opens the directory; what is there stays.
    pub fn open(directory: &Path) -> Result<Archive, ArchiveError> {
        let archive = Archive {
            directory: directory.to_owned(),
        };
        for part in [archive.tests_directory(), archive.findings_directory()] {
            fs::create_dir_all(part).map_err(|source| archive.error(source))?;
        }
        Ok(archive)
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn tests_directory(&self) -> PathBuf {
        self.directory.join("tests")
    }

    fn findings_directory(&self) -> PathBuf {
        self.directory.join("findings")
    }

    fn error(&self, source: io::Error) -> ArchiveError {
        ArchiveError {
            directory: self.directory.clone(),
            source,
        }
    }

    /// Keeps a scenario as a test, named by its contents: the same one is kept once.
    pub fn add_test(&self, scenario: &Scenario) -> Result<PathBuf, ArchiveError> {
        let text = serde_json::to_vec_pretty(scenario).map_err(|error| self.error(error.into()))?;
        let name = &blake3::hash(&text).to_hex()[..16];
        let path = self.tests_directory().join(format!("{name}.json"));
        if !path.exists() {
            write_whole(&path, &text).map_err(|source| self.error(source))?;
        }
        Ok(path)
    }

    /// Keeps a finding in a directory of its own: the scenario, its files laid out, and a script that runs
    /// it. A smaller input for the same finding takes the place of the one before.
    pub fn add_finding(&self, finding: &Finding, program: &Path) -> Result<PathBuf, ArchiveError> {
        let all = self.findings_directory();
        let target = all.join(finding.id());
        let write = || -> io::Result<()> {
            let fresh = Builder::new().prefix(".new-").tempdir_in(&all)?;
            let scenario = serde_json::to_vec_pretty(&finding.scenario)?;
            fs::write(fresh.path().join("scenario.json"), scenario)?;
            let about = About {
                program: program.as_os_str().as_encoded_bytes().into(),
                kind: finding.problem.kind.name().to_owned(),
                message: finding.problem.message.clone(),
                result: finding.ending.clone(),
            };
            fs::write(fresh.path().join(ABOUT), serde_json::to_vec_pretty(&about)?)?;
            let files = fresh.path().join("files");
            fs::create_dir(&files)?;
            lay_out(&files, &finding.scenario).map_err(io::Error::other)?;
            fs::write(fresh.path().join("stdin"), &finding.scenario.stdin.0)?;
            let script = fresh.path().join("run.sh");
            fs::write(&script, run_script(&finding.scenario, program))?;
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
            fs::set_permissions(fresh.path(), fs::Permissions::from_mode(0o755))?;
            let _ = fs::remove_dir_all(&target);
            fs::rename(fresh.keep(), &target)
        };
        write().map_err(|source| self.error(source))?;
        Ok(target)
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A script that runs the program on a fresh copy of the files.
fn run_script(scenario: &Scenario, program: &Path) -> Vec<u8> {
    let mut text =
        b"#!/bin/sh\n# Runs the program on this input, in a copy of its files.\n".to_vec();
    for place in scenario.elsewhere.keys() {
        let place = place.escape_ascii();
        text.extend(format!("# It also needs files in {place}: see scenario.json.\n").bytes());
    }
    text.extend(b"here=$(cd \"$(dirname \"$0\")\" && pwd) && work=$(mktemp -d) &&\n");
    text.extend(b"cp -R -p \"$here/files/.\" \"$work\" && cd \"$work\" &&\n");
    if !scenario.directory.is_empty() {
        text.extend(b"cd ");
        text.extend(shell_quoted(&scenario.directory));
        text.extend(b" &&\n");
    }
    if let Some(umask) = scenario.umask {
        text.extend(format!("umask {umask:03o} &&\n").into_bytes());
    }
    if scenario.piped_stdin && !scenario.closed_stdin {
        text.extend(b"cat \"$here/stdin\" | ");
    }
    if let Some((name, _)) = ktest::layout(scenario) {
        let name = name.display();
        text.extend(format!("{}=\"$work/{name}\" ", ktest::VARIABLE).into_bytes());
    }
    for (name, value) in &scenario.env {
        text.extend(&name.0);
        text.push(b'=');
        text.extend(shell_quoted(value));
        text.push(b' ');
    }
    text.extend(shell_quoted(program.as_os_str().as_encoded_bytes()));
    for argument in &scenario.argv {
        text.push(b' ');
        text.extend(shell_quoted(argument));
    }
    text.extend(match (scenario.closed_stdin, scenario.piped_stdin) {
        (true, _) => &b" <&-"[..],
        (false, true) => b"",
        (false, false) => b" <\"$here/stdin\"",
    });
    text.extend(redirected("", "stdout", &scenario.stdout));
    text.extend(redirected("2", "stderr", &scenario.stderr));
    text.push(b'\n');
    text
}

/// How a shell is told what an output is. It has no words for a pipe that nobody reads.
fn redirected(number: &str, name: &str, sink: &Sink) -> Vec<u8> {
    let mut text = format!(" {number}").into_bytes();
    match sink {
        Sink::Read | Sink::Broken => return Vec::new(),
        Sink::Full => text.extend(b">/dev/full"),
        Sink::Closed => text.extend(b">&-"),
        Sink::File(file) if file.path.is_empty() => {
            text.extend(format!(">\"$here/{name}\"").bytes());
        }
        Sink::File(file) => {
            text.extend(if file.keeps() { &b">>"[..] } else { b">" });
            text.extend(b"\"$work\"/");
            text.extend(shell_quoted(&file.path));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_exec::finding::{Kind, Location, Problem};
    use std::process::Command;

    fn finding(argument: &str) -> Finding {
        let scenario = Scenario {
            argv: vec!["-c".into(), "cat in; echo \"$0\"".into(), argument.into()],
            files: [("in".into(), "from the file\n".into())].into(),
            ..Scenario::default()
        };
        Finding {
            problem: Problem::new(
                Kind::OutOfBounds,
                "heap-buffer-overflow".into(),
                Some(Location {
                    file: "dir/a b.c".into(),
                    line: 12,
                }),
            ),
            scenario,
            ending: Ending::default(),
            depth: 3,
        }
    }

    #[test]
    fn a_finding_can_be_run_again_by_its_script() {
        let root = tempfile::tempdir().unwrap();
        let archive = Archive::open(root.path()).unwrap();
        let directory = archive
            .add_finding(&finding("it's"), Path::new("/bin/sh"))
            .unwrap();
        assert_eq!(directory.file_name().unwrap(), "out-of-bounds-a_b.c-12");
        let output = Command::new(directory.join("run.sh")).output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "from the file\nit's\n"
        );
    }

    #[test]
    fn a_smaller_input_replaces_the_one_before() {
        let root = tempfile::tempdir().unwrap();
        let archive = Archive::open(root.path()).unwrap();
        let first = archive
            .add_finding(&finding("long"), Path::new("/bin/sh"))
            .unwrap();
        let second = archive
            .add_finding(&finding("s"), Path::new("/bin/sh"))
            .unwrap();
        assert_eq!(first, second);
        let text = fs::read_to_string(second.join("scenario.json")).unwrap();
        assert_eq!(
            serde_json::from_str::<Scenario>(&text).unwrap(),
            finding("s").scenario
        );
    }

    #[test]
    fn the_same_test_is_kept_once() {
        let root = tempfile::tempdir().unwrap();
        let add = |scenario: &Scenario| {
            let archive = Archive::open(root.path()).unwrap();
            archive.add_test(scenario).unwrap()
        };
        let first = add(&Scenario::default());
        assert_eq!(add(&Scenario::default()), first);
        assert_ne!(add(&finding("x").scenario), first);
        let text = fs::read_to_string(first).unwrap();
        assert_eq!(
            serde_json::from_str::<Scenario>(&text).unwrap(),
            Scenario::default()
        );
    }
}
