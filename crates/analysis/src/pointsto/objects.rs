//! Memory as the points-to analysis sees it: objects, cut into cells.
//!
//! A cell is an object and an offset. Offsets are canonical: all elements of an array are its first one, and whatever lies
//! inside a scalar is its begin. Objects from the heap have no type; there, stepping by some distance shows that elements of
//! that size lie side by side, and from then on they are one.

use std::collections::HashMap;

use crate::program::{FunctionId, GlobalId, Layout, Program, Spot};

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    Global(GlobalId),
    Function(FunctionId),
    /// The variable that a function's value is the address of.
    Local(FunctionId, u32),
    /// Made by the function outside of the program that this calls, or by a function that allocates.
    Made(Spot),
}

/// Heap objects with more cells than this are one cell.
const MAX_CELLS: usize = 128;

/// Number of a cell.
pub type Cell = u32;

#[derive(Debug, Default)]
pub struct Objects {
    list: Vec<Entry>,
    numbers: HashMap<Object, u32>,
    /// Object and canonical offset of each cell.
    cells: Vec<(u32, u32)>,
    by_place: HashMap<(u32, u32), Cell>,
}

#[derive(Debug)]
struct Entry {
    object: Object,
    /// Of typed objects.
    layout: Option<u32>,
    /// Elements of an untyped object have this size; 0 if it was never stepped through.
    stride: u32,
    cells: Vec<Cell>,
}

impl Objects {
    /// Number of an object, new or known.
    pub fn number(&mut self, object: Object, layout: Option<u32>) -> u32 {
        *self.numbers.entry(object).or_insert_with(|| {
            self.list.push(Entry {
                object,
                layout,
                stride: 0,
                cells: Vec::new(),
            });
            self.list.len() as u32 - 1
        })
    }

    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    pub fn object_of(&self, cell: Cell) -> Object {
        self.list[self.cells[cell as usize].0 as usize].object
    }

    pub fn place_of(&self, cell: Cell) -> (u32, u32) {
        self.cells[cell as usize]
    }

    pub fn cells_of(&self, object: u32) -> &[Cell] {
        &self.list[object as usize].cells
    }

    /// The cell at an offset of an object.
    pub fn cell(&mut self, program: &Program, object: u32, offset: i64) -> Cell {
        let entry = &self.list[object as usize];
        let offset = match entry.layout {
            Some(layout) => canonical(program, layout, offset),
            None if entry.stride != 0 => offset.rem_euclid(i64::from(entry.stride)) as u32,
            None if matches!(entry.object, Object::Function(_)) => 0,
            None => offset.clamp(0, i64::from(u32::MAX)) as u32,
        };
        if let Some(cell) = self.by_place.get(&(object, offset)) {
            return *cell;
        }
        let cell = self.cells.len() as Cell;
        self.cells.push((object, offset));
        self.by_place.insert((object, offset), cell);
        self.list[object as usize].cells.push(cell);
        cell
    }

    /// Learns that elements of `stride` bytes lie side by side in the object. Returns pairs of cells that
    /// are one from now on.
    pub fn step(&mut self, program: &Program, object: u32, stride: u64) -> Vec<(Cell, Cell)> {
        let entry = &mut self.list[object as usize];
        let stride = u32::try_from(stride.max(1)).unwrap_or(u32::MAX);
        if entry.layout.is_some() || matches!(entry.object, Object::Function(_)) {
            return Vec::new();
        }
        let new = match entry.stride {
            0 => stride,
            old => common_divisor(old, stride),
        };
        if new == entry.stride {
            return Vec::new();
        }
        self.narrow(program, object, new)
    }

    /// Makes one cell of objects that have too many.
    pub fn limit(&mut self, program: &Program, object: u32) -> Vec<(Cell, Cell)> {
        let entry = &self.list[object as usize];
        if entry.layout.is_some() || entry.cells.len() <= MAX_CELLS || entry.stride == 1 {
            return Vec::new();
        }
        self.narrow(program, object, 1)
    }

    fn narrow(&mut self, program: &Program, object: u32, stride: u32) -> Vec<(Cell, Cell)> {
        self.list[object as usize].stride = stride;
        let old = self.list[object as usize].cells.clone();
        let mut same = Vec::new();
        for cell in old {
            let offset = i64::from(self.cells[cell as usize].1);
            let now = self.cell(program, object, offset);
            if now != cell {
                same.push((cell, now));
            }
        }
        same
    }
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The offset at which the scalar begins that an offset lies in, in the first element of every array around it.
/// Offsets outside of the object are its begin.
pub fn canonical(program: &Program, layout: u32, offset: i64) -> u32 {
    let Ok(mut rest) = u64::try_from(offset) else {
        return 0;
    };
    let mut begin = 0;
    let mut layout = layout;
    loop {
        match &program.layouts[layout as usize] {
            Layout::Scalar { .. } => return begin as u32,
            Layout::Array {
                stride, element, ..
            } => {
                rest = rest.checked_rem(*stride).unwrap_or(0);
                layout = *element;
            }
            Layout::Struct { fields, size, .. } => {
                if *size != 0 && rest >= *size {
                    // Stepping from structure to structure.
                    rest %= size;
                }
                let after = fields.partition_point(|(at, _)| *at <= rest);
                let Some((at, part)) = after.checked_sub(1).map(|field| fields[field]) else {
                    return begin as u32;
                };
                begin += at;
                rest -= at;
                layout = part;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        let mut program = Program::default();
        program.layouts = vec![
            Layout::Scalar { size: 4 },
            Layout::Scalar { size: 8 },
            Layout::Struct {
                name: "struct.pair".into(),
                size: 16,
                fields: vec![(0, 0), (8, 1)],
            },
            Layout::Array {
                count: 10,
                stride: 16,
                element: 2,
            },
        ];
        program
    }

    #[test]
    fn elements_of_an_array_are_one_and_fields_are_not() {
        let program = program();
        let at = |offset| canonical(&program, 3, offset);
        assert_eq!([0, 16, 160].map(at), [0, 0, 0]);
        assert_eq!([8, 24, 12, 4].map(at), [8, 8, 8, 0]);
        assert_eq!(at(-8), 0);
    }

    #[test]
    fn a_heap_object_that_is_stepped_through_has_one_element() {
        let program = program();
        let mut objects = Objects::default();
        let spot = Spot {
            block: crate::BlockId(0),
            number: 0,
        };
        let object = objects.number(Object::Made(spot), None);
        let first = objects.cell(&program, object, 8);
        let second = objects.cell(&program, object, 24);
        assert_ne!(first, second);
        assert_eq!(objects.step(&program, object, 16), [(second, first)]);
        assert_eq!(objects.cell(&program, object, 40), first);
    }
}
