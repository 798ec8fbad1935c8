//! Which memory a pointer may point to, and so which functions a call through a pointer may enter.
//!
//! Inclusion-based (Andersen's), insensitive to flow and context, sensitive to fields; see [`objects`] for how memory is told
//! apart. Pointers through variable argument lists and through unknown functions outside of the
//! program get lost; a call for which nothing is found may then enter every function of its type whose address
//! is taken.
//!
//! Differences of pointers are numbers: otherwise every size soon points everywhere. Initialisers with unions have types without a name, so such
//! variables are accepted as any structure. A pointer that may point to too many cells keeps only functions.

mod constraints;
mod externals;
mod objects;

mod solver;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::calls::Resolution;
use crate::program::{FunctionId, GlobalId, Operand, Operation, Program, Spot};
use crate::set::Set;
use constraints::{Constraints, Pending};
pub use objects::Object;
use objects::{Objects, locate, pointer_cells};

/// Programs with more instructions than this have their structures told apart by type alone.
const LARGE: usize = 150_000;

/// Copies between more objects than this are not followed.
const MAX_PAIRS: usize = 20_000;

/// A place in memory: an object, and a canonical offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub object: Object,
    pub offset: u32,
}

/// How structures in named memory are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structures {
    /// Each variable has fields of its own.
    ByObject,
    /// All structures of a type share their fields.
    ByType,
}

/// The solution.
#[derive(Debug)]
pub struct PointsTo {
    objects: Objects,
    /// Per function, the first of its values' sets.
    first: Vec<u32>,
    sets: Vec<Set>,
    /// Per cell, what is in it.
    contents: Vec<Set>,
    resolution: Resolution,
    /// Calls through pointers for which only the type was known.
    pub by_type_alone: usize,
    /// Copies of memory that were not followed, because too many objects are involved.
    pub copies_left_out: usize,
    /// Pointers that may point to so much that only functions were kept.
    pub too_wide: usize,
}

impl PointsTo {
    /// Tells structures apart as precisely as the size of the program allows.
    pub fn analyse(program: &Program) -> PointsTo {
        let instructions = program.blocks.iter().map(|block| block.instructions.len());
        let structures = if instructions.sum::<usize>() > LARGE {
            Structures::ByType
        } else {
            Structures::ByObject
        };
        PointsTo::analyse_with(program, structures)
    }

    pub fn analyse_with(program: &Program, structures: Structures) -> PointsTo {
        let by_type = structures == Structures::ByType;
        let mut constraints = Constraints::of(program, by_type);
        let mut done: HashSet<(u32, u32)> = HashSet::new();
        let mut callees: HashMap<u32, BTreeSet<FunctionId>> = HashMap::new();
        let mut copies_left_out;
        loop {
            constraints.solver.solve();
            let mut changed = false;
            for (call, cell) in std::mem::take(&mut constraints.solver.called) {
                let Object::Function(callee) = constraints.solver.objects.object_of(cell) else {
                    continue;
                };
                if done.insert((call, callee.0)) && follow(program, &mut constraints, call, callee)
                {
                    callees.entry(call).or_default().insert(callee);
                    changed = true;
                }
            }
            if changed {
                continue;
            }
            copies_left_out = 0;
            for number in 0..constraints.copies.len() {
                match copy(program, &mut constraints, number) {
                    Some(new) => changed |= new,
                    None => copies_left_out += 1,
                }
            }
            if !changed {
                break;
            }
        }
        let mut by_type_alone = 0;
        let resolution = resolve(program, &constraints, &callees, &mut by_type_alone);
        let count = program
            .functions
            .iter()
            .map(|function| function.values)
            .sum();
        let sets = (0..count).map(|node| constraints.solver.set(node).clone());
        let cells = 0..constraints.solver.objects.cell_count() as u32;
        let contents = cells.map(|cell| {
            let node = constraints.solver.known_contents(cell);
            node.map_or_else(Set::default, |node| constraints.solver.set(node).clone())
        });
        let too_wide = constraints.solver.full_count();
        PointsTo {
            sets: sets.collect(),
            contents: contents.collect(),
            first: constraints.values,
            objects: constraints.solver.objects,
            resolution,
            by_type_alone,
            copies_left_out,
            too_wide,
        }
    }

    /// Where calls through pointers lead, and which functions outside of the program call back.
    pub fn resolution(&self) -> &Resolution {
        &self.resolution
    }

    /// Where an operand of a function may point to; nothing if the analysis does not know.
    pub fn places(&self, program: &Program, function: FunctionId, operand: Operand) -> Vec<Place> {
        match operand {
            Operand::Value(value) => {
                let set = &self.sets[(self.first[function.index()] + value) as usize];
                set.iter().map(|cell| self.place(cell)).collect()
            }
            Operand::Global { index, offset } => {
                let object = Object::Global(GlobalId(index));
                vec![self.shifted(program, Place { object, offset: 0 }, offset)]
            }
            Operand::Function(index) => vec![Place {
                object: Object::Function(FunctionId(index)),
                offset: 0,
            }],
            Operand::Constant(_) | Operand::Unknown => Vec::new(),
        }
    }

    /// Where a pointer that is kept at a place may point to.
    pub fn behind(&self, program: &Program, place: Place) -> Vec<Place> {
        let cell = self.objects.find(place.object).and_then(|object| {
            self.objects
                .known_cell(program, object, i64::from(place.offset))
        });
        let cells = cell.map(|cell| self.contents[cell as usize].iter());
        cells
            .into_iter()
            .flatten()
            .map(|cell| self.place(cell))
            .collect()
    }

    /// Offsets of an object that anybody has asked for: where pointers may lie in it.
    pub fn offsets(&self, object: Object) -> impl Iterator<Item = u32> {
        let cells = self.objects.find(object).into_iter();
        let cells = cells.flat_map(|object| self.objects.cells_of(object));
        cells.map(|cell| self.objects.place_of(*cell).1)
    }

    /// The place at a distance from another in the same object.
    pub fn shifted(&self, program: &Program, place: Place, distance: i64) -> Place {
        let offset = i64::from(place.offset) + distance;
        let (object, offset) = self.objects.canonical(program, place.object, offset);
        Place { object, offset }
    }

    fn place(&self, cell: u32) -> Place {
        Place {
            object: self.objects.object_of(cell),
            offset: self.objects.place_of(cell).1,
        }
    }

    /// Objects that the analysis made, for reports of its size.
    pub fn cell_count(&self) -> usize {
        self.objects.cell_count()
    }
}

/// Lets a call enter a function; false if it cannot.
fn follow(
    program: &Program,
    constraints: &mut Constraints<'_>,
    call: u32,
    callee: FunctionId,
) -> bool {
    let pending = &constraints.calls[call as usize];
    let (spot, caller) = (pending.spot, pending.caller);
    let Operation::Call { arguments, .. } =
        &program.block(spot.block).instructions[spot.number as usize].operation
    else {
        return false;
    };
    match pending.kind {
        Pending::Indirect => {
            let function = program.function(callee);
            if !could_be_called(
                function.parameters.len(),
                function.variadic,
                arguments.len(),
            ) {
                return false;
            }
            let block = program.block(spot.block);
            let node = constraints.value(caller, block.first_value + spot.number);
            constraints.call(caller, spot, callee, arguments, node);
        }
        Pending::Callback(passes) => {
            for (parameter, argument) in passes {
                let function = program.function(callee);
                let Some(argument) = arguments.get(*argument as usize) else {
                    continue;
                };
                if *parameter as usize >= function.parameters.len() {
                    continue;
                }
                if let Some(from) = constraints.operand(caller, *argument) {
                    let to = constraints.value(callee, *parameter);
                    constraints.solver.add_edge(from, to);
                }
            }
        }
    }
    true
}

/// Whether a call with so many arguments can mean the function. Too many are harmless and common in old code.
fn could_be_called(parameters: usize, variadic: bool, arguments: usize) -> bool {
    arguments == parameters || arguments > parameters && (variadic || parameters == 0)
}

/// Connects what a copy of memory connects now; true if something was new, `None` if it is too much.
fn copy(program: &Program, constraints: &mut Constraints<'_>, number: usize) -> Option<bool> {
    let solver = &mut constraints.solver;
    let copy = &constraints.copies[number];
    let (to, from) = (solver.set(copy.to).clone(), solver.set(copy.from).clone());
    if to.len() * from.len() > MAX_PAIRS {
        return None;
    }
    let length = copy.length.unwrap_or(i64::MAX);
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for source in from.iter() {
        for target in to.iter() {
            connect(
                program,
                &mut solver.objects,
                source,
                target,
                length,
                &mut edges,
            );
        }
    }
    let mut changed = false;
    for (from, to) in edges {
        let Some(from) = solver.known_contents(from) else {
            continue;
        };
        if solver.set(from).is_empty() {
            continue;
        }
        let to = solver.contents(to);
        changed |= solver.add_edge(from, to);
    }
    Some(changed)
}

/// The pairs of cells between which copying `length` bytes from one place to another moves pointers.
fn connect(
    program: &Program,
    objects: &mut Objects,
    source: u32,
    target: u32,
    length: i64,
    edges: &mut Vec<(u32, u32)>,
) {
    let ((from, from_at), (to, to_at)) = (objects.place_of(source), objects.place_of(target));
    let (from_at, to_at) = (i64::from(from_at), i64::from(to_at));
    let inside = |distance: i64| distance >= 0 && distance < length;
    match (objects.layout_of(from), objects.layout_of(to)) {
        // Structures in made memory are the same ones on both sides.
        (None, None) => edges.push((source, target)),
        (Some(layout), None) => {
            for cell in objects.cells_of(from).to_vec() {
                let at = i64::from(objects.place_of(cell).1);
                if inside(at - from_at) {
                    let place = match locate(program, layout, at).1 {
                        Some((part, offset)) => {
                            let structure = objects.number(program, Object::Structure(part));
                            objects.cell(program, structure, i64::from(offset))
                        }
                        None => target,
                    };
                    edges.push((cell, place));
                }
            }
        }
        (None, Some(layout)) => {
            for at in pointer_cells(program, layout) {
                if inside(i64::from(at) - to_at) {
                    let cell = match locate(program, layout, i64::from(at)).1 {
                        Some((part, offset)) => objects
                            .find(Object::Structure(part))
                            .and_then(|part| objects.known_cell(program, part, i64::from(offset))),
                        None => Some(source),
                    };
                    if let Some(cell) = cell {
                        let place = objects.cell(program, to, i64::from(at));
                        edges.push((cell, place));
                    }
                }
            }
        }
        (Some(_), Some(_)) => {
            for cell in objects.cells_of(from).to_vec() {
                let distance = i64::from(objects.place_of(cell).1) - from_at;
                if inside(distance) {
                    let place = objects.cell(program, to, to_at + distance);
                    edges.push((cell, place));
                }
            }
        }
    }
}

fn resolve(
    program: &Program,
    constraints: &Constraints<'_>,
    callees: &HashMap<u32, BTreeSet<FunctionId>>,
    by_type_alone: &mut usize,
) -> Resolution {
    let mut resolution = Resolution::default();
    let mut taken: Option<HashMap<u32, BTreeSet<FunctionId>>> = None;
    for (number, call) in (0..).zip(&constraints.calls) {
        let found = callees.get(&number);
        match call.kind {
            Pending::Callback(_) => {
                if let Some(found) = found {
                    let known = resolution.callbacks.entry(call.spot).or_default();
                    known.extend(found);
                }
            }
            Pending::Indirect => {
                let signature = signature_of(program, call.spot);
                let fits = |id: &&FunctionId| program.function(**id).signature == signature;
                let mut exact: BTreeSet<FunctionId> =
                    found.into_iter().flatten().filter(fits).copied().collect();
                if exact.is_empty() {
                    // Old code calls functions by other types than they have.
                    exact = found.cloned().unwrap_or_default();
                }
                if exact.is_empty() {
                    let taken = taken.get_or_insert_with(|| addresses_taken(program));
                    exact = taken.get(&signature).cloned().unwrap_or_default();
                    *by_type_alone += 1;
                }
                if !exact.is_empty() {
                    resolution.indirect.insert(call.spot, exact);
                }
            }
        }
    }
    resolution
}

fn signature_of(program: &Program, spot: Spot) -> u32 {
    match &program.block(spot.block).instructions[spot.number as usize].operation {
        Operation::Call { signature, .. } => *signature,
        _ => u32::MAX,
    }
}

/// Functions whose address is taken anywhere, by type.
fn addresses_taken(program: &Program) -> HashMap<u32, BTreeSet<FunctionId>> {
    let mut taken: HashMap<u32, BTreeSet<FunctionId>> = HashMap::new();
    let mut take = |operand: Operand| {
        if let Operand::Function(index) = operand {
            let id = FunctionId(index);
            let signature = program.function(id).signature;
            taken.entry(signature).or_default().insert(id);
        }
    };
    for global in &program.globals {
        global
            .pointers
            .iter()
            .for_each(|(_, pointer)| take(*pointer));
    }
    for block in &program.blocks {
        for instruction in &block.instructions {
            // The called function itself is no operand.
            instruction
                .operation
                .operands()
                .into_iter()
                .for_each(&mut take);
        }
    }
    taken
}
