//! Two copies of a function's body: code without labels runs without looking at them.
//!
//! *Concrete copy*: the original blocks. No value in it carries a label, by
//! construction; it only watches the three ways in which one can come in: the caller
//! passed labelled arguments (then the symbolic copy is entered at once), a call returned a labelled
//! value, memory that it reads is labelled. In the latter cases it jumps to the same
//! place of the *symbolic copy*, which carries labels beside all values and is never left again
//! in this activation.
//!
//! A **segment** is a block in which all reads of memory come before the first
//! *barrier* (anything with an effect: store, call …). The concrete copy does all
//! reads of a segment, looks at their labels once, before the barrier, and if any is
//! labelled jumps to the *start* of the segment's symbolic twin: executing the reads again is
//! harmless because nothing happened in between.
//!
//! A value that the symbolic copy uses in another segment than the one that
//! defines it can come from either copy: such values live in [slots](crate::slots). The symbolic
//! copy is a function of its own: see [`outline`](crate::outline).
//!
//! Measured on hand-instrumented loops before this was built: checks at every instruction cost 2.4 to 4.7 times the plain loop, a
//! copy without labels 1.0 to 3.4 times.
//!
//! Not copied, but traced with the symbolic copy alone: functions with computed goto, `setjmp`, exceptions, `va_start` or arrays of variable
//! length, and functions that are too large.

use parallax_abi::entry::PEEK;
use parallax_abi::tls;

use crate::activation::{link_frame, tls_field};
use crate::calls;
use crate::concrete;
use crate::function::{Prologue, parameter_slots, take_tag};
use crate::ir::{self, Block, Builder, LLVMOpcode, Value};
use crate::module::Module;
use crate::outline::{Outline, Ways};
use crate::slots::Slots;
use crate::tracer::Tracer;
use crate::twins::Twins;
use crate::types::leaves;

/// Functions with more (instructions × segments) than this get no concrete copy: joins
/// would grow out of proportion.
const MAX_JOIN_WORK: usize = 4_000_000;

/// Whether the body can be copied.
pub fn possible(body: &[Block]) -> bool {
    use LLVMOpcode::*;
    let (mut instructions, mut reads) = (0, 0);
    for block in body {
        if Value(unsafe { llvm_sys::core::LLVMBasicBlockAsValue(block.0) })
            .users()
            .iter()
            .any(|user| user.is_block_address())
        {
            return false;
        }
        for instruction in block.instructions() {
            instructions += 1;
            match instruction.opcode() {
                LLVMIndirectBr | LLVMInvoke | LLVMCallBr | LLVMResume | LLVMLandingPad
                | LLVMCatchPad | LLVMCleanupPad | LLVMCatchSwitch | LLVMCatchRet
                | LLVMCleanupRet => return false,
                LLVMCall if instruction.returns_twice() || instruction.is_must_tail() => {
                    return false;
                }
                LLVMCall if is_bound_to_frame(instruction) => return false,
                LLVMLoad | LLVMCall => reads += 1,
                _ => {}
            }
            if instruction.ty().kind() == llvm_sys::LLVMTypeKind::LLVMTokenTypeKind {
                return false;
            }
        }
    }
    instructions * reads <= MAX_JOIN_WORK
}

/// Whether the instruction is about the stack frame that it runs in: it cannot move to
/// another function.
fn is_bound_to_frame(call: Value) -> bool {
    const BOUND: &[&str] = &[
        "va_start",
        "stacksave",
        "stackrestore",
        "returnaddress",
        "frameaddress",
        "addressofreturnaddress",
        "sponentry",
        "localescape",
        "localrecover",
        "get.dynamic.area.offset",
        "eh.",
    ];
    call.called_value().intrinsic_name().is_some_and(|name| {
        let stem = name.trim_start_matches("llvm.");
        BOUND.iter().any(|bound| stem.starts_with(bound))
    })
}

/// Splits the body into segments, copies it, and connects the copies.
pub fn trace(module: &Module, function: Value, prologue: Prologue, body: &[Block]) {
    let segments: Vec<Block> = body
        .iter()
        .flat_map(|block| segments_of(module, *block))
        .collect();
    let outline = Outline::declare(module, function);
    let twins = Twins::copy(module, outline.function, &segments);
    let symbolic: Vec<Block> = segments.iter().map(|block| twins.blocks[block]).collect();

    // The symbolic copy; labels of parameters are placeholders until they have slots.
    let Prologue {
        block: prologue_block,
        activation,
        tagged,
    } = prologue;
    let mut tracer = Tracer::new(module, function, activation);
    // Where labels are about, a helper called costs nothing that would show beside the runtime.
    tracer.calls_helpers = true;
    tracer.builder.at_end(prologue_block);
    let mut parameters = Vec::new();
    for (parameter, slots) in parameter_slots(module, function) {
        let placeholders: Vec<Value> = slots
            .iter()
            .map(|_| tracer.builder.placeholder(module.i32))
            .collect();
        parameters.extend(slots.into_iter().zip(placeholders.iter().copied()));
        tracer.labels.insert(parameter, placeholders);
    }
    // A function that calls nothing needs its frame only in the symbolic copy.
    let is_leaf = !body_calls(&segments);
    if !is_leaf {
        link_frame(module, &tracer.builder, tracer.activation.frame);
    }
    let entry_edge = function.append_block("plx.tagged");
    let way_in = tracer.builder.conditional(tagged, entry_edge, segments[0]);
    tracer.trace(&symbolic);

    let placeholders: Vec<Value> = parameters.iter().map(|(_, label)| *label).collect();
    let slots = Slots::new(
        module,
        way_in,
        &symbolic,
        &twins.original,
        &placeholders,
        outline.state,
    );
    let mut copies = Copies {
        module,
        tracer: &tracer,
        twins: &twins,
        slots: &slots,
        ways: Ways::new(module, function, &outline),
        is_leaf,
    };

    // Labelled arguments: straight to the symbolic copy.
    let builder = module.builder();
    builder.at_end(entry_edge);
    take_tag(module, &builder);
    let state = slots.state(&builder);
    slots.clear_labels(&builder, state);
    for (slot, label) in &parameters {
        if *slot < tls::MAX_ARGS {
            let field = tls_field(module, &builder, tls::ARGS_OFFSET + 4 * slot);
            slots.set_label(&builder, state, *label, builder.load(module.i32, field));
        }
    }
    copies.cross(&builder, state, segments[0], true);
    for segment in &segments {
        copies.watch(*segment);
    }
    copies.ways.finish(&slots, &tracer.activation, is_leaf);
    for placeholder in placeholders {
        placeholder.erase();
    }
    twins.erase_lifetimes();
}

/// Whether anything but intrinsics is called.
fn body_calls(blocks: &[Block]) -> bool {
    blocks
        .iter()
        .flat_map(|block| block.instructions())
        .any(|instruction| {
            instruction.opcode() == LLVMOpcode::LLVMCall
                && instruction.called_value().intrinsic_name().is_none()
        })
}

/// Cuts a block so that in each part all reads come before the first barrier,
/// a call with a result comes last, and phis stand alone.
fn segments_of(module: &Module, block: Block) -> Vec<Block> {
    let mut segments = vec![block];
    let mut current = block;
    if !block.phis().is_empty() {
        current = ir::split_before(block.first_after_phis());
        segments.push(current);
    }
    'next: loop {
        let mut last_barrier: Option<Value> = None;
        for instruction in current.instructions() {
            if instruction.next().is_none() {
                break 'next;
            }
            let reads = !reads_of(module, instruction).is_empty();
            if reads && let Some(barrier) = last_barrier {
                current = ir::split_before(barrier.next().expect("a terminator follows"));
                segments.push(current);
                continue 'next;
            }
            if is_barrier(instruction) {
                last_barrier = Some(instruction);
                if returns_label(module, instruction) {
                    current = ir::split_before(instruction.next().expect("a terminator follows"));
                    segments.push(current);
                    continue 'next;
                }
            }
        }
        break;
    }
    segments
}

/// Memory that an instruction reads: address and size.
fn reads_of(module: &Module, instruction: Value) -> Vec<(Value, u64)> {
    use LLVMOpcode::*;
    match instruction.opcode() {
        LLVMLoad if instruction.operand(0).is_global_constant() => Vec::new(),
        LLVMLoad => vec![(instruction.operand(0), module.store_size(instruction.ty()))],
        LLVMAtomicRMW | LLVMAtomicCmpXchg => {
            vec![(
                instruction.operand(0),
                module.store_size(instruction.operand(1).ty()),
            )]
        }
        LLVMCall if !instruction.called_value().is_inline_asm() => (0..instruction
            .argument_count())
            .filter_map(|index| {
                let pointee = instruction.call_type_attribute(index, "byval")?;
                Some((instruction.operand(index), module.alloc_size(pointee)))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether executing the instruction twice would differ from executing it once.
fn is_barrier(instruction: Value) -> bool {
    use LLVMOpcode::*;
    match instruction.opcode() {
        LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMFence | LLVMVAArg | LLVMAlloca => true,
        LLVMLoad => instruction.is_ordered(),
        LLVMCall => !instruction
            .called_value()
            .intrinsic_name()
            .is_some_and(|name| is_pure_intrinsic(&name)),
        _ => false,
    }
}

fn is_pure_intrinsic(name: &str) -> bool {
    const PURE: &[&str] = &[
        "abs",
        "smax",
        "smin",
        "umax",
        "umin",
        "ctpop",
        "ctlz",
        "cttz",
        "bswap",
        "bitreverse",
        "fsh",
        "sadd",
        "uadd",
        "ssub",
        "usub",
        "smul",
        "umul",
        "sshl",
        "ushl",
        "fabs",
        "copysign",
        "sqrt",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "nearbyint",
        "round",
        "expect",
        "ptrmask",
        "threadlocal.address",
        "is.fpclass",
        "min",
        "max",
        "fma",
        "objectsize",
        "is.constant",
    ];
    let stem = name.trim_start_matches("llvm.");
    PURE.iter().any(|pure| stem.starts_with(pure))
}

/// Whether the instruction is a call whose result may carry labels.
fn returns_label(module: &Module, instruction: Value) -> bool {
    if instruction.opcode() != LLVMOpcode::LLVMCall || instruction.ty().is_void() {
        return false;
    }
    let callee = instruction.called_value();
    !callee.is_inline_asm()
        && callee.intrinsic_name().is_none()
        && !leaves(module, instruction.ty()).is_empty()
}

/// Both copies and what joins them.
struct Copies<'a> {
    module: &'a Module,
    tracer: &'a Tracer<'a>,
    twins: &'a Twins,
    slots: &'a Slots<'a>,
    ways: Ways<'a>,
    is_leaf: bool,
}

impl Copies<'_> {
    /// Ends a block of the concrete copy by going to a segment's twin. `labels`: the label slots
    /// are filled already.
    fn cross(&mut self, builder: &Builder, state: Value, segment: Block, labels: bool) {
        let twin = self.twins.blocks[&segment];
        self.slots.enter(builder, state, twin);
        self.ways.go(builder, twin, labels);
    }

    /// Adds to a concrete segment what it must do and watch.
    fn watch(&mut self, segment: Block) {
        let module = self.module;
        let instructions: Vec<Value> = segment
            .instructions()
            .into_iter()
            .filter(|instruction| self.twins.copies.contains_key(instruction))
            .collect();
        let result = instructions
            .iter()
            .rev()
            .find(|instruction| is_barrier(**instruction))
            .copied()
            .filter(|last| returns_label(module, *last) && self.watches_result(*last));

        let mut reads = Vec::new();
        let mut check_before = segment.terminator();
        for instruction in &instructions {
            reads.extend(reads_of(module, *instruction));
            if is_barrier(*instruction) {
                check_before = *instruction;
                break;
            }
        }
        for instruction in &instructions {
            concrete::instruction(module, *instruction, &self.tracer.activation, self.is_leaf);
        }
        if let Some(call) = result {
            self.watch_result(call);
        }
        if !reads.is_empty() {
            self.check_reads(check_before, &reads, segment);
        }
    }

    /// Whether anybody in the symbolic copy would use the result's labels.
    fn watches_result(&self, call: Value) -> bool {
        self.tracer
            .labels
            .get(&self.twins.copies[&call])
            .is_some_and(|labels| labels.iter().any(|label| self.slots.contains(*label)))
    }

    /// After a call: if the callee returned labels, hand them and control to the symbolic copy.
    fn watch_result(&mut self, call: Value) {
        let module = self.module;
        let terminator = call.parent().terminator();
        let next = terminator.successor(0);
        let edge = self.tracer.function.append_block("plx.returned");
        let builder = module.builder();
        builder.before(terminator);
        let mine = calls::returned_by(module, &builder, call.called_value());
        builder.unlikely(mine, edge, next);
        terminator.erase();
        builder.at_end(edge);
        let state = self.slots.state(&builder);
        self.slots.clear_labels(&builder, state);
        let labels = &self.tracer.labels[&self.twins.copies[&call]];
        for (leaf, label) in labels.iter().enumerate().take(tls::MAX_RESULTS) {
            let field = tls_field(module, &builder, tls::RESULT_OFFSET + 4 * leaf);
            self.slots
                .set_label(&builder, state, *label, builder.load(module.i32, field));
        }
        self.cross(&builder, state, next, true);
    }

    /// Before `position`: if anything read is labelled, continue at the twin's start.
    fn check_reads(&mut self, position: Value, reads: &[(Value, u64)], segment: Block) {
        let module = self.module;
        // Reads of the same place need one look.
        let mut distinct: Vec<(Value, u64)> = Vec::new();
        for read in reads {
            if !distinct.contains(read) {
                distinct.push(*read);
            }
        }
        let head = position.parent();
        let rest = ir::split_before(position);
        let builder = module.builder();
        builder.before(head.terminator());
        let mut any: Option<Value> = None;
        for (address, size) in &distinct {
            let one = may_be_labelled(module, &builder, *address, *size);
            any = Some(any.map_or(one, |before| builder.or(before, one)));
        }
        let look = self.tracer.function.append_block("plx.look");
        let edge = self.tracer.function.append_block("plx.labelled");
        builder.unlikely(any.expect("there are reads"), look, rest);
        head.terminator().erase();

        builder.at_end(look);
        let mut found = module.n32(0);
        for (address, size) in &distinct {
            let one = module.call(&builder, PEEK.name, &[*address, module.n64(*size)]);
            found = builder.or(found, one);
        }
        let labelled = builder.not_equal(found, module.n32(0));
        builder.unlikely(labelled, edge, rest);
        builder.at_end(edge);
        let state = self.slots.state(&builder);
        self.cross(&builder, state, segment, false);
    }
}

/// Presence of any label in a place that is read.
fn may_be_labelled(module: &Module, builder: &Builder, address: Value, size: u64) -> Value {
    let helper = match size {
        0..=16 => "plx.present",
        17..=256 => "plx.present_range",
        // Too large for two looks: ask the runtime.
        _ => return module.number(module.i1, 1),
    };
    let mut arguments = vec![address];
    if size > 16 {
        arguments.push(module.n64(size));
    }
    module.call(builder, helper, &arguments)
}
