//! Constants: as operands, and as what variables hold at first.

use parallax_record::code::Operand;

use super::{Writer, width};
use crate::ir::{LLVMOpcode, LLVMTypeKind, Value};

/// Beyond so many numbers a variable is a table of data, about which nobody asks number by number.
const MAX_NUMBERS: usize = 4096;
/// Longer texts are no names of options or files.
const MAX_TEXT: usize = 1024;

/// What a variable holds at first.
#[derive(Default)]
pub struct Contents {
    pub pointers: Vec<(u64, Operand)>,
    pub numbers: Vec<(u64, u16, i64)>,
    pub numbers_left_out: bool,
    pub text: Option<Vec<u8>>,
}

impl Contents {
    fn number(&mut self, offset: u64, width: u16, value: i64) {
        if value == 0 {
            return;
        }
        if self.numbers.len() < MAX_NUMBERS {
            self.numbers.push((offset, width, value));
        } else {
            self.numbers_left_out = true;
        }
    }
}

impl Writer<'_> {
    /// A constant as an operand.
    pub fn constant(&self, value: Value) -> Operand {
        if let Some(number) = value.constant_signed() {
            return Operand::Constant(number);
        }
        if value.is_null_pointer() {
            return Operand::Constant(0);
        }
        if let Some(aliased) = value.aliased() {
            return self.constant(aliased);
        }
        if let Some(number) = self.function_numbers.get(&value) {
            return Operand::Function(*number);
        }
        if let Some(number) = self.global_numbers.get(&value) {
            return Operand::Global {
                index: *number,
                offset: 0,
            };
        }
        if !value.is_constant_expression() {
            return Operand::Unknown;
        }
        if value.constant_opcode() == LLVMOpcode::LLVMPtrToInt {
            return self.constant(value.operand(0));
        }
        if !value.ty().is_pointer() {
            return Operand::Unknown;
        }
        let (base, distance) = value.constant_base(self.module.raw);
        if base == value {
            return Operand::Unknown;
        }
        match self.constant(base) {
            Operand::Global { index, offset } => Operand::Global {
                index,
                offset: offset + distance,
            },
            function @ Operand::Function(_) if distance == 0 => function,
            _ => Operand::Unknown,
        }
    }

    /// Collects what an initialiser puts at `offset`.
    pub fn contents(&self, value: Value, offset: u64, contents: &mut Contents) {
        let ty = value.ty();
        if let Some(number) = value.constant_signed() {
            contents.number(offset, width(ty), number);
            return;
        }
        match ty.kind() {
            LLVMTypeKind::LLVMPointerTypeKind => match self.constant(value) {
                Operand::Constant(0) => {}
                pointer => contents.pointers.push((offset, pointer)),
            },
            LLVMTypeKind::LLVMStructTypeKind => {
                for number in 0..value.operand_count() {
                    let place = offset + self.module.field_offset(ty, number);
                    self.contents(value.operand(number), place, contents);
                }
            }
            LLVMTypeKind::LLVMArrayTypeKind => self.array(value, offset, contents),
            _ => {}
        }
    }

    fn array(&self, value: Value, offset: u64, contents: &mut Contents) {
        let stride = self.module.alloc_size(value.ty().element());
        if let Some(mut text) = value.text() {
            if offset == 0 && text.len() <= MAX_TEXT {
                while text.last() == Some(&0) {
                    text.pop();
                }
                contents.text = Some(text);
            } else {
                contents.numbers_left_out = true;
            }
            return;
        }
        if value.is_data_sequence() {
            let length = value.ty().array_length().min(u64::from(u32::MAX)) as u32;
            for index in 0..length {
                if contents.numbers_left_out {
                    return;
                }
                let element = value.data_element(index);
                self.contents(element, offset + u64::from(index) * stride, contents);
            }
            return;
        }
        for index in 0..value.operand_count() {
            let place = offset + u64::from(index) * stride;
            self.contents(value.operand(index), place, contents);
        }
    }
}
