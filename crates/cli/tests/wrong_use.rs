//! Wrong use is answered with what is wrong and what to do, and with the documented exit code.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use support::{Folder, assert_contains, expect, says, without_privileges};

const EMPTY: &str = "int main(void) { return 0; }\n";

#[test]
fn a_program_not_built_with_the_wrapper_is_told_how() {
    let folder = Folder::new();
    folder.file("plain.c", EMPTY);
    run("clang-19", &["-o", "plain", "plain.c"], &folder);
    for command in ["trace", "coverage", "variant", "doctor"] {
        let (_, error) = folder.expect(2, &[command, "./plain"]);
        assert_contains(
            &error,
            &["error:", "not built with parallax-cc", "CC=parallax-cc"],
        );
    }
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new();
    let (_, error) = folder.expect(2, &["trace", "./nothing", "--", "x"]);
    assert_contains(&error, &["./nothing does not exist", "hint:"]);
}

#[test]
fn a_directory_is_not_a_program() {
    let folder = Folder::new();
    let (_, error) = folder.expect(2, &["trace", "."]);
    assert_contains(&error, &["is a directory"]);
}

#[test]
fn what_is_no_program_is_named_for_what_it_is() {
    let folder = Folder::new();
    folder.file("script", "#!/bin/sh\necho\n");
    folder.file("wrapper", "#!/bin/sh\n# made by libtool\n");
    folder.file("text", "hello\n");
    folder.build("whole", EMPTY);
    folder.expect(0, &["cc", "--", "-c", "whole.c"]);
    run("clang-19", &["-o", "elsewhere", "whole.o"], &folder);
    let mut bytes = fs::read(folder.path().join("whole")).unwrap();
    let record = bytes.windows(6).rposition(|window| window == b"plxrec");
    bytes[record.unwrap()] = b'x';
    fs::write(folder.path().join("damaged"), bytes).unwrap();
    let table: &[(&str, &[&str], &str)] = &[
        ("./script", &["is a script"], "the program that it runs"),
        (
            "./wrapper",
            &["libtool wrapper", ".libs/wrapper is missing"],
            "build it again",
        ),
        (
            "./text",
            &["not an ELF"],
            "the command file says what it is",
        ),
        ("./whole.o", &["is an object"], "that it is linked into"),
        (
            "./elsewhere",
            &["was linked by something else"],
            "link it with parallax-cc",
        ),
        (
            "./damaged",
            &["parallax-cc put into", "is damaged", "cause:"],
            "build it again",
        ),
        ("/dev/null", &["not a regular file"], "ls -l"),
    ];
    for command in ["trace", "doctor"] {
        for (program, what, hint) in table {
            says(folder.command(&[command, program]), 2, what, &[hint]);
        }
    }
}

#[test]
fn what_a_variant_is_made_of_must_be_there_and_whole() {
    let folder = Folder::new();
    folder.file("empty.c", EMPTY);
    folder.file("uses.c", "int f(void);\nint main(void) { return f(); }\n");
    folder.file("f.c", "int f(void) { return 0; }\n");
    folder.file("nothing.c", "");
    let cc = |words: &[&str]| folder.expect(0, &[&["cc", "--"], words].concat());
    let variant = |program: &str| folder.command(&["variant", program]);
    // A foreign object that is not what it was, and is gone.
    run("clang-19", &["-c", "f.c"], &folder);
    cc(&["-o", "uses", "uses.c", "f.o"]);
    run("clang-19", &["-c", "-o", "f.o", "nothing.c"], &folder);
    says(
        variant("./uses"),
        3,
        &["cannot link the traced variant", "undefined reference"],
        &["if the plain program builds"],
    );
    fs::remove_file(folder.path().join("f.o")).unwrap();
    says(
        variant("./uses"),
        3,
        &["f.o was linked into the program and is gone"],
        &["build the program again"],
    );
    // A captured library that somebody else linked since.
    cc(&["-fPIC", "-c", "f.c"]);
    cc(&["-shared", "-o", "libf.so", "f.o"]);
    cc(&["-o", "shared", "uses.c", "./libf.so"]);
    run("clang-19", &["-shared", "-o", "libf.so", "f.o"], &folder);
    says(
        variant("./shared"),
        2,
        &["a shared library", "libf.so was linked by something else"],
        &["link it with parallax-cc"],
    );
    // Nothing but foreign objects.
    run("clang-19", &["-c", "empty.c"], &folder);
    cc(&["-o", "foreign", "empty.o"]);
    says(
        variant("./foreign"),
        2,
        &["none of the objects", "was built with parallax-cc"],
        &["CC=parallax-cc, its objects included"],
    );
}

fn run(program: &str, words: &[&str], folder: &Folder) {
    let mut command = Command::new(program);
    let status = command.args(words).current_dir(folder.path()).status();
    assert!(status.unwrap().success(), "{command:?}");
}

#[test]
fn an_unreadable_program_is_told_apart_from_a_missing_one() {
    let folder = Folder::new();
    let program = folder.build("secret", EMPTY);
    let path = folder.path().join("secret");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let command = without_privileges(folder.command(&["trace", &program]));
    let (_, error) = expect(2, command);
    assert_contains(&error, &["may not be read", "chmod"]);
}

#[test]
fn a_missing_compiler_is_named_with_the_package_that_has_it() {
    let folder = Folder::new();
    let program = folder.build("prog", EMPTY);
    let fresh = folder.path().join("cache");
    let mut without = folder.command(&["trace", &program]);
    without
        .env("PATH", "/nowhere")
        .env("PARALLAX_CACHE", &fresh);
    let (_, error) = expect(3, without);
    assert_contains(
        &error,
        &["clang-19 was not found", "apt-get install clang-19"],
    );

    let mut wrong = folder.command(&["trace", &program]);
    wrong.env("PARALLAX_CLANG", "/no/such/clang");
    wrong.env("PARALLAX_CACHE", &fresh);
    let (_, error) = expect(3, wrong);
    assert_contains(&error, &["PARALLAX_CLANG names /no/such/clang"]);

    let mut doctor = folder.command(&["doctor"]);
    doctor.env("PARALLAX_CLANG", "/no/such/clang");
    let (text, _) = expect(1, doctor);
    assert_contains(&text, &["missing", "/no/such/clang"]);
}

#[test]
fn a_damaged_plug_in_is_replaced_or_named_and_comes_back_after_cleaning() {
    let folder = Folder::new();
    let program = folder.build("prog", EMPTY);
    let with_own_cache = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.env("XDG_CACHE_HOME", folder.path().join("cache"));
        command
    };
    expect(0, with_own_cache(&["variant", &program]));
    let unpacked = fs::read_dir(folder.path().join("cache/parallax"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("plugin.so"))
        .find(|path| path.exists())
        .expect("the plug-in is unpacked");
    // Cut off: that is seen at a glance.
    let whole = fs::read(&unpacked).unwrap();
    fs::write(&unpacked, &whole[..whole.len() / 2]).unwrap();
    expect(
        0,
        with_own_cache(&["variant", &program, "--kind", "checked"]),
    );
    assert_eq!(fs::metadata(&unpacked).unwrap().len(), whole.len() as u64);
    // Of the right size, but not what it was.
    fs::write(&unpacked, vec![0; whole.len()]).unwrap();
    // Another variant, so that the compiler must run.
    let other = ["variant", &program, "--kind", "covered"];
    let (_, error) = expect(3, with_own_cache(&other));
    assert_contains(&error, &["unable to load plugin", "parallax clean"]);
    let (text, _) = expect(1, with_own_cache(&["doctor"]));
    assert_contains(&text, &["plug-in", "cannot load", "parallax clean"]);
    expect(0, with_own_cache(&["clean", "--yes"]));
    expect(0, with_own_cache(&other));
}

#[test]
fn a_missing_standard_input_is_named() {
    let folder = Folder::new();
    let program = folder.build("prog", EMPTY);
    let (_, error) = folder.expect(2, &["trace", &program, "--stdin", "no-input"]);
    assert_contains(&error, &["no-input", "standard input", "cause:"]);
}

#[test]
fn wrong_options_and_values_are_explained() {
    let folder = Folder::new();
    let (_, error) = folder.expect(2, &["trace", "./prog", "--slef-check"]);
    assert_contains(&error, &["--self-check"]);
    let (_, error) = folder.expect(2, &["trace", "./prog", "--timeout", "never"]);
    assert_contains(&error, &["seconds"]);
    let (_, error) = folder.expect(2, &["trace", "./prog", "--memory", "2 parsecs"]);
    assert_contains(&error, &["K, M, G"]);
    let (_, error) = folder.expect(2, &["trace", "./prog", "--symbolic", "weather"]);
    assert_contains(
        &error,
        &["argv", "argc", "stdin", "files", "streams", "env:NAME"],
    );
    let (_, error) = folder.expect(2, &["tarce"]);
    assert_contains(&error, &["trace"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_named_with_the_way_out() {
    let folder = Folder::new();
    let program = folder.build("prog", EMPTY);
    let occupied = folder.file("occupied", "");
    let mut command = folder.command(&["trace", &program]);
    command.env("PARALLAX_CACHE", occupied.join("below"));
    let (_, error) = expect(70, command);
    assert_contains(&error, &["occupied", "PARALLAX_CACHE"]);
}

#[test]
fn limits_that_are_in_the_way_are_named() {
    let folder = Folder::new();
    let program = folder.build("prog", EMPTY);
    folder.expect(0, &["variant", &program]);
    let limited = |resource, bytes| {
        let mut command = folder.command(&["trace", &program]);
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: bytes,
        };
        // SAFETY: a system call only.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(resource, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        command
    };
    let (_, error) = expect(70, limited(libc::RLIMIT_FSIZE, 1 << 20));
    assert_contains(&error, &["ulimit -f"]);
    // Enough for the trace, not for the labels: the plain program runs, and the report says so.
    let (text, _) = expect(0, limited(libc::RLIMIT_AS, 20 << 30));
    assert_contains(&text, &["exit code 0", "not traced"]);
}

#[test]
fn colours_are_for_terminals_only() {
    let folder = Folder::new();
    let (_, error) = folder.expect(2, &["trace", "./nothing"]);
    assert!(!error.contains('\x1b'), "{error:?}");
}
