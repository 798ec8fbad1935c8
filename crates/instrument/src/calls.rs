//! Labels across calls: the caller's side of the protocol in `abi::tls`.

use parallax_abi::entry::symbol::MODEL_PREFIX;
use parallax_abi::model::{format_argument, is_output, written_range};
use parallax_abi::tls;
use parallax_abi::trace::LossKind;

use crate::activation::tls_field;
use crate::ir::{Builder, LLVMOpcode, LLVMTypeKind, Value};
use crate::module::Module;
use crate::tracer::Tracer;
use crate::types::{leaves, scalar_bits};

impl Tracer<'_> {
    pub fn call(&mut self, instruction: Value, site: Value) {
        let callee = instruction.called_value();
        if callee.is_inline_asm() {
            return self.inline_assembly(instruction, site);
        }
        if let Some(name) = callee.intrinsic_name() {
            return self.intrinsic(instruction, &name, site);
        }
        if reaches_real_function(self.module, callee) {
            return;
        }
        let module = self.module;
        self.note_written(instruction, site);
        self.note_output(instruction, site);
        note_format(module, &self.builder, instruction, site);
        let any = self.pass_arguments(instruction, site);
        let offered = offer_memory(module, &self.builder, instruction);
        announce(
            module,
            &self.builder,
            instruction,
            self.activation.frame,
            site,
        );
        if !callee.is_function() {
            let label = self.label_of(callee);
            indirect_target(module, &self.builder, label, callee, site);
        }
        if instruction.opcode() != LLVMOpcode::LLVMCall {
            self.call_with_exits(instruction);
            return;
        }
        if instruction.is_must_tail() {
            // Nothing may stand between this call and the return.
            self.leave();
            return;
        }
        self.builder.after(instruction);
        if instruction.returns_twice() {
            self.back_from_jump();
        }
        if offered || !self.is_zero(any) {
            check_taken(module, &self.builder, instruction, site);
        }
        self.take_result(instruction, callee);
    }

    /// How much a function writes out may be input's to decide: then it can be asked whether there is so much.
    fn note_written(&mut self, call: Value, site: Value) {
        let callee = call.called_value();
        let name = if callee.is_function() && callee.is_declaration() {
            callee.name()
        } else {
            return;
        };
        let Some((place, factors)) = written_range(&name) else {
            return;
        };
        // Of a product, only one whose other factor is 1.
        let is_one = |value: Value| value.constant_int() == Some(1);
        let factors: Vec<Value> = factors.iter().map(|index| call.operand(*index)).collect();
        let mut counting = factors.into_iter().filter(|factor| !is_one(*factor));
        let (Some(length), None) = (counting.next(), counting.next()) else {
            return;
        };
        let label = self.label_of(length);
        if !self.is_zero(label) && length.ty() == self.module.i64 {
            let (none, read) = (self.zero(), self.module.n32(0));
            let place = call.operand(place);
            self.helper("plx.range", &[place, none, length, label, read, site]);
        }
    }

    /// Values that are given to a function that only puts them out, variable arguments included.
    fn note_output(&mut self, call: Value, site: Value) {
        let callee = call.called_value();
        if self.module.is_model_library || !callee.is_function() || !callee.is_declaration() {
            return;
        }
        let name = callee.name();
        if !is_output(name.as_bytes()) && name != "exit" {
            return;
        }
        for index in 0..call.argument_count() {
            let argument = call.operand(index);
            // Where something lies is not put out.
            if argument.ty().is_pointer() {
                continue;
            }
            for label in self.labels_of(argument) {
                if !self.is_zero(label) {
                    let number = self.module.n64(index.into());
                    self.helper("plx.output", &[label, number, site]);
                }
            }
        }
    }

    /// Labels of the arguments to the thread-local block; gives the `or` of all.
    fn pass_arguments(&mut self, call: Value, site: Value) -> Value {
        let module = self.module;
        let callee_type = call.called_type();
        let fixed = callee_type.parameter_count();
        let mut slot = 0;
        let mut all = Vec::new();
        let mut stores = Vec::new();
        let mut byval = 0;
        for index in 0..call.argument_count() {
            let argument = call.operand(index);
            if let Some(pointee) = call.call_type_attribute(index, "byval") {
                let size = module.n64(module.alloc_size(pointee));
                let labelled = self.helper("plx.peek_range", &[argument, size]);
                // The protocol carries the first few declared ones; `va_arg` finds no labels.
                if byval < tls::MAX_BYVAL && index < fixed {
                    all.push(labelled);
                    let field = tls::BYVAL_OFFSET + 8 * byval;
                    let from = self
                        .builder
                        .cast(LLVMOpcode::LLVMPtrToInt, argument, module.i64);
                    stores.push((from, field));
                } else {
                    self.loss(labelled, LossKind::Arguments, "call", site);
                }
                byval += 1;
                continue;
            }
            if index >= fixed {
                continue;
            }
            for label in self.labels_of(argument) {
                if slot < tls::MAX_ARGS {
                    stores.push((label, tls::ARGS_OFFSET + 4 * slot));
                    all.push(label);
                } else {
                    self.give_up(&[label], LossKind::Arguments, "call", site);
                }
                slot += 1;
            }
        }
        if callee_type.is_variadic() {
            for (argument, variadic_slot) in variadic_slots(module, call).slots {
                for label in self.labels_of(argument) {
                    if variadic_slot < tls::MAX_VARIADIC {
                        stores.push((label, tls::VARIADIC_OFFSET + 4 * variadic_slot));
                        all.push(label);
                    } else {
                        self.give_up(&[label], LossKind::Arguments, "call", site);
                    }
                }
            }
        }
        let any = self.any(&all);
        if self.is_zero(any) {
            return any;
        }
        for (value, field) in stores {
            self.builder.store(value, self.tls(field));
        }
        let some = self.builder.not_equal(any, self.zero());
        let tag = self
            .builder
            .select(some, call.called_value(), module.ptr.null());
        self.builder.store(tag, self.tls(tls::CALLEE_OFFSET));
        any
    }

    /// Labels of the result from the thread-local block, if it is the callee's.
    fn take_result(&mut self, call: Value, callee: Value) {
        let parts = leaves(self.module, call.ty());
        if parts.is_empty() || call.ty().is_void() {
            return;
        }
        let mine = returned_by(self.module, &self.builder, callee);
        let labels = (0..parts.len())
            .map(|leaf| {
                if leaf >= tls::MAX_RESULTS {
                    return self.zero();
                }
                let field = self.tls(tls::RESULT_OFFSET + 4 * leaf);
                let label = self.builder.load(self.module.i32, field);
                self.builder.select(mine, label, self.zero())
            })
            .collect();
        self.labels.insert(call, labels);
    }

    /// `invoke` and `callbr`: the result is taken at the start of the normal
    /// destination when only this call leads there; otherwise it is concrete.
    fn call_with_exits(&mut self, instruction: Value) {
        let destination = instruction.successor(0);
        let only_way = Value(unsafe { llvm_sys::core::LLVMBasicBlockAsValue(destination.0) })
            .users()
            .len()
            == 1;
        if only_way && instruction.opcode() == LLVMOpcode::LLVMInvoke {
            self.builder.before(destination.first_after_phis());
            self.take_result(instruction, instruction.called_value());
        }
    }

    /// After `setjmp` has returned, perhaps again: frames of functions that were
    /// left by `longjmp` are still linked.
    fn back_from_jump(&self) {
        self.builder
            .store(self.activation.frame, self.tls(tls::FRAME_OFFSET));
        if let Some((_, behind_prologue)) = self.activation.stack_objects {
            self.builder
                .store(behind_prologue, self.tls(tls::STACK_OBJECT_COUNT_OFFSET));
        }
    }

    fn inline_assembly(&mut self, instruction: Value, site: Value) {
        let labels: Vec<Value> = (0..instruction.argument_count())
            .flat_map(|index| self.labels_of(instruction.operand(index)))
            .collect();
        self.give_up(&labels, LossKind::Instruction, "inline assembly", site);
    }
}

/// Models call the runtime and the real functions directly; those take no labels, and it is
/// the models' business to account for that.
fn reaches_real_function(module: &Module, callee: Value) -> bool {
    module.is_model_library
        && callee.is_function()
        && callee.is_declaration()
        && !callee.name().starts_with(MODEL_PREFIX)
}

/// What every call does, labels or not: leave the call site in the frame, and
/// the size of the overflow area for variadic callees.
pub fn announce(module: &Module, builder: &Builder, call: Value, frame: Value, site: Value) {
    let field = core::mem::offset_of!(tls::Frame, call_site);
    let field = builder.offset(module.i8, frame, module.n64(field as u64));
    builder.store(site, field);
    if call.called_type().is_variadic() {
        let bytes = module.n64(variadic_slots(module, call).overflow_bytes);
        builder.store(
            bytes,
            tls_field(module, builder, tls::OVERFLOW_BYTES_OFFSET),
        );
    }
}

/// Offers the memory behind pointer arguments to a callee that may not be
/// instrumented; true if there was any. The builder stands before the call.
pub fn offer_memory(module: &Module, builder: &Builder, call: Value) -> bool {
    let callee = call.called_value();
    let may_be_foreign = !callee.is_function()
        || (callee.is_declaration() && !callee.name().starts_with(MODEL_PREFIX));
    let arguments: Vec<Value> = (0..call.argument_count())
        .map(|index| call.operand(index))
        .collect();
    let has_byval =
        (0..call.argument_count()).any(|index| call.call_type_attribute(index, "byval").is_some());
    // With a `byval` argument the tag would promise more than is known here.
    if module.is_model_library || !may_be_foreign || has_byval {
        return false;
    }
    let mut any = false;
    for argument in arguments {
        if argument.ty().is_pointer() && !argument.is_constant() {
            module.call(builder, "plx.offer", &[argument, callee]);
            any = true;
        }
    }
    any
}

/// Says that a format may contain input, if it is none that was written into the program.
pub fn note_format(module: &Module, builder: &Builder, call: Value, site: Value) {
    let callee = call.called_value();
    if module.is_model_library || !callee.is_function() || !callee.is_declaration() {
        return;
    }
    let format = format_argument(&callee.name()).filter(|index| *index < call.argument_count());
    if let Some(format) = format.map(|index| call.operand(index))
        && !format.is_constant()
    {
        module.call(builder, "plx.format", &[format, site]);
    }
}

/// After a call: if labels were passed and nobody took them, say so.
pub fn check_taken(module: &Module, builder: &Builder, call: Value, site: Value) {
    let callee = call.called_value();
    let name = if callee.is_function() {
        callee.name()
    } else {
        "(indirect)".into()
    };
    let name = module.string(&name);
    let count = module.n64(u64::from(call.argument_count()));
    module.call(builder, "plx.untaken", &[callee, name, count, site]);
}

/// Whether `tls.returned` names the callee.
pub fn returned_by(module: &Module, builder: &Builder, callee: Value) -> Value {
    let returned = builder.load(module.ptr, tls_field(module, builder, tls::RETURNED_OFFSET));
    builder.equal(returned, callee)
}

/// Tells the runtime an indirect call's target when it is another than last time.
pub fn indirect_target(
    module: &Module,
    builder: &Builder,
    label: Value,
    target: Value,
    site: Value,
) {
    let seen = module.private_pointer();
    module.call(builder, "plx.indirect", &[label, target, site, seen]);
}

/// Where the variable arguments of a call will be found by `va_arg`.
pub struct VariadicSlots {
    /// Argument and index into `Tls::variadic`.
    pub slots: Vec<(Value, usize)>,
    /// Size of the overflow area.
    pub overflow_bytes: u64,
}

/// Follows the x86-64 calling convention: six general and eight vector registers,
/// then the stack. Fixed arguments take registers too.
pub fn variadic_slots(module: &Module, call: Value) -> VariadicSlots {
    const GENERAL: usize = 6;
    const VECTOR: usize = 8;
    const OVERFLOW: usize = GENERAL + 2 * VECTOR;
    let fixed = call.called_type().parameter_count();
    // Bytes on the stack so far, and how many of them belong to fixed arguments.
    let (mut general, mut vector, mut stack, mut fixed_stack) = (0, 0, 0u64, 0);
    let mut slots = Vec::new();
    for index in 0..call.argument_count() {
        let argument = call.operand(index);
        let is_variable = index >= fixed;
        if index == fixed {
            fixed_stack = stack;
        }
        if let Some(pointee) = call.call_type_attribute(index, "byval") {
            stack = stack.next_multiple_of(module.alignment(pointee).max(8));
            stack += module.alloc_size(pointee).next_multiple_of(8);
            continue;
        }
        let ty = argument.ty();
        let bits = scalar_bits(module, ty).unwrap_or(64);
        let (registers, on_stack) = match ty.kind() {
            LLVMTypeKind::LLVMX86_FP80TypeKind => (None, 16),
            LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind
            | LLVMTypeKind::LLVMVectorTypeKind => {
                let slot = (vector < VECTOR).then(|| {
                    vector += 1;
                    GENERAL + 2 * (vector - 1)
                });
                (slot, u64::from(bits.div_ceil(64)) * 8)
            }
            _ => {
                let needed = bits.div_ceil(64) as usize;
                let slot = (general + needed <= GENERAL).then(|| {
                    general += needed;
                    general - needed
                });
                (slot, needed as u64 * 8)
            }
        };
        let slot = match registers {
            Some(slot) => slot,
            None => {
                stack = stack.next_multiple_of(on_stack.min(16));
                let slot = OVERFLOW + ((stack - fixed_stack) / 8) as usize;
                stack += on_stack;
                slot
            }
        };
        if is_variable {
            slots.push((argument, slot));
        }
    }
    if call.argument_count() <= fixed {
        fixed_stack = stack;
    }
    VariadicSlots {
        slots,
        overflow_bytes: stack - fixed_stack,
    }
}
