//! A shell in a sandbox.

// Not every test uses all of it.
#![allow(dead_code)]

use std::fs;
use std::path::Path;

use parallax_exec::execute::{Executor, Settings};
use parallax_exec::run::{End, Outcome};
use parallax_exec::sandbox::{Policy, choose};
use parallax_scenario::Scenario;

/// A shell in a sandbox that was seen to hold.
pub struct Shell {
    pub executor: Executor,
    /// Outside: must stay as it is.
    pub outside: tempfile::TempDir,
}

pub const PRECIOUS: &str = "precious";

impl Shell {
    /// `None` if this machine has no sandbox to test.
    pub fn new(settings: Settings) -> Option<Shell> {
        if choose(Policy::Required).is_err() {
            return None;
        }
        // Shown in the sandbox even if it is below /tmp, which programs there have one of their own of.
        let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let settings = Settings {
            argv0: "sh".into(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            readable: vec![outside.path().to_owned()],
            ..settings
        };
        fs::create_dir(outside.path().join("home")).unwrap();
        fs::write(outside.path().join("home/file"), PRECIOUS).unwrap();
        let executor = Executor::new(Path::new("/bin/sh"), settings).unwrap();
        let mut shell = Shell { executor, outside };
        let marker = shell.outside.path().join("marker");
        let attempt = shell.run(&format!("echo x > {}", marker.display()));
        assert_ne!(attempt.end, End::Exit(0), "the sandbox does not hold");
        assert!(!marker.exists(), "the sandbox does not hold");
        Some(shell)
    }

    pub fn run(&mut self, script: &str) -> Outcome {
        self.run_with(script, Scenario::default())
    }

    pub fn run_with(&mut self, script: &str, scenario: Scenario) -> Outcome {
        let scenario = Scenario {
            argv: vec![b"-c".into(), script.as_bytes().into()],
            ..scenario
        };
        self.executor.run(&scenario, &[]).unwrap()
    }

    pub fn outside(&self) -> &Path {
        self.outside.path()
    }

    /// Whatever happened, nothing outside may have changed.
    pub fn assert_nothing_changed(&self) {
        let file = self.outside().join("home/file");
        assert_eq!(fs::read_to_string(file).unwrap(), PRECIOUS);
        assert_eq!(fs::read_dir(self.outside()).unwrap().count(), 1);
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
