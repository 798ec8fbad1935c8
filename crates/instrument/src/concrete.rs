//! What the concrete copy of an instruction must do for the labels' sake: keep label memory
//! clean and the protocol in order.

use parallax_abi::entry;
use parallax_abi::tls;

use crate::activation::{
    Activation, forget_stack_objects, leave, register_dynamic_alloca, tls_field,
};
use crate::calls::{announce, check_taken, indirect_target, note_format, offer_memory};
use crate::intrinsics::clear_fresh_memory;
use crate::ir::{Builder, LLVMOpcode, Value};
use crate::module::Module;

/// Adds the code around one instruction of the concrete copy.
/// A leaf function has not linked its frame.
pub fn instruction(module: &Module, instruction: Value, activation: &Activation, is_leaf: bool) {
    use LLVMOpcode::*;
    let builder = module.builder();
    match instruction.opcode() {
        LLVMStore => {
            builder.before(instruction);
            let size = module.store_size(instruction.operand(0).ty());
            let address = instruction.operand(1);
            if size <= 16 {
                module.call(
                    &builder,
                    "plx.store",
                    &[address, module.n64(size), module.n32(0)],
                );
            } else {
                module.call(&builder, "plx.clear", &[address, module.n64(size)]);
            }
        }
        LLVMAlloca => {
            builder.after(instruction);
            register_dynamic_alloca(module, &builder, instruction);
        }
        LLVMRet => {
            builder.before(instruction);
            if instruction.operand_count() == 1 {
                let field = tls_field(module, &builder, tls::RETURNED_OFFSET);
                builder.store(module.n64(0), field);
            }
            if is_leaf {
                forget_stack_objects(module, &builder, activation);
            } else {
                leave(module, &builder, activation);
            }
        }
        LLVMCall => calls(module, &builder, instruction, activation),
        _ => {}
    }
}

fn calls(module: &Module, builder: &Builder, instruction: Value, activation: &Activation) {
    let callee = instruction.called_value();
    if callee.is_inline_asm() {
        return;
    }
    let Some(name) = callee.intrinsic_name() else {
        builder.before(instruction);
        let site = module.site(instruction);
        announce(module, builder, instruction, activation.frame, site);
        if !callee.is_function() {
            indirect_target(module, builder, module.n32(0), callee, site);
        }
        note_format(module, builder, instruction, site);
        if offer_memory(module, builder, instruction) {
            builder.after(instruction);
            check_taken(module, builder, instruction, site);
        }
        return;
    };
    let stem = name.trim_start_matches("llvm.");
    let size = |index| builder.resize(instruction.operand(index), module.i64);
    if stem.starts_with("memcpy") || stem.starts_with("memmove") {
        builder.before(instruction);
        let arguments = [instruction.operand(0), instruction.operand(1), size(2)];
        module.call(builder, "plx.copy", &arguments);
    } else if stem.starts_with("memset") {
        builder.before(instruction);
        module.call(builder, "plx.clear", &[instruction.operand(0), size(2)]);
    } else if stem.starts_with("va_start") {
        builder.after(instruction);
        let (_, overflow) = activation
            .variadic
            .unwrap_or((module.ptr.null(), module.n64(0)));
        let arguments = [instruction.operand(0), module.ptr.null(), overflow];
        module.call(builder, entry::VA_START.name, &arguments);
    } else if stem.starts_with("va_copy") {
        builder.after(instruction);
        module.call(
            builder,
            "plx.clear",
            &[instruction.operand(0), module.n64(24)],
        );
    } else if stem.starts_with("lifetime.start") {
        builder.after(instruction);
        clear_fresh_memory(module, builder, instruction);
    }
}
