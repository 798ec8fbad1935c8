//! Programs that hang, eat memory, kill, delete and detach: the trace up to there is shown,
//! the exit code is 0, and nothing is left behind.

mod support;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::{Folder, assert_contains, expect};

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn alive(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

const BRANCH_FIRST: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int sink;
static void look(const char *text) { if (text[0] == 'A') sink = 1; }
"#;

fn program(folder: &Folder, name: &str, main: &str) -> String {
    folder.build(
        name,
        &format!("{BRANCH_FIRST}\nint main(int argc, char **argv) {{ look(argv[1]); {main} }}\n"),
    )
}

#[test]
fn a_program_that_hangs_is_stopped_and_its_trace_shown() {
    let folder = Folder::new();
    let program = program(&folder, "hang", "for (;;) pause();");
    let (text, _) = folder.expect(0, &["trace", &program, "--timeout", "0.5", "--", "ABC"]);
    assert_contains(&text, &["did not end within 500 ms", "in look", "true"]);
    let (text, _) = folder.expect(
        0,
        &["trace", &program, "--timeout", "0.5", "--json", "--", "B"],
    );
    let report = json(&text);
    assert_eq!(report["result"]["end"], "timeout");
    assert_eq!(report["result"]["exit"], serde_json::Value::Null);
    assert_eq!(report["branches"][0]["taken"], false);
}

#[test]
fn a_program_that_eats_memory_is_stopped() {
    let folder = Folder::new();
    let program = program(
        &folder,
        "eat",
        "for (;;) { char *p = malloc(1 << 20); if (p) memset(p, 1, 1 << 20); }",
    );
    let (text, _) = folder.expect(0, &["trace", &program, "--memory", "200M", "--", "A"]);
    assert_contains(&text, &["used more than 200 MiB", "in look"]);
}

#[test]
fn a_program_that_kills_its_process_group_kills_only_itself() {
    let folder = Folder::new();
    let program = program(&folder, "killer", "kill(0, SIGKILL); return 0;");
    let (text, _) = folder.expect(0, &["trace", &program, "--", "A"]);
    assert_contains(&text, &["was killed by SIGKILL", "in look"]);
}

#[test]
fn a_program_that_crashes_leaves_its_trace() {
    let folder = Folder::new();
    let program = program(&folder, "crash", "*(volatile int *)0 = 1; return 0;");
    let (text, _) = folder.expect(0, &["trace", &program, "--json", "--", "A"]);
    let report = json(&text);
    assert_eq!(report["result"]["signal_name"], "SIGSEGV");
    assert_eq!(report["branches"][0]["taken"], true);
}

#[test]
fn a_program_may_delete_its_working_directory() {
    let folder = Folder::new();
    let program = program(
        &folder,
        "deleter",
        r#"char here[4096]; if (!getcwd(here, sizeof here)) return 3; return rmdir(here) ? 4 : 0;"#,
    );
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let absolute = folder.path().join(&program);
    let mut command = folder.command(&["trace", absolute.to_str().unwrap(), "--", "A"]);
    command.current_dir(&inside);
    let (text, _) = expect(0, command);
    assert_contains(&text, &["exit code 0", "in look"]);
    assert!(!inside.exists());
}

#[test]
fn a_daemon_is_ended_with_the_run() {
    let folder = Folder::new();
    let program = program(
        &folder,
        "daemon",
        r#"
        int pipes[2];
        if (pipe(pipes)) return 2;
        if (fork() == 0) {
            setsid();
            if (fork() == 0) {
                int fd = open("pid", O_WRONLY | O_CREAT, 0644);
                dprintf(fd, "%d", (int)getpid());
                close(fd);
                close(1); close(2);
                (void)!write(pipes[1], "x", 1);
                for (;;) pause();
            }
            _exit(0);
        }
        char ready;
        (void)!read(pipes[0], &ready, 1);
        return 0;"#,
    );
    let (text, _) = folder.expect(0, &["trace", &program, "--", "A"]);
    assert_contains(&text, &["exit code 0", "left behind"]);
    assert!(!alive(
        &fs::read_to_string(folder.path().join("pid")).unwrap()
    ));
}

#[test]
fn interrupting_parallax_ends_the_program_too() {
    interrupted_by(libc::SIGINT, Some(130));
}

#[test]
fn killing_parallax_ends_the_program_too() {
    interrupted_by(libc::SIGKILL, None);
}

fn interrupted_by(signal: i32, code: Option<i32>) {
    let folder = Folder::new();
    let program = program(
        &folder,
        "wait",
        r#"int fd = open("pid.new", O_WRONLY | O_CREAT, 0644);
        dprintf(fd, "%d", (int)getpid());
        rename("pid.new", "pid");
        for (;;) pause();"#,
    );
    let mut command = folder.command(&["trace", &program, "--timeout", "60", "--", "A"]);
    let mut running = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid_file = folder.path().join("pid");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !pid_file.exists() {
        assert!(Instant::now() < deadline, "the program did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = fs::read_to_string(&pid_file).unwrap();
    assert!(alive(&pid));
    // SAFETY: our own child, not waited for yet.
    unsafe { libc::kill(running.id() as i32, signal) };
    assert_eq!(running.wait().unwrap().code(), code);
    while alive(&pid) {
        assert!(Instant::now() < deadline, "the program is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Everything is in anonymous memory, so a full or missing `/dev/shm` does not matter.
#[test]
fn a_full_shared_memory_file_system_does_not_matter() {
    let folder = Folder::new();
    let program = program(&folder, "plain", "return 0;");
    // Derived beforehand, so that only tracing happens inside.
    folder.expect(0, &["variant", &program]);
    let mut inside = folder.command(&["trace", &program, "--self-check", "--", "A"]);
    // SAFETY: system calls on constant strings only.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut inside, || {
            let flags = libc::CLONE_NEWNS
                | if libc::geteuid() == 0 {
                    0
                } else {
                    libc::CLONE_NEWUSER
                };
            let failed = |result: libc::c_int| result != 0;
            if failed(libc::unshare(flags))
                || failed(libc::mount(
                    c"none".as_ptr(),
                    c"/".as_ptr(),
                    std::ptr::null(),
                    libc::MS_REC | libc::MS_PRIVATE,
                    std::ptr::null(),
                ))
                || failed(libc::mount(
                    c"tmpfs".as_ptr(),
                    c"/dev/shm".as_ptr(),
                    c"tmpfs".as_ptr(),
                    0,
                    c"size=4k".as_ptr().cast(),
                ))
            {
                return Err(std::io::Error::last_os_error());
            }
            let fd = libc::open(
                c"/dev/shm/full".as_ptr(),
                libc::O_WRONLY | libc::O_CREAT,
                0o600,
            );
            let page = [0_u8; 4096];
            libc::write(fd, page.as_ptr().cast(), page.len());
            libc::close(fd);
            Ok(())
        });
    }
    match inside.output() {
        // Where namespaces are not permitted, or in a chroot, whose root is no mount, this cannot be shown.
        Err(error) => assert!(
            matches!(
                error.kind(),
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::InvalidInput
            ),
            "{error}"
        ),
        Ok(output) => {
            let text = support::text_of(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{text}");
            assert_contains(&text, &["in look", "no mismatches"]);
        }
    }
}
