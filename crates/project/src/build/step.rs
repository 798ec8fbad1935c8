//! One command of a build, its log, and what it says while it runs.
//!
//! A build asks whether to give up (`Builds::until`) and runs in a process group of its own, so that Ctrl-C ends everything that it started, also where the signal reaches
//! `parallax` alone.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::{BuildError, Event, FailedStep};
use crate::revision::Revision;

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepName {
    Bootstrap,
    Configure,
    Build,
}

impl StepName {
    pub fn name(self) -> &'static str {
        match self {
            StepName::Bootstrap => "bootstrap",
            StepName::Configure => "configure",
            StepName::Build => "build",
        }
    }

    /// The file that its output goes to.
    pub fn log(self) -> String {
        format!("{}.log", self.name())
    }
}

/// A command to be run.
pub(super) struct Step<'a> {
    pub revision: &'a Revision,
    pub name: StepName,
    /// For the shell.
    pub command: &'a str,
    pub directory: &'a Path,
    pub environment: &'a [(String, String)],
    pub logs: &'a Path,
    /// Whether to give up; if nobody asks for that, the command goes on to its end.
    pub stop: Option<&'a dyn Fn() -> bool>,
}

/// Set by a `make` around us for its own children, or by git for hooks; a build must not see them.
const REMOVED: &[&str] = &[
    "MAKEFLAGS",
    "MFLAGS",
    "MAKELEVEL",
    "MAKEOVERRIDES",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
];

/// How many of its last lines are shown when a command fails.
const LAST_LINES: usize = 20;
/// How much of the end of a log is read to find them.
const TAIL: u64 = 16 << 10;
const INTERVAL: Duration = Duration::from_millis(200);

impl Step<'_> {
    pub fn run(&self, watch: &mut dyn FnMut(&Event)) -> Result<(), BuildError> {
        let step = self.name.name();
        let log = self.logs.join(self.name.log());
        watch(&Event::Started {
            step,
            command: self.command,
        });
        let started = Instant::now();
        let mut child = self.start(&log)?;
        let status = self.wait(&mut child, &mut |line| {
            watch(&Event::Running {
                step,
                time: started.elapsed(),
                line: line.unwrap_or_else(|| last_lines(&log, 1).pop().unwrap_or_default()),
            });
        })?;
        if !status.success() {
            let last_lines = last_lines(&log, LAST_LINES);
            return Err(BuildError::Step(Box::new(FailedStep {
                revision: self.revision.label.clone(),
                step,
                command: self.command.to_owned(),
                status,
                errors: error_lines(&log, &last_lines),
                last_lines,
                log,
            })));
        }
        watch(&Event::Finished {
            step,
            time: started.elapsed(),
        });
        Ok(())
    }

    /// Output goes straight to the file: nothing is lost, whoever dies first.
    fn start(&self, log: &PathBuf) -> Result<Child, BuildError> {
        let file = File::create(log).map_err(BuildError::io(log))?;
        let second = file.try_clone().map_err(BuildError::io(log))?;
        let mut command = Command::new("sh");
        command
            .args(["-c", self.command])
            .current_dir(self.directory)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(second);
        for name in REMOVED {
            command.env_remove(name);
        }
        if self.stop.is_some() {
            // So that all that it started can be ended with it.
            command.process_group(0);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        // Safety: a single system call between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // A build that nobody waits for any more ends.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                Ok(())
            });
        }
        command.spawn().map_err(|error| BuildError::Shell {
            command: self.command.to_owned(),
            error,
        })
    }

    fn wait(
        &self,
        child: &mut Child,
        tell: &mut dyn FnMut(Option<String>),
    ) -> Result<ExitStatus, BuildError> {
        let failed = |error: io::Error| BuildError::Shell {
            command: self.command.to_owned(),
            error,
        };
        let mut pause = Duration::from_millis(5);
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(status);
            }
            if self.stop.is_some_and(|stop| stop()) {
                // Safety: the group that the child was made the leader of, and that it is not waited for yet.
                unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
                return child.wait().map_err(failed);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(INTERVAL);
            if pause == INTERVAL {
                tell(None);
            }
        }
    }
}

/// The last lines of a log that say something.
fn last_lines(log: &Path, count: usize) -> Vec<String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = fs::metadata(log)?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.trim_end().to_owned())
        .filter(|line| !line.is_empty())
        .rev()
        .take(count)
        .collect();
    lines.reverse();
    lines
}

/// The first lines of a log that compilers, linkers and configure scripts write when they give up, without those that are
/// shown anyway.
fn error_lines(log: &Path, shown: &[String]) -> Vec<String> {
    const SIGNS: &[&str] = &[
        ": error:",
        ": fatal error:",
        "undefined reference to",
        "multiple definition of",
        "CMake Error",
        "ERROR:",
    ];
    const MOST: usize = 8;
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .map(str::trim_end)
        .filter(|line| SIGNS.iter().any(|sign| line.contains(sign)))
        .filter(|line| !shown.iter().any(|other| other == line))
        .take(MOST)
        .map(str::to_owned)
        .collect()
}

/// The first lines of a log that `parallax-cc` wrote, each once: why it did not do more than the compiler.
pub(super) fn said_by_wrapper(log: &Path) -> Vec<String> {
    const MOST: usize = 4;
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut said: Vec<String> = Vec::new();
    for line in text
        .lines()
        .filter(|line| line.starts_with("parallax-cc: "))
    {
        if said.len() < MOST && !said.iter().any(|known| known == line) {
            said.push(line.to_owned());
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_wrapper_says_is_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let line = "parallax-cc: not captured: no room";
        fs::write(&log, format!("cc a.c\n{line}\ncc b.c\n{line}\n")).unwrap();
        assert_eq!(said_by_wrapper(&log), [line]);
    }

    #[test]
    fn the_last_lines_are_those_that_say_something() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let long = "x".repeat(3 * TAIL as usize);
        fs::write(&log, format!("{long}\nfirst\n\nsecond\nthird\n\n")).unwrap();
        assert_eq!(last_lines(&log, 2), ["second", "third"]);
        assert_eq!(last_lines(&log, 1), ["third"]);
        assert!(last_lines(&folder.path().join("none"), 3).is_empty());
    }

    #[test]
    fn errors_before_the_last_lines_are_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let text = "cc a.c\na.c:1:2: error: expected\na.c:3: warning: unused\ncc b.c\nb.c:7:1: error: late\n";
        fs::write(&log, text).unwrap();
        let shown = last_lines(&log, 2);
        assert_eq!(error_lines(&log, &shown), ["a.c:1:2: error: expected"]);
    }
}
