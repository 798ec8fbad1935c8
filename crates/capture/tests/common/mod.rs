//! A directory in which programs are built with `parallax-cc`, as a user would build them.

#![allow(dead_code)] // Each test binary uses its own part.

use parallax_capture::{Derived, Options, Program, Variant, derive, read_program};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub struct Project {
    directory: tempfile::TempDir,
}

impl Project {
    /// A directory with these files.
    pub fn new(files: &[(&str, &str)]) -> Project {
        let project = Project {
            directory: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            project.write(name, text);
        }
        let bin = project.path("bin");
        std::fs::create_dir(&bin).unwrap();
        for name in ["parallax-cc", "parallax-c++"] {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_parallax-cc"), bin.join(name)).unwrap();
        }
        project
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A shell that finds `parallax-cc` and shares this process's caches.
    pub fn shell(&self, script: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        Command::new("sh")
            .args(["-e", "-c", script])
            .current_dir(self.directory.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .output()
            .unwrap()
    }

    /// Runs a script that must succeed silently on standard error.
    pub fn build(&self, script: &str) {
        let output = self.shell(script);
        assert!(
            output.status.success(),
            "{script}\n{}",
            text(&output.stderr)
        );
        assert_eq!(text(&output.stderr), "", "{script}");
    }

    pub fn read(&self, program: &str) -> Program {
        read_program(&self.path(program)).unwrap()
    }

    /// Base names of the sources that the program carries, in link order.
    pub fn sources(&self, program: &str) -> Vec<String> {
        let modules = self.read(program).modules;
        let name = |source: &str| source.rsplit('/').next().unwrap().to_owned();
        modules
            .iter()
            .map(|module| name(&module.record.source))
            .collect()
    }

    pub fn derive(&self, program: &str, variant: Variant) -> Derived {
        self.try_derive(program, variant)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn try_derive(
        &self,
        program: &str,
        variant: Variant,
    ) -> Result<Derived, parallax_capture::DeriveError> {
        let options = Options {
            cache_dir: self.cache(),
            jobs: 2,
            progress: &|_progress| {},
        };
        derive(&self.read(program), variant, &options)
    }

    /// The project's own directory `cache` if it has one, otherwise one that all tests of this
    /// binary share: compiling the models anew for each would take most of the time.
    pub fn cache(&self) -> PathBuf {
        static SHARED: OnceLock<PathBuf> = OnceLock::new();
        let own = self.path("cache");
        if own.exists() {
            return own;
        }
        let shared = SHARED.get_or_init(|| {
            let name = std::env::current_exe()
                .unwrap()
                .file_name()
                .unwrap()
                .to_owned();
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            // What an earlier run left would only pile up: it names that run's directories.
            let _ = std::fs::remove_dir_all(&path);
            path
        });
        shared.clone()
    }

    /// Every variant of the program prints what the plain one prints.
    pub fn assert_variants_behave(&self, program: &str, arguments: &[&str]) {
        let plain = run(&self.path(program), arguments);
        for variant in [Variant::Traced, Variant::Checked, Variant::Covered] {
            let derived = self.derive(program, variant);
            let output = run(&derived.path, arguments);
            assert_eq!(
                text(&output.stdout),
                text(&plain.stdout),
                "{}",
                variant.name()
            );
            assert_eq!(output.status, plain.status, "{}", variant.name());
        }
    }
}

pub fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether a tool is on this machine.
pub fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}
