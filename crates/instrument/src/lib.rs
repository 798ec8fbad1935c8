//! Turns a module of front-end bitcode into its traced or covered variant.
//!
//! *Traced*: beside each value runs a label that names its expression over the input
//! (see [`tracer`] for values, [`clones`] for why most code does not notice). *Covered*:
//! blocks count themselves. Both name places in the program by the same site ids ([`sites`]), assigned
//! before anything is changed.
//!
//! The pass runs inside clang, at the start of its pipeline: LLVM's optimiser
//! comes afterwards and cleans up. Instrumenting first and optimising later keeps
//! branches as the programmer wrote them.

mod activation;
mod calls;
mod clones;
mod concrete;
mod control;
mod covered;
mod describe;
mod function;
mod globals;
mod helpers;
mod inline;
mod intrinsics;
mod ir;
mod memory;
mod module;
mod outline;
mod prepare;
mod sites;
mod slots;
mod tracer;
mod twins;
mod types;
mod values;

use std::collections::HashSet;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};
use parallax_abi::entry::symbol;
use parallax_record::code::ModuleCode;
use parallax_record::{Kind, SiteTable, SitesMeta, encode};

use crate::ir::Value;
use crate::module::Module;

/// Reads a module from a file of bitcode or its text.
///
/// # Safety
/// The module must not be used after its context.
pub unsafe fn read_module(context: LLVMContextRef, path: &Path) -> Result<LLVMModuleRef, String> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    let (mut buffer, mut module, mut message) = (null_mut(), null_mut(), null_mut());
    // SAFETY: the reader takes the buffer over.
    unsafe {
        let failed =
            LLVMCreateMemoryBufferWithContentsOfFile(path.as_ptr(), &mut buffer, &mut message) != 0
                || LLVMParseIRInContext(context, buffer, &mut module, &mut message) != 0;
        match failed {
            true => Err(ir::take_message(message)),
            false => Ok(module),
        }
    }
}

/// Which variant to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Values carry labels.
    Traced,
    /// Blocks and branches are counted.
    Covered,
}

/// Why a module could not be instrumented. Each is a defect of Parallax: valid modules
/// can always be instrumented.
#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    #[error("instrumented module does not verify: {0}")]
    Verify(String),
    #[error("inline helpers: {0}")]
    Helpers(String),
    #[error("preparing passes: {0}")]
    Passes(String),
    #[error("site table: {0}")]
    Record(#[from] parallax_record::RecordError),
    #[error("site table: {0}")]
    Table(#[from] serde_json::Error),
    #[error("record: {0}")]
    Data(#[from] postcard::Error),
}

/// Instruments the module in place. Returns the records to embed in it.
///
/// # Safety
/// `module` must be a valid module that nobody else uses during the call.
pub unsafe fn instrument(module: LLVMModuleRef, mode: Mode) -> Result<Vec<u8>, InstrumentError> {
    let module = unsafe { Module::new(module) };
    let mut table = sites::assign(&module);
    let mut records = Vec::new();
    let id = match mode {
        Mode::Traced => {
            trace(&module, &mut table)?;
            sites::table_id(&table)?
        }
        Mode::Covered => {
            let id = sites::table_id(&table)?;
            let code = describe::describe(&module).to_bytes()?;
            records = encode(Kind::Code, &(), &code)?;
            covered::cover(&module, id)?;
            id
        }
    };
    let table = table.into_bytes()?;
    records.splice(
        0..0,
        encode(Kind::Sites, &SitesMeta { module: id }, &table)?,
    );
    Ok(records)
}

/// The code of a module that [`instrument`] would put into its covered variant, without making one.
///
/// # Safety
/// As for [`instrument`]. The module gets metadata.
pub unsafe fn describe_module(module: LLVMModuleRef) -> ModuleCode {
    let module = unsafe { Module::new(module) };
    sites::assign(&module);
    describe::describe(&module)
}

fn trace(module: &Module, table: &mut SiteTable) -> Result<(), InstrumentError> {
    prepare::prepare(module, table)?;
    let globals = module.globals();
    let functions: Vec<Value> = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration() && !function.has_attribute("naked"))
        .collect();
    helpers::link_into(module)?;
    let resolvers = resolvers(module);
    for function in functions {
        if !resolvers.contains(&function) {
            function::trace_function(module, function);
        }
    }
    globals::register(module, &globals);
    // The runtime comes before the program: see the symbol's description.
    if let Some(main) = module.function("main") {
        main.set_name(symbol::MAIN);
    }
    verify(module)
}

/// Functions that run while the program is being relocated, before the runtime exists.
fn resolvers(module: &Module) -> HashSet<Value> {
    let mut found = HashSet::new();
    unsafe {
        let mut at = LLVMGetFirstGlobalIFunc(module.raw);
        while !at.is_null() {
            found.insert(Value(LLVMGetGlobalIFuncResolver(at)));
            at = LLVMGetNextGlobalIFunc(at);
        }
    }
    found
}

fn verify(module: &Module) -> Result<(), InstrumentError> {
    unsafe {
        let mut message = std::ptr::null_mut();
        let failed = LLVMVerifyModule(
            module.raw,
            LLVMVerifierFailureAction::LLVMReturnStatusAction,
            &mut message,
        );
        let text = ir::take_message(message);
        if failed != 0 {
            Err(InstrumentError::Verify(text))
        } else {
            Ok(())
        }
    }
}
