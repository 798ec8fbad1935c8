//! Programs linked with the static library, and what their traces say.

mod support;

use parallax_abi::Op;
use parallax_abi::trace::*;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;
use support::{CLANG, Region, library, program, run};

const ALL: u32 = flags::ARGV | flags::STDIN | flags::FILES | flags::SELF_CHECK;

/// The branch of `branch.c`: the input byte equals `a`, on this side.
fn assert_branch(region: &Region, event: &Event, taken: u8) {
    assert_eq!(event.detail, taken);
    let condition = region.node(event.label);
    assert_eq!((condition.op, condition.width), (Op::Eq as u8, 1));
    assert_eq!(condition.lo, taken.into());
    let (byte, constant) = (region.node(condition.a), region.node(condition.b));
    assert_eq!(byte.op, Op::Input as u8);
    assert_eq!((byte.b, byte.c), (0, 0), "offset of the first byte");
    assert_eq!((constant.op, constant.lo), (Op::Const as u8, b'a'.into()));
}

#[test]
fn a_branch_on_a_read_byte_is_traced_in_every_kind_of_executable() {
    let kinds: [(&str, &[&str]); 5] = [
        ("-pie", &["-pie"]),
        ("-no-pie", &["-no-pie", "-fno-pie"]),
        ("-static", &["-static"]),
        ("-static-pie", &["-static-pie"]),
        ("-gc", &["-Wl,--gc-sections", "-Wl,-z,now"]),
    ];
    for (variant, link) in kinds {
        let program = program("branch", variant, link);
        let region = Region::new(ALL);
        let output = region.run(&program, &["x"], b"a");
        assert_eq!(output.status.code(), Some(5), "{variant}");
        assert_eq!(output.stdout, b"traced labelled\n", "{variant}");
        let branches = region.events_of(EventKind::Branch);
        assert_eq!(branches.len(), 1, "{variant}");
        assert_branch(&region, &branches[0], 1);
        assert_eq!(branches[0].context, 1);
        let exits = region.events_of(EventKind::Exit);
        assert_eq!(exits.len(), 1, "{variant}");
        assert_eq!(exits[0].x, 5);
        assert_eq!(region.mismatches().len(), 0);
        // Argument 1 is "x" with its terminator; standard input gave one byte.
        let sources = region.sources();
        let inputs = region.events_of(EventKind::Input);
        let described: Vec<_> = inputs
            .iter()
            .map(|e| (sources[e.x as usize].kind, e.y, e.label))
            .collect();
        assert_eq!(
            described,
            [
                (SourceKind::Argument as u32, 0, 2),
                (SourceKind::Stdin as u32, 0, 1)
            ]
        );
    }
}

#[test]
fn a_trace_is_complete_up_to_a_crash() {
    let program = program("branch", "-crash", &[]);
    for (how, signal) in [("crash", libc::SIGSEGV), ("abort", libc::SIGABRT)] {
        let region = Region::new(ALL);
        let output = region.run(&program, &[how], b"z");
        assert_eq!(output.status.signal(), Some(signal));
        let branches = region.events_of(EventKind::Branch);
        assert_eq!(branches.len(), 1);
        assert_branch(&region, &branches[0], 0);
        assert!(region.events_of(EventKind::Exit).is_empty());
    }
}

#[test]
fn a_forked_child_writes_under_its_own_number() {
    let program = program("branch", "-fork", &[]);
    let region = Region::new(ALL);
    assert_eq!(region.run(&program, &["fork"], b"z").status.code(), Some(5));
    let processes = region.events_of(EventKind::Process);
    let described: Vec<_> = processes.iter().map(|e| (e.process, e.detail)).collect();
    assert_eq!(described, [(1, 0), (2, 1)]);
    assert_ne!(processes[0].y, processes[1].y);
    let branches: Vec<_> = region
        .events_of(EventKind::Branch)
        .iter()
        .map(|e| (e.site, e.process))
        .collect();
    assert_eq!(branches, [(1, 1), (2, 2), (3, 1)]);
    assert_eq!(region.header().processes.load(Relaxed), 2);
    let exits: Vec<_> = region
        .events_of(EventKind::Exit)
        .iter()
        .map(|e| (e.process, e.x))
        .collect();
    assert_eq!(exits, [(2, 7), (1, 5)]);
}

#[test]
fn a_child_that_borrows_the_memory_of_its_parent_does_not_end_the_parent() {
    let program = program("branch", "-vfork", &[]);
    let region = Region::new(ALL);
    assert_eq!(
        region.run(&program, &["vfork"], b"a").status.code(),
        Some(5)
    );
    let exits: Vec<_> = region
        .events_of(EventKind::Exit)
        .iter()
        .map(|e| (e.process, e.x))
        .collect();
    assert_eq!(exits, [(1, 5)]);
}

#[test]
fn an_executed_program_goes_on_where_the_first_one_stopped_reading() {
    let program = program("branch", "-exec", &[]);
    let region = Region::new(ALL);
    assert_eq!(
        region.run(&program, &["exec"], b"ab").status.code(),
        Some(5)
    );
    let sources = region.sources();
    let kinds: Vec<_> = sources.iter().map(|source| source.kind).collect();
    // The second program's arguments come from the first: they are no input.
    assert_eq!(
        kinds,
        [SourceKind::Stdin as u32, SourceKind::Argument as u32]
    );
    let inputs: Vec<_> = region
        .events_of(EventKind::Input)
        .iter()
        .map(|e| (e.process, sources[e.x as usize].kind, e.y, e.label))
        .collect();
    let stdin = SourceKind::Stdin as u32;
    assert_eq!(inputs[1..], [(1, stdin, 0, 1), (2, stdin, 1, 1)]);
    let processes = region.events_of(EventKind::Process);
    assert_eq!(
        processes.iter().map(|e| e.detail).collect::<Vec<_>>(),
        [0, 0]
    );
}

#[test]
fn a_program_that_closes_all_descriptors_goes_on_tracing() {
    let program = program("branch", "-close", &[]);
    let region = Region::new(ALL);
    assert_eq!(
        region.run(&program, &["close"], b"a").status.code(),
        Some(0)
    );
    assert_eq!(region.events_of(EventKind::Branch).len(), 1);
}

#[test]
fn without_a_trace_everything_is_concrete() {
    let program = program("branch", "-untraced", &[]);
    for value in [None, Some("999"), Some("nonsense"), Some("0")] {
        let mut command = Command::new(&program);
        command.env_remove(ENVIRONMENT);
        if let Some(value) = value {
            command.env(ENVIRONMENT, value);
        }
        let output = run(command, b"a");
        assert_eq!(output.stdout, b"traced concrete\n", "{value:?}");
    }
    let mut command = Command::new(&program);
    command.env(ENVIRONMENT, PRIVATE);
    assert_eq!(run(command, b"a").stdout, b"traced labelled\n");
}

#[test]
fn what_is_not_asked_for_is_not_symbolic() {
    let program = program("branch", "-flags", &[]);
    let region = Region::new(flags::ARGV);
    let output = region.run(&program, &["x"], b"a");
    assert_eq!(output.stdout, b"traced concrete\n");
    assert!(region.events_of(EventKind::Branch).is_empty());
    assert_eq!(region.events_of(EventKind::Input).len(), 1, "the argument");
}

#[test]
fn a_full_trace_stops_tracing_and_not_the_program() {
    let program = program("branch", "-full", &[]);
    let region = Region::with_nodes(ALL, 64);
    let output = region.run(&program, &["again"], b"ab");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(region.header().stop.load(Relaxed), Stop::Nodes as u32);
    assert_eq!(region.events_of(EventKind::Branch).len(), 1);
}

#[test]
fn a_region_that_is_cut_short_is_not_used() {
    let program = program("branch", "-cut", &[]);
    let region = Region::new(ALL);
    region.cut(8192);
    assert_eq!(region.run(&program, &[], b"a").stdout, b"traced concrete\n");
    let region = Region::new(ALL);
    region.cut(16);
    assert_eq!(region.run(&program, &[], b"a").stdout, b"traced concrete\n");
}

/// A program that knows where its plain twin is.
fn with_plain_twin(variant: &str) -> std::path::PathBuf {
    let plain = program("plain", variant, &["-Wl,--as-needed"]);
    let source = plain.with_extension("path.c");
    let text = format!("const char __plx_plain_path[] = \"{}\";\n", plain.display());
    std::fs::write(&source, text).expect("a file can be written");
    let object = plain.with_extension("path.o");
    let compiled = Command::new(CLANG)
        .arg("-c")
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .status()
        .expect("clang");
    assert!(compiled.success());
    program("branch", variant, &[object.to_str().expect("a plain path")])
}

fn shell(script: &str, program: &std::path::Path, region: &Region) -> std::process::Output {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(script)
        .arg("sh")
        .arg(program)
        .arg("argument");
    command.env(ENVIRONMENT, region.descriptor());
    run(command, b"a")
}

#[test]
fn the_plain_program_runs_where_the_tables_do_not_fit() {
    let program = with_plain_twin("-limited");
    let region = Region::new(ALL);
    let output = shell("ulimit -v 1000000; exec \"$@\"", &program, &region);
    assert_eq!(output.stdout, b"plain argument\n");
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(
        region.header().refusal.load(Relaxed),
        Refusal::AddressSpace as u32
    );

    let alone = support::program("branch", "-alone", &[]);
    let output = shell("ulimit -v 1000000; exec \"$@\"", &alone, &region);
    assert_eq!(output.status.code(), Some(125));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn under_valgrind_the_plain_program_runs() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        // Nothing to show on a machine without it; set-up does not install it.
        return;
    }
    let program = with_plain_twin("-valgrind");
    let region = Region::new(ALL);
    let output = shell("exec valgrind -q \"$@\"", &program, &region);
    assert_eq!(output.stdout, b"plain argument\n");
}

#[test]
fn an_unlimited_stack_is_no_obstacle() {
    let program = with_plain_twin("-unlimited");
    let region = Region::new(ALL);
    let output = shell("ulimit -s unlimited && exec \"$@\"", &program, &region);
    if output.stderr.is_empty() {
        assert_eq!(output.stdout, b"traced labelled\n");
        assert_eq!(region.events_of(EventKind::Branch).len(), 1);
    }
}

#[test]
fn every_model_of_the_table_is_defined() {
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut objects = vec![library().to_path_buf()];
    for entry in std::fs::read_dir(models).expect("the models") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "c") {
            let object = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(path.with_extension("o").file_name().expect("a name"));
            let compiled = Command::new(CLANG)
                .args([
                    "-O1",
                    "-fno-builtin",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-c",
                    "-o",
                ])
                .arg(&object)
                .arg(&path)
                .status()
                .expect("clang runs");
            assert!(compiled.success(), "{}", path.display());
            objects.push(object);
        }
    }
    let listing = Command::new("nm")
        .args(["--defined-only", "-g"])
        .args(objects)
        .output();
    let listing = String::from_utf8(listing.expect("nm runs").stdout).expect("text");
    let defined: std::collections::BTreeSet<&str> = listing
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2)?.strip_prefix("__plx_m_"))
        // What models of several modules share, and no program calls.
        .filter(|name| *name != "decide_name")
        .collect();
    let wanted = parallax_abi::model::MODELS
        .iter()
        .map(|(_, model)| *model)
        .collect();
    assert_eq!(defined, wanted);
}
