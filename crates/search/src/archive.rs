//! Inputs kept on disk: tests worth having, and findings ready to be run again.
//!
//! Everything appears by rename, so that whoever looks sees whole files, and a killed run loses nothing that
//! it had reported.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use parallax_exec::execute::lay_out;
use parallax_exec::finding::Finding;
use parallax_files::{replace, write_whole};
use parallax_scenario::commands::script_run;
use parallax_scenario::{Bytes, Ending, Scenario, shell_word};

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
        let target = self.findings_directory().join(finding.id());
        let write = |fresh: &Path| -> io::Result<()> {
            fs::create_dir(fresh)?;
            let scenario = serde_json::to_vec_pretty(&finding.scenario)?;
            fs::write(fresh.join("scenario.json"), scenario)?;
            let about = About {
                program: program.as_os_str().as_encoded_bytes().into(),
                kind: finding.problem.kind.name().to_owned(),
                message: finding.problem.message.clone(),
                result: finding.ending.clone(),
            };
            fs::write(fresh.join(ABOUT), serde_json::to_vec_pretty(&about)?)?;
            let files = fresh.join("files");
            fs::create_dir(&files)?;
            lay_out(&files, &finding.scenario).map_err(io::Error::other)?;
            fs::write(fresh.join("stdin"), &finding.scenario.stdin.0)?;
            let script = fresh.join("run.sh");
            fs::write(&script, run_script(&finding.scenario, program))?;
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
        };
        replace(&target, write).map_err(|source| self.error(source))?;
        Ok(target)
    }
}

/// A script that runs the program on a fresh copy of the files.
fn run_script(scenario: &Scenario, program: &Path) -> String {
    let mut text =
        "#!/bin/sh\n# Runs the program on this input, in a copy of its files.\n".to_owned();
    for place in scenario.elsewhere.keys() {
        let place = place.escape_ascii();
        text.push_str(&format!(
            "# It also needs files in {place}: see scenario.json.\n"
        ));
    }
    let program = shell_word(program.as_os_str().as_encoded_bytes());
    text.push_str(&format!(
        "program={program}\n\
         work=$(cd \"$(dirname \"$0\")\" && pwd) && root=$(mktemp -d) &&\n\
         cp -R -p \"$work/files/.\" \"$root\" && cd \"$root\" || exit 99\n"
    ));
    text.push_str(&script_run(scenario, false));
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
