//! Everything that a program reads is input, whatever the way: files, pipes, sockets, the environment. Each
//! program is traced with the self-check on.

mod support;

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{Folder, expect, text_of};

/// A program in a folder, ready to be traced.
struct Bench {
    folder: Folder,
    program: String,
}

impl Bench {
    fn new(source: &str) -> Bench {
        let folder = Folder::new();
        let program = folder.build("prog", &format!("{PRELUDE}{source}"));
        Bench { folder, program }
    }

    fn with_file(self, name: &str, contents: &str) -> Bench {
        self.folder.file(name, contents);
        self
    }

    fn command(&self, symbolic: &str, arguments: &[&str]) -> Command {
        let mut all = vec!["trace", &self.program, "--self-check", "--json"];
        all.extend(["--symbolic", symbolic, "--"]);
        all.extend(arguments);
        self.folder.command(&all)
    }

    fn trace(&self, symbolic: &str, arguments: &[&str]) -> Value {
        report(self.command(symbolic, arguments))
    }
}

/// Runs; nothing may mismatch, and the program must not have failed its own checks (exit code 99).
fn report(command: Command) -> Value {
    let (text, _) = expect(0, command);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_ne!(report["result"]["exit"], 99, "{}", report["result"]);
    assert_eq!(report["result"]["signal"], Value::Null, "{report}");
    assert_eq!(report["mismatches"].as_array().unwrap().len(), 0);
    report
}

const PRELUDE: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
static int is(int c, int other) { if (c == other) return 1; return 0; }
#define MUST(condition) do { if (!(condition)) { perror(#condition); exit(99); } } while (0)
"#;

/// Conditions of the branches; the same one at the same place appears once.
fn conditions(report: &Value) -> Vec<String> {
    let branches = report["branches"].as_array().unwrap();
    let text = |branch: &Value| branch["condition"].as_str().unwrap().to_owned();
    branches.iter().map(text).collect()
}

#[track_caller]
fn assert_branches(report: &Value, expected: &[&str]) {
    assert_eq!(conditions(report), expected, "{}", report["losses"]);
}

fn losses(report: &Value) -> Vec<String> {
    let losses = report["losses"].as_array().unwrap();
    let name = |loss: &Value| loss["function"].as_str().unwrap_or_default().to_owned();
    losses.iter().map(name).collect()
}

/// Length and wanted bytes at which the input ended for a reader.
fn end_of(report: &Value, name: &str) -> Option<(u64, u64)> {
    let inputs = report["inputs"].as_array().unwrap();
    let input = inputs.iter().find(|input| input["name"] == name)?;
    let end = &input["end"];
    Some((end["length"].as_u64()?, end["wanted"].as_u64()?))
}

#[test]
fn every_system_call_that_reads_labels_the_same_bytes() {
    let report = Bench::new(
        r#"int main(void) {
            char a[3], b[3], c[3], d[3], e[3];
            int file = open("data", O_RDONLY), again = openat(AT_FDCWD, "data", O_RDONLY);
            MUST(read(file, a, 3) == 3 && lseek(file, 1, SEEK_SET) == 1 && read(file, b, 3) == 3);
            MUST(pread(dup(file), c, 3, 4) == 3);
            struct iovec parts[] = {{d, 1}, {d + 1, 2}}, one = {e, 3};
            MUST(readv(again, parts, 2) == 3 && preadv(again, &one, 1, 2) == 3);
            return is(a[0], 'x') + is(b[0], 'x') + is(c[0], 'x') + is(d[2], 'x') + is(e[1], 'x');
        }"#,
    )
    .with_file("data", "abcdefgh")
    .trace("files", &[]);
    let of = |offset: u32| format!("file(\"data\")[{offset}] == 'x'");
    let expected = [0, 1, 4, 2, 3].map(of);
    assert_branches(&report, &expected.each_ref().map(String::as_str));
    assert!(losses(&report).is_empty());
    assert_eq!(report["inputs"].as_array().unwrap().len(), 1);
}

#[test]
fn every_function_that_reads_a_stream_labels_the_same_bytes() {
    let report = Bench::new(
        r#"int main(void) {
            FILE *a = fopen("data", "r"), *b = fdopen(open("data", O_RDONLY), "r");
            FILE *c = freopen("data", "r", stdin);
            MUST(a && b && c);
            char line[20], *grown = NULL;
            size_t room = 0;
            MUST(fgets(line, sizeof line, a) == line);
            int first = is(line[0], 'x');
            MUST(fread(line, 1, 2, b) == 2);
            int second = is(line[1], 'x'), third = is(getc(c), 'x');
            MUST(fseek(a, 5, SEEK_SET) == 0 && getline(&grown, &room, a) > 0);
            MUST(ungetc(getchar(), stdin) != EOF);
            return first + second + third + is(grown[1], 'x') + is(getchar(), 'x');
        }"#,
    )
    .with_file("data", "abcd\nefgh\n")
    .trace("files", &[]);
    let mut found = conditions(&report);
    found.retain(|condition| condition.contains("'x'"));
    let of = |offset: u32| format!("file(\"data\")[{offset}] == 'x'");
    assert_eq!(found, [0, 1, 6].map(of), "{}", report["losses"]);
}

#[test]
fn a_mapped_file_is_labelled_up_to_its_end() {
    for flags in ["MAP_PRIVATE", "MAP_SHARED"] {
        let source = r#"int main(void) {
            int file = open("data", O_RDONLY);
            struct stat status;
            MUST(fstat(file, &status) == 0);
            char *map = mmap(NULL, status.st_size, PROT_READ, FLAGS, file, 0);
            MUST(map != MAP_FAILED && close(file) == 0);
            int found = is(map[0], 'x') + is(map[4], 'x') + is(map[5], 'x') + (status.st_size == 7);
            MUST(munmap(map, status.st_size) == 0);
            char *fresh = mmap(map, 100, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            return found + (fresh == map) + is(map[0], 'x');
        }"#;
        let report = Bench::new(&source.replace("FLAGS", flags))
            .with_file("data", "abcde")
            .trace("files", &[]);
        assert_branches(
            &report,
            &["file(\"data\")[0] == 'x'", "file(\"data\")[4] == 'x'"],
        );
    }
}

#[test]
fn a_mapping_that_grows_or_starts_inside_the_file_is_labelled_by_its_offset() {
    let bench = Bench::new(
        r#"int main(void) {
            int file = open("data", O_RDONLY);
            char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
            char *behind = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, file, 4096);
            MUST(map != MAP_FAILED && behind != MAP_FAILED);
            map = mremap(map, 4096, 8192, MREMAP_MAYMOVE);
            MUST(map != MAP_FAILED);
            return is(map[1], 'x') + is(map[4098], 'x') + is(behind[3], 'x') + is(map[4200], 'x');
        }"#,
    );
    let report = bench
        .with_file("data", &"a".repeat(4100))
        .trace("files", &[]);
    let of = |offset: u32| format!("file(\"data\")[{offset}] == 'x'");
    let expected = [1, 4098, 4099].map(of);
    assert_branches(&report, &expected.each_ref().map(String::as_str));
}

#[test]
fn the_end_of_a_file_is_logged_once_with_what_was_wanted() {
    let source = r#"int main(int argc, char **argv) {
        char room[100];
        int file = open("data", O_RDONLY);
        FILE *stream = fopen("data", "r");
        MUST(file >= 0 && stream);
        switch (argv[1][0]) {
        case 'r': while (read(file, room, 4) > 0) ; break;
        case 's': MUST(read(file, room, 100) == 5); break;
        case 'e': MUST(read(file, room, 5) == 5); break;
        case 'p': MUST(pread(file, room, 10, 3) == 2); break;
        case 'b': MUST(pread(file, room, 10, 7) == 0); break;
        case 'v': { struct iovec parts[] = {{room, 2}, {room + 2, 9}};
                    MUST(readv(file, parts, 2) == 5); break; }
        case 'c': while (getc(stream) != EOF) ; MUST(getc(stream) == EOF); break;
        case 'g': while (fgets(room, sizeof room, stream)) ; break;
        case 'l': { char *line = NULL; size_t size; while (getline(&line, &size, stream) > 0) ; break; }
        case 'f': MUST(fread(room, 1, 20, stream) == 5); break;
        case 'n': MUST(getc(stream) == 'a'); break;
        case 'm': MUST(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) != MAP_FAILED); break;
        }
        return 0;
    }"#;
    let bench = Bench::new(source).with_file("data", "abcd\n");
    let expected = [
        ("r", Some((5, 3))),
        ("s", Some((5, 95))),
        ("e", None),
        ("p", Some((5, 8))),
        ("b", Some((5, 12))),
        ("v", Some((5, 6))),
        ("c", Some((5, 1))),
        ("g", Some((5, 99))),
        ("l", Some((5, 1))),
        ("f", Some((5, 15))),
        ("n", None),
        ("m", None),
    ];
    for (way, end) in expected {
        let report = bench.trace("files", &[way]);
        assert_eq!(end_of(&report, "file(\"data\")"), end, "{way}");
        let mut events = bench.folder.command(&["trace", &bench.program, "--events"]);
        events.args(["--all", "--", way]);
        let count = expect(0, events).0.matches("end-of-input").count();
        assert_eq!(count, usize::from(end.is_some()), "{way}");
    }
}

#[test]
fn an_empty_file_is_an_input_that_could_be_longer() {
    let report = Bench::new("int main(void) { return fgetc(fopen(\"data\", \"r\")) == 'a'; }")
        .with_file("data", "")
        .trace("files", &[]);
    assert_eq!(end_of(&report, "file(\"data\")"), Some((0, 1)));
}

#[test]
fn a_pipe_on_standard_input_is_standard_input_and_ends() {
    let bench = Bench::new(
        r#"int main(void) {
            char two[2];
            MUST(read(0, two, 2) == 2);
            int other = dup(0);
            FILE *stream = fdopen(other, "r");
            int third = getc(stream);
            MUST(getc(stream) == EOF);
            return is(two[1], 'x') + is(third, 'x');
        }"#,
    );
    for symbolic in ["stdin", "stdin,streams"] {
        let mut command = bench.command(symbolic, &[]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"abc").unwrap();
        let output = child.wait_with_output().unwrap();
        let report: Value = serde_json::from_str(&text_of(&output.stdout)).unwrap();
        assert_branches(&report, &["stdin[1] == 'x'", "stdin[2] == 'x'"]);
        assert_eq!(end_of(&report, "stdin"), Some((3, 1)));
    }
}

const CLIENT: &str = r#"
static int reach(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    MUST(connect(made, (struct sockaddr *)&address, sizeof address) == 0);
    return made;
}
"#;

#[test]
fn what_others_send_through_sockets_is_input_in_the_order_of_first_reads() {
    let bench = Bench::new(&format!(
        r#"{CLIENT}
        int main(void) {{
            int one = reach("one"), two = reach("two");
            char a[4], b[4], c[4], d[4], e[4];
            MUST(recv(two, a, 2, MSG_PEEK | MSG_WAITALL) == 2 && recv(two, b, 2, MSG_WAITALL) == 2);
            MUST(read(one, c, 1) == 1);
            struct sockaddr_un from;
            socklen_t size = sizeof from;
            MUST(recvfrom(two, d, 1, 0, (struct sockaddr *)&from, &size) == 1);
            struct iovec part = {{e, 4}};
            struct msghdr message = {{.msg_iov = &part, .msg_iovlen = 1}};
            MUST(recvmsg(two, &message, MSG_WAITALL) == 2);
            MUST(read(two, e + 2, 2) == 0);
            return is(a[1], 'x') + is(b[1], 'x') + is(c[0], 'x') + is(d[0], 'x') + is(e[1], 'x');
        }}"#
    ));
    let serve = |name: &str, bytes: &'static [u8]| {
        let listener = UnixListener::bind(bench.folder.path().join(name)).unwrap();
        std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            peer.write_all(bytes).unwrap();
        })
    };
    let servers = [serve("one", b"1"), serve("two", b"abcde")];
    let report = bench.trace("streams", &[]);
    for server in servers {
        server.join().unwrap();
    }
    assert_branches(
        &report,
        &[
            "stream(0)[1] == 'x'",
            "stream(1)[0] == 'x'",
            "stream(0)[2] == 'x'",
            "stream(0)[4] == 'x'",
        ],
    );
    assert_eq!(end_of(&report, "stream(0)"), Some((5, 2)));
}

#[test]
fn sockets_are_no_input_unless_they_are_asked_for() {
    let bench = Bench::new(&format!(
        r#"{CLIENT}
        int main(void) {{ char a; MUST(read(reach("one"), &a, 1) == 1); return is(a, 'x'); }}"#
    ));
    let listener = UnixListener::bind(bench.folder.path().join("one")).unwrap();
    let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"1").unwrap());
    assert_branches(&bench.trace("argv,argc,stdin,files", &[]), &[]);
    server.join().unwrap();
}

#[test]
fn pipes_between_the_programs_own_processes_are_no_input() {
    let report = Bench::new(
        r#"int main(void) {
            int ends[2], pair[2];
            char a[2], b[2], c[8];
            MUST(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
            if (fork() == 0) {
                MUST(write(ends[1], "ab", 2) == 2 && write(pair[1], "cd", 2) == 2);
                _exit(0);
            }
            MUST(read(ends[0], a, 2) == 2 && read(pair[0], b, 2) == 2);
            FILE *command = popen("echo hello", "r");
            MUST(command && fgets(c, sizeof c, command) && pclose(command) == 0);
            FILE *made = tmpfile();
            MUST(made && fputs("q", made) >= 0 && fseek(made, 0, SEEK_SET) == 0);
            wait(NULL);
            return is(a[0], 'x') + is(b[0], 'x') + is(c[0], 'x') + is(getc(made), 'x');
        }"#,
    )
    .trace("argv,stdin,files,streams", &[]);
    assert_branches(&report, &[]);
}

#[test]
fn a_fifo_that_another_program_writes_to_is_input() {
    let bench = Bench::new(
        r#"int main(void) {
            FILE *stream = fopen("fifo", "r");
            MUST(stream);
            int first = getc(stream);
            MUST(getc(stream) == EOF);
            return is(first, 'x');
        }"#,
    );
    let path = bench.folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let writer = std::thread::spawn(move || std::fs::write(path, "a").unwrap());
    let report = bench.trace("streams", &[]);
    writer.join().unwrap();
    assert_branches(&report, &["stream(0)[0] == 'x'"]);
    assert_eq!(end_of(&report, "stream(0)"), Some((1, 1)));
}

#[test]
fn named_variables_of_the_environment_are_input_where_they_lie() {
    let bench = Bench::new(
        r#"extern char **environ;
        int main(void) {
            const char *mode = getenv("MODE"), *other = secure_getenv("OTHER");
            int found = is(mode[0], 'x') + is(mode[4], 0) + is(other[0], 'x') + (getenv("ABSENT") != NULL);
            for (char **at = environ; *at; at++)
                if (strncmp(*at, "MODE=", 5) == 0)
                    found += is((*at)[6], 'x');
            return found;
        }"#,
    );
    let mut command = bench.command("env:MODE,env:ABSENT", &[]);
    command.env("MODE", "fast").env("OTHER", "b");
    let report = report(command);
    assert_branches(
        &report,
        &[
            "env(\"MODE\")[0] == 'x'",
            "env(\"MODE\")[4] == '\\0'",
            "env(\"MODE\")[1] == 'x'",
        ],
    );
    assert_eq!(report["stats"]["unchecked_inputs"], 0);
}

#[test]
fn the_number_of_arguments_is_input_as_argc_and_as_the_null_behind_them() {
    let bench = Bench::new(
        r#"int main(int argc, char **argv) {
            if (argc < 2)
                return 1;
            for (char **at = argv; *at; at++) ;
            return argc == 3 ? 4 : 5;
        }"#,
    );
    let report = bench.trace("argv,argc", &["a", "b"]);
    assert_eq!(report["result"]["exit"], 4);
    let number = "u32(argc[0..4])";
    assert_branches(
        &report,
        &[
            "i32(argc[0..4]) < 2",
            &format!("{number} > 3"),
            &format!("{number} == 3"),
        ],
    );
    let report = bench.trace("argv", &["a", "b"]);
    assert_branches(&report, &[]);
}
