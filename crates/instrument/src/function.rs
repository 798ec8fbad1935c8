//! One traced function: prologue, then either two copies of the body (concrete and symbolic)
//! or, where that is not possible, the symbolic one alone.

use parallax_abi::entry;
use parallax_abi::tls;

use crate::activation::{Activation, link_frame, tls_field};
use crate::clones;
use crate::ir::{Block, Builder, LLVMOpcode, Value};
use crate::module::Module;
use crate::tracer::Tracer;
use crate::types::leaves;

/// Instruments a function that has a body.
pub fn trace_function(module: &Module, function: Value) {
    let body = function.blocks();
    let prologue = Prologue::build(module, function, body[0]);
    if clones::possible(&body) {
        clones::trace(module, function, prologue, &body);
    } else {
        trace_symbolic_only(module, function, prologue, &body);
    }
}

/// The block that runs before the body.
pub struct Prologue {
    pub block: Block,
    pub activation: Activation,
    /// `i1`: the caller's labels are meant for this function.
    pub tagged: Value,
}

impl Prologue {
    /// Builds everything but the terminator: whoever continues adds it.
    fn build(module: &Module, function: Value, entry: Block) -> Prologue {
        let block = function.append_block("plx.prologue");
        block.move_before(entry);
        let builder = module.builder();
        builder.at_end(block);

        // Variables on the stack belong to both copies of the body.
        let mut objects = Vec::new();
        for instruction in entry.instructions() {
            if instruction.opcode() == LLVMOpcode::LLVMAlloca
                && instruction.operand(0).constant_int().is_some()
            {
                unsafe { llvm_sys::core::LLVMInstructionRemoveFromParent(instruction.0) };
                builder.insert(instruction);
                objects.push(instruction);
            }
        }
        let frame_type = module.structure(&[module.ptr, module.i64, module.i32, module.i32]);
        let frame = builder.alloca(frame_type);
        let own_tag = tls_field(module, &builder, tls::CALLEE_OFFSET);
        let tagged = builder.equal(builder.load(module.ptr, own_tag), function);
        let stack_objects = (!objects.is_empty()).then(|| {
            let count = tls_field(module, &builder, tls::STACK_OBJECT_COUNT_OFFSET);
            let at_entry = builder.load(module.i64, count);
            let register = module.function(entry::ALLOCA.name).expect("linked in");
            for object in &objects {
                let each = module.alloc_size(object.allocated_type());
                let size = each * object.operand(0).constant_int().unwrap_or(1);
                builder.call(
                    register.function_type(),
                    register,
                    &[*object, module.n64(size)],
                );
            }
            (at_entry, builder.load(module.i64, count))
        });

        let variadic = function.function_type().is_variadic().then(|| {
            let saved = builder.alloca(module.array(module.i32, tls::MAX_VARIADIC as u64));
            let from = tls_field(module, &builder, tls::VARIADIC_OFFSET);
            unsafe {
                llvm_sys::core::LLVMBuildMemCpy(
                    builder.raw(),
                    saved.0,
                    4,
                    from.0,
                    4,
                    module.n64(4 * tls::MAX_VARIADIC as u64).0,
                );
            }
            let labels = builder.select(tagged, saved, module.ptr.null());
            let overflow = tls_field(module, &builder, tls::OVERFLOW_BYTES_OFFSET);
            (labels, builder.load(module.i64, overflow))
        });

        let mut byval = 0;
        for (index, parameter) in function.parameters().into_iter().enumerate() {
            let Some(pointee) = function.parameter_type_attribute(index as u32, "byval") else {
                continue;
            };
            let size = module.n64(module.alloc_size(pointee));
            let (flag, source) = if byval < tls::MAX_BYVAL {
                let field = tls_field(module, &builder, tls::BYVAL_OFFSET + 8 * byval);
                (tagged, builder.load(module.ptr, field))
            } else {
                (module.number(module.i1, 0), parameter)
            };
            let helper = module.function("plx.byval").expect("helpers are linked in");
            builder.call(
                helper.function_type(),
                helper,
                &[flag, parameter, source, size],
            );
            byval += 1;
        }
        Prologue {
            block,
            activation: Activation {
                frame,
                stack_objects,
                variadic,
            },
            tagged,
        }
    }
}

/// Where the labels of the parameters are in the thread-local block: for each
/// parameter with labels, the parameter and its first slot.
pub fn parameter_slots(module: &Module, function: Value) -> Vec<(Value, Vec<usize>)> {
    let mut slot = 0;
    let mut slots = Vec::new();
    for (index, parameter) in function.parameters().into_iter().enumerate() {
        if function
            .parameter_type_attribute(index as u32, "byval")
            .is_some()
        {
            continue;
        }
        let count = leaves(module, parameter.ty()).len();
        slots.push((parameter, (slot..slot + count).collect()));
        slot += count;
    }
    slots
}

/// The labels were meant for this function: nobody else may take them.
pub fn take_tag(module: &Module, builder: &Builder) {
    let tag = tls_field(module, builder, tls::CALLEE_OFFSET);
    builder.store(module.ptr.null(), tag);
}

fn trace_symbolic_only(module: &Module, function: Value, prologue: Prologue, body: &[Block]) {
    let Prologue {
        block,
        activation,
        tagged,
    } = prologue;
    let mut tracer = Tracer::new(module, function, activation);
    tracer.builder.at_end(block);
    take_tag(module, &tracer.builder);
    link_frame(module, &tracer.builder, tracer.activation.frame);
    for (parameter, slots) in parameter_slots(module, function) {
        let labels = slots
            .into_iter()
            .map(|slot| {
                if slot >= tls::MAX_ARGS {
                    return tracer.zero();
                }
                let field = tracer.tls(tls::ARGS_OFFSET + 4 * slot);
                let label = tracer.builder.load(module.i32, field);
                tracer.builder.select(tagged, label, tracer.zero())
            })
            .collect();
        tracer.labels.insert(parameter, labels);
    }
    tracer.builder.branch(body[0]);
    tracer.trace(body);
}
