//! What Parallax gives to shells and to git: completions, manual pages, the hook.

mod support;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use support::{Folder, git};

#[test]
fn bash_takes_the_completions() {
    let folder = Folder::new();
    let (script, _) = folder.expect(0, &["completions", "bash"]);
    folder.file("script", &script);
    let asked = "source ./script && COMP_WORDS=(parallax div) COMP_CWORD=1 && _parallax parallax div parallax && echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["-c", asked])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "diverge");
    for shell in ["zsh", "fish"] {
        let (script, _) = folder.expect(0, &["completions", shell]);
        assert!(script.contains("diverge"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    folder.expect(0, &["man", "man"]);
    for name in ["parallax.1", "parallax-check.1", "parallax-scenario-add.1"] {
        let page = fs::read_to_string(folder.path().join("man").join(name)).unwrap();
        assert!(page.contains(".TH ") && page.contains(".SH NAME"), "{name}");
    }
    folder.file("taken", "");
    let (_, said) = folder.expect(2, &["man", "taken"]);
    assert!(said.contains("cannot write to taken"), "{said}");
}

/// Runs the hook in a repository, with a `parallax` that writes down its arguments and ends with this code. What the hook ended with
/// and what was written down.
fn push(folder: &Folder, code: i32, line: &str) -> (i32, String) {
    let asked = folder.path().join("asked");
    let _ = fs::remove_file(&asked);
    let stub = format!(
        "#!/bin/sh\necho \"$@\" >> {}\nexit {code}\n",
        asked.display()
    );
    fs::create_dir_all(folder.path().join("bin")).unwrap();
    let stub = folder.file("bin/parallax", &stub);
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let hook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/pre-push");
    let path = format!("{}:/usr/bin:/bin", folder.path().join("bin").display());
    let mut child = Command::new("bash")
        .arg(hook)
        .args(["origin", "nowhere"])
        .current_dir(folder.path())
        .env("PATH", path)
        .env_remove("PARALLAX_BUDGET")
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{line}").unwrap();
    drop(input);
    let status = child.wait().unwrap();
    (
        status.code().unwrap(),
        fs::read_to_string(asked).unwrap_or_default(),
    )
}

#[test]
fn the_hook_checks_what_is_pushed() {
    let folder = Folder::new();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    for name in ["one", "two"] {
        folder.file(name, name);
        git(folder.path(), &["add", name]);
        git(folder.path(), &["commit", "-q", "-m", name]);
    }
    let id = |name: &str| {
        let output = Command::new("git")
            .args(["rev-parse", name])
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (old, new) = (id("HEAD~1"), id("HEAD"));
    let line = format!("refs/heads/main {new} refs/heads/main {old}");
    let asked = format!("check {old}..{new} --budget 1m\n");
    assert_eq!(push(&folder, 0, &line), (0, asked.clone()));
    assert_eq!(push(&folder, 1, &line), (1, asked.clone()));
    // What does not build cannot be checked, and is no reason not to push.
    assert_eq!(push(&folder, 125, &line), (0, asked));
    let none = "0".repeat(40);
    let removed = format!("(delete) {none} refs/heads/main {old}");
    assert_eq!(push(&folder, 1, &removed), (0, String::new()));
    // A new branch without anything to compare it with.
    let fresh = format!("refs/heads/main {new} refs/heads/main {none}");
    assert_eq!(push(&folder, 1, &fresh), (0, String::new()));
}
