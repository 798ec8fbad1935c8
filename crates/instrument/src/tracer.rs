//! Labels beside values: the symbolic code of one function.
//!
//! A [`Tracer`] walks over a set of blocks and inserts, behind each
//! instruction, straight-line code that computes the labels of its result from
//! the labels of its operands. Values that are constant need no code: their label
//! is the constant 0, and operations on such labels vanish here already.
//!
//! What an instruction does not support degrades to a concrete result and a loss
//! record; nothing is skipped silently.

use std::collections::HashMap;

use parallax_abi::Op;
use parallax_abi::entry::code;
use parallax_abi::trace::{Concretized, LossKind};

use crate::activation::{Activation, tls_field};
use crate::ir::{Block, Builder, LLVMOpcode, LLVMTypeKind, Value};
use crate::module::Module;
use crate::sites::opcode_name;
use crate::types::{leaves, scalar_bits};

/// A scalar with its label, as an integer of its width.
#[derive(Clone, Copy)]
pub struct Operand {
    pub label: Value,
    pub value: Value,
    pub bits: u32,
}

pub struct Tracer<'m> {
    pub module: &'m Module,
    pub function: Value,
    pub builder: Builder,
    pub activation: Activation,
    /// Labels of arguments and instructions, one per leaf.
    pub labels: HashMap<Value, Vec<Value>>,
    /// Helpers are called, not inlined: compile time matters more than the cost of a call.
    pub calls_helpers: bool,
}

/// Functions with more instructions than this call the helpers in any case: with
/// everything inline, a function of 1,200 instructions became 20,000.
const LARGE: usize = 400;

impl<'m> Tracer<'m> {
    pub fn new(module: &'m Module, function: Value, activation: Activation) -> Tracer<'m> {
        Tracer {
            module,
            function,
            builder: module.builder(),
            activation,
            labels: HashMap::new(),
            calls_helpers: false,
        }
    }

    /// Instruments all instructions of the blocks. Arguments must have their labels.
    pub fn trace(&mut self, blocks: &[Block]) {
        let instructions: Vec<Value> = blocks
            .iter()
            .flat_map(|block| block.instructions())
            .collect();
        self.calls_helpers |= instructions.len() > LARGE;
        let mut phis = Vec::new();
        for instruction in &instructions {
            if instruction.opcode() == LLVMOpcode::LLVMPHI {
                let count = leaves(self.module, instruction.ty()).len();
                self.builder
                    .before(instruction.parent().first().expect("it has a phi"));
                let labels: Vec<Value> = (0..count)
                    .map(|_| self.builder.phi(self.module.i32))
                    .collect();
                self.labels.insert(*instruction, labels);
                phis.push(*instruction);
            }
        }
        // Definitions before uses where control flow allows it: unreachable
        // cycles aside, a value is only missing when its block comes later.
        for instruction in reverse_postorder(blocks, &instructions) {
            if instruction.opcode() != LLVMOpcode::LLVMPHI {
                self.instruction(instruction);
            }
        }
        for phi in phis {
            let labels = self.labels[&phi].clone();
            for (value, block) in phi.incoming() {
                let incoming = self.labels_of(value);
                for (leaf, label) in labels.iter().enumerate() {
                    label.add_incoming(incoming[leaf], block);
                }
            }
        }
    }

    pub fn zero(&self) -> Value {
        self.module.n32(0)
    }

    /// Labels of a value, one per leaf.
    pub fn labels_of(&self, value: Value) -> Vec<Value> {
        if let Some(labels) = self.labels.get(&value) {
            return labels.clone();
        }
        vec![self.zero(); leaves(self.module, value.ty()).len()]
    }

    /// Label of a scalar (0 for anything else).
    pub fn label_of(&self, value: Value) -> Value {
        match self.labels_of(value).as_slice() {
            [label] => *label,
            _ => self.zero(),
        }
    }

    pub fn is_zero(&self, label: Value) -> bool {
        label.constant_int() == Some(0)
    }

    /// `or` of labels, folded.
    pub fn any(&self, labels: &[Value]) -> Value {
        let mut all = self.zero();
        for label in labels {
            if self.is_zero(*label) {
                continue;
            }
            all = if self.is_zero(all) {
                *label
            } else {
                self.builder.or(all, *label)
            };
        }
        all
    }

    pub fn helper(&self, name: &str, arguments: &[Value]) -> Value {
        let call = self.module.call(&self.builder, name, arguments);
        if self.calls_helpers {
            call.keep_call();
        }
        call
    }

    /// Address of a field of the thread-local protocol block.
    pub fn tls(&self, offset: usize) -> Value {
        tls_field(self.module, &self.builder, offset)
    }

    /// The bits of a scalar as an integer.
    pub fn as_integer(&self, value: Value) -> Value {
        let Some(bits) = scalar_bits(self.module, value.ty()) else {
            return self.module.n64(0);
        };
        let integer = self.module.int(bits);
        match value.ty().kind() {
            LLVMTypeKind::LLVMIntegerTypeKind => value,
            LLVMTypeKind::LLVMPointerTypeKind => {
                self.builder.cast(LLVMOpcode::LLVMPtrToInt, value, integer)
            }
            _ => self.builder.cast(LLVMOpcode::LLVMBitCast, value, integer),
        }
    }

    pub fn operand(&self, value: Value) -> Operand {
        let integer = self.as_integer(value);
        Operand {
            label: self.label_of(value),
            value: integer,
            bits: integer.ty().int_width(),
        }
    }

    /// Low and high half, as the runtime takes concrete values.
    pub fn words(&self, integer: Value) -> (Value, Value) {
        let module = self.module;
        let bits = integer.ty().int_width();
        if bits <= 64 {
            return (self.builder.resize(integer, module.i64), module.n64(0));
        }
        let high = self.builder.binary(
            LLVMOpcode::LLVMLShr,
            integer,
            module.number(integer.ty(), 64),
        );
        (
            self.builder.resize(integer, module.i64),
            self.builder.resize(high, module.i64),
        )
    }

    pub fn unary_label(&self, op: Op, a: Operand, to: u32, extra: u32, site: Value) -> Value {
        self.unary_code_label(code::pack(op, a.bits, to, extra), a, site)
    }

    /// `code_bits` is the packed operator with its flags.
    pub fn unary_code_label(&self, code_bits: u64, a: Operand, site: Value) -> Value {
        if self.is_zero(a.label) {
            return self.zero();
        }
        let (lo, hi) = self.words(a.value);
        let code = self.module.n64(code_bits);
        self.helper("plx.unary", &[code, a.label, lo, hi, site])
    }

    /// `code_bits` is the packed operator with its flags.
    pub fn binary_label(&self, code_bits: u64, a: Operand, b: Operand, site: Value) -> Value {
        if self.is_zero(a.label) && self.is_zero(b.label) {
            return self.zero();
        }
        let op = Op::from_byte(code::op(code_bits)).expect("packed from an operator");
        let code = self.module.n64(code_bits);
        if a.bits <= 64 && b.bits <= 64 && (op as u8) < Op::Ite as u8 {
            let (x, y) = (self.words(a.value).0, self.words(b.value).0);
            self.helper("plx.binary", &[code, a.label, b.label, x, y, site])
        } else {
            let (alo, ahi) = self.words(a.value);
            let (blo, bhi) = self.words(b.value);
            self.helper(
                "plx.binary_wide",
                &[code, a.label, b.label, alo, ahi, blo, bhi, site],
            )
        }
    }

    /// Records that a labelled value went into something without expression.
    pub fn loss(&self, label: Value, kind: LossKind, name: &str, site: Value) {
        if !self.is_zero(label) {
            let name = self.module.string(name);
            self.helper(
                "plx.loss",
                &[label, self.module.n32(kind as u32), name, site],
            );
        }
    }

    /// Labelled values go where expressions cannot follow them: a loss, and they are fixed, because what
    /// comes out rests on them.
    pub fn give_up(&self, labels: &[Value], kind: LossKind, name: &str, site: Value) {
        self.loss(self.any(labels), kind, name, site);
        for label in labels.iter().filter(|label| !self.is_zero(**label)) {
            self.helper("plx.give_up", &[*label, site]);
        }
    }

    pub fn concretize(&self, operand: Operand, reason: Concretized, site: Value) {
        if !self.is_zero(operand.label) {
            let (lo, hi) = self.words(operand.value);
            let reason = self.module.n32(reason as u32);
            self.helper("plx.concretize", &[operand.label, lo, hi, reason, site]);
        }
    }

    pub fn set_label(&mut self, value: Value, label: Value) {
        self.labels.insert(value, vec![label]);
    }

    fn instruction(&mut self, instruction: Value) {
        use LLVMOpcode::*;
        let site = self.module.site(instruction);
        let opcode = instruction.opcode();
        // Code goes behind the instruction, where its result can be used, except for
        // those that read or write memory, transfer control or are handled elsewhere.
        match opcode {
            LLVMStore | LLVMBr | LLVMSwitch | LLVMRet | LLVMIndirectBr | LLVMCall | LLVMInvoke
            | LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMUnreachable | LLVMResume
            | LLVMCallBr | LLVMCleanupRet | LLVMCatchRet | LLVMCatchSwitch => {
                self.builder.before(instruction);
            }
            _ => self.builder.after(instruction),
        }
        match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl
            | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMFAdd | LLVMFSub | LLVMFMul
            | LLVMFDiv | LLVMFRem => self.arithmetic(instruction, site),
            LLVMFNeg => self.negation(instruction, site),
            LLVMICmp => self.comparison(instruction, site),
            LLVMFCmp => self.float_comparison(instruction, site),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPTrunc | LLVMFPExt | LLVMFPToUI | LLVMFPToSI
            | LLVMUIToFP | LLVMSIToFP | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast
            | LLVMAddrSpaceCast | LLVMFreeze => self.conversion(instruction, site),
            LLVMGetElementPtr => self.address(instruction, site),
            LLVMLoad => self.load(instruction, site),
            LLVMStore => self.store(instruction, site),
            LLVMAtomicRMW => self.read_modify_write(instruction, site),
            LLVMAtomicCmpXchg => self.compare_exchange(instruction, site),
            LLVMSelect => self.selection(instruction, site),
            LLVMBr => self.branch(instruction, site),
            LLVMSwitch => self.switch(instruction, site),
            LLVMIndirectBr => {
                let target = self.operand(instruction.operand(0));
                self.concretize(target, Concretized::Target, site);
            }
            LLVMRet => self.ret(instruction),
            LLVMCall | LLVMInvoke | LLVMCallBr => self.call(instruction, site),
            LLVMExtractValue => self.extract_value(instruction),
            LLVMInsertValue => self.insert_value(instruction),
            LLVMExtractElement => self.extract_element(instruction, site),
            LLVMAlloca => self.dynamic_alloca(instruction, site),
            LLVMFence | LLVMUnreachable | LLVMLandingPad | LLVMResume | LLVMCleanupRet
            | LLVMCatchRet | LLVMCatchPad | LLVMCleanupPad | LLVMCatchSwitch | LLVMPHI => {}
            LLVMInsertElement | LLVMShuffleVector | LLVMVAArg | LLVMUserOp1 | LLVMUserOp2 => {
                self.unsupported(instruction, site);
            }
        }
    }

    /// Result concrete; a loss if any operand was labelled.
    pub fn unsupported(&mut self, instruction: Value, site: Value) {
        let labels: Vec<Value> = instruction
            .operands()
            .flat_map(|operand| self.labels_of(operand))
            .collect();
        let name = opcode_name(instruction.opcode());
        self.give_up(&labels, LossKind::Instruction, name, site);
    }
}

/// Instructions in an order in which definitions come before uses (phis aside):
/// reverse post-order of the blocks, then those that cannot be reached.
fn reverse_postorder(blocks: &[Block], instructions: &[Value]) -> Vec<Value> {
    let mut by_block: HashMap<Block, Vec<Value>> = HashMap::new();
    for instruction in instructions {
        by_block
            .entry(instruction.parent())
            .or_default()
            .push(*instruction);
    }
    let mut order = Vec::new();
    let mut visited: HashMap<Block, bool> = blocks.iter().map(|block| (*block, false)).collect();
    for start in blocks {
        // An explicit stack of (block, next successor): functions can be deep.
        let mut found = Vec::new();
        let mut stack = Vec::new();
        if visited.insert(*start, true) == Some(false) {
            stack.push((*start, 0));
        }
        while let Some((block, next)) = stack.pop() {
            let terminator = *by_block[&block].last().expect("a block has a terminator");
            if next < terminator.successor_count() {
                stack.push((block, next + 1));
                let successor = terminator.successor(next);
                if visited.get(&successor) == Some(&false) {
                    visited.insert(successor, true);
                    stack.push((successor, 0));
                }
            } else {
                found.push(block);
            }
        }
        found.reverse();
        order.extend(found);
    }
    order
        .into_iter()
        .flat_map(|block| by_block.remove(&block).unwrap_or_default())
        .collect()
}
