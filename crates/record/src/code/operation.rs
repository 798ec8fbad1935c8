//! What instructions do.

use serde::{Deserialize, Serialize};

/// What an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// Number of a parameter or an instruction.
    Value(u32),
    /// Sign-extended; null pointers are 0.
    Constant(i64),
    /// Address in a variable, by index.
    Global { index: u32, offset: i64 },
    /// Address of a function, by index.
    Function(u32),
    /// A constant that is none of these.
    Unknown,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// A local variable; the value is its address.
    Variable {
        /// Empty for what the compiler made up.
        name: String,
        layout: u32,
    },
    Load {
        address: Operand,
        /// Bits; as everywhere, 0 for what is neither integer nor pointer.
        width: u16,
        /// Bytes.
        size: u32,
    },
    Store {
        address: Operand,
        value: Operand,
        width: u16,
        size: u32,
    },
    /// Address computation: `base + constant + Σ index × stride`.
    Offset {
        base: Operand,
        constant: i64,
        scaled: Vec<(Operand, u64)>,
        /// The innermost structure field that is addressed.
        field: Option<Field>,
    },
    Compare {
        predicate: Predicate,
        left: Operand,
        right: Operand,
        width: u16,
    },
    Arithmetic {
        operator: Arithmetic,
        left: Operand,
        right: Operand,
        width: u16,
    },
    Convert {
        kind: Conversion,
        value: Operand,
        from: u16,
        to: u16,
    },
    /// Block and value.
    Phi {
        incoming: Vec<(u32, Operand)>,
        width: u16,
    },
    Select {
        condition: Operand,
        then: Operand,
        otherwise: Operand,
        width: u16,
    },
    Call {
        callee: Callee,
        arguments: Vec<Operand>,
        /// Bits of the result.
        width: u16,
        /// Type of the call, by index.
        signature: u32,
    },
    /// `memcpy`, `memmove` and structure assignment.
    Copy {
        to: Operand,
        from: Operand,
        length: Operand,
    },
    /// `memset`.
    Fill {
        to: Operand,
        value: Operand,
        length: Operand,
    },
    /// Anything else.
    Other { operands: Vec<Operand>, width: u16 },
}

/// A field of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// Layout of the structure.
    pub layout: u32,
    /// Which field.
    pub number: u32,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callee {
    /// By index.
    Function(u32),
    /// Through a pointer.
    Pointer(Operand),
    /// Inline assembly.
    Assembly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Predicate {
    Equal,
    Different,
    UnsignedLess,
    UnsignedLessOrEqual,
    UnsignedGreater,
    UnsignedGreaterOrEqual,
    SignedLess,
    SignedLessOrEqual,
    SignedGreater,
    SignedGreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightLogical,
    ShiftRightArithmetic,
    DivideUnsigned,
    DivideSigned,
    RemainderUnsigned,
    RemainderSigned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Conversion {
    ZeroExtend,
    SignExtend,
    Truncate,
    /// Between integer and pointer, or of the same width: the bits stay.
    Same,
}

impl Operation {
    /// All operands, of calls with the called pointer first.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Operation::Variable { .. } => Vec::new(),
            Operation::Load { address, .. } => vec![*address],
            Operation::Store { address, value, .. } => vec![*value, *address],
            Operation::Offset { base, scaled, .. } => std::iter::once(*base)
                .chain(scaled.iter().map(|(index, _)| *index))
                .collect(),
            Operation::Compare { left, right, .. } | Operation::Arithmetic { left, right, .. } => {
                vec![*left, *right]
            }
            Operation::Convert { value, .. } => vec![*value],
            Operation::Phi { incoming, .. } => incoming.iter().map(|(_, value)| *value).collect(),
            Operation::Select {
                condition,
                then,
                otherwise,
                ..
            } => vec![*condition, *then, *otherwise],
            Operation::Call {
                callee, arguments, ..
            } => match callee {
                Callee::Pointer(pointer) => std::iter::once(*pointer)
                    .chain(arguments.iter().copied())
                    .collect(),
                _ => arguments.clone(),
            },
            Operation::Copy { to, from, length } => vec![*to, *from, *length],
            Operation::Fill { to, value, length } => vec![*to, *value, *length],
            Operation::Other { operands, .. } => operands.clone(),
        }
    }
}
