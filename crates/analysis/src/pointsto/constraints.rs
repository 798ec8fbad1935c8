//! What each instruction says about pointers.

use std::collections::HashMap;

use super::externals::{self, Result as Answer};
use super::objects::{Cell, Object};
use super::solver::{Node, Reaction, Solver};
use crate::program::{
    Arithmetic, Callee, Function, FunctionId, GlobalId, Linkage, Operand, Operation, Program, Spot,
    Terminator,
};

/// A call whose callee is not known beforehand, or that calls back.
pub struct PendingCall {
    pub spot: Spot,
    pub caller: FunctionId,
    pub kind: Pending,
}

pub enum Pending {
    /// Through a pointer.
    Indirect,
    /// A function outside of the program got a function; which parameters get which arguments.
    Callback(&'static [(u32, u32)]),
}

/// A copy of memory.
pub struct Copy {
    pub to: Node,
    pub from: Node,
    /// Bytes, if known.
    pub length: Option<i64>,
}

/// The constraints of a program.
pub struct Constraints<'a> {
    pub solver: Solver<'a>,
    pub calls: Vec<PendingCall>,
    pub copies: Vec<Copy>,
    /// Per function, the node of its first value.
    pub values: Vec<Node>,
    /// The node of the first function's results.
    results: Node,
    addresses: HashMap<Cell, Node>,
}

impl<'a> Constraints<'a> {
    pub fn of(program: &'a Program, by_type: bool) -> Constraints<'a> {
        let mut solver = Solver::new(program, by_type);
        let counts = program.functions.iter();
        let values = counts
            .map(|function| solver.add_nodes(function.values as usize))
            .collect();
        let results = solver.add_nodes(program.functions.len());
        let mut constraints = Constraints {
            solver,
            calls: Vec::new(),
            copies: Vec::new(),
            values,
            results,
            addresses: HashMap::new(),
        };
        constraints.globals();
        for id in program.function_ids() {
            let function = program.function(id);
            for block in function.block_ids() {
                let code = program.block(block);
                for (number, instruction) in (0..).zip(&code.instructions) {
                    let value = code.first_value + number;
                    let spot = Spot { block, number };
                    constraints.instruction(id, value, spot, &instruction.operation);
                }
                if let Terminator::Return(Some(value)) = code.terminator
                    && let Some(from) = constraints.operand(id, value)
                {
                    let to = constraints.result(id);
                    constraints.solver.add_edge(from, to);
                }
            }
        }
        constraints
    }

    fn program(&self) -> &'a Program {
        self.solver.program
    }

    pub fn value(&self, function: FunctionId, value: u32) -> Node {
        self.values[function.index()] + value
    }

    pub fn result(&self, function: FunctionId) -> Node {
        self.results + function.0
    }

    /// A node that holds the address of a cell.
    fn address(&mut self, cell: Cell) -> Node {
        if let Some(node) = self.addresses.get(&cell) {
            return *node;
        }
        let node = self.solver.add_nodes(1);
        self.solver.add_cell(node, cell);
        self.addresses.insert(cell, node);
        node
    }

    /// The cell that an operand is the address of, if the code itself says so.
    fn cell(&mut self, function: FunctionId, operand: Operand) -> Option<Cell> {
        let program = self.program();
        match operand {
            Operand::Global { index, offset } => {
                let id = GlobalId(index);
                let global = program.global(id);
                // Texts and tables of numbers: nobody stores to them, and no pointer is in them.
                if global.constant
                    && global.pointers.is_empty()
                    && global.linkage != Linkage::Declared
                {
                    return None;
                }
                let objects = &mut self.solver.objects;
                let object = objects.number(program, Object::Global(id));
                let cell = objects.cell(program, object, offset);
                self.solver.contents(cell);
                Some(cell)
            }
            Operand::Function(index) => {
                let objects = &mut self.solver.objects;
                let object = objects.number(program, Object::Function(FunctionId(index)));
                let cell = objects.cell(program, object, 0);
                self.solver.contents(cell);
                Some(cell)
            }
            Operand::Value(value) => match program.operation(function, value) {
                Some(Operation::Variable { .. }) => {
                    let objects = &mut self.solver.objects;
                    let object = objects.number(program, Object::Local(function, value));
                    let cell = objects.cell(program, object, 0);
                    self.solver.contents(cell);
                    Some(cell)
                }
                _ => None,
            },
            Operand::Constant(_) | Operand::Unknown => None,
        }
    }

    /// The node that holds what an operand points to.
    pub fn operand(&mut self, function: FunctionId, operand: Operand) -> Option<Node> {
        if let Operand::Value(value) = operand {
            return Some(self.value(function, value));
        }
        let cell = self.cell(function, operand)?;
        Some(self.address(cell))
    }

    fn globals(&mut self) {
        for (index, global) in (0..).zip(&self.program().globals) {
            for (offset, pointer) in &global.pointers {
                // Any function will do: constants are the same in all.
                let Some(from) = self.operand(FunctionId(0), *pointer) else {
                    continue;
                };
                let place = Operand::Global {
                    index,
                    offset: *offset as i64,
                };
                if let Some(cell) = self.cell(FunctionId(0), place) {
                    let to = self.solver.contents(cell);
                    self.solver.add_edge(from, to);
                }
            }
        }
    }

    fn load(&mut self, function: FunctionId, address: Operand, distance: i64, to: Node) {
        if distance == 0
            && let Some(cell) = self.cell(function, address)
        {
            let from = self.solver.contents(cell);
            self.solver.add_edge(from, to);
        } else if let Some(address) = self.operand(function, address) {
            self.solver.react(address, Reaction::Load(distance, to));
        }
    }

    fn store(&mut self, function: FunctionId, address: Operand, from: Node) {
        if let Some(cell) = self.cell(function, address) {
            let to = self.solver.contents(cell);
            self.solver.add_edge(from, to);
        } else if let Some(address) = self.operand(function, address) {
            self.solver.react(address, Reaction::Store(0, from));
        }
    }

    fn instruction(
        &mut self,
        function: FunctionId,
        value: u32,
        spot: Spot,
        operation: &'a Operation,
    ) {
        let program = self.program();
        let node = self.value(function, value);
        let flow = |constraints: &mut Self, operand: Operand| {
            if let Some(from) = constraints.operand(function, operand) {
                constraints.solver.add_edge(from, node);
            }
        };
        match operation {
            Operation::Variable { .. } => {
                if let Some(cell) = self.cell(function, Operand::Value(value)) {
                    self.solver.add_cell(node, cell);
                }
            }
            Operation::Load {
                address,
                width,
                size,
            } => match (width, size) {
                (64, _) => self.load(function, *address, 0, node),
                // A structure in registers: what it holds is not told apart.
                (0, 8..=64) => {
                    for distance in (0..i64::from(*size)).step_by(8) {
                        self.load(function, *address, distance, node);
                    }
                }
                _ => {}
            },
            Operation::Store {
                address,
                value: stored,
                width,
                size,
            } => {
                if (*width == 64 || *width == 0 && *size >= 8)
                    && let Some(from) = self.operand(function, *stored)
                {
                    self.store(function, *address, from);
                }
            }
            Operation::Offset {
                base,
                constant,
                scaled,
                field,
            } => {
                if *constant == 0 && scaled.is_empty() && field.is_none() {
                    flow(self, *base);
                } else if let Some(base) = self.operand(function, *base) {
                    let objects = &mut self.solver.objects;
                    if let Some(cell) = field.and_then(|field| objects.by_type(program, field)) {
                        self.solver.contents(cell);
                        self.solver.add_cell(node, cell);
                    }
                    let shift = Reaction::Shift(node, *constant, *field);
                    self.solver.react(base, shift);
                }
            }
            Operation::Convert {
                value,
                from: 64,
                to: 64,
                ..
            } => flow(self, *value),
            // Pointers as numbers, aligned or tagged. What two variables give is a size or an index: if differences of pointers
            // were pointers, soon every number would be one.
            Operation::Arithmetic {
                operator: Arithmetic::Add | Arithmetic::Subtract | Arithmetic::And | Arithmetic::Or,
                left,
                right: Operand::Constant(_),
                width: 64,
            } => flow(self, *left),
            Operation::Phi {
                incoming,
                width: 0 | 64,
            } => {
                for (_, operand) in incoming {
                    flow(self, *operand);
                }
            }
            Operation::Select {
                then,
                otherwise,
                width: 0 | 64,
                ..
            } => {
                flow(self, *then);
                flow(self, *otherwise);
            }
            Operation::Other {
                operands,
                width: 0 | 64,
            } => {
                for operand in operands {
                    flow(self, *operand);
                }
            }
            Operation::Copy { to, from, length } => {
                self.copy(function, *to, *from, Some(*length));
            }
            Operation::Call {
                callee, arguments, ..
            } => match callee {
                Callee::Function(index) => {
                    self.call(function, spot, FunctionId(*index), arguments, node);
                }
                Callee::Pointer(pointer) => {
                    let number = self.calls.len() as u32;
                    self.calls.push(PendingCall {
                        spot,
                        caller: function,
                        kind: Pending::Indirect,
                    });
                    if let Some(pointer) = self.operand(function, *pointer) {
                        self.solver.react(pointer, Reaction::Call(number));
                    }
                }
                Callee::Assembly => {
                    for argument in arguments {
                        flow(self, *argument);
                    }
                }
            },
            _ => {}
        }
    }

    fn copy(&mut self, function: FunctionId, to: Operand, from: Operand, length: Option<Operand>) {
        let (Some(to), Some(from)) = (self.operand(function, to), self.operand(function, from))
        else {
            return;
        };
        let length = match length {
            Some(Operand::Constant(length)) => Some(length),
            _ => None,
        };
        self.copies.push(Copy { to, from, length });
    }

    /// A call of a function that is known now. `node` holds the result.
    pub fn call(
        &mut self,
        caller: FunctionId,
        spot: Spot,
        callee: FunctionId,
        arguments: &[Operand],
        node: Node,
    ) {
        let function = self.program().function(callee);
        if !function.is_defined() {
            self.outside(caller, spot, function, arguments, node);
            return;
        }
        for (number, argument) in (0..).zip(arguments.iter().take(function.parameters.len())) {
            if let Some(from) = self.operand(caller, *argument) {
                let to = self.value(callee, number);
                self.solver.add_edge(from, to);
            }
        }
        if externals::allocates(&function.name) {
            self.make(spot, node);
            if function.name.contains("realloc") {
                self.give_back(caller, arguments, node);
            }
        } else {
            let from = self.result(callee);
            self.solver.add_edge(from, node);
        }
    }

    fn make(&mut self, spot: Spot, node: Node) {
        let program = self.program();
        let object = self.solver.objects.number(program, Object::Made(spot));
        let cell = self.solver.objects.cell(program, object, 0);
        self.solver.contents(cell);
        self.solver.add_cell(node, cell);
    }

    fn give_back(&mut self, caller: FunctionId, arguments: &[Operand], node: Node) {
        for argument in arguments {
            if let Some(from) = self.operand(caller, *argument) {
                self.solver.add_edge(from, node);
            }
        }
    }

    fn outside(
        &mut self,
        caller: FunctionId,
        spot: Spot,
        function: &Function,
        arguments: &[Operand],
        node: Node,
    ) {
        let name = function.name.as_str();
        let one = |number: u32| arguments.get(number as usize).copied();
        let signature = &self.program().signatures[function.signature as usize];
        if signature.starts_with("ptr(") {
            match externals::result(name) {
                Answer::Fresh => self.make(spot, node),
                Answer::Argument(number) => {
                    self.give_back(caller, one(number).as_slice(), node);
                }
                Answer::FreshOr(number) => {
                    self.make(spot, node);
                    self.give_back(caller, one(number).as_slice(), node);
                }
                Answer::Anything => {
                    self.make(spot, node);
                    self.give_back(caller, arguments, node);
                }
            }
        }
        if externals::copies(name)
            && let (Some(to), Some(from)) = (one(0), one(1))
        {
            self.copy(caller, to, from, one(2));
        }
        if let Some(place) = externals::stores_fresh(name).and_then(one) {
            let fresh = self.solver.add_nodes(1);
            self.make(spot, fresh);
            self.store(caller, place, fresh);
        }
        if let Some(place) = externals::stores_rest(name).and_then(one)
            && let Some(from) = one(0).and_then(|text| self.operand(caller, text))
        {
            self.store(caller, place, from);
        }
        if let Some(place) = externals::calls_what_is_in(name).and_then(one) {
            let inside = self.solver.add_nodes(1);
            self.load(caller, place, 0, inside);
            self.call_back(caller, spot, inside, &[]);
        }
        match externals::callbacks(name) {
            Some(callbacks) => {
                for callback in callbacks {
                    if let Some(given) = one(callback.function)
                        && let Some(node) = self.operand(caller, given)
                    {
                        self.call_back(caller, spot, node, callback.passes);
                    }
                }
            }
            None => {
                for argument in arguments {
                    if let Some(node) = self.operand(caller, *argument) {
                        self.call_back(caller, spot, node, &[]);
                    }
                }
            }
        }
    }

    fn call_back(
        &mut self,
        caller: FunctionId,
        spot: Spot,
        function: Node,
        passes: &'static [(u32, u32)],
    ) {
        let number = self.calls.len() as u32;
        self.calls.push(PendingCall {
            spot,
            caller,
            kind: Pending::Callback(passes),
        });
        self.solver.react(function, Reaction::Call(number));
    }
}
