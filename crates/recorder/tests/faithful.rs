//! Tests see nothing of being recorded.

mod support;

use parallax_recorder::End;
use support::{CAT, Project, bytes};

/// Runs a line recorded and plainly, and compares what it prints.
fn same(project: &Project, line: &str) {
    let into = |name: &str| format!("exec > {} 2>&1; {line}", project.path(name).display());
    let read = |name: &str| std::fs::read_to_string(project.path(name)).unwrap();
    let plain = project.plain(&into("plain"));
    let recorded = project.record(&["sh", "-c", &into("recorded")]);
    assert_eq!(
        recorded.summary.end,
        plain.status.code().map(End::Exit),
        "{line}"
    );
    assert_eq!(read("recorded"), read("plain"), "{line}");
}

#[test]
fn exit_codes_signals_and_streams_are_the_programs_own() {
    let mut project = Project::new();
    project.program("cat", CAT);
    project.program(
        "act",
        r#"
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static void caught(int s) { printf("caught %d\n", s); fflush(stdout); }
        int main(int argc, char **argv) {
            char *what = argv[1];
            if (!strcmp(what, "exit")) return atoi(argv[2]);
            if (!strcmp(what, "kill")) raise(atoi(argv[2]));
            if (!strcmp(what, "tty")) printf("%d %d %d\n", isatty(0), isatty(1), isatty(2));
            if (!strcmp(what, "parent")) printf("%d\n", getppid() == atoi(argv[2]));
            if (!strcmp(what, "wait")) { signal(SIGTERM, caught); signal(SIGUSR1, caught); pause(); pause(); }
            if (!strcmp(what, "name")) puts(argv[0]);
            if (!strcmp(what, "endless")) for (;;) puts("y");
            return 0;
        }"#,
    );
    project.write("in", "x\n");
    for line in [
        "./act exit 7; echo $?",
        "./act kill 11; echo $?",
        "./act kill 9; echo $?",
        "./act tty </dev/null | ./cat",
        "./act parent $$",
        "./act wait & sleep 0.3; kill -TERM $!; sleep 0.2; kill -USR1 $!; wait $!; echo $?",
        "./act wait & sleep 0.3; kill -STOP $!; sleep 0.1; kill -TERM $!; sleep 0.1; echo still; kill -CONT $!; sleep 0.3; kill -USR1 $!; wait $!; echo $?",
        "(exec -a other ./act name) 2>/dev/null || bash -c 'exec -a other ./act name'",
        "./act endless | head -n 3",
        "{ ./act endless; echo $? >&2; } | head -n 1",
        "./cat < in > out; ./cat out none; echo $?",
        "trap 'echo trapped' TERM; ./act exit 0; kill -TERM $$; echo after",
        "timeout 0.3 ./act wait-for-nothing; timeout 0.3 ./act endless >/dev/null; echo $?",
        "grep -E 'Seccomp_filters|NoNewPrivs' /proc/self/status",
    ] {
        same(&project, line);
    }
}

#[test]
fn being_recorded_leaves_no_trace_in_the_file_system() {
    let mut project = Project::new();
    project.program(
        "look",
        r#"
        #include <dirent.h>
        #include <stdio.h>
        #include <sys/stat.h>
        int main() {
            struct stat st;
            stat("file", &st); printf("%ld\n", st.st_atime);
            DIR *d = opendir("dir"); 
            stat("file", &st); printf("%ld\n", st.st_atime);
            stat("dir", &st); printf("%ld\n", st.st_atime);
            return 0;
        }"#,
    );
    let set = "mkdir -p dir; echo x > file; touch -d @1000000 file dir;";
    same(
        &project,
        &format!("{set} ./look; ./look; stat -c %X file dir"),
    );
}

#[test]
fn threads_and_processes_of_programs_are_followed() {
    let mut project = Project::new();
    project.program(
        "work",
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        #include <spawn.h>
        #include <sys/wait.h>
        #include <pthread.h>
        extern char **environ;
        static void *reads(void *name) { FILE *f = fopen(name, "r"); printf("%c\n", getc(f)); fflush(stdout); return 0; }
        int main() {
            pthread_t t[3]; char *names[] = {"a", "b", "c"};
            for (int i = 0; i < 3; i++) { pthread_create(&t[i], 0, reads, names[i]); pthread_join(t[i], 0); }
            if (!fork()) { reads("d"); _exit(0); }
            wait(0);
            pid_t pid; char *args[] = {"cat", "e", 0};
            posix_spawnp(&pid, "cat", 0, 0, args, environ);
            waitpid(pid, 0, 0);
            return 0;
        }"#,
    );
    // Old C libraries have threads in a library of their own.
    for name in ["a", "b", "c", "d", "e"] {
        project.write(name, format!("{name}\n"));
    }
    let run = project.sh("./work").only();
    assert_eq!(run.scenario.files.len(), 5);
    assert_eq!(run.result.stdout, bytes("a\nb\nc\nd\ne\n"));
}

#[test]
fn debuggers_work_as_ever() {
    let strace = std::process::Command::new("strace").arg("-V").output();
    if !strace.is_ok_and(|output| output.status.success()) {
        return;
    }
    let mut project = Project::new();
    project.program("cat", CAT);
    project.program(
        "run",
        "#include <unistd.h>\nint main(int n, char **v) { return execvp(v[1], v + 1); }",
    );
    project.write("in", "x\n");
    let recording = project.sh(
        "strace -o log ./cat in && grep -q execve log && ./run strace -o log2 ./cat in && grep -q execve log2",
    );
    assert_eq!(recording.runs.len(), 0);
    let skipped = &recording.summary.skipped;
    assert_eq!(skipped["a debugger ran it"], 2);
    assert_eq!(skipped["it runs a debugger"], 1);
}

#[test]
fn processes_that_are_left_behind_do_not_keep_the_recording_from_ending() {
    let mut project = Project::new();
    project.program(
        "hang",
        "#include <unistd.h>\nint main() { for (;;) pause(); }",
    );
    let began = std::time::Instant::now();
    let recording = project.sh("./hang & sleep 100 & exit 0");
    assert!(began.elapsed().as_secs() < 10);
    assert_eq!(recording.summary.ended, 1);
}

#[test]
fn what_the_tests_cannot_start_is_said() {
    let project = Project::new();
    let error = project.try_record(&["/no/such/command"]).unwrap_err();
    assert!(error.to_string().contains("/no/such/command"), "{error}");
}
