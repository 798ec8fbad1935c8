//! Errors that come from the machine: what it forbids, lacks or has no room for. Each says what happened, why, and what to do.

mod support;

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Folder, PARALLAX, assert_contains, expect, in_own_namespace, parts, says};

const PROGRAM: &str = "int main(void) { return 0; }\n";
const MAKEFILE: &str = "CC = gcc\nprog: prog.c\n\t$(CC) -g -o prog prog.c\ncheck: prog\n\t./prog\n";

fn project() -> Folder {
    Folder::project(MAKEFILE, PROGRAM)
}

/// Makes ptrace(2) fail as it does in containers that forbid it.
fn without_tracing(mut command: Command) -> Command {
    let op = |code: u32, jt, jf, k: u32| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let filter = [
        // The number of the call is the first thing that a filter is given.
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        op(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            libc::SYS_ptrace as u32,
        ),
        op(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    // SAFETY: system calls only; the filter lives in the closure.
    unsafe {
        command.pre_exec(move || {
            let program = libc::sock_fprog {
                len: filter.len() as u16,
                filter: filter.as_ptr().cast_mut(),
            };
            let is_done = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0;
            match is_done {
                true => Ok(()),
                false => Err(io::Error::last_os_error()),
            }
        });
    }
    command
}

/// A folder of links to these tools, to be the only thing on `PATH`.
fn only(folder: &Folder, tools: &[&str]) -> PathBuf {
    let bin = folder.path().join(format!("bin-{}", tools.len()));
    fs::create_dir(&bin).unwrap();
    for tool in tools {
        let folders = std::env::var_os("PATH").unwrap();
        let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(tool));
        let found = paths.find(|path| path.is_file()).expect(tool);
        symlink(found, bin.join(tool)).unwrap();
    }
    bin
}

#[test]
fn recording_where_tracing_is_forbidden_says_how_to_allow_it() {
    let folder = project();
    for words in [
        &["record"][..],
        &["record", "-C", ".", "--program", "prog.c", "--", "true"],
    ] {
        says(
            without_tracing(folder.command(words)),
            70,
            &["cannot trace the test command", "Operation not permitted"],
            &["ptrace", "docker run"],
        );
    }
    let (text, _) = expect(1, without_tracing(folder.command(&["doctor"])));
    assert_contains(
        &text,
        &["missing  recording (ptrace)", "Operation not permitted"],
    );
}

#[test]
fn a_full_disk_is_said_by_every_step() {
    let folder = project();
    folder.expect(0, &["build"]);
    let state = folder.path().join(".parallax");
    fs::rename(&state, folder.path().join("built")).unwrap();
    fs::create_dir(&state).unwrap();
    // What is written must not be part of the source: that would be another one to build.
    let script = format!(
        "mount -t tmpfs -o size=4k none .parallax || exit 77
         {PARALLAX} build 2> .git/build.error; echo $? >> .git/codes
         {PARALLAX} check HEAD.. 2> .git/check.error; echo $? >> .git/codes
         mount -o remount,size=16k .parallax || exit 78
         {PARALLAX} build 2> .git/git.error; echo $? >> .git/codes
         mount -o remount,size=100m .parallax || exit 78
         cp -a built/. .parallax/
         {PARALLAX} build 2> .git/again.error || exit 79
         rest=$(df --output=avail -k .parallax | tail -1)
         head -c $((rest * 1024 - 60000)) /dev/zero > .parallax/filling
         {PARALLAX} record 2> .git/record.error; echo $? >> .git/codes
         {PARALLAX} build > /dev/full 2> .git/output.error; echo $? >> .git/codes"
    );
    let Some((code, text)) = in_own_namespace(folder.path(), &script) else {
        return;
    };
    assert_eq!(code, 0, "{text}");
    let read = |name: &str| fs::read_to_string(folder.path().join(".git").join(name)).unwrap();
    let expected: &[(&str, &str, &str)] = &[
        ("build.error", "No space left on device", "make room"),
        ("check.error", "No space left on device", "make room"),
        ("git.error", "git worktree failed", "is there room"),
        ("record.error", "no room for the store", "make room"),
        ("output.error", "cannot write to standard output", "room"),
    ];
    for (file, what, hint) in expected {
        let error = read(file);
        let (wrong, to_do) = parts(&error);
        assert_contains(wrong, &[what]);
        assert_contains(to_do, &[hint]);
    }
    assert_eq!(read("codes"), "70\n70\n2\n70\n70\n");
}

#[test]
fn files_that_are_limited_are_told_of_instead_of_dying_from_it() {
    let folder = project();
    folder.expect(0, &["build"]);
    let mut command = folder.command(&["record"]);
    let limit = libc::rlimit {
        rlim_cur: 16 << 10,
        rlim_max: 16 << 10,
    };
    // SAFETY: a system call only.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
    says(command, 70, &["store"], &["ulimit -f"]);
}

#[test]
fn a_store_of_a_later_version_is_left_alone() {
    let folder = project();
    folder.expect(0, &["record"]);
    let database = folder.path().join(".parallax/store.sqlite");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute("INSERT INTO migration VALUES (99, 0)", [])
        .unwrap();
    drop(connection);
    for command in ["record", "scenarios"] {
        says(
            folder.command(&[command]),
            2,
            &["was made by a later parallax", "99"],
            &["parallax clean --store"],
        );
    }
    // What is said to do helps.
    folder.expect(0, &["clean", "--store", "--yes"]);
    folder.expect(0, &["record"]);
}

#[test]
fn without_a_shell_nothing_is_built_and_that_is_said() {
    let folder = project();
    let bin = only(&folder, &["git"]);
    let mut command = folder.command(&["build"]);
    command.env("PATH", &bin);
    says(
        command,
        3,
        &["shell", "cannot be started", "No such file", "$ make"],
        &["sh: is it installed, and on PATH"],
    );
    folder.expect(0, &["build"]);
    let mut command = folder.command(&["record"]);
    command.env("PATH", &bin);
    says(
        command,
        3,
        &["cannot start sh", "No such file"],
        &["installed, and on PATH"],
    );
}

#[test]
fn without_git_that_is_what_is_said() {
    let folder = project();
    let bin = only(&folder, &["sh", "make"]);
    let mut command = folder.command(&["check"]);
    command.env("PATH", &bin);
    says(
        command,
        2,
        &["git does not work in", "git is not installed"],
        &["it has to be installed"],
    );
    let mut command = folder.command(&["doctor"]);
    command.env("PATH", &bin);
    let (text, _) = expect(1, command);
    assert_contains(&text, &["missing  git", "apt-get install git"]);
}

#[test]
fn without_a_place_for_its_own_files_that_is_what_is_said() {
    let folder = project();
    // Elsewhere: what lies in the project would be part of it.
    let elsewhere = Folder::new();
    let program = elsewhere.build("whole", PROGRAM);
    let program = elsewhere.path().join(program).display().to_string();
    let nowhere = folder.file("occupied", "").join("below");
    let temporary = tempfile::tempdir().unwrap();
    // SAFETY: no preconditions.
    let user = unsafe { libc::geteuid() };
    fs::write(temporary.path().join(format!("parallax-{user}")), "").unwrap();
    let homeless = |words: &[&str]| {
        let mut command = folder.command(words);
        command
            .env("XDG_CACHE_HOME", &nowhere)
            .env("TMPDIR", temporary.path());
        command
    };
    let mut variant = homeless(&["variant", &program]);
    variant.env("PARALLAX_CACHE", elsewhere.path().join("cache"));
    says(
        variant,
        3,
        &["cannot unpack Parallax's own files", "occupied/below"],
        &["XDG_CACHE_HOME"],
    );
    // The build itself must not break; that nothing came of it has this reason.
    says(
        homeless(&["build"]),
        3,
        &["not captured: cannot unpack", "XDG_CACHE_HOME"],
        &["mend what parallax-cc complains about"],
    );
    let (text, _) = expect(1, homeless(&["doctor"]));
    assert_contains(&text, &["missing  own files", "XDG_CACHE_HOME"]);
}

#[test]
fn doctor_fits_narrow_terminals_and_says_what_cannot_be_written() {
    let folder = Folder::new();
    let occupied = folder.file("occupied", "");
    let mut command = folder.command(&["doctor"]);
    command
        .env("COLUMNS", "40")
        .env("TERM", "dumb")
        .env("HOME", occupied.join("home"))
        .env_remove("XDG_CACHE_HOME");
    let (text, _) = expect(1, command);
    assert_contains(&text, &["missing  cache\n", "→ PARALLAX_CACHE names"]);
    // A single word, such as a path, may be longer.
    let is_long = |line: &&str| line.chars().count() > 40 && line.trim().contains(' ');
    assert_eq!(text.lines().find(is_long), None, "{text}");
    assert!(!text.contains('\x1b'), "{text:?}");
}

#[test]
fn a_build_that_is_interrupted_says_how_to_go_on() {
    let folder = project();
    let words = ["build", "--set", "build.build=\"touch ../begun; sleep 60\""];
    let mut command = folder.command(&words);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let is_begun = || {
        let builds = fs::read_dir(folder.path().join(".parallax/builds"));
        let mut builds = builds.into_iter().flatten().flatten();
        builds.any(|build| build.path().join("begun").exists())
    };
    while !is_begun() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "it does not begin"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // SAFETY: a signal to a child that has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let error = String::from_utf8(output.stderr).unwrap();
    let (wrong, to_do) = parts(&error);
    assert_contains(wrong, &["was ended before it was done"]);
    assert_contains(to_do, &["run the same again"]);
}

#[test]
fn how_children_end_is_seen_also_where_nobody_asks() {
    let folder = project();
    for words in [&["build"][..], &["record"]] {
        let mut command = folder.command(words);
        // SAFETY: a system call only.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGCHLD, libc::SIG_IGN);
                Ok(())
            });
        }
        expect(0, command);
    }
}
