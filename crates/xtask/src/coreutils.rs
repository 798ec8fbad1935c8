//! Debian's coreutils, built with parallax-cc: what the other commands work on.
//!
//! coreutils' tests behave differently for root, and so does its configure. When we are
//! root, everything is therefore built and tested as `nobody`, in a place
//! that every user can reach, with a copy of the tool.

use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release that facts and known differences are about.
const SUITE: &str = "bookworm";

/// A built coreutils.
pub struct Place {
    work: PathBuf,
    user: User,
    tool: String,
}

/// Who builds and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    /// Ourselves: an ordinary user.
    Own,
    /// We are root and become nobody.
    Nobody,
}

impl Place {
    /// Builds coreutils below `work` unless a build by this very `parallax` is there.
    pub fn open(parallax: &Path, work: &Path, keep_build: bool) -> Result<Place> {
        let parallax = fs::canonicalize(parallax)
            .with_context(|| format!("{}: build it with `make build`", parallax.display()))?;
        fs::create_dir_all(work)?;
        let work = fs::canonicalize(work)?;
        // SAFETY: no preconditions.
        let user = match unsafe { libc::geteuid() } {
            0 => User::Nobody,
            _ => User::Own,
        };
        let tool = key_of(&parallax)?;
        let place = Place { work, user, tool };
        if place.user == User::Nobody {
            fs::set_permissions(&place.work, fs::Permissions::from_mode(0o755))?;
        }
        place.install_tool(&parallax)?;
        let current = place.work.join("built-with");
        let fresh = fs::read_to_string(&current).is_ok_and(|old| keep_build || old == place.tool);
        if !fresh {
            let _ = fs::remove_file(&current);
            place.build()?;
            fs::write(&current, &place.tool)?;
        }
        Ok(place)
    }

    /// The tool, where the user can reach it.
    pub fn parallax(&self) -> PathBuf {
        self.work.join("bin/parallax")
    }

    /// Changes when the tool does.
    pub fn tool_key(&self) -> &str {
        &self.tool
    }

    /// The build tree.
    pub fn build_tree(&self) -> PathBuf {
        self.work.join("build")
    }

    /// Where results and derived programs go.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.work.join(name);
        fs::create_dir_all(&folder)?;
        self.hand_over(&folder)?;
        Ok(folder)
    }

    /// The plain program, untouched by whatever happens in the build tree.
    pub fn program(&self, name: &str) -> PathBuf {
        self.work.join("plain").join(name)
    }

    /// Names of all programs.
    pub fn programs(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.work.join("plain"))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// A command that runs as the ordinary user, with a home and a cache of its own.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match self.user {
            User::Own => Command::new(program),
            User::Nobody => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"])
                    .arg(program);
                command
            }
        };
        command
            .env("HOME", self.work.join("home"))
            .env("XDG_CACHE_HOME", self.work.join("cache"))
            .env("LC_ALL", "C")
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .env_remove("POSIXLY_CORRECT")
            .current_dir(&self.work);
        command
    }

    fn install_tool(&self, parallax: &Path) -> Result<()> {
        for folder in ["home", "cache"] {
            self.folder(folder)?;
        }
        let bin = self.folder("bin")?;
        for name in ["parallax", "parallax-cc"] {
            let to = bin.join(name);
            // A running copy cannot be overwritten, but it can be replaced.
            let _ = fs::remove_file(&to);
            fs::copy(parallax, &to)?;
            fs::set_permissions(&to, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    fn build(&self) -> Result<()> {
        let source = debian_source()?;
        for stale in ["source", "build", "plain", "traced", "results"] {
            let path = self.work.join(stale);
            if path.exists() {
                fs::remove_dir_all(&path)?;
            }
        }
        let copy = self.work.join("source");
        step(Command::new("cp").arg("-a").arg(&source).arg(&copy), "copy")?;
        let build = self.folder("build")?;
        self.hand_over(&copy)?;
        let cc = self.work.join("bin/parallax-cc");
        let log = self.work.join("build.log");
        eprintln!(
            "building coreutils with CC={} (log: {})",
            cc.display(),
            log.display()
        );
        let output = fs::File::create(&log)?;
        // coreutils' own hash functions and big numbers rather than libraries that
        // happen to be installed: the same program everywhere, and all of it captured.
        step(
            self.command(copy.join("configure"))
                .args(["--with-openssl=no", "--without-libgmp"])
                .env("CC", &cc)
                .current_dir(&build)
                .stdout(output.try_clone()?)
                .stderr(output.try_clone()?),
            "configure",
        )?;
        // Without `po` and `gnulib-tests`, which hold none of the programs.
        step(
            self.command("make")
                .args(["SUBDIRS=.", &format!("-j{}", processors())])
                .current_dir(&build)
                .stdout(output.try_clone()?)
                .stderr(output),
            "make",
        )?;
        self.set_plain_aside()
    }

    /// Copies the programs out of the build tree.
    fn set_plain_aside(&self) -> Result<()> {
        let plain = self.folder("plain")?;
        for entry in fs::read_dir(self.build_tree().join("src"))? {
            let path = entry?.path();
            if is_program(&path)? {
                fs::copy(&path, plain.join(path.file_name().context("a name")?))?;
            }
        }
        let count = fs::read_dir(&plain)?.count();
        ensure!(count > 90, "only {count} programs came out of the build");
        self.hand_over(&plain)
    }

    /// Makes the ordinary user the owner.
    fn hand_over(&self, path: &Path) -> Result<()> {
        match self.user {
            User::Own => Ok(()),
            User::Nobody => step(
                Command::new("chown")
                    .args(["-R", "nobody:nogroup"])
                    .arg(path),
                "chown",
            ),
        }
    }
}

/// An executable of the build that is no helper of the build itself.
fn is_program(path: &Path) -> Result<bool> {
    let name = path.file_name().unwrap_or_default();
    if path.extension().is_some() || name == "make-prime-list" {
        return Ok(false);
    }
    let about = fs::symlink_metadata(path)?;
    if !about.is_file() || about.permissions().mode() & 0o111 == 0 {
        return Ok(false);
    }
    Ok(fs::read(path)?.starts_with(b"\x7fELF"))
}

/// Changes when the tool does.
fn key_of(parallax: &Path) -> Result<String> {
    let about = fs::metadata(parallax)?;
    let modified = about.modified()?.duration_since(std::time::UNIX_EPOCH)?;
    Ok(format!("{} {}", about.len(), modified.as_nanos()))
}

fn debian_source() -> Result<PathBuf> {
    let script = crate::root().join("scripts/debian-source");
    let output = Command::new(script)
        .args(["coreutils", SUITE])
        .stderr(std::process::Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "coreutils' source cannot be had");
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}

/// Number of processors, for `make -j`.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Runs a command that must succeed.
pub fn step(command: &mut Command, what: &str) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("{what}: {command:?}"))?;
    if !status.success() {
        bail!("{what} failed ({status}): {command:?}");
    }
    Ok(())
}
