//! The nodes of the graph and their numbers.
//!
//! Of each function: parameters and instructions (the values of [`Program`]), then the terminators, then the blocks themselves
//! ("this block runs"), then the entry ("this function runs"). Behind all functions come calls that enter the program ("this
//! call is made, with these constants": the call's result is another node) and the initial values of global variables.

use std::collections::HashMap;

use crate::calls::Calls;
use crate::program::{BlockId, FunctionId, GlobalId, Program, Spot};

/// Number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u32);

impl Node {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    Parameter(FunctionId, u32),
    /// An instruction or a terminator.
    Spot(Spot),
    /// That a block runs.
    Block(BlockId),
    /// That a function runs.
    Entry(FunctionId),
    /// That a call enters code of the program.
    Enters(Spot),
    /// What a variable holds at first.
    Initial(GlobalId),
}

/// Numbers of the nodes of one program.
#[derive(Debug)]
pub struct Nodes {
    /// Per function; one more at the end.
    first: Vec<u32>,
    /// Per call that enters code of the program, in order.
    calls: Vec<Spot>,
    by_call: HashMap<Spot, u32>,
    first_global: u32,
    count: u32,
}

impl Nodes {
    pub fn new(program: &Program, calls: &Calls) -> Nodes {
        let mut first = Vec::with_capacity(program.functions.len() + 1);
        let mut next = 0;
        for function in &program.functions {
            first.push(next);
            if function.is_defined() {
                next += function.values + 2 * function.blocks.len() as u32 + 1;
            }
        }
        first.push(next);
        let calls: Vec<Spot> = calls.all().iter().map(|call| call.spot).collect();
        let by_call = calls.iter().copied().zip(next..).collect();
        let first_global = next + calls.len() as u32;
        Nodes {
            first,
            by_call,
            first_global,
            count: first_global + program.globals.len() as u32,
            calls,
        }
    }

    pub fn len(&self) -> usize {
        self.count as usize
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn all(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.count).map(Node)
    }

    pub fn value(&self, function: FunctionId, value: u32) -> Node {
        Node(self.first[function.index()] + value)
    }

    /// The node of an instruction or terminator.
    pub fn spot(&self, program: &Program, spot: Spot) -> Node {
        let block = program.block(spot.block);
        match spot.number as usize == block.instructions.len() {
            true => self.terminator(program, spot.block),
            false => self.value(block.function, block.first_value + spot.number),
        }
    }

    pub fn terminator(&self, program: &Program, block: BlockId) -> Node {
        let id = program.block(block).function;
        let function = program.function(id);
        Node(self.first[id.index()] + function.values + (block.0 - function.blocks.start))
    }

    pub fn block(&self, program: &Program, block: BlockId) -> Node {
        let function = program.function(program.block(block).function);
        Node(self.terminator(program, block).0 + function.blocks.len() as u32)
    }

    pub fn entry(&self, program: &Program, id: FunctionId) -> Node {
        let function = program.function(id);
        Node(self.first[id.index()] + function.values + 2 * function.blocks.len() as u32)
    }

    /// The node of a call that enters code of the program.
    pub fn enters(&self, call: Spot) -> Option<Node> {
        self.by_call.get(&call).map(|number| Node(*number))
    }

    pub fn initial(&self, global: GlobalId) -> Node {
        Node(self.first_global + global.0)
    }

    pub fn meaning(&self, program: &Program, node: Node) -> Meaning {
        if node.0 >= self.first_global {
            return Meaning::Initial(GlobalId(node.0 - self.first_global));
        }
        let functions = self.first[self.first.len() - 1];
        if node.0 >= functions {
            return Meaning::Enters(self.calls[(node.0 - functions) as usize]);
        }
        // Functions without code have no nodes and share their first one with the next function.
        let at = self.first.partition_point(|first| *first <= node.0) - 1;
        let id = FunctionId(at as u32);
        let function = program.function(id);
        let number = node.0 - self.first[at];
        let blocks = function.blocks.len() as u32;
        if number < function.parameters.len() as u32 {
            Meaning::Parameter(id, number)
        } else if number < function.values {
            let spot = program.definition(id, number).map(|(block, number)| Spot {
                block,
                number: number as u32,
            });
            spot.map_or(Meaning::Entry(id), Meaning::Spot)
        } else if number < function.values + blocks {
            let block = BlockId(function.blocks.start + number - function.values);
            Meaning::Spot(Spot {
                block,
                number: program.block(block).instructions.len() as u32,
            })
        } else if number < function.values + 2 * blocks {
            let block = function.blocks.start + number - function.values - blocks;
            Meaning::Block(BlockId(block))
        } else {
            Meaning::Entry(id)
        }
    }
}
