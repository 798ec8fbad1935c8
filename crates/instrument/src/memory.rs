//! Labels of loads, stores and atomic operations.

use parallax_abi::Op;
use parallax_abi::entry::code;
use parallax_abi::trace::LossKind;

use crate::ir::{LLVMOpcode, Type, Value};
use crate::tracer::{Operand, Tracer};
use crate::types::{leaves, scalar_bits};

impl Tracer<'_> {
    pub fn load(&mut self, instruction: Value, site: Value) {
        let address = instruction.operand(0);
        let ty = instruction.ty();
        if self.is_immutable(address) {
            return;
        }
        let label = self.label_of(address);
        let labels = self.load_labels(label, address, ty, site);
        self.labels.insert(instruction, labels);
    }

    /// Memory that can never carry a label.
    fn is_immutable(&self, address: Value) -> bool {
        address.is_global_constant()
    }

    /// Labels of a value of type `ty` in memory; the builder stands before the access.
    pub fn load_labels(
        &mut self,
        laddress: Value,
        address: Value,
        ty: Type,
        site: Value,
    ) -> Vec<Value> {
        let module = self.module;
        let parts = leaves(module, ty);
        if parts.is_empty() {
            let size = module.n64(module.store_size(ty));
            let lost = self.helper("plx.peek", &[address, size]);
            self.loss(
                lost,
                LossKind::Instruction,
                "load of an unsupported type",
                site,
            );
            return Vec::new();
        }
        parts
            .iter()
            .map(|part| {
                let size = module.store_size(part.ty);
                let at = self
                    .builder
                    .offset(module.i8, address, module.n64(part.offset));
                let at = if part.offset == 0 { address } else { at };
                let bytes = module.n64(size);
                let label = if self.is_zero(laddress) {
                    self.helper("plx.load", &[at, bytes, site])
                } else {
                    let lat = self.displaced(laddress, address, part.offset, site);
                    self.helper("plx.load_at", &[lat, at, bytes, site])
                };
                let bits = scalar_bits(module, part.ty).expect("leaves are scalars");
                if u64::from(bits) == 8 * size {
                    label
                } else {
                    // An i1 or i33: memory holds whole bytes, read as they are.
                    let whole = self.builder.load(module.int(8 * size as u32), at);
                    let operand = Operand {
                        label,
                        value: whole,
                        bits: 8 * size as u32,
                    };
                    self.unary_label(Op::Extract, operand, bits, 0, site)
                }
            })
            .collect()
    }

    /// Label of `address + offset`.
    fn displaced(&self, laddress: Value, address: Value, offset: u64, site: Value) -> Value {
        if offset == 0 {
            return laddress;
        }
        let offset = self.module.n64(offset);
        self.helper(
            "plx.address",
            &[address, laddress, offset, self.zero(), site],
        )
    }

    pub fn store(&mut self, instruction: Value, site: Value) {
        let (value, address) = (instruction.operand(0), instruction.operand(1));
        // Labels are written before the bytes: the runtime checks a label against memory only
        // when it is read.
        let labels = self.labels_of(value);
        let laddress = self.label_of(address);
        if !self.is_zero(laddress) {
            let size = self.module.n64(self.module.store_size(value.ty()));
            self.helper("plx.symbolic_store", &[laddress, address, size, site]);
        }
        self.store_labels(address, value, &labels, site);
    }

    pub fn store_labels(&mut self, address: Value, value: Value, labels: &[Value], site: Value) {
        let module = self.module;
        let parts = leaves(module, value.ty());
        if parts.is_empty() || parts[0].path.len() > 1 {
            // Padding inside an aggregate is written too; clear all of it first.
            let size = module.n64(module.store_size(value.ty()));
            self.helper("plx.clear", &[address, size]);
        }
        for (part, label) in parts.iter().zip(labels) {
            let size = module.store_size(part.ty);
            let at = if part.offset == 0 {
                address
            } else {
                self.builder
                    .offset(module.i8, address, module.n64(part.offset))
            };
            let bits = scalar_bits(module, part.ty).expect("leaves are scalars");
            let mut label = *label;
            if u64::from(bits) != 8 * size && part.path.is_empty() {
                let operand = Operand {
                    label,
                    value: self.as_integer(value),
                    bits,
                };
                label = self.unary_label(Op::ZExt, operand, 8 * size as u32, 0, site);
            } else if u64::from(bits) != 8 * size {
                self.give_up(
                    &[label],
                    LossKind::Instruction,
                    "store of a bit field in an aggregate",
                    site,
                );
                label = self.zero();
            }
            self.helper("plx.store", &[at, module.n64(size), label]);
        }
    }

    pub fn read_modify_write(&mut self, instruction: Value, site: Value) {
        use llvm_sys::LLVMAtomicRMWBinOp::*;
        let (address, value) = (instruction.operand(0), instruction.operand(1));
        let laddress = self.label_of(address);
        let Some(bits) = scalar_bits(self.module, value.ty()) else {
            return self.unsupported(instruction, site);
        };
        let size = self.module.n64(self.module.store_size(value.ty()));
        if !self.is_zero(laddress) {
            self.helper("plx.symbolic_store", &[laddress, address, size, site]);
        }
        let old_label = self.helper("plx.load", &[address, size, site]);
        self.builder.after(instruction);
        let old = Operand {
            label: old_label,
            value: self.as_integer(instruction),
            bits,
        };
        let new = self.operand(value);
        let operation = unsafe { llvm_sys::core::LLVMGetAtomicRMWBinOp(instruction.0) };
        let op = match operation {
            LLVMAtomicRMWBinOpAdd => Some(Op::Add),
            LLVMAtomicRMWBinOpSub => Some(Op::Sub),
            LLVMAtomicRMWBinOpAnd => Some(Op::And),
            LLVMAtomicRMWBinOpOr => Some(Op::Or),
            LLVMAtomicRMWBinOpXor => Some(Op::Xor),
            _ => None,
        };
        let label = match (op, operation) {
            (Some(op), _) => self.binary_label(code::pack(op, bits, bits, 0), old, new, site),
            (None, LLVMAtomicRMWBinOpXchg) => new.label,
            (None, _) => {
                let labels = [old.label, new.label];
                self.give_up(&labels, LossKind::Instruction, "atomicrmw", site);
                self.zero()
            }
        };
        self.helper("plx.store", &[address, size, label]);
        self.set_label(instruction, old_label);
    }

    pub fn compare_exchange(&mut self, instruction: Value, site: Value) {
        let module = self.module;
        let (address, expected, new) = (
            instruction.operand(0),
            instruction.operand(1),
            instruction.operand(2),
        );
        let Some(bits) = scalar_bits(module, new.ty()) else {
            return self.unsupported(instruction, site);
        };
        let size = module.n64(module.store_size(new.ty()));
        let laddress = self.label_of(address);
        if !self.is_zero(laddress) {
            self.helper("plx.symbolic_store", &[laddress, address, size, site]);
        }
        let old_label = self.helper("plx.load", &[address, size, site]);
        self.builder.after(instruction);
        let old_value = self.builder.extract_value(instruction, 0);
        let success = self.builder.extract_value(instruction, 1);
        let old = Operand {
            label: old_label,
            value: self.as_integer(old_value),
            bits,
        };
        let expected = self.operand(expected);
        let equal = self.binary_label(code::pack(Op::Eq, bits, 1, 0), old, expected, site);
        let taken = self.builder.resize(success, module.i32);
        self.helper("plx.select", &[equal, taken, site]);
        let stored = self.builder.select(success, self.label_of(new), old_label);
        self.helper("plx.store", &[address, size, stored]);
        // The event has fixed the outcome: as an expression, success is constant from here on.
        self.labels
            .insert(instruction, vec![old_label, self.zero()]);
    }

    /// `memcpy`, `memmove` and `memset` as intrinsics; the builder stands before the call.
    pub fn bulk_memory(&mut self, instruction: Value, is_copy: bool, site: Value) {
        use parallax_abi::trace::Concretized::*;
        let module = self.module;
        let (to, from, size) = (
            instruction.operand(0),
            instruction.operand(1),
            instruction.operand(2),
        );
        let length = self.operand(size);
        let size = self.builder.resize(size, module.i64);
        let range = |place: Value, written: u32| {
            let (label, written) = (self.label_of(place), module.n32(written));
            if !(self.is_zero(label) && self.is_zero(length.label)) {
                let arguments = [place, label, size, length.label, written, site];
                self.helper("plx.range", &arguments);
            }
        };
        range(to, 1);
        if is_copy {
            range(from, 0);
        }
        self.concretize(length, Length, site);
        if is_copy {
            self.helper("plx.copy", &[to, from, size]);
        } else {
            let byte = self.label_of(from);
            self.helper("plx.fill", &[to, size, byte]);
        }
    }

    /// Reinterprets an integer operand in another width.
    pub fn extend(&self, a: Operand, to: u32, signed: bool, site: Value) -> Operand {
        let (op, opcode) = if signed {
            (Op::SExt, LLVMOpcode::LLVMSExt)
        } else {
            (Op::ZExt, LLVMOpcode::LLVMZExt)
        };
        Operand {
            label: self.unary_label(op, a, to, 0, site),
            value: self.builder.cast(opcode, a.value, self.module.int(to)),
            bits: to,
        }
    }
}
