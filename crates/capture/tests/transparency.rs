//! A watched build is the same build: what clang prints, how it ends and what it makes.

mod common;
use common::{Project, text};

/// Runs a command line with clang and with parallax-cc in two equal directories: standard output,
/// standard error and exit code must be the same.
fn same(files: &[(&str, &str)], line: &str) {
    let mut results = Vec::new();
    for compiler in ["clang-19", "parallax-cc"] {
        let project = Project::new(files);
        let output = project.shell(&line.replace("CC", compiler));
        let name = project.path("").display().to_string();
        let clean = |bytes: &[u8]| text(bytes).replace(name.trim_end_matches('/'), "DIR");
        results.push((output.status, clean(&output.stdout), clean(&output.stderr)));
    }
    assert_eq!(results[0], results[1], "{line}");
}

const GOOD: &str = "int main(void) { return 0; }\n";
const WARNS: &str = "int main(void) { int unused; return \"text\"; }\n";
const WRONG: &str = "int main(void) { return undeclared; }\n";

#[test]
fn questions_to_the_compiler_are_answered_by_the_compiler() {
    for line in [
        "CC --version",
        "CC -dumpmachine",
        "CC -print-prog-name=ld",
        "CC -print-search-dirs",
        "CC -v",
        "CC",
        "CC -nosuchoption",
        "CC -E a.c",
        "CC -E -dM -x c /dev/null",
        "echo 'int x;' | CC -E -",
        "CC -M a.c",
        "CC -fsyntax-only a.c",
        "CC -### -c a.c 2>&1 | wc -l",
        "CC -c -emit-llvm a.c -o a.bc && ls",
    ] {
        same(&[("a.c", GOOD)], line);
    }
}

#[test]
fn diagnostics_and_exit_codes_are_clangs() {
    same(&[("a.c", WARNS)], "CC -Wall -Wextra -c a.c");
    same(&[("a.c", WARNS)], "CC -Wall -Werror -c a.c");
    same(&[("a.c", WRONG)], "CC -c a.c");
    same(&[("a.c", WRONG)], "CC a.c -o prog");
    same(
        &[("a.c", GOOD)],
        "CC -Werror -Wunused-command-line-argument -Weverything -c a.c",
    );
    same(
        &[("a.c", "int f(void);\nint main(void) { return f(); }\n")],
        "CC a.c 2>&1 | grep -c undef",
    );
    same(&[], "CC -c missing.c");
    same(&[], "CC missing.o");
    same(&[("a.c", GOOD)], "CC a.c -lnosuchlibrary");
    same(&[("a.c", GOOD)], "CC -c a.c -o nosuchdirectory/a.o");
    same(&[], "echo 'int main;' | CC -x c -c - -o out.o; ls");
    same(&[("a.c", GOOD)], "CC a.c && ls && ./a.out");
}

#[test]
fn dependency_files_are_clangs() {
    same(
        &[
            ("a.c", "#include \"a.h\"\nint main(void) { return A; }\n"),
            ("a.h", "#define A 0\n"),
        ],
        "CC -MD -MP -c a.c && cat a.d && CC -MMD -MF other.d -MT target a.c && cat other.d",
    );
}

#[test]
fn the_program_is_clangs_to_the_byte() {
    let files = [
        (
            "a.c",
            "#include <stdio.h>\nint f(int);\nint main(int c, char **v) { for (int i = 0; i < c; i++) printf(\"%s %d\\n\", v[i], f(i)); return 0; }\n",
        ),
        (
            "b.c",
            "static int table[] = {1, 2, 3};\nint f(int i) { switch (i) { case 0: return 9; case 1: return table[i]; default: return table[i % 3] * i; } }\n",
        ),
    ];
    for flags in [
        "-O0",
        "-O2",
        "-Os -fno-pie -no-pie",
        "-O2 -g",
        "-O2 -static",
        "-O2 -fcf-protection=full",
        "-O3 -ffunction-sections -Wl,--gc-sections",
        "-O1 -shared -fPIC",
    ] {
        let project = Project::new(&files);
        // A build id is a hash of everything, the record included.
        let script = format!(
            "for cc in clang-19 parallax-cc; do
               $cc {flags} -Wl,--build-id=none a.c b.c -o $cc.out
               objcopy -R .parallax $cc.out $cc.bare
             done; cmp clang-19.bare parallax-cc.bare"
        );
        let output = project.shell(&script);
        assert!(
            output.status.success(),
            "{flags}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
        assert_eq!(
            project.sources("parallax-cc.out"),
            ["a.c", "b.c"],
            "{flags}"
        );
    }
}

#[test]
fn a_home_that_cannot_be_written_costs_no_build() {
    let project = Project::new(&[("a.c", GOOD)]);
    // Even root cannot make directories below a file.
    project.write("file", "");
    for setting in [
        "HOME=$PWD/file XDG_CACHE_HOME=$PWD/file",
        "-u HOME -u XDG_CACHE_HOME",
    ] {
        project.build(&format!(
            "env {setting} TMPDIR=$PWD parallax-cc a.c -o prog && ./prog"
        ));
        let program = project.read("prog");
        assert_eq!(program.modules[0].record.sources, None, "{setting}");
    }
    let output = project.shell(
        "env HOME=$PWD/file XDG_CACHE_HOME=$PWD/file TMPDIR=$PWD/file parallax-cc -c a.c && test -f a.o",
    );
    assert!(output.status.success());
    assert!(
        text(&output.stderr).contains("not captured"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(text(&output.stderr).lines().count(), 1);
}

#[test]
fn a_damaged_plug_in_request_costs_no_build() {
    let project = Project::new(&[("a.c", GOOD)]);
    project.build("parallax-cc -c a.c");
    // The plug-in itself, with a request that it cannot read.
    let bundle = parallax_bundle::Bundle::unpack().unwrap();
    let script = format!(
        "PARALLAX_PLUGIN=capture:77 clang-19 -fpass-plugin={} -c a.c -o b.o && test -f b.o",
        bundle.plugin().display()
    );
    let output = project.shell(&script);
    assert!(output.status.success());
    assert!(
        text(&output.stderr).contains("not captured"),
        "{}",
        text(&output.stderr)
    );
}
