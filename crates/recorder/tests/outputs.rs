//! What is recorded of output: where it went, as far as the program can tell, and what was written.

mod support;

use parallax_scenario::{OutputFile, Recorded, Sink};
use support::{CAT, Project, bytes, texts};

fn with_cat() -> Project {
    let mut project = Project::new();
    project.program("cat", CAT);
    project
}

/// Moves its standard output as its arguments say, and writes an `x` after each move.
const SEEK: &str = r#"
    #include <stdlib.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
        for (int i = 1; i < argc; i++) {
            lseek(1, atoi(argv[i]), argv[i][0] == '+' ? SEEK_CUR : SEEK_SET);
            if (write(1, "x", 1) != 1) return 1;
        }
        return 0;
    }
"#;

fn unnamed() -> Sink {
    Sink::File(OutputFile::default())
}

fn named(path: &str, offset: u64, append: bool) -> Sink {
    Sink::File(OutputFile {
        path: path.into(),
        offset,
        append,
    })
}

#[test]
fn what_becomes_of_output_is_recorded() {
    let project = with_cat();
    project.write("in", "x\n");
    let sinks = |line: &str| {
        let run = project.sh(line).only();
        assert_eq!(run.unsteady, [""; 0], "{line}");
        (run.scenario.stdout, run.scenario.stderr)
    };
    assert_eq!(sinks("./cat in >/dev/full || :"), (Sink::Full, Sink::Read));
    assert_eq!(sinks("./cat in 2>/dev/full"), (Sink::Read, Sink::Full));
    assert_eq!(sinks("./cat in >&- || :"), (Sink::Closed, Sink::Read));
    assert_eq!(sinks("./cat in 2>&-"), (Sink::Read, Sink::Closed));
    // The reader has gone before anything is written.
    let broken = "{ sleep 0.3; ./cat in; } | true";
    assert_eq!(sinks(broken), (Sink::Broken, Sink::Read));
}

#[test]
fn that_output_is_a_file_is_recorded_where_the_program_knows_the_file() {
    let project = with_cat();
    project.write("in", "x\n");
    let run = |line: &str| -> Recorded { project.sh(line).only() };
    // It prints, and that is all.
    assert_eq!(run("./cat in >out").scenario.stdout, Sink::Read);
    let known = run("./cat in out >out");
    assert_eq!(known.scenario.stdout, named("out", 0, false));
    // It is empty when the program starts, whatever it holds when the program opens it.
    assert_eq!(texts(&known.scenario.files), ["in=x\n", "out="]);
    let kept = run("echo before >out; ./cat in out >>out");
    assert_eq!(kept.scenario.stdout, named("out", 0, true));
    assert_eq!(texts(&kept.scenario.files), ["in=x\n", "out=before\n"]);
    let moved = run("{ echo 12; ./cat in out; } >out");
    assert_eq!(moved.scenario.stdout, named("out", 3, false));
    assert_eq!(texts(&moved.scenario.files), ["in=x\n", "out=12\n"]);
    let error = run("./cat err 2>err");
    assert_eq!(error.scenario.stderr, named("err", 0, false));
    assert_eq!(error.scenario.stdout, Sink::Read);
}

#[test]
fn that_output_is_a_file_is_recorded_where_the_program_uses_it_as_one() {
    let mut project = Project::new();
    project.program("seek", SEEK);
    let run = |line: &str| {
        let run: Recorded = project.sh(line).only();
        (run.scenario.stdout, run.result.stdout)
    };
    let gap = bytes("x\0\0x");
    assert_eq!(run("./seek 0 +2 >out"), (unnamed(), gap.clone()));
    assert_eq!(run("echo log; ./seek +0 +2 >out"), (unnamed(), gap));
    // What lay between was there before, what was written over is gone.
    assert_eq!(
        run("echo 12345 >out; ./seek 0 3 1<>out"),
        (unnamed(), bytes("x23x"))
    );
    assert_eq!(run("./seek 3 0 >out"), (unnamed(), bytes("x")));
    // Where it is in a file does not matter to who writes to its end.
    let appended = (unnamed(), bytes("xx"));
    assert_eq!(run("echo 12345 >out; ./seek 0 3 >>out"), appended);
    assert_eq!(run("./seek 0 1 | cat"), (Sink::Read, bytes("xx")));
}

#[test]
fn holes_of_files_are_recorded() {
    let project = with_cat();
    let line = "truncate -s 64K in; printf x | dd of=in bs=1 seek=8192 conv=notrunc; ./cat in >out";
    let scenario = project.sh(line).only().scenario;
    let holes = vec![(0, 8192), (12288, 65536)];
    assert_eq!(scenario.holes, [(bytes("in"), holes)].into());
}
