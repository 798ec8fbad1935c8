//! What the plug-in does with modules through LLVM's C interface.

use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use parallax_record::SECTION;
use std::fmt::Write;

/// All functions of a module, declarations included.
///
/// # Safety
/// `module` must be valid; functions must not be removed while the iterator is used.
pub unsafe fn functions(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    let present = |function: LLVMValueRef| (!function.is_null()).then_some(function);
    // Safety (both): the caller's promise.
    let first = unsafe { LLVMGetFirstFunction(module) };
    std::iter::successors(present(first), move |function| {
        present(unsafe { LLVMGetNextFunction(*function) })
    })
}

/// The number that LLVM gave to an attribute.
pub fn attribute_kind(name: &str) -> u32 {
    // Safety: pointer and length of one string.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// The name of the source that the front end read.
///
/// # Safety
/// `module` must be valid.
pub unsafe fn source_file_name(module: LLVMModuleRef) -> String {
    let mut length = 0;
    // Safety: the caller's promise; the bytes belong to the module.
    unsafe {
        let bytes = LLVMGetSourceFileName(module, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(bytes.cast(), length)).into_owned()
    }
}

/// The module as bitcode.
///
/// # Safety
/// `module` must be valid.
pub unsafe fn bitcode(module: LLVMModuleRef) -> Vec<u8> {
    // Safety: the caller's promise; the buffer is ours until it is disposed of.
    unsafe {
        let buffer = LLVMWriteBitcodeToMemoryBuffer(module);
        let bytes = std::slice::from_raw_parts(
            LLVMGetBufferStart(buffer).cast::<u8>(),
            LLVMGetBufferSize(buffer),
        )
        .to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        bytes
    }
}

/// Functions with a body, and pieces of inline assembly.
///
/// # Safety
/// `module` must be valid.
pub unsafe fn count(module: LLVMModuleRef) -> (u32, u32) {
    let mut defined = 0;
    let mut assembly = 0;
    // Safety: the caller's promise; the loops follow LLVM's own lists.
    unsafe {
        let mut length = 0;
        LLVMGetModuleInlineAsm(module, &mut length);
        assembly += u32::from(length > 0);
        for function in functions(module) {
            defined += u32::from(LLVMIsDeclaration(function) == 0);
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let mut instruction = LLVMGetFirstInstruction(block);
                while !instruction.is_null() {
                    // `asm goto` is a terminator of its own kind, not a call.
                    let call = !LLVMIsACallInst(instruction).is_null()
                        || !LLVMIsACallBrInst(instruction).is_null();
                    if call && !LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)).is_null() {
                        assembly += 1;
                    }
                    instruction = LLVMGetNextInstruction(instruction);
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
    }
    (defined, assembly)
}

/// Undoes what `-O0` writes into every function. Without it the optimiser leaves
/// the instrumented functions alone, and they are several times slower than need be.
///
/// # Safety
/// `module` must be valid and nobody else may use it during the call.
pub unsafe fn allow_optimisation(module: LLVMModuleRef) {
    let optnone = attribute_kind("optnone");
    let noinline = attribute_kind("noinline");
    let index = llvm_sys::LLVMAttributeFunctionIndex;
    // Safety: the caller's promise.
    unsafe {
        for function in functions(module) {
            // `optnone` requires `noinline`: alone the latter is the programmer's word and stays.
            if !LLVMGetEnumAttributeAtIndex(function, index, optnone).is_null() {
                LLVMRemoveEnumAttributeAtIndex(function, index, optnone);
                LLVMRemoveEnumAttributeAtIndex(function, index, noinline);
            }
        }
    }
}

/// Puts records into the module's object file, in [`SECTION`].
///
/// As assembly, because only assembly can name a section that is not loaded, and
/// because it works whatever clang is asked to make: an object, assembly text, or both by way of
/// a temporary file.
///
/// # Safety
/// `module` must be valid and nobody else may use it during the call.
pub unsafe fn embed(module: LLVMModuleRef, records: &[u8]) {
    if records.is_empty() {
        return;
    }
    let text = assembly(records);
    // Safety: the caller's promise; LLVM copies the text.
    unsafe { LLVMAppendModuleInlineAsm(module, text.as_ptr().cast(), text.len()) };
}

/// Assembly that puts `bytes` into [`SECTION`], 16-aligned as records expect.
fn assembly(bytes: &[u8]) -> String {
    // Escapes of at most four characters; a line per kilobyte keeps -S output usable.
    let mut text = String::with_capacity(bytes.len() * 3 + 256);
    let _ = write!(
        text,
        ".pushsection {SECTION},\"\",@progbits\n.p2align 4, 0\n"
    );
    for line in bytes.chunks(1024) {
        text.push_str(".ascii \"");
        for (index, byte) in line.iter().enumerate() {
            match *byte {
                b'"' | b'\\' => {
                    text.push('\\');
                    text.push(char::from(*byte));
                }
                b' '..=b'~' => text.push(char::from(*byte)),
                _ => {
                    // An escape may be short only if no digit follows it.
                    let digit_follows =
                        line.get(index + 1).is_none_or(|next| next.is_ascii_digit());
                    let _ = if digit_follows {
                        write!(text, "\\{byte:03o}")
                    } else {
                        write!(text, "\\{byte:o}")
                    };
                }
            }
        }
        text.push_str("\"\n");
    }
    text.push_str(".popsection\n");
    text
}
