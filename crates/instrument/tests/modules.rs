//! Instruments C modules full of unusual constructs: what comes out must be valid IR in
//! every mode and at every optimisation level, and its sites must be named as promised.
//! What instrumented programs *do* is tested end to end elsewhere.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;

use llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use llvm_sys::core::*;
use parallax_abi::SiteKind;
use parallax_instrument::{Mode, instrument, read_module};
use parallax_record::{Kind, SiteTable, frames};

/// Compiles C text to front-end bitcode, as capture does.
fn bitcode(source: &Path, level: &str, directory: &Path) -> PathBuf {
    let output = directory.join(format!("module{level}.bc"));
    let status = Command::new("clang-19")
        .args([
            "-w",
            "-g",
            level,
            "-Xclang",
            "-disable-llvm-passes",
            "-emit-llvm",
            "-c",
        ])
        .arg(source)
        .arg("-o")
        .arg(&output)
        .status()
        .expect("clang-19 runs");
    assert!(status.success(), "{} compiles", source.display());
    output
}

/// Instruments a bitcode file and gives its site table.
fn sites_of(bitcode: &Path, mode: Mode) -> SiteTable {
    let text = |path: &Path| CString::new(path.to_str().expect("UTF-8")).expect("no NUL");
    let record = unsafe {
        let context = LLVMContextCreate();
        let module = read_module(context, bitcode).expect("bitcode");
        let record = instrument(module, mode)
            .unwrap_or_else(|error| panic!("{}, {mode:?}: {error}", bitcode.display()));
        assert_eq!(
            LLVMWriteBitcodeToFile(module, text(&instrumented(bitcode)).as_ptr()),
            0
        );
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
        record
    };
    let frames = frames(&record).expect("a readable record");
    assert_eq!(frames[0].kind, Kind::Sites as u32);
    let code = frames.get(1).map(|frame| frame.kind);
    assert_eq!(code, (mode == Mode::Covered).then_some(Kind::Code as u32));
    SiteTable::from_bytes(&frames[0].data().expect("data")).expect("a site table")
}

/// Where [`sites_of`] leaves the instrumented module.
fn instrumented(bitcode: &Path) -> PathBuf {
    bitcode.with_extension("instrumented.bc")
}

/// Optimises and generates code, as deriving a variant does.
fn generate_code(bitcode: &Path) {
    let status = Command::new("clang-19")
        .args(["-w", "-O2", "-c", "-x", "ir"])
        .arg(bitcode)
        .arg("-o")
        .arg(bitcode.with_extension("o"))
        .status()
        .expect("clang-19 runs");
    assert!(status.success(), "{} can be compiled", bitcode.display());
}

fn sites_of_text(text: &str, mode: Mode) -> SiteTable {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join("text.c");
    std::fs::write(&source, text).expect("written");
    sites_of(&bitcode(&source, "-O2", directory.path()), mode)
}

/// The table without the copies that inlining made.
fn originals(mut table: SiteTable) -> SiteTable {
    for function in &mut table.functions {
        function.sites.retain(|site| site.original == 0);
    }
    table
}

fn ids(table: &SiteTable, function: &str) -> BTreeSet<u64> {
    table
        .functions
        .iter()
        .filter(|candidate| candidate.name == function)
        .flat_map(|function| function.sites.iter().map(|site| site.id))
        .collect()
}

#[test]
fn unusual_constructs_stay_valid_in_every_mode_and_level() {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules");
    let mut count = 0;
    for entry in std::fs::read_dir(modules).expect("test data") {
        let source = entry.expect("an entry").path();
        let directory = tempfile::tempdir().expect("a temporary directory");
        for level in ["-O0", "-O1", "-O2"] {
            let bitcode = bitcode(&source, level, directory.path());
            let traced = sites_of(&bitcode, Mode::Traced);
            generate_code(&instrumented(&bitcode));
            let covered = sites_of(&bitcode, Mode::Covered);
            generate_code(&instrumented(&bitcode));
            assert_eq!(
                originals(traced),
                covered,
                "both variants speak of the same sites"
            );
            count += 1;
        }
    }
    assert_eq!(count, 18);
}

const BEFORE: &str = "int f(int x) {\n  if (x > 3)\n    return x / 2;\n  return 7 % x;\n}\n\
                      int g(int x) { return x ? f(x) : 0; }\n";

#[test]
fn ids_do_not_depend_on_lines_or_on_other_functions() {
    let moved = format!("// A comment.\nint h(void) {{ return 1; }}\n\n\n{BEFORE}");
    let (old, new) = (
        sites_of_text(BEFORE, Mode::Traced),
        sites_of_text(&moved, Mode::Traced),
    );
    for function in ["f", "g"] {
        assert!(!ids(&old, function).is_empty());
        assert_eq!(ids(&old, function), ids(&new, function));
    }
}

#[test]
fn a_changed_condition_changes_only_its_own_block() {
    let changed = BEFORE.replace("x > 3", "x > 4");
    let (old, new) = (
        sites_of_text(BEFORE, Mode::Traced),
        sites_of_text(&changed, Mode::Traced),
    );
    assert_eq!(ids(&old, "g"), ids(&new, "g"));
    let (old, new) = (ids(&old, "f"), ids(&new, "f"));
    assert!(!old.is_disjoint(&new), "other blocks keep their ids");
    assert_ne!(old, new, "the changed block has a new one");
}

#[test]
fn equal_blocks_of_a_function_have_different_ids() {
    let twice = "int f(int x, int *p) { if (x) *p = 1; if (x) *p = 1; return 0; }";
    let table = sites_of_text(twice, Mode::Covered);
    let all: Vec<u64> = table.functions[0]
        .sites
        .iter()
        .map(|site| site.id)
        .collect();
    assert_eq!(all.len(), all.iter().collect::<BTreeSet<_>>().len());
}

#[test]
fn a_site_names_line_kind_cases_and_successors() {
    let text = "int f(int x) {\n  switch (x) {\n  case 5:\n    return 1;\n  case 9:\n    return 2;\n  \
                }\n  return x << 1;\n}\n";
    let table = sites_of_text(text, Mode::Traced);
    let sites = &table.functions[0].sites;
    let switch = sites
        .iter()
        .find(|site| site.kind == SiteKind::Switch as u8)
        .expect("a switch");
    assert_eq!(
        (switch.line, switch.cases.as_slice()),
        (2, [5, 9].as_slice())
    );
    assert_eq!(switch.successors.len(), 3);
    let shift = sites
        .iter()
        .find(|site| site.kind == SiteKind::Arithmetic as u8)
        .expect("a shift");
    assert_eq!((shift.line, shift.text.as_str()), (8, "shl"));
    assert!(table.files[shift.file as usize].ends_with("text.c"));
}

#[test]
fn an_inlined_copy_of_a_site_names_its_original_and_the_calls_it_came_through() {
    let text = "static int inner(int x) { return x ? 7 / x : 1; }\n\
                static int middle(int x) { return inner(x + 1); }\n\
                int outer(int x) { return middle(x) + middle(x * 2); }\n";
    let table = sites_of_text(text, Mode::Traced);
    let function = |name: &str| {
        &table
            .functions
            .iter()
            .find(|function| function.name == name)
            .expect("it exists")
            .sites
    };
    let division = function("inner")
        .iter()
        .find(|site| site.text == "sdiv")
        .expect("a division");
    let calls = |name: &str, callee: &str| -> Vec<u64> {
        function(name)
            .iter()
            .filter(|site| site.text == callee && site.original == 0)
            .map(|site| site.id)
            .collect()
    };
    let copies: Vec<&Vec<u64>> = function("outer")
        .iter()
        .filter(|site| site.original == division.id)
        .map(|site| &site.within)
        .collect();
    let through = calls("middle", "inner")[0];
    let expected: Vec<Vec<u64>> = calls("outer", "middle")
        .into_iter()
        .map(|call| vec![call, through])
        .collect();
    assert_eq!(copies.len(), 2);
    assert!(expected.iter().all(|chain| copies.contains(&chain)));
}
