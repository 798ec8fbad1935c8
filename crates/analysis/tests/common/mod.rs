//! Compiles C text and describes it as the covered variant of a captured program would.

// Each test file uses a part of this.
#![allow(dead_code)]

use std::path::Path;
use std::process::Command;

use llvm_sys::core::*;
use parallax_analysis::program::Terminator;
use parallax_analysis::{BlockId, FunctionId, ModuleCode, Program};

/// One module from C text; `name` is the file's.
pub fn module(name: &str, text: &str) -> ModuleCode {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join(name);
    std::fs::write(&source, text).expect("written");
    let output = directory.path().join("module.bc");
    let status = Command::new("clang-19")
        .args(["-w", "-g", "-O1", "-Xclang", "-disable-llvm-passes"])
        .args(["-emit-llvm", "-c"])
        .arg(&source)
        .arg("-o")
        .arg(&output)
        .status()
        .expect("clang-19 runs");
    assert!(status.success(), "{name} compiles");
    describe(&output)
}

fn describe(bitcode: &Path) -> ModuleCode {
    unsafe {
        let context = LLVMContextCreate();
        let module = parallax_instrument::read_module(context, bitcode).expect("bitcode");
        let code = parallax_instrument::describe_module(module);
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
        // As it is kept in programs.
        ModuleCode::from_bytes(&code.to_bytes().expect("bytes")).expect("readable")
    }
}

/// A program of one file, `text.c`.
pub fn program(text: &str) -> Program {
    Program::link(vec![module("text.c", text)])
}

pub fn function(program: &Program, name: &str) -> FunctionId {
    program.function_named(name).expect(name)
}

/// The block that begins with the line of the comment `/* mark */`: the one whose first place is there.
pub fn block_at(program: &Program, line: u32) -> BlockId {
    let mut found: Vec<BlockId> = program
        .block_ids()
        .filter(|block| {
            let places = &mut program.block(*block).places();
            places.find(|place| place.line != 0).map(|place| place.line) == Some(line)
        })
        .collect();
    assert!(!found.is_empty(), "no block begins in line {line}");
    found.remove(0)
}

/// Number of the line that contains a text.
pub fn line_of(text: &str, part: &str) -> u32 {
    let line = text.lines().position(|line| line.contains(part));
    line.unwrap_or_else(|| panic!("no line contains {part}")) as u32 + 1
}

/// The block that ends in the branch or switch of a line.
pub fn branch_at(program: &Program, line: u32) -> BlockId {
    program
        .block_ids()
        .find(|id| {
            let block = program.block(*id);
            block.end.line == line
                && matches!(
                    block.terminator,
                    Terminator::Branch { .. } | Terminator::Switch { .. }
                )
        })
        .unwrap_or_else(|| panic!("no branch in line {line}"))
}
