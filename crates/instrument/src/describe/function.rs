//! Functions, block by block.

use std::collections::HashMap;

use parallax_record::code::{
    Arithmetic, Block, Callee, Conversion, Field, Function, Instruction, Operand, Operation, Place,
    Predicate, Terminator,
};

use super::{Writer, linkage, width};
use crate::ir::{self, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind, Value};

/// Numbers of values and blocks of the function that is being written down.
struct Numbers {
    values: HashMap<Value, u32>,
    blocks: HashMap<ir::Block, u32>,
}

impl Writer<'_> {
    pub fn function(&mut self, function: Value) -> Function {
        let (file, line) = match function.subprogram() {
            Some((file, line)) => (self.files.index_of(file), line),
            None => (0, 0),
        };
        let parameters = function.parameters();
        let blocks = function.blocks();
        let mut values: HashMap<Value, u32> = HashMap::new();
        let instructions = blocks.iter().flat_map(|block| described(*block));
        for (number, value) in parameters.iter().copied().chain(instructions).enumerate() {
            values.insert(value, number as u32);
        }
        let numbered = blocks.iter().enumerate();
        let numbers = Numbers {
            values,
            blocks: numbered
                .map(|(index, block)| (*block, index as u32))
                .collect(),
        };
        let ty = function.function_type();
        Function {
            name: function.name(),
            linkage: linkage(function),
            file,
            line,
            signature: self.signature(ty),
            parameters: parameters
                .iter()
                .map(|parameter| width(parameter.ty()))
                .collect(),
            variadic: ty.is_variadic(),
            never_returns: function.has_attribute("noreturn"),
            blocks: blocks
                .iter()
                .map(|block| self.block(*block, file, &numbers))
                .collect(),
        }
    }

    fn block(&mut self, block: ir::Block, file: u32, numbers: &Numbers) -> Block {
        let instructions = described(block)
            .into_iter()
            .map(|instruction| Instruction {
                place: self.place(instruction, file),
                operation: self.operation(instruction, numbers),
            })
            .collect();
        let end = block.terminator();
        Block {
            site: end.number(self.module.block_kind).unwrap_or(0),
            instructions,
            terminator: self.terminator(end, numbers),
            end: self.place(end, file),
        }
    }

    fn place(&mut self, instruction: Value, file: u32) -> Place {
        let (line, column) = instruction.line();
        Place {
            site: instruction.number(self.module.site_kind).unwrap_or(0),
            file: match instruction.file() {
                Some(file) => self.files.index_of(file),
                None => file,
            },
            line,
            column,
        }
    }

    fn operand(&self, value: Value, numbers: &Numbers) -> Operand {
        match numbers.values.get(&value) {
            Some(number) => Operand::Value(*number),
            None => self.constant(value),
        }
    }

    fn operation(&mut self, instruction: Value, numbers: &Numbers) -> Operation {
        use LLVMOpcode::*;
        let opcode = instruction.opcode();
        let operand =
            |writer: &Self, index: u32| writer.operand(instruction.operand(index), numbers);
        let result = width(instruction.ty());
        match opcode {
            LLVMAlloca => Operation::Variable {
                name: instruction.variable_name(),
                layout: self.layouts.of(self.module, instruction.allocated_type()),
            },
            LLVMLoad => Operation::Load {
                address: operand(self, 0),
                width: result,
                size: self.module.store_size(instruction.ty()) as u32,
            },
            LLVMStore => Operation::Store {
                value: operand(self, 0),
                address: operand(self, 1),
                width: width(instruction.operand(0).ty()),
                size: self.module.store_size(instruction.operand(0).ty()) as u32,
            },
            LLVMGetElementPtr if result != 0 => self.offset(instruction, numbers),
            LLVMICmp => Operation::Compare {
                predicate: predicate(instruction.int_predicate()),
                left: operand(self, 0),
                right: operand(self, 1),
                width: width(instruction.operand(0).ty()),
            },
            LLVMPHI => Operation::Phi {
                incoming: instruction
                    .incoming()
                    .into_iter()
                    .map(|(value, block)| (numbers.blocks[&block], self.operand(value, numbers)))
                    .collect(),
                width: result,
            },
            LLVMSelect => Operation::Select {
                condition: operand(self, 0),
                then: operand(self, 1),
                otherwise: operand(self, 2),
                width: result,
            },
            LLVMCall | LLVMInvoke => self.call(instruction, numbers),
            LLVMFreeze => Operation::Convert {
                kind: Conversion::Same,
                value: operand(self, 0),
                from: result,
                to: result,
            },
            _ => {
                let from = if instruction.operand_count() > 0 {
                    width(instruction.operand(0).ty())
                } else {
                    0
                };
                if let Some(kind) = conversion(opcode)
                    && from != 0
                    && result != 0
                {
                    return Operation::Convert {
                        kind,
                        value: operand(self, 0),
                        from,
                        to: result,
                    };
                }
                if let Some(operator) = arithmetic(opcode)
                    && result != 0
                {
                    return Operation::Arithmetic {
                        operator,
                        left: operand(self, 0),
                        right: operand(self, 1),
                        width: result,
                    };
                }
                Operation::Other {
                    operands: instruction
                        .operands()
                        .map(|value| self.operand(value, numbers))
                        .collect(),
                    width: result,
                }
            }
        }
    }

    fn offset(&mut self, instruction: Value, numbers: &Numbers) -> Operation {
        let mut constant = 0i64;
        let mut scaled = Vec::new();
        let mut field = None;
        let mut ty = instruction.gep_source_type();
        for index in 1..instruction.operand_count() {
            let value = instruction.operand(index);
            let stride = if index == 1 {
                self.module.alloc_size(ty)
            } else if ty.kind() == LLVMTypeKind::LLVMStructTypeKind {
                let number = value.constant_int().unwrap_or(0) as u32;
                constant += self.module.field_offset(ty, number) as i64;
                field = Some(Field {
                    layout: self.layouts.of(self.module, ty),
                    number,
                });
                ty = ty.struct_fields()[number as usize];
                continue;
            } else {
                ty = ty.element();
                self.module.alloc_size(ty)
            };
            match value.constant_signed() {
                Some(number) => {
                    constant = constant.wrapping_add(number.wrapping_mul(stride as i64))
                }
                None => scaled.push((self.operand(value, numbers), stride)),
            }
        }
        Operation::Offset {
            base: self.operand(instruction.operand(0), numbers),
            constant,
            scaled,
            field,
        }
    }

    fn call(&mut self, instruction: Value, numbers: &Numbers) -> Operation {
        let called = instruction.called_value();
        let arguments: Vec<Operand> = (0..instruction.argument_count())
            .map(|index| self.operand(instruction.operand(index), numbers))
            .collect();
        let result = width(instruction.ty());
        if let Some(name) = called.intrinsic_name() {
            return match arguments[..] {
                [to, from, length, ..]
                    if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") =>
                {
                    Operation::Copy { to, from, length }
                }
                [to, value, length, ..] if name.starts_with("llvm.memset.") => {
                    Operation::Fill { to, value, length }
                }
                _ => Operation::Other {
                    operands: arguments,
                    width: result,
                },
            };
        }
        let callee = if called.is_inline_asm() {
            Callee::Assembly
        } else {
            match self.operand(called, numbers) {
                Operand::Function(index) => Callee::Function(index),
                pointer => Callee::Pointer(pointer),
            }
        };
        Operation::Call {
            callee,
            arguments,
            width: result,
            signature: self.signature(instruction.called_type()),
        }
    }

    fn terminator(&self, end: Value, numbers: &Numbers) -> Terminator {
        use LLVMOpcode::*;
        let successor = |index| numbers.blocks[&end.successor(index)];
        match end.opcode() {
            LLVMBr if end.is_conditional() => Terminator::Branch {
                condition: self.operand(end.operand(0), numbers),
                then: successor(0),
                otherwise: successor(1),
            },
            LLVMBr => Terminator::Jump(successor(0)),
            LLVMSwitch if width(end.operand(0).ty()) != 0 => Terminator::Switch {
                value: self.operand(end.operand(0), numbers),
                width: width(end.operand(0).ty()),
                default: successor(0),
                cases: (1..end.successor_count())
                    .map(|case| {
                        let value = end.operand(2 * case).constant_signed();
                        (value.unwrap_or(0), successor(case))
                    })
                    .collect(),
            },
            LLVMRet => Terminator::Return(
                (end.operand_count() > 0).then(|| self.operand(end.operand(0), numbers)),
            ),
            LLVMUnreachable => Terminator::Stop,
            _ => Terminator::AnyOf((0..end.successor_count()).map(successor).collect()),
        }
    }
}

/// The instructions that are kept: all but the terminator and what only informs debuggers and optimisers.
fn described(block: ir::Block) -> Vec<Value> {
    let mut instructions = block.instructions();
    // An invoke is a call, too; C has none, and C++ that has one is not looked at closely.
    instructions.pop();
    instructions.retain(|instruction| {
        instruction.opcode() != LLVMOpcode::LLVMCall
            || !instruction
                .called_value()
                .intrinsic_name()
                .is_some_and(|name| {
                    ["llvm.dbg.", "llvm.lifetime.", "llvm.assume"]
                        .iter()
                        .any(|prefix| name.starts_with(prefix))
                })
    });
    instructions
}

fn predicate(predicate: LLVMIntPredicate) -> Predicate {
    use LLVMIntPredicate::*;
    match predicate {
        LLVMIntEQ => Predicate::Equal,
        LLVMIntNE => Predicate::Different,
        LLVMIntULT => Predicate::UnsignedLess,
        LLVMIntULE => Predicate::UnsignedLessOrEqual,
        LLVMIntUGT => Predicate::UnsignedGreater,
        LLVMIntUGE => Predicate::UnsignedGreaterOrEqual,
        LLVMIntSLT => Predicate::SignedLess,
        LLVMIntSLE => Predicate::SignedLessOrEqual,
        LLVMIntSGT => Predicate::SignedGreater,
        LLVMIntSGE => Predicate::SignedGreaterOrEqual,
    }
}

fn arithmetic(opcode: LLVMOpcode) -> Option<Arithmetic> {
    use LLVMOpcode::*;
    Some(match opcode {
        LLVMAdd => Arithmetic::Add,
        LLVMSub => Arithmetic::Subtract,
        LLVMMul => Arithmetic::Multiply,
        LLVMAnd => Arithmetic::And,
        LLVMOr => Arithmetic::Or,
        LLVMXor => Arithmetic::Xor,
        LLVMShl => Arithmetic::ShiftLeft,
        LLVMLShr => Arithmetic::ShiftRightLogical,
        LLVMAShr => Arithmetic::ShiftRightArithmetic,
        LLVMUDiv => Arithmetic::DivideUnsigned,
        LLVMSDiv => Arithmetic::DivideSigned,
        LLVMURem => Arithmetic::RemainderUnsigned,
        LLVMSRem => Arithmetic::RemainderSigned,
        _ => return None,
    })
}

fn conversion(opcode: LLVMOpcode) -> Option<Conversion> {
    use LLVMOpcode::*;
    Some(match opcode {
        LLVMZExt => Conversion::ZeroExtend,
        LLVMSExt => Conversion::SignExtend,
        LLVMTrunc => Conversion::Truncate,
        LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast => Conversion::Same,
        _ => return None,
    })
}
