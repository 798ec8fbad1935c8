//! A folder to build programs in, and `parallax` run as a user runs it.

// Each test file uses its own part of this.
#![allow(dead_code)]

pub mod sarif;
pub mod schema;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Of the binary under test.
pub const PARALLAX: &str = env!("CARGO_BIN_EXE_parallax");

/// A temporary folder.
pub struct Folder {
    directory: TempDir,
}

impl Folder {
    pub fn new() -> Folder {
        Folder {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// A project of one commit, with one source, as `parallax init` sets it up.
    pub fn project(makefile: &str, source: &str) -> Folder {
        let folder = Folder::new();
        folder.file("Makefile", makefile);
        folder.file("prog.c", source);
        folder.expect(0, &["init"]);
        git(folder.path(), &["init", "-q", "-b", "main"]);
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["commit", "-q", "-m", "first"]);
        folder
    }

    /// A project of two commits, each with its version of one source: `HEAD~1..HEAD` is the patch.
    pub fn patched(makefile: &str, old: &str, new: &str) -> Folder {
        let folder = Folder::new();
        folder.file("Makefile", makefile);
        folder.file(".gitignore", "prog\n.parallax/\n");
        folder.file("prog.c", old);
        folder.expect(0, &["init"]);
        git(folder.path(), &["init", "-q"]);
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["commit", "-q", "-m", "old"]);
        folder.file("prog.c", new);
        git(folder.path(), &["commit", "-q", "-a", "-m", "new"]);
        folder
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn file(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, contents).unwrap();
        path
    }

    /// Compiles a C program with the wrapper. Returns the program's name for use in this folder.
    pub fn build(&self, name: &str, source: &str) -> String {
        self.file(&format!("{name}.c"), source);
        let output = self.parallax(&["cc", "--", "-g", "-o", name, &format!("{name}.c")]);
        assert!(output.status.success(), "{}", text_of(&output.stderr));
        format!("./{name}")
    }

    /// Ready to run in this folder, not dependent on the user's settings. Variants and
    /// unpacked files are shared by all tests, as they are by all runs of a user.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PARALLAX);
        command
            .args(arguments)
            .current_dir(self.path())
            .env(
                "XDG_CACHE_HOME",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
            )
            .env("COLUMNS", "100")
            .env_remove("PARALLAX_CLANG")
            .env_remove("PARALLAX_CACHE")
            .stdin(Stdio::null());
        command
    }

    pub fn parallax(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs, expects an exit code, and gives both streams.
    pub fn expect(&self, code: i32, arguments: &[&str]) -> (String, String) {
        expect(code, self.command(arguments))
    }
}

/// Changes who may use a file.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// What files may be read and written does not hold for root, as long as it may override it.
pub fn without_privileges(mut command: Command) -> Command {
    // SAFETY: system calls only.
    unsafe {
        command.pre_exec(|| {
            const CAP_DAC_OVERRIDE: libc::c_ulong = 1;
            const CAP_DAC_READ_SEARCH: libc::c_ulong = 2;
            for capability in [CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH] {
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            }
            Ok(())
        });
    }
    command
}

/// Runs git in a folder, not dependent on the user's settings.
pub fn git(folder: &Path, words: &[&str]) {
    git_output(folder, words);
}

/// Likewise; what it prints, without the newline at the end.
pub fn git_output(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    text_of(&output.stdout).trim_end().to_owned()
}

/// Runs, expects an exit code, and gives both streams.
pub fn expect(code: i32, mut command: Command) -> (String, String) {
    let output = command.output().unwrap();
    let streams = (text_of(&output.stdout), text_of(&output.stderr));
    assert_eq!(
        output.status.code(),
        Some(code),
        "{command:?}\nstdout:\n{}\nstderr:\n{}",
        streams.0,
        streams.1
    );
    streams
}

pub fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a script in a user namespace of its own, where it may mount file systems; `None` where that is not allowed.
#[expect(
    clippy::print_stderr,
    reason = "a test that does nothing has to say so"
)]
pub fn in_own_namespace(directory: &Path, script: &str) -> Option<(i32, String)> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command
    };
    if !unshare("true")
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("skipped: namespaces are not permitted here");
        return None;
    }
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");
    let output = unshare(script)
        .current_dir(directory)
        .env("XDG_CACHE_HOME", cache)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = text_of(&output.stdout) + &text_of(&output.stderr);
    Some((output.status.code().unwrap_or(-1), text))
}

/// Both parts of an error: what is wrong and why, and what to do.
pub fn parts(error: &str) -> (&str, &str) {
    let error = &error[error.find("error:").expect(error)..];
    error
        .split_once("hint:")
        .unwrap_or_else(|| panic!("nothing to do is said: {error}"))
}

/// Runs, and expects an error that has both parts.
#[track_caller]
pub fn says(command: Command, exit: i32, what: &[&str], hint: &[&str]) {
    let (_, error) = expect(exit, command);
    let (wrong, to_do) = parts(&error);
    assert_contains(wrong, what);
    assert_contains(to_do, hint);
}

/// All parts are in the text, in any order.
#[track_caller]
pub fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}
