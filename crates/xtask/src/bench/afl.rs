//! AFL++, which native runs are measured against: its builds of coreutils, and its runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use parallax_torture::process;

use super::{Bench, TIMEOUT};
use crate::coreutils::{processors, step};

/// What to do if it is not there.
pub(super) const MISSING: &str =
    "skipped: afl-fuzz and afl-clang-fast are not installed (Debian: apt-get install afl++)";

/// Checks of the machine that do not matter here, and what belongs on a terminal.
const SETTINGS: [&str; 5] = [
    "AFL_NO_UI",
    "AFL_SKIP_CPUFREQ",
    "AFL_NO_AFFINITY",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
    "AFL_QUIET",
];

/// What AFL++ is asked to do.
pub(super) struct Fuzzing<'f> {
    pub program: &'f Path,
    pub arguments: &'f [&'f str],
    /// Loaded into the program.
    pub preload: Option<&'f Path>,
    /// Inputs to start from.
    pub seeds: Vec<Vec<u8>>,
    pub seconds: u32,
}

/// What it did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fuzzed {
    pub executions: f64,
    /// By its own clock.
    pub per_second: f64,
    /// Of all its processes.
    pub cpu: Duration,
}

pub(super) fn is_installed() -> bool {
    let is_there = |name: &str| {
        let mut command = Command::new(name);
        let command = command.arg("--version").stdout(Stdio::null());
        command.stderr(Stdio::null()).status().is_ok()
    };
    is_there("afl-fuzz") && is_there("afl-clang-fast")
}

/// Fuzzes a program, in a folder of its own.
pub(super) fn fuzz(folder: &Path, fuzzing: &Fuzzing<'_>) -> Result<Fuzzed> {
    fs::create_dir_all(folder)?;
    let folder = tempfile::tempdir_in(folder)?;
    let (seeds, found) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir(&seeds)?;
    for (number, seed) in fuzzing.seeds.iter().enumerate() {
        fs::write(seeds.join(format!("{number:02}")), seed)?;
    }
    let mut command = Command::new("afl-fuzz");
    command
        .args(["-V", &fuzzing.seconds.to_string(), "-i"])
        .arg(&seeds)
        .arg("-o")
        .arg(&found)
        .arg("--")
        .arg(fuzzing.program)
        .args(fuzzing.arguments)
        .envs(SETTINGS.map(|name| (name, "1")))
        .stdin(Stdio::null());
    if let Some(preload) = fuzzing.preload {
        command.env("AFL_PRELOAD", preload);
    }
    let finished = process::run(&mut command, TIMEOUT)?;
    ensure!(
        finished.success(),
        "afl-fuzz: {:?} {}",
        finished.end,
        String::from_utf8_lossy(&finished.stdout)
    );
    let stats = fs::read_to_string(found.join("default/fuzzer_stats"))?;
    let number = |wanted: &str| {
        let mut lines = stats.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(name, _)| name.trim() == wanted);
        let number = found.and_then(|(_, value)| value.trim().parse::<f64>().ok());
        number.with_context(|| format!("AFL++ tells no {wanted}"))
    };
    Ok(Fuzzed {
        executions: number("execs_done")?,
        per_second: number("execs_per_sec")?,
        cpu: finished.cpu,
    })
}

impl Bench<'_> {
    /// A program of coreutils, instrumented by AFL++ as by coverage counters of clang's.
    pub(super) fn afl_build(&self, program: &str) -> Result<PathBuf> {
        let build = self.place.folder("afl")?;
        let log = fs::File::create(build.join("log"))?;
        let run = |mut command: Command, what: &str| {
            command
                .env("AFL_CC", "clang-19")
                .env("AFL_LLVM_INSTRUMENT", "LLVM-NATIVE")
                .env("AFL_QUIET", "1")
                .current_dir(&build)
                .stdout(log.try_clone()?)
                .stderr(log.try_clone()?);
            step(&mut command, what)
        };
        let source = self.place.build_tree().with_file_name("source");
        if !build.join("Makefile").exists() {
            let mut configure = self.place.command(source.join("configure"));
            configure
                .args(["--with-openssl=no", "--without-libgmp"])
                .env("CC", "afl-clang-fast");
            run(configure, "configure for AFL++")?;
        }
        let made = build.join("src").join(program);
        if !made.exists() {
            let mut make = self.place.command("make");
            make.args(["SUBDIRS=.", &format!("-j{}", processors())]);
            run(make, "make for AFL++")?;
        }
        Ok(made)
    }
}
