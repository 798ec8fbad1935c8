//! Makes a front-end module fit for tracing, without changing what it computes.
//!
//! In order:
//! 1. `optnone` goes: a module compiled with `-O0` must still be optimised after instrumentation.
//! 2. Bodies that glibc's headers offer for inlining (`available_externally`)
//!    become internal functions: what would be inlined must be traced.
//! 3. Uses of modelled libc functions are bound to the models, function pointers included.
//! 4. Fused multiply-add intrinsics become a multiplication and an addition where the target
//!    has no fused instruction, which is what the back end would do.
//! 5. `always_inline` functions are inlined, constant-folding intrinsics lowered, variables
//!    promoted to SSA values.
//! 6. Small functions are inlined, each copy with sites of its own ([`inline`]).
//! 7. Attributes and flags that would let the optimiser delete or bend traced
//!    code are dropped.
//! 8. Debug information goes: sites have been named before.

use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use llvm_sys::error::LLVMGetErrorMessage;
use llvm_sys::transforms::pass_builder::*;
use parallax_abi::entry::symbol::MODEL_PREFIX;
use parallax_abi::model::model_of;
use parallax_record::SiteTable;

use crate::InstrumentError;
use crate::inline;
use crate::ir::{LLVMOpcode, Value};
use crate::module::Module;

/// Metadata that remembers which operations must not overflow, because the
/// flag that says so is dropped.
pub const NO_SIGNED_WRAP: &str = "plx.nsw";

pub fn prepare(module: &Module, table: &mut SiteTable) -> Result<(), InstrumentError> {
    for function in module.functions() {
        if function.has_attribute("optnone") {
            // The two come together at `-O0`, where `noinline` is nobody's wish.
            function.remove_attribute("optnone");
            function.remove_attribute("noinline");
        }
        if function.linkage() == LLVMLinkage::LLVMAvailableExternallyLinkage {
            function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        }
        if !module.is_model_library && function.is_declaration() {
            bind_model(module, function);
        }
    }
    for function in module.functions() {
        if !function.is_declaration() {
            split_fused(module, function);
        }
    }
    run_passes(
        module,
        c"always-inline,function(lower-constant-intrinsics,mem2reg)",
    )?;
    if !module.is_model_library {
        inline::inline_small_functions(module, table);
    }
    let nsw = module.metadata_kind(NO_SIGNED_WRAP);
    for function in module.functions() {
        // The back end selects instructions for intrinsics by their attributes.
        if function.intrinsic_name().is_some() {
            continue;
        }
        function.relax_function();
        if function.is_declaration() {
            continue;
        }
        // Library calls that the optimiser would recognise must stay the calls that were traced.
        function.add_string_attribute("no-builtins", "");
        for block in function.blocks() {
            for instruction in block.instructions() {
                relax(instruction, nsw);
            }
        }
    }
    unsafe { LLVMStripModuleDebugInfo(module.raw) };
    Ok(())
}

fn relax(instruction: Value, nsw: u32) {
    use LLVMOpcode::*;
    match instruction.opcode() {
        LLVMAdd | LLVMSub | LLVMMul => {
            if instruction.no_signed_wrap() {
                instruction.set_number(nsw, 1);
            }
            instruction.drop_poison_flags();
        }
        LLVMCall if instruction.called_value().intrinsic_name().is_some() => {}
        LLVMCall => {
            instruction.relax_call();
            if !instruction.is_must_tail() {
                instruction.clear_tail();
            }
        }
        LLVMInvoke => instruction.relax_call(),
        _ => instruction.drop_poison_flags(),
    }
}

/// Replaces all uses of a modelled function by its model.
fn bind_model(module: &Module, function: Value) {
    let Some(model) = model_of(&function.name()) else {
        return;
    };
    let model = module.declare(&format!("{MODEL_PREFIX}{model}"), function.function_type());
    function.replace_uses(model);
}

/// `fmuladd(a, b, c)` → `a * b + c`.
fn split_fused(module: &Module, function: Value) {
    if unsafe {
        let key = "target-features";
        let attribute = LLVMGetStringAttributeAtIndex(
            function.0,
            llvm_sys::LLVMAttributeFunctionIndex,
            key.as_ptr().cast(),
            key.len() as u32,
        );
        !attribute.is_null() && {
            let mut length = 0;
            let text = LLVMGetStringAttributeValue(attribute, &mut length);
            let text = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
            String::from_utf8_lossy(text)
                .split(',')
                .any(|feature| feature == "+fma")
        }
    } {
        return;
    }
    let builder = module.builder();
    for block in function.blocks() {
        for instruction in block.instructions() {
            if instruction.opcode() != LLVMOpcode::LLVMCall
                || !instruction
                    .called_value()
                    .intrinsic_name()
                    .is_some_and(|name| name.starts_with("llvm.fmuladd."))
            {
                continue;
            }
            builder.before(instruction);
            let product = builder.binary(
                LLVMOpcode::LLVMFMul,
                instruction.operand(0),
                instruction.operand(1),
            );
            let sum = builder.binary(LLVMOpcode::LLVMFAdd, product, instruction.operand(2));
            if let Some(block_id) = instruction.number(module.block_kind) {
                for new in [product, sum]
                    .into_iter()
                    .filter(|new| new.is_instruction())
                {
                    new.set_number(module.block_kind, block_id);
                }
            }
            instruction.replace_uses(sum);
            instruction.erase();
        }
    }
}

/// Runs a textual pass pipeline on the module.
pub fn run_passes(module: &Module, pipeline: &std::ffi::CStr) -> Result<(), InstrumentError> {
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(module.raw, pipeline.as_ptr(), std::ptr::null_mut(), options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let text = std::ffi::CStr::from_ptr(message)
            .to_string_lossy()
            .into_owned();
        llvm_sys::error::LLVMDisposeErrorMessage(message);
        Err(InstrumentError::Passes(text))
    }
}
