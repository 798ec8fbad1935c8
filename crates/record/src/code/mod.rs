//! The code of one module as plain data: what the static analyses work on.
//!
//! The pass inside clang writes it down where it names the sites, before anything is changed, so that
//! traces and analyses speak of the same places; whoever reads it needs no LLVM. It is the front end's
//! code: variables are memory, branches are as the programmer wrote them.
//!
//! Values of a function are numbered: parameters first, then every instruction in order, whether it has a
//! result or not. Integers are kept sign-extended to 64 bits; wider ones, floating-point numbers and vectors are
//! [`Operand::Unknown`], so nobody reasons about them.

mod operation;

use serde::{Deserialize, Serialize};

pub use operation::{Arithmetic, Callee, Conversion, Field, Operand, Operation, Predicate};

/// One module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleCode {
    /// Source files as in the debug information, directory joined.
    pub files: Vec<String>,
    /// How types lie in memory; referred to by index.
    pub layouts: Vec<Layout>,
    /// Texts of function types, by which indirect calls are matched with functions.
    pub signatures: Vec<String>,
    /// Variables, declared ones included.
    pub globals: Vec<Global>,
    /// Functions, declared ones included.
    pub functions: Vec<Function>,
}

impl ModuleCode {
    /// The form in which a module is kept.
    pub fn to_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<ModuleCode, postcard::Error> {
        postcard::from_bytes(bytes)
    }
}

/// How a type lies in memory. Sizes and offsets are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Layout {
    Scalar {
        size: u64,
    },
    Struct {
        /// As in the source (`struct.option`); empty for nameless ones.
        name: String,
        size: u64,
        /// Offset and layout of each field.
        fields: Vec<(u64, u32)>,
    },
    Array {
        count: u64,
        stride: u64,
        element: u32,
    },
}

/// Who else can see or replace a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Linkage {
    /// No definition here.
    Declared,
    /// Of this module only (`static`).
    Local,
    /// The definition that everybody means.
    Strong,
    /// Gives way to a strong definition of the same name (weak, common, inline).
    Weak,
}

/// A variable outside of functions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    pub name: String,
    pub linkage: Linkage,
    /// Never written to.
    pub constant: bool,
    pub layout: u32,
    /// What it holds at first; whatever is not listed is 0 or unknown (see `numbers_complete`).
    pub pointers: Vec<(u64, Operand)>,
    /// Offset, bits and value of integers other than 0.
    pub numbers: Vec<(u64, u16, i64)>,
    /// False if numbers were left out because there are too many.
    pub numbers_complete: bool,
    /// Contents if it is a text of moderate length, without the terminating NUL.
    pub text: Option<Vec<u8>>,
    /// Index into [`ModuleCode::files`] and line; line 0 if unknown.
    pub file: u32,
    pub line: u32,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    pub linkage: Linkage,
    /// Index into [`ModuleCode::files`] and line; line 0 if unknown.
    pub file: u32,
    pub line: u32,
    /// Index into [`ModuleCode::signatures`].
    pub signature: u32,
    /// Bits of each parameter; 0 if it is no integer or pointer.
    pub parameters: Vec<u16>,
    pub variadic: bool,
    /// Declared not to return.
    pub never_returns: bool,
    /// The first one is the entry. Empty if it is only declared.
    pub blocks: Vec<Block>,
}

/// A basic block: its last instruction is the terminator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Site of the block.
    pub site: u64,
    pub instructions: Vec<Instruction>,
    pub terminator: Terminator,
    /// Place and site of the terminator; the site is 0 unless it is a branch or a switch.
    pub end: Place,
}

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// 0 if the instruction is no site of its own.
    pub site: u64,
    /// Index into [`ModuleCode::files`].
    pub file: u32,
    /// 0 if the compiler gave none.
    pub line: u32,
    pub column: u32,
}

/// Anything in a block but its terminator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    pub place: Place,
    pub operation: Operation,
}

/// How a block ends. Blocks are named by their index in the function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Terminator {
    Jump(u32),
    Branch {
        condition: Operand,
        then: u32,
        otherwise: u32,
    },
    Switch {
        value: Operand,
        width: u16,
        default: u32,
        cases: Vec<(i64, u32)>,
    },
    /// Computed goto and the like.
    AnyOf(Vec<u32>),
    Return(Option<Operand>),
    /// The end of the program, or of what is known.
    Stop,
}

impl Terminator {
    /// Successors as listed, repetitions included; of a branch the `then` side comes first, of a switch the default.
    pub fn successors(&self) -> Vec<u32> {
        match self {
            Terminator::Jump(to) => vec![*to],
            Terminator::Branch {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            Terminator::Switch { default, cases, .. } => std::iter::once(*default)
                .chain(cases.iter().map(|(_, to)| *to))
                .collect(),
            Terminator::AnyOf(blocks) => blocks.clone(),
            Terminator::Return(_) | Terminator::Stop => Vec::new(),
        }
    }
}
