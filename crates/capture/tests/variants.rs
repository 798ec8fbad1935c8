//! What derived programs do beyond what the plain one does.

mod common;
use common::{Project, run, text};
use parallax_capture::{Progress, Variant};
use std::sync::atomic::{AtomicUsize, Ordering};

const FAULTY: &str = r#"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "offset.h"
int main(int argc, char **argv) {
    char *block = malloc(8);
    int index = argc > 1 ? atoi(argv[1]) : 0;
    block[OFFSET + index] = 'x';
    printf("%c\n", block[OFFSET + index]);
    int sum = INT_MAX - 5;
    sum += index;
    printf("%d\n", sum);
    free(block);
    return 0;
}
"#;

#[test]
fn a_checked_program_reports_memory_errors_and_undefined_behaviour() {
    let project = Project::new(&[("faulty.c", FAULTY), ("offset.h", "#define OFFSET 0\n")]);
    project.build("parallax-cc -O2 faulty.c -o prog; rm offset.h faulty.c");
    let checked = project.derive("prog", Variant::Checked);
    assert_eq!(checked.notes, Vec::<String>::new());

    let fine = run(&checked.path, &["3"]);
    assert!(fine.status.success());
    assert_eq!(text(&fine.stderr), "", "no leak is reported");

    let faulty = run(&checked.path, &["8"]);
    let report = text(&faulty.stderr);
    assert!(report.contains("heap-buffer-overflow"), "{report}");
    assert!(report.contains("faulty.c:10"), "{report}");
    assert!(
        report.contains("faulty.c:12:9: runtime error: signed integer overflow"),
        "{report}"
    );
    // It went on after each report.
    assert!(
        text(&faulty.stdout).contains("-2147483646"),
        "{}",
        text(&faulty.stdout)
    );
}

#[test]
fn without_its_source_a_module_is_still_checked_for_memory_errors() {
    let project = Project::new(&[("faulty.c", FAULTY), ("offset.h", "#define OFFSET 0\n")]);
    project.build("PARALLAX_STORE=$PWD/gone parallax-cc faulty.c -o prog; rm -r gone");
    let checked = project.derive("prog", Variant::Checked);
    assert_eq!(checked.notes.len(), 1);
    assert!(
        checked.notes[0].contains("capture store"),
        "{:?}",
        checked.notes
    );
    let report = text(&run(&checked.path, &["8"]).stderr);
    assert!(report.contains("heap-buffer-overflow"), "{report}");
}

#[test]
fn options_that_include_files_are_not_followed_twice() {
    let project = Project::new(&[
        (
            "main.c",
            "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", once()); return OTHER; }\n",
        ),
        ("once.h", "static int once(void) { return 6; }\n"),
        ("other.h", "#define OTHER 0\n"),
    ]);
    project.build("parallax-cc -include once.h -imacros other.h main.c -o prog; rm *.h *.c");
    let checked = project.derive("prog", Variant::Checked);
    assert_eq!(checked.notes, Vec::<String>::new());
    assert_eq!(text(&run(&checked.path, &[]).stdout), "6\n");
}

#[test]
fn fortified_sources_are_checked_unfortified() {
    let project = Project::new(&[(
        "main.c",
        "#include <string.h>\n#include <stdio.h>\nint main(int c, char **v) { char b[4]; strcpy(b, v[1]); puts(b); return c == 9; }\n",
    )]);
    project.build("parallax-cc -O2 -D_FORTIFY_SOURCE=2 main.c -o prog");
    let checked = project.derive("prog", Variant::Checked);
    let report = text(&run(&checked.path, &["too long"]).stderr);
    assert!(report.contains("stack-buffer-overflow"), "{report}");
}

const OWN_FUNCTIONS: &str = r#"
#include <stddef.h>
static char pool[1 << 20];
static size_t used;
int own_calls;
void *malloc(size_t size) {
    own_calls++;
    used = (used + 15) & ~(size_t) 15;
    void *block = pool + used;
    used += size;
    return block;
}
void free(void *block) { (void) block; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *old, size_t size) {
    char *block = malloc(size);
    for (size_t i = 0; old && i < size; i++)
        block[i] = ((char *) old)[i];
    return block;
}
size_t strlen(const char *text) { (void) text; return 77; }
int getopt(int argc, char *const *argv, const char *options) {
    (void) argc, (void) argv, (void) options;
    return 55;
}
"#;

const USES_THEM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern int own_calls;
size_t (*volatile length)(const char *) = strlen;
int main(int argc, char **argv) {
    char *block = malloc(10);
    printf("%zu %zu %d %d\n", strlen(argv[0]), length(argv[0]), getopt(argc, argv, "a"), own_calls > 0);
    free(block);
    return 0;
}
"#;

#[test]
fn a_function_that_the_program_defines_itself_is_not_replaced_by_a_model() {
    for linker in linkers() {
        for mode in ["", "-no-pie -fno-pie"] {
            let flags = format!("-fno-builtin {mode} {linker}");
            own_functions_are_used(OWN_FUNCTIONS, USES_THEM, &flags, "77 77 55 1\n");
        }
    }
}

#[test]
fn nor_is_it_in_a_static_program() {
    let own = "int getopt(int argc, char *const *argv, const char *options) { return 55; }\n\
               int atoi(const char *text) { return 66; }\n";
    let uses = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
                int main(int c, char **v) { printf(\"%d %d\\n\", getopt(c, v, \"a\"), atoi(v[0])); }\n";
    for linker in linkers() {
        own_functions_are_used(
            own,
            uses,
            &format!("-fno-builtin -static {linker}"),
            "55 66\n",
        );
    }
}

fn linkers() -> &'static [&'static str] {
    if common::has("ld.lld-19") || common::has("ld.lld") {
        &["", "-fuse-ld=lld"]
    } else {
        &[""]
    }
}

fn own_functions_are_used(own: &str, uses: &str, flags: &str, expected: &str) {
    let project = Project::new(&[("own.c", own), ("uses.c", uses)]);
    project.build(&format!("parallax-cc -w {flags} own.c uses.c -o prog"));
    assert_eq!(
        text(&run(&project.path("prog"), &[]).stdout),
        expected,
        "{flags}"
    );
    for variant in [Variant::Traced, Variant::Covered] {
        let derived = project.derive("prog", variant);
        let output = run(&derived.path, &[]);
        assert_eq!(text(&output.stdout), expected, "{} {flags}", variant.name());
    }
}

#[test]
fn wrapped_functions_stay_wrapped() {
    let project = Project::new(&[(
        "main.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint wrapped;\nvoid *__real_malloc(size_t);\nvoid *__wrap_malloc(size_t n) { wrapped++; return __real_malloc(n); }\nint main(void) { char *volatile p = malloc(3); printf(\"%d %d\\n\", wrapped, p != 0); }\n",
    )]);
    project.build("parallax-cc main.c -Wl,--wrap=malloc -o prog");
    project.assert_variants_behave("prog", &[]);
}

#[test]
fn the_second_time_everything_comes_from_the_cache() {
    let project = Project::new(&[("a.c", "int main(void) { return 0; }\n")]);
    project.build("parallax-cc a.c -o prog");
    let first = project.derive("prog", Variant::Checked);
    let fresh = AtomicUsize::new(0);
    let count = |progress: Progress<'_>| {
        if !matches!(progress, Progress::Compiled { cached: true, .. }) {
            fresh.fetch_add(1, Ordering::Relaxed);
        }
    };
    let options = parallax_capture::Options {
        cache_dir: project.cache(),
        jobs: 1,
        progress: &count,
    };
    let second =
        parallax_capture::derive(&project.read("prog"), Variant::Checked, &options).unwrap();
    assert_eq!(first, second);
    assert_eq!(fresh.load(Ordering::Relaxed), 0);
}

#[test]
fn processes_can_derive_the_same_program_at_once() {
    let project = Project::new(&[("a.c", "int main(void) { return 4; }\n")]);
    project.build("parallax-cc a.c -o prog; mkdir cache");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let derived = project.derive("prog", Variant::Traced);
                assert_eq!(run(&derived.path, &[]).status.code(), Some(4));
            });
        }
    });
}

#[test]
fn a_variant_writes_no_file_beside_the_program() {
    let project = Project::new(&[("a.c", "int main(void) { return 0; }\n")]);
    project.build(
        "parallax-cc -MD -MF a.d -save-temps -Wl,-Map,a.map -Xlinker -Map=b.map a.c -o prog
         rm -f a.d a.map b.map *.i *.s *.bc *.o; touch before after; ls > before",
    );
    project.assert_variants_behave("prog", &[]);
    project.build("ls > after; cmp before after || { cat after; false; }");
}
