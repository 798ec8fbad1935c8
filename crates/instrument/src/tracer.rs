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
use parallax_abi::tls;
use parallax_abi::trace::{Concretized, LossKind};

use crate::ir::{Block, Builder, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind, Value};
use crate::module::Module;
use crate::sites::opcode_name;
use crate::types::{is_float, leaves, scalar_bits};

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
}

impl<'m> Tracer<'m> {
    pub fn new(module: &'m Module, function: Value, activation: Activation) -> Tracer<'m> {
        Tracer {
            module,
            function,
            builder: module.builder(),
            activation,
            labels: HashMap::new(),
        }
    }

    /// Instruments all instructions of the blocks. Arguments must have their labels.
    pub fn trace(&mut self, blocks: &[Block]) {
        let instructions: Vec<Value> = blocks
            .iter()
            .flat_map(|block| block.instructions())
            .collect();
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
        let function = self.module.function(name).expect("helpers are linked in");
        self.builder
            .call(function.function_type(), function, arguments)
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
        let any = self.any(&labels);
        let name = opcode_name(instruction.opcode());
        self.loss(any, LossKind::Instruction, name, site);
    }

    fn arithmetic(&mut self, instruction: Value, site: Value) {
        use LLVMOpcode::*;
        let ty = instruction.ty();
        let is_vector = ty.kind() == LLVMTypeKind::LLVMVectorTypeKind;
        let op = match instruction.opcode() {
            LLVMAnd => Op::And,
            LLVMOr => Op::Or,
            LLVMXor => Op::Xor,
            _ if is_vector => return self.unsupported(instruction, site),
            LLVMAdd => Op::Add,
            LLVMSub => Op::Sub,
            LLVMMul => Op::Mul,
            LLVMUDiv => Op::UDiv,
            LLVMSDiv => Op::SDiv,
            LLVMURem => Op::URem,
            LLVMSRem => Op::SRem,
            LLVMShl => Op::Shl,
            LLVMLShr => Op::LShr,
            LLVMAShr => Op::AShr,
            LLVMFAdd => Op::FAdd,
            LLVMFSub => Op::FSub,
            LLVMFMul => Op::FMul,
            LLVMFDiv => Op::FDiv,
            _ => Op::FRem,
        };
        let Some(bits) = scalar_bits(self.module, ty) else {
            return self.unsupported(instruction, site);
        };
        let mut code = code::pack(op, bits, bits, 0);
        let nsw = self.module.metadata_kind(crate::prepare::NO_SIGNED_WRAP);
        if instruction.number(nsw).is_some() {
            code |= code::NO_SIGNED_WRAP;
        }
        let (a, b) = (
            self.operand(instruction.operand(0)),
            self.operand(instruction.operand(1)),
        );
        let label = self.binary_label(code, a, b, site);
        self.set_label(instruction, label);
    }

    /// `fneg` turns the sign bit.
    fn negation(&mut self, instruction: Value, site: Value) {
        if !is_float(instruction.ty()) {
            return self.unsupported(instruction, site);
        }
        let a = self.operand(instruction.operand(0));
        let label = self.mask_label(Op::Xor, a, self.sign_bit(a.bits), site);
        self.set_label(instruction, label);
    }

    /// An integer constant with only the top bit set.
    pub fn sign_bit(&self, bits: u32) -> Value {
        let ty = self.module.int(bits);
        // Built from words because constants above 64 bits have no direct form.
        let one = self.module.number(ty, 1);
        let distance = self.module.number(ty, u64::from(bits - 1));
        self.builder.binary(LLVMOpcode::LLVMShl, one, distance)
    }

    pub fn mask_label(&self, op: Op, a: Operand, mask: Value, site: Value) -> Value {
        let mask = Operand {
            label: self.zero(),
            value: mask,
            bits: a.bits,
        };
        self.binary_label(code::pack(op, a.bits, a.bits, 0), a, mask, site)
    }

    fn comparison(&mut self, instruction: Value, site: Value) {
        if instruction.ty().int_width() != 1 {
            return self.unsupported(instruction, site);
        }
        let (a, b) = (
            self.operand(instruction.operand(0)),
            self.operand(instruction.operand(1)),
        );
        let label = self.compare_label(instruction.int_predicate(), a, b, site);
        self.set_label(instruction, label);
    }

    pub fn compare_label(
        &self,
        predicate: LLVMIntPredicate,
        a: Operand,
        b: Operand,
        site: Value,
    ) -> Value {
        use LLVMIntPredicate::*;
        let (op, swapped, flags) = match predicate {
            LLVMIntEQ => (Op::Eq, false, 0),
            LLVMIntNE => (Op::Eq, false, code::NEGATE),
            LLVMIntULT => (Op::Ult, false, 0),
            LLVMIntULE => (Op::Ule, false, 0),
            LLVMIntUGT => (Op::Ult, true, 0),
            LLVMIntUGE => (Op::Ule, true, 0),
            LLVMIntSLT => (Op::Slt, false, 0),
            LLVMIntSLE => (Op::Sle, false, 0),
            LLVMIntSGT => (Op::Slt, true, 0),
            LLVMIntSGE => (Op::Sle, true, 0),
        };
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        self.binary_label(code::pack(op, a.bits, 1, 0) | flags, a, b, site)
    }

    fn float_comparison(&mut self, instruction: Value, site: Value) {
        if !is_float(instruction.operand(0).ty()) {
            return self.unsupported(instruction, site);
        }
        let predicate = instruction.real_predicate();
        if !(1..=14).contains(&predicate) {
            return;
        }
        let (a, b) = (
            self.operand(instruction.operand(0)),
            self.operand(instruction.operand(1)),
        );
        let label = self.binary_label(code::pack(Op::FEq, a.bits, 1, predicate), a, b, site);
        self.set_label(instruction, label);
    }

    fn conversion(&mut self, instruction: Value, site: Value) {
        use LLVMOpcode::*;
        let (from_type, to_type) = (instruction.operand(0).ty(), instruction.ty());
        let opcode = instruction.opcode();
        if matches!(opcode, LLVMFreeze) {
            let labels = self.labels_of(instruction.operand(0));
            self.labels.insert(instruction, labels);
            return;
        }
        let (Some(from), Some(to)) = (
            scalar_bits(self.module, from_type),
            scalar_bits(self.module, to_type),
        ) else {
            return self.unsupported(instruction, site);
        };
        let vector = LLVMTypeKind::LLVMVectorTypeKind;
        let on_vectors = from_type.kind() == vector || to_type.kind() == vector;
        if on_vectors && opcode != LLVMBitCast {
            return self.unsupported(instruction, site);
        }
        let a = self.operand(instruction.operand(0));
        let op = match opcode {
            LLVMZExt => Op::ZExt,
            LLVMSExt => Op::SExt,
            LLVMFPTrunc | LLVMFPExt => Op::FToF,
            LLVMFPToUI => Op::FToU,
            LLVMFPToSI => Op::FToS,
            LLVMUIToFP => Op::UToF,
            LLVMSIToFP => Op::SToF,
            // Truncation, pointers and bit patterns.
            _ if to < from => Op::Extract,
            _ if to > from => Op::ZExt,
            _ => {
                self.set_label(instruction, a.label);
                return;
            }
        };
        let label = self.unary_label(op, a, to, 0, site);
        self.set_label(instruction, label);
    }

    /// Pointer arithmetic: the offset is an expression of its own; the runtime
    /// finds the object that the base points into.
    fn address(&mut self, instruction: Value, site: Value) {
        if !instruction.ty().is_pointer() {
            return self.unsupported(instruction, site);
        }
        let module = self.module;
        let base = instruction.operand(0);
        let any = {
            let labels: Vec<Value> = instruction
                .operands()
                .flat_map(|operand| self.labels_of(operand))
                .collect();
            labels.iter().any(|label| !self.is_zero(*label))
        };
        if !any {
            return;
        }
        let mut offset = Operand {
            label: self.zero(),
            value: module.n64(0),
            bits: 64,
        };
        let mut ty = instruction.gep_source_type();
        for position in 1..instruction.operand_count() {
            let index = instruction.operand(position);
            let stride = if position == 1 {
                module.alloc_size(ty)
            } else if ty.kind() == LLVMTypeKind::LLVMStructTypeKind {
                let field = index.constant_int().expect("struct fields are constants") as u32;
                let at = module.n64(module.field_offset(ty, field));
                offset = self.add(
                    offset,
                    Operand {
                        label: self.zero(),
                        value: at,
                        bits: 64,
                    },
                    site,
                );
                ty = ty.struct_fields()[field as usize];
                continue;
            } else {
                ty = ty.element();
                module.alloc_size(ty)
            };
            let index = self.operand(index);
            let wide = if index.bits < 64 {
                Operand {
                    label: self.unary_label(Op::SExt, index, 64, 0, site),
                    value: self
                        .builder
                        .cast(LLVMOpcode::LLVMSExt, index.value, module.i64),
                    bits: 64,
                }
            } else {
                index
            };
            let stride = Operand {
                label: self.zero(),
                value: module.n64(stride),
                bits: 64,
            };
            let scaled = Operand {
                label: self.binary_label(code::pack(Op::Mul, 64, 64, 0), wide, stride, site),
                value: self
                    .builder
                    .binary(LLVMOpcode::LLVMMul, wide.value, stride.value),
                bits: 64,
            };
            offset = self.add(offset, scaled, site);
        }
        let label = self.helper(
            "plx.address",
            &[base, self.label_of(base), offset.value, offset.label, site],
        );
        self.set_label(instruction, label);
    }

    fn add(&self, a: Operand, b: Operand, site: Value) -> Operand {
        Operand {
            label: self.binary_label(code::pack(Op::Add, a.bits, a.bits, 0), a, b, site),
            value: self.builder.binary(LLVMOpcode::LLVMAdd, a.value, b.value),
            bits: a.bits,
        }
    }

    fn selection(&mut self, instruction: Value, site: Value) {
        let condition = instruction.operand(0);
        if condition.ty().int_width() != 1 {
            return self.unsupported(instruction, site);
        }
        let label = self.label_of(condition);
        self.side_event("plx.select", label, condition, site);
        let (then, otherwise) = (
            self.labels_of(instruction.operand(1)),
            self.labels_of(instruction.operand(2)),
        );
        let labels = then
            .into_iter()
            .zip(otherwise)
            .map(|(a, b)| {
                if a == b {
                    a
                } else {
                    self.builder.select(condition, a, b)
                }
            })
            .collect();
        self.labels.insert(instruction, labels);
    }

    fn side_event(&self, helper: &str, label: Value, condition: Value, site: Value) {
        if !self.is_zero(label) {
            let taken = self.builder.resize(condition, self.module.i32);
            self.helper(helper, &[label, taken, site]);
        }
    }

    fn branch(&mut self, instruction: Value, site: Value) {
        if instruction.is_conditional() {
            let condition = instruction.operand(0);
            self.side_event("plx.branch", self.label_of(condition), condition, site);
        }
    }

    fn switch(&mut self, instruction: Value, site: Value) {
        let a = self.operand(instruction.operand(0));
        if a.bits > 64 {
            return self.concretize(a, Concretized::Operand, site);
        }
        if !self.is_zero(a.label) {
            let value = self.words(a.value).0;
            // The engine finds the successor from the value and the site's cases.
            let by_value = self.module.n32(u32::MAX);
            self.helper("plx.switch", &[a.label, value, by_value, site]);
        }
    }

    fn ret(&mut self, instruction: Value) {
        let module = self.module;
        if instruction.operand_count() == 1 {
            let labels = self.labels_of(instruction.operand(0));
            let any = self.any(&labels);
            let returned = if self.is_zero(any) {
                module.n64(0)
            } else {
                for (leaf, label) in labels.iter().take(tls::MAX_RESULTS).enumerate() {
                    self.builder
                        .store(*label, self.tls(tls::RESULT_OFFSET + 4 * leaf));
                }
                let own = self
                    .builder
                    .cast(LLVMOpcode::LLVMPtrToInt, self.function, module.i64);
                let some = self.builder.not_equal(any, self.zero());
                self.builder.select(some, own, module.n64(0))
            };
            self.builder.store(returned, self.tls(tls::RETURNED_OFFSET));
        }
        self.leave();
    }

    /// Unlinks the activation; the builder stands before a return.
    pub fn leave(&self) {
        leave(self.module, &self.builder, &self.activation);
    }

    fn extract_value(&mut self, instruction: Value) {
        let aggregate = instruction.operand(0);
        let indices = instruction.aggregate_indices();
        let labels = leaves(self.module, aggregate.ty())
            .iter()
            .zip(self.labels_of(aggregate))
            .filter(|(leaf, _)| leaf.path.starts_with(&indices))
            .map(|(_, label)| label)
            .collect();
        self.labels_for(instruction, labels);
    }

    fn insert_value(&mut self, instruction: Value) {
        let indices = instruction.aggregate_indices();
        let mut inserted = self.labels_of(instruction.operand(1)).into_iter();
        let labels = leaves(self.module, instruction.ty())
            .iter()
            .zip(self.labels_of(instruction.operand(0)))
            .map(|(leaf, old)| {
                if leaf.path.starts_with(&indices) {
                    inserted.next().unwrap_or(old)
                } else {
                    old
                }
            })
            .collect();
        self.labels.insert(instruction, labels);
    }

    /// Sets labels, or zeros if their number does not fit (an aggregate too large for labels).
    fn labels_for(&mut self, value: Value, labels: Vec<Value>) {
        if labels.len() == leaves(self.module, value.ty()).len() {
            self.labels.insert(value, labels);
        }
    }

    fn extract_element(&mut self, instruction: Value, site: Value) {
        let vector = instruction.operand(0);
        let (Some(index), Some(bits), Some(_)) = (
            instruction.operand(1).constant_int(),
            scalar_bits(self.module, instruction.ty()),
            scalar_bits(self.module, vector.ty()),
        ) else {
            return self.unsupported(instruction, site);
        };
        let a = self.operand(vector);
        let low = index as u32 * bits;
        if low + bits > a.bits {
            return self.unsupported(instruction, site);
        }
        let label = self.unary_label(Op::Extract, a, bits, low, site);
        self.set_label(instruction, label);
    }

    fn dynamic_alloca(&mut self, instruction: Value, site: Value) {
        let count = self.operand(instruction.operand(0));
        self.concretize(count, Concretized::Size, site);
        register_dynamic_alloca(self.module, &self.builder, instruction);
    }
}

/// Registers an `alloca` that is not in the prologue; the builder stands behind it.
pub fn register_dynamic_alloca(module: &Module, builder: &Builder, instruction: Value) {
    let count = builder.resize(instruction.operand(0), module.i64);
    let each = module.n64(module.alloc_size(instruction.allocated_type()));
    let size = builder.binary(LLVMOpcode::LLVMMul, count, each);
    let register = module
        .function(parallax_abi::entry::ALLOCA.name)
        .expect("linked in");
    builder.call(register.function_type(), register, &[instruction, size]);
}

/// Makes the activation the innermost one.
pub fn link_frame(module: &Module, builder: &Builder, frame: Value) {
    let link = tls_field(module, builder, tls::FRAME_OFFSET);
    let previous = builder.load(module.ptr, link);
    builder.store(previous, frame);
    for field in [8, 16] {
        let field = builder.offset(module.i8, frame, module.n64(field));
        builder.store(module.n64(0), field);
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
