//! Labels of values: arithmetic, comparisons, conversions, pointer arithmetic, aggregates.

use parallax_abi::Op;
use parallax_abi::entry::code;

use crate::ir::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind, Value};
use crate::tracer::{Operand, Tracer};
use crate::types::{is_float, leaves, scalar_bits};

impl Tracer<'_> {
    pub fn arithmetic(&mut self, instruction: Value, site: Value) {
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
    pub fn negation(&mut self, instruction: Value, site: Value) {
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

    pub fn comparison(&mut self, instruction: Value, site: Value) {
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

    pub fn float_comparison(&mut self, instruction: Value, site: Value) {
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

    pub fn conversion(&mut self, instruction: Value, site: Value) {
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
    pub fn address(&mut self, instruction: Value, site: Value) {
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

    pub fn add(&self, a: Operand, b: Operand, site: Value) -> Operand {
        Operand {
            label: self.binary_label(code::pack(Op::Add, a.bits, a.bits, 0), a, b, site),
            value: self.builder.binary(LLVMOpcode::LLVMAdd, a.value, b.value),
            bits: a.bits,
        }
    }

    pub fn extract_value(&mut self, instruction: Value) {
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

    pub fn insert_value(&mut self, instruction: Value) {
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
    pub fn labels_for(&mut self, value: Value, labels: Vec<Value>) {
        if labels.len() == leaves(self.module, value.ty()).len() {
            self.labels.insert(value, labels);
        }
    }

    pub fn extract_element(&mut self, instruction: Value, site: Value) {
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
}
