//! One activation of a traced function: its frame in the chain of callers and its stack
//! objects.

use parallax_abi::tls;

use crate::ir::{Builder, LLVMOpcode, Value};
use crate::module::Module;

/// What belongs to one activation of the function and exists before any of its
/// blocks run; made by the [prologue](crate::function).
pub struct Activation {
    /// The function's `Frame`.
    pub frame: Value,
    /// `tls.stack_object_count` at entry and behind the prologue, if there are objects.
    pub stack_objects: Option<(Value, Value)>,
    /// Variadic functions: pointer to the saved variadic labels (or null) and
    /// the size of the overflow area.
    pub variadic: Option<(Value, Value)>,
}

/// Registers an `alloca` that is not in the prologue; the builder stands behind it.
pub fn register_dynamic_alloca(module: &Module, builder: &Builder, instruction: Value) {
    let count = builder.resize(instruction.operand(0), module.i64);
    let each = module.n64(module.alloc_size(instruction.allocated_type()));
    let size = builder.binary(LLVMOpcode::LLVMMul, count, each);
    module.call(
        builder,
        parallax_abi::entry::ALLOCA.name,
        &[instruction, size],
    );
}

/// Makes the activation the innermost one.
pub fn link_frame(module: &Module, builder: &Builder, frame: Value) {
    let link = tls_field(module, builder, tls::FRAME_OFFSET);
    let previous = builder.load(module.ptr, link);
    builder.store(previous, frame);
    let kind = match module.is_model_library {
        true => u64::from(tls::MODEL_FRAME) << 32,
        false => 0,
    };
    // No call yet; no context yet, and the kind above it.
    for (field, value) in [(8, 0), (16, kind)] {
        let field = builder.offset(module.i8, frame, module.n64(field));
        builder.store(module.n64(value), field);
    }
    builder.store(frame, link);
}

/// Undoes [`link_frame`] and forgets stack objects; the builder stands before a return.
pub fn leave(module: &Module, builder: &Builder, activation: &Activation) {
    // The frame's first field is the previous one.
    let previous = builder.load(module.ptr, activation.frame);
    builder.store(previous, tls_field(module, builder, tls::FRAME_OFFSET));
    forget_stack_objects(module, builder, activation);
}

/// Restores the number of registered stack objects.
pub fn forget_stack_objects(module: &Module, builder: &Builder, activation: &Activation) {
    if let Some((at_entry, _)) = activation.stack_objects {
        let field = tls_field(module, builder, tls::STACK_OBJECT_COUNT_OFFSET);
        builder.store(at_entry, field);
    }
}

/// Address of a field of the thread-local protocol block.
pub fn tls_field(module: &Module, builder: &Builder, offset: usize) -> Value {
    let base = module
        .global(tls::TLS_SYMBOL)
        .expect("helpers are linked in");
    builder.offset(module.i8, base, module.n64(offset as u64))
}
