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
//! defines it can come from either copy. Such values live in stack slots that
//! both copies write; so do their labels, which only the symbolic copy writes
//! and which are 0 at entry. LLVM's promotion of slots to SSA values then
//! builds the joins.

use std::collections::HashMap;

use parallax_abi::tls;

use crate::calls;
use crate::concrete;
use crate::function::{Prologue, parameter_slots, take_tag};
use crate::ir::{self, Block, LLVMOpcode, Value};
use crate::module::Module;
use crate::tracer::{Tracer, link_frame, tls_field};
use crate::types::leaves;

/// Functions with more (instructions × segments) than this get no concrete copy: joins
/// would grow out of proportion.
const MAX_JOIN_WORK: usize = 4_000_000;

/// Whether the body can be copied.
pub fn possible(module: &Module, function: Value, body: &[Block]) -> bool {
    use LLVMOpcode::*;
    let _ = (module, function);
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

/// Splits the body into segments, copies it, and connects the copies.
pub fn trace(module: &Module, function: Value, prologue: Prologue, body: &[Block]) {
    let segments: Vec<Block> = body
        .iter()
        .flat_map(|block| segments_of(module, *block))
        .collect();
    let twins = copy(module, function, &segments);
    let symbolic: Vec<Block> = segments.iter().map(|block| twins.blocks[block]).collect();

    // The symbolic copy, with parameters' labels read from slots.
    let Prologue {
        block: prologue_block,
        activation,
        tagged,
    } = prologue;
    let mut tracer = Tracer::new(module, function, activation);
    tracer.builder.at_end(prologue_block);
    let mut parameters = Vec::new();
    for (parameter, slots) in parameter_slots(module, function) {
        let mut labels = Vec::new();
        for slot in slots {
            let home = tracer.builder.alloca(module.i32);
            let placeholder = tracer.builder.load(module.i32, home);
            labels.push(placeholder);
            parameters.push((slot, home, placeholder));
        }
        tracer.labels.insert(parameter, labels);
    }
    // A function that calls nothing needs its frame only in the symbolic copy.
    let is_leaf = !body_calls(&segments);
    if !is_leaf {
        link_frame(module, &tracer.builder, tracer.activation.frame);
    }
    let entry_edge = function.append_block("plx.tagged");
    let way_in = tracer.builder.conditional(tagged, entry_edge, segments[0]);
    tracer.trace(&symbolic);

    // Slots for what crosses segments of the symbolic copy.
    let mut slots = Slots {
        module,
        anchor: way_in,
        homes: HashMap::new(),
        loads: HashMap::new(),
    };
    for (_, home, placeholder) in &parameters {
        slots.initialise(*home);
        slots.replace_crossing_uses(*placeholder, *home);
        placeholder.erase();
    }
    for block in &symbolic {
        for instruction in block.instructions() {
            slots.demote(instruction, twins.original.get(&instruction).copied());
        }
    }

    // Labelled arguments: straight to the symbolic copy.
    let builder = module.builder();
    builder.at_end(entry_edge);
    take_tag(module, &builder);
    if is_leaf {
        link_frame(module, &builder, tracer.activation.frame);
    }
    for (slot, home, _) in &parameters {
        if *slot < tls::MAX_ARGS {
            let field = tls_field(module, &builder, tls::ARGS_OFFSET + 4 * slot);
            builder.store(builder.load(module.i32, field), *home);
        }
    }
    builder.branch(twins.blocks[&segments[0]]);

    for segment in &segments {
        watch(module, &tracer, *segment, &twins, &slots, is_leaf);
    }
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

/// The symbolic copy of the blocks.
struct Twins {
    blocks: HashMap<Block, Block>,
    /// From a copied instruction to its original.
    original: HashMap<Value, Value>,
    copies: HashMap<Value, Value>,
}

fn copy(module: &Module, function: Value, segments: &[Block]) -> Twins {
    let builder = module.builder();
    let mut twins = Twins {
        blocks: HashMap::new(),
        original: HashMap::new(),
        copies: HashMap::new(),
    };
    for block in segments {
        let twin = function.append_block("plx.symbolic");
        twins.blocks.insert(*block, twin);
        builder.at_end(twin);
        for instruction in block.instructions() {
            let clone = instruction.clone_instruction();
            builder.insert(clone);
            twins.copies.insert(instruction, clone);
            twins.original.insert(clone, instruction);
        }
    }
    for clone in twins.original.keys() {
        for index in 0..clone.operand_count() {
            if let Some(copied) = twins.copies.get(&clone.operand(index)) {
                clone.set_operand(index, *copied);
            }
        }
        if clone.opcode() == LLVMOpcode::LLVMPHI {
            for (index, (_, block)) in clone.incoming().into_iter().enumerate() {
                clone.set_incoming_block(index as u32, twins.blocks[&block]);
            }
        }
        if clone.next().is_none() {
            for index in 0..clone.successor_count() {
                clone.set_successor(index, twins.blocks[&clone.successor(index)]);
            }
        }
    }
    twins
}

/// Stack slots that join the copies.
struct Slots<'m> {
    module: &'m Module,
    /// End of the prologue: slots are made before it.
    anchor: Value,
    homes: HashMap<Value, Value>,
    /// One load per slot and block.
    loads: HashMap<(Value, Block), Value>,
}

impl Slots<'_> {
    /// A label's slot holds 0 until the symbolic copy writes it.
    fn initialise(&self, home: Value) {
        let builder = self.module.builder();
        builder.before(self.anchor);
        builder.store(self.module.n32(0), home);
    }

    /// Gives an instruction of the symbolic copy a slot if another segment uses it.
    fn demote(&mut self, instruction: Value, original: Option<Value>) {
        let block = instruction.parent();
        let crosses = instruction.users().into_iter().any(|user| {
            if user.opcode() == LLVMOpcode::LLVMPHI {
                user.incoming()
                    .iter()
                    .any(|(value, from)| *value == instruction && *from != block)
            } else {
                user.parent() != block
            }
        });
        if !crosses {
            return;
        }
        let builder = self.module.builder();
        builder.before(self.anchor);
        let home = builder.alloca(instruction.ty());
        self.homes.insert(instruction, home);
        match original {
            Some(original) => {
                builder.after(original);
                builder.store(original, home);
            }
            None => self.initialise(home),
        }
        self.replace_crossing_uses(instruction, home);
        builder.after(instruction);
        builder.store(instruction, home);
    }

    /// Makes users in other blocks read the slot.
    fn replace_crossing_uses(&mut self, value: Value, home: Value) {
        let block = value.parent();
        for user in value.users() {
            if user.opcode() == LLVMOpcode::LLVMPHI {
                for (index, (incoming, from)) in user.incoming().into_iter().enumerate() {
                    if incoming == value && from != block {
                        let load = self.load_in(home, value, from);
                        user.set_operand(index as u32, load);
                    }
                }
            } else if user.parent() != block {
                let load = self.load_in(home, value, user.parent());
                for index in 0..user.operand_count() {
                    if user.operand(index) == value {
                        user.set_operand(index, load);
                    }
                }
            }
        }
    }

    fn load_in(&mut self, home: Value, value: Value, block: Block) -> Value {
        let module = self.module;
        *self.loads.entry((home, block)).or_insert_with(|| {
            let builder = module.builder();
            builder.before(block.first_after_phis());
            builder.load(value.ty(), home)
        })
    }
}

/// Adds to a concrete segment what it must do and watch.
fn watch(
    module: &Module,
    tracer: &Tracer,
    segment: Block,
    twins: &Twins,
    slots: &Slots,
    is_leaf: bool,
) {
    let instructions: Vec<Value> = segment
        .instructions()
        .into_iter()
        .filter(|instruction| twins.copies.contains_key(instruction))
        .collect();
    let result = instructions
        .iter()
        .rev()
        .find(|instruction| is_barrier(**instruction))
        .copied()
        .filter(|last| returns_label(module, *last) && watches_result(*last, twins, slots, tracer));

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
        concrete::instruction(module, *instruction, &tracer.activation, is_leaf);
    }
    if let Some(call) = result {
        watch_result(module, tracer, call, twins, slots);
    }
    if !reads.is_empty() {
        let mut twin = twins.blocks[&segment];
        if is_leaf {
            let enter = tracer.function.append_block("plx.enter");
            let builder = module.builder();
            builder.at_end(enter);
            link_frame(module, &builder, tracer.activation.frame);
            builder.branch(twin);
            twin = enter;
        }
        check_reads(module, check_before, &reads, twin);
    }
}

/// Whether anybody in the symbolic copy would use the result's labels.
fn watches_result(call: Value, twins: &Twins, slots: &Slots, tracer: &Tracer) -> bool {
    tracer
        .labels
        .get(&twins.copies[&call])
        .is_some_and(|labels| labels.iter().any(|label| slots.homes.contains_key(label)))
}

/// After a call: if the callee returned labels, hand them and control to the symbolic copy.
fn watch_result(module: &Module, tracer: &Tracer, call: Value, twins: &Twins, slots: &Slots) {
    let terminator = call.parent().terminator();
    let next = terminator.successor(0);
    let edge = tracer.function.append_block("plx.returned");
    let builder = module.builder();
    builder.before(terminator);
    let mine = calls::returned_by(module, &builder, call.called_value());
    builder.conditional(mine, edge, next);
    terminator.erase();
    builder.at_end(edge);
    for (leaf, label) in tracer.labels[&twins.copies[&call]].iter().enumerate() {
        if leaf < tls::MAX_RESULTS
            && let Some(home) = slots.homes.get(label)
        {
            let field = tls_field(module, &builder, tls::RESULT_OFFSET + 4 * leaf);
            builder.store(builder.load(module.i32, field), *home);
        }
    }
    builder.branch(twins.blocks[&next]);
}

/// Before `position`: if anything read is labelled, continue at the twin's start.
fn check_reads(module: &Module, position: Value, reads: &[(Value, u64)], twin: Block) {
    let function = Value(unsafe { llvm_sys::core::LLVMGetBasicBlockParent(position.parent().0) });
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
    let present = |address: Value, size: u64| {
        let helper = if size <= 16 {
            "plx.present"
        } else {
            "plx.present_range"
        };
        let helper = module.function(helper).expect("helpers are linked in");
        let mut arguments = vec![address];
        if size > 16 {
            arguments.push(module.n64(size));
        }
        builder.call(helper.function_type(), helper, &arguments)
    };
    let mut any: Option<Value> = None;
    for (address, size) in &distinct {
        let one = if *size > 256 {
            // Too large for two looks: ask the runtime.
            module.number(module.i1, 1)
        } else {
            present(*address, *size)
        };
        any = Some(any.map_or(one, |before| builder.or(before, one)));
    }
    let look = function.append_block("plx.look");
    builder.unlikely(any.expect("there are reads"), look, rest);
    head.terminator().erase();

    builder.at_end(look);
    let peek = module
        .function(parallax_abi::entry::PEEK.name)
        .expect("linked in");
    let mut found = module.n32(0);
    for (address, size) in &distinct {
        let one = builder.call(peek.function_type(), peek, &[*address, module.n64(*size)]);
        found = builder.or(found, one);
    }
    let labelled = builder.not_equal(found, module.n32(0));
    builder.conditional(labelled, twin, rest);
}
