//! The program dependence graph: what every instruction, and every statement of the source, depends on.
//!
//! A node depends on what decides whether it runs (control, by post-dominators), on the values that it works on, on the writes that
//! may have made the memory that it reads ([`memory`], on top of the points-to analysis), on the arguments of the calls
//! that lead to it, and on what these return. What functions of the C library read and write is a table ([`library`]).
//!
//! Slices match calls with returns ([`slice`]): what goes into a function by one call does not come out at another. Only memory
//! that is written in one function and read in another connects all calls of both.
//!
//! Left out, as usual: that a loop may never end, or a called function may end the program, is no dependence of what comes after; nor is
//! what is lost to the points-to analysis. What comes after a call that the compiler knows not to return depends on the branch that leads
//! there.
//!
//! The reference is an interpreter of described programs in the tests (`tests/dependence_reference.rs`), which knows who wrote each byte: every flow that it sees must
//! be an edge, and whatever runs or computes otherwise when one branch or stored value is disturbed must be in the forward slice.

mod access;
pub mod library;
mod memory;
mod nodes;
pub mod slice;
pub mod statements;
mod summary;

use std::collections::HashSet;

use crate::Analysis;
use crate::control::Control;
use crate::program::{Callee, FunctionId, Operand, Operation, Program, Spot, Terminator};
use access::Accesses;
use memory::{Memory, Source};
pub use nodes::{Meaning, Node, Nodes};
pub use statements::{Statement, StatementId, Statements};

/// Why a node depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The other decides whether it runs.
    Control,
    /// It works on the other's value.
    Value,
    /// It reads what the other wrote, in the same activation of a function.
    Memory,
    /// It reads what the other wrote in another activation.
    Across,
    /// A parameter gets its value from the other; or a function is entered there.
    Parameter,
    /// A call gets its result from there.
    Return,
    /// The result of a call depends on an argument, by way of the called function.
    Summary,
}

/// One dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub to: Node,
    pub kind: Kind,
}

/// Edges of all nodes, one after the other.
#[derive(Debug, Default)]
struct Edges {
    first: Vec<u32>,
    list: Vec<Edge>,
}

impl Edges {
    /// From pairs in order.
    fn new(count: usize, pairs: &[(Node, Edge)]) -> Edges {
        let mut first = vec![0; count + 1];
        for (from, _) in pairs {
            first[from.index() + 1] += 1;
        }
        for at in 0..count {
            first[at + 1] += first[at];
        }
        Edges {
            first,
            list: pairs.iter().map(|(_, edge)| *edge).collect(),
        }
    }

    fn of(&self, node: Node) -> &[Edge] {
        let at = node.index();
        &self.list[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

/// The graph of one program.
#[derive(Debug)]
pub struct Dependences {
    pub nodes: Nodes,
    pub statements: Statements,
    on: Edges,
    by: Edges,
}

impl Dependences {
    pub fn new(analysis: &Analysis) -> Dependences {
        let program = &analysis.program;
        let nodes = Nodes::new(program, &analysis.calls);
        let mut builder = Builder {
            analysis,
            nodes: &nodes,
            edges: Vec::new(),
        };
        for function in program.function_ids() {
            if program.function(function).is_defined() {
                builder.function(function);
            }
        }
        builder.memory();
        let mut edges = builder.edges;
        edges.sort_unstable();
        edges.dedup();
        summary::add(analysis, &nodes, &mut edges);
        edges.sort_unstable();
        edges.dedup();
        let on = Edges::new(nodes.len(), &edges);
        let mut reversed: Vec<(Node, Edge)> = edges
            .into_iter()
            .map(|(from, edge)| {
                let kind = edge.kind;
                (edge.to, Edge { to: from, kind })
            })
            .collect();
        reversed.sort_unstable();
        Dependences {
            on,
            by: Edges::new(nodes.len(), &reversed),
            statements: Statements::new(program, &nodes),
            nodes,
        }
    }

    /// What a node depends on directly.
    pub fn on(&self, node: Node) -> &[Edge] {
        self.on.of(node)
    }

    /// What depends on a node directly.
    pub fn by(&self, node: Node) -> &[Edge] {
        self.by.of(node)
    }
}

struct Builder<'b> {
    analysis: &'b Analysis,
    nodes: &'b Nodes,
    edges: Vec<(Node, Edge)>,
}

impl Builder<'_> {
    fn add(&mut self, from: Node, to: Node, kind: Kind) {
        if from != to || kind == Kind::Memory {
            self.edges.push((from, Edge { to, kind }));
        }
    }

    fn operand(&mut self, from: Node, function: FunctionId, operand: Operand, kind: Kind) {
        if let Operand::Value(value) = operand {
            self.add(from, self.nodes.value(function, value), kind);
        }
    }

    fn function(&mut self, id: FunctionId) {
        let (program, nodes) = (&self.analysis.program, self.nodes);
        let function = program.function(id);
        let control = Control::of(program, id);
        // What runs whenever the function does.
        let mut always = function.entry();
        let mut passed = HashSet::new();
        while let Some(block) = always.filter(|block| passed.insert(*block)) {
            let (block_node, entry) = (nodes.block(program, block), nodes.entry(program, id));
            self.add(block_node, entry, Kind::Control);
            always = control.post_dominator(block);
        }
        for block in function.block_ids() {
            let code = program.block(block);
            let runs = nodes.block(program, block);
            for (branch, _) in control.controlling(block) {
                let branch = nodes.terminator(program, *branch);
                self.add(runs, branch, Kind::Control);
            }
            for (number, instruction) in (0..).zip(&code.instructions) {
                let spot = Spot { block, number };
                let node = nodes.value(id, code.first_value + number);
                self.add(node, runs, Kind::Control);
                match &instruction.operation {
                    Operation::Call { .. } => self.call(id, spot, node, runs),
                    operation => {
                        for operand in operation.operands() {
                            self.operand(node, id, operand, Kind::Value);
                        }
                    }
                }
                if let Operation::Phi { incoming, .. } = &instruction.operation {
                    for (from, _) in incoming {
                        let from = program.successor(id, *from);
                        self.add(node, nodes.block(program, from), Kind::Control);
                        if program.block(from).branches() {
                            self.add(node, nodes.terminator(program, from), Kind::Control);
                        }
                    }
                }
            }
            let end = nodes.terminator(program, block);
            self.add(end, runs, Kind::Control);
            match &code.terminator {
                Terminator::Branch { condition, .. } => {
                    self.operand(end, id, *condition, Kind::Value);
                }
                Terminator::Switch { value, .. } => self.operand(end, id, *value, Kind::Value),
                Terminator::Return(Some(value)) => self.operand(end, id, *value, Kind::Value),
                _ => {}
            }
        }
    }

    fn call(&mut self, caller: FunctionId, spot: Spot, node: Node, runs: Node) {
        let (program, nodes) = (&self.analysis.program, self.nodes);
        let code = program.block(spot.block);
        let operation = &code.instructions[spot.number as usize].operation;
        let Operation::Call {
            callee, arguments, ..
        } = operation
        else {
            return;
        };
        let calls = self.analysis.calls.of_block(spot.block);
        let Some(call) = calls.iter().find(|call| call.spot == spot) else {
            for operand in operation.operands() {
                self.operand(node, caller, operand, Kind::Value);
            }
            return;
        };
        if call.outside {
            for operand in operation.operands() {
                self.operand(node, caller, operand, Kind::Value);
            }
        }
        let Some(enters) = nodes.enters(spot) else {
            return;
        };
        self.add(enters, runs, Kind::Control);
        if let Callee::Pointer(pointer) = callee {
            self.operand(enters, caller, *pointer, Kind::Value);
        }
        self.add(node, enters, Kind::Value);
        // A function outside hands to what it calls back what it likes of what it was given.
        let is_callback = matches!(callee, Callee::Function(index) if !program.functions[*index as usize].is_defined());
        for id in &call.callees {
            let function = program.function(*id);
            self.add(nodes.entry(program, *id), enters, Kind::Parameter);
            for parameter in 0..function.parameters.len() as u32 {
                let to = nodes.value(*id, parameter);
                self.add(to, enters, Kind::Parameter);
                let given = match is_callback {
                    true => arguments.as_slice(),
                    false => {
                        let at = (parameter as usize).min(arguments.len());
                        &arguments[at..arguments.len().min(at + 1)]
                    }
                };
                for argument in given {
                    self.operand(to, caller, *argument, Kind::Parameter);
                }
            }
            for block in function.block_ids() {
                let code = program.block(block);
                if matches!(code.terminator, Terminator::Return(_)) {
                    self.add(node, nodes.terminator(program, block), Kind::Return);
                }
                if !function.variadic {
                    continue;
                }
                // `va_start` makes the other arguments known.
                for (number, instruction) in (0..).zip(&code.instructions) {
                    if matches!(instruction.operation, Operation::Other { .. }) {
                        let starts = nodes.value(*id, code.first_value + number);
                        self.add(starts, enters, Kind::Parameter);
                        for argument in arguments.iter().skip(function.parameters.len()) {
                            self.operand(starts, caller, *argument, Kind::Parameter);
                        }
                    }
                }
            }
        }
    }

    fn memory(&mut self) {
        let Analysis {
            program,
            points,
            calls,
            ..
        } = self.analysis;
        let entering = calls.all().iter().filter(|call| !call.outside);
        let entering = entering.map(|call| call.spot).collect();
        let accesses = Accesses::new(program, points, entering);
        let mut memory = Memory::new(program, calls, &accesses);
        for block in program.block_ids() {
            for number in 0..program.block(block).instructions.len() as u32 {
                let spot = Spot { block, number };
                let reader = self.nodes.spot(program, spot);
                for region in accesses.of(spot).reads {
                    for source in memory.sources(spot, &region) {
                        let (to, kind) = match source {
                            Source::Here(spot) => (self.nodes.spot(program, spot), Kind::Memory),
                            Source::Elsewhere(spot) => {
                                (self.nodes.spot(program, spot), Kind::Across)
                            }
                            Source::Initial(global) => (self.nodes.initial(global), Kind::Across),
                        };
                        self.add(reader, to, kind);
                    }
                }
            }
        }
    }
}

/// The name of the function outside of the program that an instruction calls.
pub fn calls_outside(program: &Program, spot: Spot) -> Option<&str> {
    let block = program.block(spot.block);
    match &block.instructions.get(spot.number as usize)?.operation {
        Operation::Call {
            callee: Callee::Function(index),
            ..
        } => {
            let function = &program.functions[*index as usize];
            (!function.is_defined()).then_some(function.name.as_str())
        }
        _ => None,
    }
}
