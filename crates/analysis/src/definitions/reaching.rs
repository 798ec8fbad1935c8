//! Which stores to a local variable reach a point, along the control flow of its function.

use std::collections::HashSet;

use crate::effects::{Variable, base_of};
use crate::program::{BlockId, Operand, Operation, Program, Spot};

/// How a statement touches the variable.
enum Touch {
    No,
    /// It may write to it.
    May,
    /// It writes all of what is asked for.
    All,
}

/// The stores that may have written what is at an offset of a variable when control comes to `spot`.
pub fn definitions(
    program: &Program,
    spot: Spot,
    variable: Variable,
    offset: i64,
    size: u32,
) -> Vec<Spot> {
    let mut found = Vec::new();
    let mut seen: HashSet<BlockId> = HashSet::new();
    let mut work = vec![(spot.block, spot.number as usize)];
    while let Some((block, end)) = work.pop() {
        let code = program.block(block);
        let mut ended = false;
        for number in (0..end).rev() {
            let operation = &code.instructions[number].operation;
            let touch = touch(program, block, operation, variable, offset, size);
            if matches!(touch, Touch::May | Touch::All) {
                found.push(Spot {
                    block,
                    number: number as u32,
                });
            }
            if matches!(touch, Touch::All) {
                ended = true;
                break;
            }
        }
        if !ended {
            for predecessor in &code.predecessors {
                if seen.insert(*predecessor) {
                    let end = program.block(*predecessor).instructions.len();
                    work.push((*predecessor, end));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn touch(
    program: &Program,
    block: BlockId,
    operation: &Operation,
    variable: Variable,
    offset: i64,
    size: u32,
) -> Touch {
    let function = program.block(block).function;
    let at = |address: Operand| {
        base_of(program, function, address)
            .filter(|(written, _)| *written == variable)
            .map(|(_, at)| at)
    };
    match operation {
        Operation::Store {
            address,
            size: written,
            ..
        } => match at(*address) {
            None => Touch::No,
            Some(None) => Touch::May,
            Some(Some(begin)) => {
                let (end, wanted) = (begin + i64::from(*written), offset + i64::from(size));
                if begin <= offset && wanted <= end {
                    Touch::All
                } else if begin < wanted && offset < end {
                    Touch::May
                } else {
                    Touch::No
                }
            }
        },
        Operation::Copy { to, .. } | Operation::Fill { to, .. } => match at(*to) {
            None => Touch::No,
            Some(_) => Touch::May,
        },
        _ => Touch::No,
    }
}
