//! A whole program as plain data: the modules of a captured program, linked.
//!
//! Functions, variables and blocks have numbers that are valid for one [`Program`]; what traces, coverage and
//! other versions speak of is site ids, and [`Program::blocks_of`] and [`Program::instructions_of`] lead from them here. Code
//! that several modules contain (functions in headers) is there several times, with the same site ids.

mod link;
mod sites;

use std::collections::HashMap;
use std::ops::Range;

use parallax_abi::SiteId;
pub use parallax_record::code::{
    Arithmetic, Callee, Conversion, Field, Instruction, Layout, Linkage, ModuleCode, Operand,
    Operation, Place, Predicate, Terminator,
};

pub use sites::Spot;

/// Number of a function in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// Number of a basic block in its [`Program`]; the blocks of a function are consecutive, the entry is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// Number of a global variable in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

impl FunctionId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl BlockId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl GlobalId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A linked program.
#[derive(Debug, Default)]
pub struct Program {
    pub files: Vec<String>,
    pub layouts: Vec<Layout>,
    pub signatures: Vec<String>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub blocks: Vec<Block>,
    /// Functions that others can name, and the program's entry.
    names: HashMap<String, FunctionId>,
    sites: sites::Index,
}

/// A variable outside of functions. Operands in it are the program's, not a module's.
#[derive(Clone, Debug)]
pub struct Global {
    pub name: String,
    pub linkage: Linkage,
    pub constant: bool,
    pub layout: u32,
    /// Initial contents as in [`parallax_record::code::Global`].
    pub pointers: Vec<(u64, Operand)>,
    pub numbers: Vec<(u64, u16, i64)>,
    pub numbers_complete: bool,
    pub text: Option<Vec<u8>>,
    pub file: u32,
    pub line: u32,
}

/// A function; one without blocks is outside of the captured program.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub linkage: Linkage,
    pub file: u32,
    pub line: u32,
    pub signature: u32,
    /// Bits of each parameter. Parameters are the first values.
    pub parameters: Vec<u16>,
    pub variadic: bool,
    pub never_returns: bool,
    /// Numbers of its blocks.
    pub blocks: Range<u32>,
    /// Number of values: parameters and instructions.
    pub values: u32,
}

impl Function {
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    pub fn entry(&self) -> Option<BlockId> {
        self.is_defined().then_some(BlockId(self.blocks.start))
    }

    pub fn block_ids(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        self.blocks.clone().map(BlockId)
    }
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    pub function: FunctionId,
    pub site: SiteId,
    /// Number of the first instruction's value.
    pub first_value: u32,
    pub instructions: Vec<Instruction>,
    /// Names blocks by their place in the function; see [`Program::successor`].
    pub terminator: Terminator,
    pub end: Place,
    /// Each once, in order of first appearance.
    pub successors: Vec<BlockId>,
    pub predecessors: Vec<BlockId>,
}

impl Block {
    /// Whether leaving the block is a decision.
    pub fn branches(&self) -> bool {
        self.successors.len() > 1
    }

    /// Places of all instructions and of the terminator.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        let places = self.instructions.iter();
        places
            .map(|instruction| &instruction.place)
            .chain([&self.end])
    }
}

impl Program {
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    /// A function that others can name, or the only one of that name.
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        if let Some(id) = self.names.get(name) {
            return Some(*id);
        }
        let mut found = self
            .function_ids()
            .filter(|id| self.function(*id).name == name);
        found.next().filter(|_| found.next().is_none())
    }

    pub fn function_ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len() as u32).map(FunctionId)
    }

    pub fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }

    /// The block that a terminator of `function` means by a number.
    pub fn successor(&self, function: FunctionId, number: u32) -> BlockId {
        BlockId(self.function(function).blocks.start + number)
    }

    /// The instruction that makes a value of a function; `None` for parameters.
    pub fn definition(&self, function: FunctionId, value: u32) -> Option<(BlockId, usize)> {
        let function = self.function(function);
        if value < function.parameters.len() as u32 {
            return None;
        }
        let blocks = &self.blocks[function.blocks.start as usize..function.blocks.end as usize];
        // Blocks without instructions share their first value with the next one.
        let after = blocks.partition_point(|block| block.first_value <= value);
        let block = after.checked_sub(1)?;
        let number = (value - blocks[block].first_value) as usize;
        (number < blocks[block].instructions.len())
            .then_some((BlockId(function.blocks.start + block as u32), number))
    }

    /// The operation that makes a value.
    pub fn operation(&self, function: FunctionId, value: u32) -> Option<&Operation> {
        let (block, number) = self.definition(function, value)?;
        Some(&self.block(block).instructions[number].operation)
    }

    /// Bytes that a layout takes.
    pub fn size_of(&self, layout: u32) -> u64 {
        match &self.layouts[layout as usize] {
            Layout::Scalar { size } | Layout::Struct { size, .. } => *size,
            Layout::Array { count, stride, .. } => count * stride,
        }
    }
}
