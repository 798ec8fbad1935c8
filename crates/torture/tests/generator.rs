//! What the generators promise, checked without the tracer.

use parallax_torture::compile::{Flavour, compile, compile_checked};
use parallax_torture::inputs::Inputs;
use parallax_torture::process::{self, Finished};
use parallax_torture::trial::{Tool, Trial};
use parallax_torture::{csmith, generator, inputs};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn run(program: &Path, folder: &Path, set: &Inputs) -> Finished {
    fs::write(folder.join(inputs::FILE_NAME), &set.file).unwrap();
    fs::write(folder.join("stdin"), &set.stdin).unwrap();
    let mut command = Command::new(program);
    command
        .arg(inputs::FILE_NAME)
        .args(set.arguments.iter().cloned().map(OsString::from_vec))
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .current_dir(folder)
        .stdin(Stdio::from(fs::File::open(folder.join("stdin")).unwrap()));
    process::run(&mut command, Duration::from_secs(30)).unwrap()
}

#[test]
fn programs_have_no_undefined_behaviour_and_do_not_depend_on_the_compiler() {
    for seed in 1000..1008 {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let program = generator::generate(seed);
        let source = at("program.c");
        fs::write(&source, &program.source).unwrap();
        let flavour = |flag| Flavour { flags: vec![flag] };
        for (compiler, flag, name) in [
            ("clang-19", "-O0", "clang-O0"),
            ("clang-19", "-O2", "clang-O2"),
            ("gcc", "-O1", "gcc-O1"),
        ] {
            let compiled = compile(compiler, &flavour(flag), &source, &at(name)).unwrap();
            assert!(compiled.success(), "seed {seed}, {name}");
        }
        assert!(compile_checked(&source, &at("checked")).unwrap().success());
        for set in &program.inputs {
            let first = run(&at("clang-O0"), folder.path(), set);
            assert!(first.stdout.ends_with(b"\n"), "seed {seed}");
            for name in ["clang-O2", "gcc-O1", "checked"] {
                let other = run(&at(name), folder.path(), set);
                let report = String::from_utf8_lossy(&other.stderr);
                assert!(!report.contains("runtime error"), "seed {seed}: {report}");
                assert_eq!(first.end, other.end, "seed {seed}, {name}");
                assert_eq!(first.stdout, other.stdout, "seed {seed}, {name}");
            }
        }
    }
}

#[test]
fn the_key_leaves_a_csmith_program_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let trial = Trial {
        tool: &Tool {
            parallax: "parallax".into(),
            compiler: "clang-19".into(),
        },
        directory: folder.path(),
        flavour: &Flavour { flags: vec!["-O0"] },
    };
    assert!(csmith::find(3, &trial).unwrap(), "csmith gives a program");
    // Without the key nothing is combined with anything: csmith's own result.
    let run = |arguments: &[&str]| {
        let mut command = Command::new(trial.program());
        process::run(command.args(arguments), Duration::from_secs(10)).unwrap()
    };
    let original = run(&["1"]);
    assert!(original.success());
    assert_eq!(original.stdout, run(&["1", csmith::KEY]).stdout);
}
