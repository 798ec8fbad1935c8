//! The traced variant's `main` is not the program's own: whatever its form and wherever it comes from, the
//! program must not notice.

mod common;
use common::{Project, run, text};
use parallax_capture::Variant;

/// Builds `script`, derives `prog` and runs it with two arguments; the plain program must do the same.
fn output_of(files: &[(&str, &str)], script: &str) -> (String, Vec<String>) {
    let project = Project::new(files);
    project.build(script);
    let traced = project.derive("prog", Variant::Traced);
    let arguments = ["a", "bc"];
    let plain = run(&project.path("prog"), &arguments);
    let output = run(&traced.path, &arguments);
    assert_eq!(text(&output.stdout), text(&plain.stdout));
    assert_eq!(output.status.code(), plain.status.code());
    (text(&output.stdout).to_owned(), traced.notes)
}

const ALL_THREE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
extern char **environ;
int main(int argc, char **argv, char **envp) {
    printf("%d %s %d\n", argc, argv[2], envp == environ);
    return 3;
}
"#;

#[test]
fn main_gets_its_arguments_in_every_kind_of_executable() {
    for flags in [
        "-pie",
        "-no-pie",
        "-static",
        "-static-pie",
        "-Wl,--gc-sections",
    ] {
        let script = format!("parallax-cc -w -fPIE prog.c -o prog {flags}");
        let (output, notes) = output_of(&[("prog.c", ALL_THREE)], &script);
        assert_eq!(output, "3 bc 1\n", "{flags}");
        assert_eq!(notes, Vec::<String>::new());
    }
}

#[test]
fn main_can_have_no_parameters_call_itself_and_be_called_by_others() {
    let main = r#"
        #include <stdio.h>
        static int depth;
        int again(void);
        int main(void) { return ++depth < 3 ? main() + 1 : depth < 4 ? again() : (puts("deep"), 5); }
    "#;
    let again = "int main(void); int (*entry)(void) = main; int again(void) { return entry(); }\n";
    let files = [("main.c", main), ("again.c", again)];
    let (output, _) = output_of(&files, "parallax-cc -w main.c again.c -o prog");
    assert_eq!(output, "deep\n");
}

#[test]
fn main_can_be_written_in_cplusplus_and_be_left_by_exceptions() {
    let text = r#"
        #include <cstdio>
        struct Last { ~Last() { std::puts("last"); } } last;
        int main(int argc, char **argv) try {
            if (argc == 3) throw argc;
            return 0;
        } catch (int count) {
            std::printf("%d\n", count);
            return count;
        }
    "#;
    let (output, _) = output_of(&[("prog.cc", text)], "parallax-c++ prog.cc -o prog");
    assert_eq!(output, "3\nlast\n");
}

#[test]
fn main_can_come_from_an_archive() {
    let files = [
        (
            "main.c",
            "int work(int); int main(int argc, char **argv) { return work(argc); }\n",
        ),
        (
            "work.c",
            "#include <stdio.h>\nint work(int n) { printf(\"%d\\n\", n); return n; }\n",
        ),
    ];
    let script = "parallax-cc -c main.c work.c; ar rcs libmain.a main.o; \
                  parallax-cc work.o -L. -lmain -o prog";
    let (output, notes) = output_of(&files, script);
    assert_eq!(output, "3\n");
    assert_eq!(notes, Vec::<String>::new());
}

#[test]
fn a_main_that_was_not_captured_is_called_as_ever_and_said_so() {
    let files = [
        (
            "main.c",
            "int work(int); int main(int argc, char **argv) { return work(argc); }\n",
        ),
        (
            "work.c",
            "#include <stdio.h>\nint main(int, char **); void *known = main;\n\
             int work(int n) { printf(\"%d %d\\n\", n, known != 0); return n; }\n",
        ),
    ];
    let script = "clang-19 -c main.c; parallax-cc -w -c work.c; parallax-cc main.o work.o -o prog";
    let (output, notes) = output_of(&files, script);
    assert_eq!(output, "3 1\n");
    assert!(notes.iter().any(|note| note.contains("main")), "{notes:?}");
}

#[test]
fn main_can_live_in_a_shared_library() {
    let files = [("main.c", ALL_THREE), ("rest.c", "int rest = 1;\n")];
    let script = "parallax-cc -w -fPIC -shared main.c -o libmain.so; \
                  parallax-cc rest.c -L. -lmain -Wl,-rpath,$PWD -o prog";
    let (output, _) = output_of(&files, script);
    assert_eq!(output, "3 bc 1\n");
}
