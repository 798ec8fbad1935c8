//! What an operand is computed from.

use crate::effects::{Variable, base_of};
use crate::program::{BlockId, Conversion, FunctionId, Operand, Operation, Program, Spot};

/// Something that a computation reads and does not make itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Read {
    /// Memory, loaded at a spot.
    Memory {
        spot: Spot,
        address: Operand,
        width: u16,
        size: u32,
    },
    Parameter(FunctionId, u32),
    /// The result of a call.
    Result(Spot),
}

/// One of the values that a statement may assign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// It is this one if control came this way.
    pub by_way_of: Option<BlockId>,
    pub value: Value,
    /// The value is that of the only thing that it is computed from, possibly converted.
    pub is_copy: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Constant(i64),
    /// From these; from nothing that is understood if there are none.
    Computed(Vec<Read>),
}

impl Alternative {
    pub fn constant(by_way_of: Option<BlockId>, constant: i64) -> Alternative {
        Alternative {
            by_way_of,
            value: Value::Constant(constant),
            is_copy: false,
        }
    }

    /// From nothing that is understood.
    pub fn unknown() -> Alternative {
        Alternative {
            by_way_of: None,
            value: Value::Computed(Vec::new()),
            is_copy: false,
        }
    }
}

impl Value {
    pub fn constant(&self) -> Option<i64> {
        match self {
            Value::Constant(constant) => Some(*constant),
            Value::Computed(_) => None,
        }
    }
}

/// Computations with more reads than this are not taken apart further.
const MAX_READS: usize = 32;

/// Everything that an operand is computed from, each once.
pub fn of_operand(program: &Program, function: FunctionId, operand: Operand) -> Vec<Read> {
    let mut reads = Vec::new();
    let mut seen = Vec::new();
    let mut work = vec![operand];
    while let Some(operand) = work.pop() {
        let Operand::Value(value) = operand else {
            continue;
        };
        if seen.contains(&value) || reads.len() >= MAX_READS {
            continue;
        }
        seen.push(value);
        let Some((block, number)) = program.definition(function, value) else {
            push(&mut reads, Read::Parameter(function, value));
            continue;
        };
        let spot = Spot {
            block,
            number: number as u32,
        };
        match &program.block(block).instructions[number].operation {
            Operation::Load {
                address,
                width,
                size,
            } => push(
                &mut reads,
                Read::Memory {
                    spot,
                    address: *address,
                    width: *width,
                    size: *size,
                },
            ),
            Operation::Call { .. } => push(&mut reads, Read::Result(spot)),
            Operation::Variable { .. } => {}
            operation => {
                // The first operand is read first.
                let mut operands = operation.operands();
                operands.reverse();
                work.extend(operands);
            }
        }
    }
    reads
}

fn push(reads: &mut Vec<Read>, read: Read) {
    if !reads.contains(&read) {
        reads.push(read);
    }
}

/// The values that an operand may have, one for each way on which it is chosen.
pub fn alternatives(program: &Program, function: FunctionId, operand: Operand) -> Vec<Alternative> {
    let mut found = Vec::new();
    collect(program, function, operand, None, 0, &mut found);
    found
}

fn collect(
    program: &Program,
    function: FunctionId,
    operand: Operand,
    by_way_of: Option<BlockId>,
    depth: u32,
    found: &mut Vec<Alternative>,
) {
    if let Operand::Constant(constant) = operand {
        found.push(Alternative::constant(by_way_of, constant));
        return;
    }
    if let Operand::Value(value) = operand
        && depth < 8
    {
        let deeper = |operand: Operand, way: Option<BlockId>, found: &mut Vec<Alternative>| {
            collect(program, function, operand, way, depth + 1, found);
        };
        match program.operation(function, value) {
            Some(Operation::Phi { incoming, .. }) => {
                for (block, operand) in incoming {
                    let way = program.successor(function, *block);
                    deeper(*operand, Some(way), found);
                }
                return;
            }
            Some(Operation::Select {
                then, otherwise, ..
            }) => {
                deeper(*then, by_way_of, found);
                deeper(*otherwise, by_way_of, found);
                return;
            }
            Some(Operation::Convert {
                kind, value, from, ..
            }) => {
                let start = found.len();
                deeper(*value, by_way_of, found);
                for alternative in &mut found[start..] {
                    if let Value::Constant(constant) = &mut alternative.value
                        && *kind == Conversion::ZeroExtend
                        && *from < 64
                    {
                        *constant &= (1 << from) - 1;
                    }
                }
                return;
            }
            _ => {}
        }
    }
    let is_copy = match operand {
        Operand::Value(value) => matches!(
            program.operation(function, value),
            None | Some(Operation::Load { .. } | Operation::Call { .. })
        ),
        _ => false,
    };
    found.push(Alternative {
        by_way_of,
        value: Value::Computed(of_operand(program, function, operand)),
        is_copy,
    });
}

/// The variable whose pointer an address goes through, if it was loaded in the same block: its offset in the variable, and
/// the offset behind it.
pub fn path(program: &Program, spot: Spot, address: Operand) -> Option<(Variable, i64, i64)> {
    let function = program.block(spot.block).function;
    let mut distance = 0;
    let mut operand = address;
    loop {
        let Operand::Value(value) = operand else {
            return None;
        };
        match program.operation(function, value)? {
            Operation::Offset {
                base,
                constant,
                scaled,
                ..
            } if scaled.is_empty() => {
                distance += constant;
                operand = *base;
            }
            Operation::Load { address, .. } => {
                let (variable, offset) = base_of(program, function, *address)?;
                return Some((variable, offset?, distance));
            }
            _ => return None,
        }
    }
}
