//! Code that a patch changes in a library of the project: programs that load the library are tested with their own version of it.

mod support;

use std::fs;

use serde_json::Value;

use support::{Folder, git};

const LIBRARY: &str = r#"
int weight(const char *text)
{
    int sum = 0;
    for (; *text; text++)
        sum += *text == 'q' ? 2 : 1;
    return sum;
}
"#;

const PROGRAM: &str = r#"
#include <stdio.h>
int weight(const char *text);
int main(int count, char **words)
{
    if (count < 2)
        return 2;
    printf("%d\n", weight(words[1]));
    return 0;
}
"#;

/// The library, linked by plain make and found by an absolute run path.
const RUN_PATH: &str = "all: prog
libweight.so: weight.c
\t$(CC) -g -shared -fPIC -o $@ weight.c
prog: prog.c libweight.so
\t$(CC) -g -o $@ prog.c -L. -lweight -Wl,-rpath,$(CURDIR)
check: all
\ttest `./prog aq` = 3 && test `./prog abc` = 3
";

/// In the form that libtool gives it: program and library in `.libs`, linked for where they will be installed, and a script that
/// sets the library path.
const WRAPPED: &str = "all: prog
.libs/libweight.so.1: weight.c
\tmkdir -p .libs
\t$(CC) -g -shared -fPIC -Wl,-soname,libweight.so.1 -o $@ weight.c
\tln -sf libweight.so.1 .libs/libweight.so
prog: prog.c .libs/libweight.so.1
\t$(CC) -g -o .libs/prog prog.c .libs/libweight.so -Wl,-rpath -Wl,/nowhere/lib
\tprintf '#!/bin/sh\\n# libtool wrapper\\nLD_LIBRARY_PATH=%s/.libs exec %s/.libs/prog \"$$@\"\\n' '$(CURDIR)' '$(CURDIR)' > prog
\tchmod +x prog
check: all
\ttest `./prog aq` = 3 && test `./prog abc` = 3
";

/// Two commits: the second one changes the library alone.
fn project(makefile: &str, program: Option<&str>) -> Folder {
    let folder = Folder::new();
    folder.file("Makefile", makefile);
    folder.file(".gitignore", ".parallax/\nprog\n*.so\n*.a\n*.o\n.libs/\n");
    folder.file("weight.c", LIBRARY);
    if let Some(program) = program {
        folder.file("prog.c", program);
    }
    folder.expect(0, &["init"]);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    folder.file("weight.c", &LIBRARY.replace("'q' ? 2", "'q' ? 3"));
    git(folder.path(), &["commit", "-q", "-a", "-m", "new"]);
    folder
}

/// The old program with the old library prints 3 for `aq`, the new one with the new library 4.
fn is_compared(makefile: &str) {
    let folder = project(makefile, Some(PROGRAM));
    let words = ["check", "HEAD~1..HEAD", "--budget", "10s", "--jobs", "1"];
    let output = folder.parallax(&words);
    let text = support::text_of(&output.stdout) + &support::text_of(&output.stderr);
    assert!(!text.contains("nothing to test"), "{text}");
    assert_eq!(output.status.code(), Some(1), "{text}");
    let report = fs::read(folder.path().join(".parallax/check.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let shown = report.to_string();
    assert!(shown.contains("weight.c"), "{text}");
    let findings = report["findings"].as_array().unwrap();
    assert!(!findings.is_empty(), "{text}");
}

#[test]
fn a_library_found_by_its_run_path_is_compared() {
    is_compared(RUN_PATH);
}

#[test]
fn a_library_found_by_a_libtool_wrapper_is_compared() {
    is_compared(WRAPPED);
}

#[test]
fn a_library_that_no_program_loads_is_named() {
    let makefile = "all: prog libweight.so
libweight.so: weight.c
\t$(CC) -g -shared -fPIC -o $@ weight.c
prog: prog.c
\t$(CC) -g -o $@ prog.c
check: all
\t./prog
";
    let folder = project(makefile, Some("int main(void) { return 0; }\n"));
    let output = folder.parallax(&["check", "HEAD~1..HEAD", "--budget", "5s"]);
    let text = support::text_of(&output.stdout) + &support::text_of(&output.stderr);
    assert!(text.contains("libweight.so has changed code"), "{text}");
}

#[test]
fn a_build_of_static_libraries_only_says_that_a_program_is_needed() {
    let makefile = "all: libweight.a
libweight.a: weight.c
\t$(CC) -g -c -o weight.o weight.c
\tar rc $@ weight.o
check: all
";
    let folder = project(makefile, None);
    let output = folder.parallax(&["check", "HEAD~1..HEAD"]);
    let text = support::text_of(&output.stderr);
    assert!(
        text.contains("only libraries") && text.contains("libweight.a"),
        "{text}"
    );
    assert!(!text.contains("must use the compiler"), "{text}");
}
