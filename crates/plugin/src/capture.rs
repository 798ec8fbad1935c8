//! Capture: the front end's module, embedded in the object that is made from it.

use crate::module;
use llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use llvm_sys::prelude::LLVMModuleRef;
use parallax_record::request::{Capture, Unit};
use parallax_record::{Kind, ModuleRecord, encode};
use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

/// Embeds the module's own bitcode in it, as the request in `descriptor` says.
///
/// # Safety
/// `module` must be a valid module that nobody else uses during the call.
pub unsafe fn capture(module: LLVMModuleRef, descriptor: i32) -> Result<(), String> {
    let request = read_request(descriptor)?;
    // Safety: the caller's promise.
    let record = unsafe { record(module, &request) };
    // Whatever became of the record, the object must be the one that was asked for.
    if request.strip_debug {
        // Safety: the caller's promise.
        unsafe { LLVMStripModuleDebugInfo(module) };
    }
    // Safety: the caller's promise.
    unsafe { module::embed(module, &record?) };
    Ok(())
}

/// # Safety
/// As for [`capture`].
unsafe fn record(module: LLVMModuleRef, request: &Capture) -> Result<Vec<u8>, String> {
    // Safety: the caller's promise.
    let (name, (functions, inline_assembly)) =
        unsafe { (module::source_file_name(module), module::count(module)) };
    let index = request
        .unit_of(&name)
        .ok_or_else(|| format!("{name} is none of the sources on the command line"))?;
    let unit = &request.units[index];
    // Safety: the caller's promise.
    let bitcode = unsafe { module::bitcode(module) };
    let sources = unit.keep_source.then(|| key(request, unit, &bitcode));
    if let Some(key) = &sources {
        report_key(request.key_descriptor, index, key)?;
    }
    let meta = ModuleRecord {
        source: unit.source.clone(),
        language: unit.language.clone(),
        compile: request.compile.clone(),
        sources,
        functions,
        inline_assembly,
        notes: Vec::new(),
    };
    encode(Kind::Module, &meta, &bitcode).map_err(|error| error.to_string())
}

/// Names the sources of a module by what the front end made of them: the same command that gives
/// the same bitcode had, for all that matters, the same sources.
fn key(request: &Capture, unit: &Unit, bitcode: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    let words = request
        .compile
        .arguments
        .iter()
        .chain([&request.compile.directory, &unit.source]);
    for word in words {
        hasher
            .update(&(word.len() as u64).to_le_bytes())
            .update(word.as_bytes());
    }
    hasher.update(bitcode).finalize().to_hex()[..32].to_owned()
}

fn report_key(descriptor: i32, index: usize, key: &str) -> Result<(), String> {
    // Safety: the driver opened it for us; it stays open for the compiler's other jobs.
    let mut file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    writeln!(file, "{index} {key}").map_err(|error| format!("key: {error}"))
}

fn read_request(descriptor: i32) -> Result<Capture, String> {
    // Safety: the driver opened it for us; it stays open for the compiler's other jobs.
    let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let describe = |error: std::io::Error| format!("request: {error}");
    let length = file.metadata().map_err(describe)?.len();
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0).map_err(describe)?;
    serde_json::from_slice(&bytes).map_err(|error| format!("request: {error}"))
}
