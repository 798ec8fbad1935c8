//! What instructions read and write, as regions of memory.
//!
//! A region is a home (an object of the points-to analysis, or memory that it does not know) and a range of bytes in it. Offsets are
//! canonical: all elements of an array are the first. What names a variable directly, at a constant offset, is *exact* besides: that
//! tells elements apart, and such a write overwrites all that was there before.
//!
//! A pointer of which the points-to analysis knows nothing points to memory outside of the program (arguments, what libraries
//! keep), which is one region; what that analysis loses is lost here, too.

use std::collections::{HashMap, HashSet};

use super::library::{self, Effect, Same, State};
use crate::effects::{Variable, base_of};
use crate::pointsto::{Object, Place, PointsTo};
use crate::program::{
    Callee, FunctionId, GlobalId, Layout, Linkage, Operand, Operation, Program, Spot,
};

/// What a region lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Home {
    Object(Object),
    /// What this function outside of the program gives the address of.
    Library(FunctionId),
    State(State),
    Outside,
}

/// Some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub home: Home,
    pub begin: u32,
    pub end: u32,
    /// A variable that is named, with the true range.
    pub exact: Option<(Variable, i64, i64)>,
}

impl Region {
    fn whole(home: Home) -> Region {
        Region {
            home,
            begin: 0,
            end: u32::MAX,
            exact: None,
        }
    }

    /// Whether both can be the same bytes, if they lie in the same home.
    pub fn overlaps(&self, other: &Region) -> bool {
        match (self.exact, other.exact) {
            (Some((one, begin, end)), Some((other, from, to))) => {
                one == other && begin < to && from < end
            }
            _ => self.begin < other.end && other.begin < self.end,
        }
    }

    /// Whether writing this leaves nothing of what the other was.
    pub fn covers(&self, other: &Region) -> bool {
        match (self.exact, other.exact) {
            (Some((one, begin, end)), Some((other, from, to))) => {
                one == other && begin <= from && to <= end
            }
            _ => false,
        }
    }
}

/// What one instruction reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Access {
    pub reads: Vec<Region>,
    pub writes: Vec<Region>,
}

/// Answers for one program.
pub struct Accesses<'a> {
    program: &'a Program,
    points: &'a PointsTo,
    /// Memory without a name, with the structures that lie in it.
    holds: HashSet<(Object, u32)>,
    effects: HashMap<u32, Effect>,
    globals: HashMap<&'a str, GlobalId>,
    /// Calls that enter code of the program: what that does is not the call's own doing.
    entering: HashSet<Spot>,
}

impl<'a> Accesses<'a> {
    pub fn new(
        program: &'a Program,
        points: &'a PointsTo,
        entering: HashSet<Spot>,
    ) -> Accesses<'a> {
        let declared = (0..)
            .zip(&program.globals)
            .filter(|(_, global)| global.linkage == Linkage::Declared);
        let mut accesses = Accesses {
            program,
            points,
            holds: HashSet::new(),
            effects: HashMap::new(),
            globals: declared
                .map(|(id, global)| (global.name.as_str(), GlobalId(id)))
                .collect(),
            entering,
        };
        for (id, function) in (0..).zip(&program.functions) {
            if !function.is_defined() {
                let effect = library::effect(&function.name);
                accesses.effects.insert(id, effect);
            }
        }
        for block in program.block_ids() {
            let code = program.block(block);
            for instruction in &code.instructions {
                let Operation::Offset {
                    base,
                    field: Some(field),
                    ..
                } = instruction.operation
                else {
                    continue;
                };
                for place in points.places(program, code.function, base) {
                    if matches!(place.object, Object::Made(_)) {
                        accesses.holds.insert((place.object, field.layout));
                    }
                }
            }
        }
        accesses
    }

    /// Memory without a name, each with the structures that it can also be known as.
    pub fn aliases(&self) -> impl Iterator<Item = (Home, Home)> {
        self.holds.iter().map(|(object, layout)| {
            let structure = Home::Object(Object::Structure(*layout));
            (Home::Object(*object), structure)
        })
    }

    pub fn of(&self, spot: Spot) -> Access {
        let block = self.program.block(spot.block);
        let function = block.function;
        let mut access = Access::default();
        let Some(instruction) = block.instructions.get(spot.number as usize) else {
            return access;
        };
        match &instruction.operation {
            Operation::Load { address, size, .. } => {
                access.reads = self.regions(function, *address, Some(u64::from(*size)));
            }
            Operation::Store { address, size, .. } => {
                access.writes = self.regions(function, *address, Some(u64::from(*size)));
            }
            Operation::Copy { to, from, length } => {
                access.reads = self.regions(function, *from, constant(*length));
                access.writes = self.regions(function, *to, constant(*length));
            }
            Operation::Fill { to, length, .. } => {
                access.writes = self.regions(function, *to, constant(*length));
            }
            Operation::Call {
                callee, arguments, ..
            } => match callee {
                Callee::Function(index) => {
                    if let Some(effect) = self.effects.get(index) {
                        let name = self.program.functions[*index as usize].name.as_str();
                        self.library(function, arguments, effect, name, &mut access);
                    }
                }
                Callee::Pointer(_) if self.entering.contains(&spot) => {}
                Callee::Pointer(_) | Callee::Assembly => {
                    let unknown = library::effect("");
                    self.library(function, arguments, &unknown, "", &mut access);
                }
            },
            // Atomic operations, `va_start` and the like.
            Operation::Other { operands, .. } => {
                for operand in operands {
                    let regions = self.pointed_to(function, *operand, None);
                    access.reads.extend(&regions);
                    access.writes.extend(regions);
                }
            }
            _ => {}
        }
        access
    }

    fn library(
        &self,
        function: FunctionId,
        arguments: &[Operand],
        effect: &Effect,
        name: &str,
        access: &mut Access,
    ) {
        for (number, argument) in arguments.iter().enumerate() {
            let (reads, writes) = (effect.reads(number), effect.writes(number));
            if !reads && !writes {
                continue;
            }
            let mut regions = self.pointed_to(function, *argument, None);
            if effect.deep {
                self.go_on(&mut regions);
            }
            if reads {
                access.reads.extend(&regions);
            }
            if writes {
                access.writes.extend(regions);
            }
        }
        let states = |states: &[State]| -> Vec<Region> {
            let homes = states.iter().map(|state| Home::State(*state));
            homes.map(Region::whole).collect()
        };
        access.reads.extend(states(&effect.states_read));
        access.writes.extend(states(&effect.states_written));
        for name in library::variables(name) {
            if let Some(global) = self.globals.get(name) {
                let region = Region::whole(Home::Object(Object::Global(*global)));
                access.reads.push(region);
                access.writes.push(region);
            }
        }
    }

    /// Adds what pointers in these regions lead to.
    fn go_on(&self, regions: &mut Vec<Region>) {
        let mut at = 0;
        while at < regions.len() {
            if let Home::Object(object) = regions[at].home {
                for behind in self.behind(object) {
                    let region = Region::whole(behind);
                    if !regions.iter().any(|known| known.home == behind) {
                        regions.push(region);
                    }
                }
            }
            at += 1;
        }
    }

    fn behind(&self, object: Object) -> Vec<Home> {
        let mut homes = Vec::new();
        for offset in self.points.offsets(object) {
            let places = self.points.behind(self.program, Place { object, offset });
            homes.extend(places.into_iter().filter_map(|place| self.home(place)));
        }
        homes
    }

    /// The regions that an address leads to. What is no address leads nowhere.
    fn pointed_to(&self, function: FunctionId, operand: Operand, size: Option<u64>) -> Vec<Region> {
        let is_address = match operand {
            Operand::Global { .. } => true,
            Operand::Value(value) => self.width(function, value) == 64,
            Operand::Constant(_) | Operand::Function(_) | Operand::Unknown => false,
        };
        match is_address {
            true => self.regions(function, operand, size),
            false => Vec::new(),
        }
    }

    /// Bits of a value; 64 for addresses.
    fn width(&self, function: FunctionId, value: u32) -> u16 {
        match self.program.operation(function, value) {
            None => {
                let parameters = &self.program.function(function).parameters;
                parameters.get(value as usize).copied().unwrap_or(0)
            }
            Some(operation) => match operation {
                Operation::Variable { .. } | Operation::Offset { .. } => 64,
                Operation::Load { width, .. }
                | Operation::Phi { width, .. }
                | Operation::Select { width, .. }
                | Operation::Call { width, .. }
                | Operation::Arithmetic { width, .. }
                | Operation::Other { width, .. } => *width,
                Operation::Convert { to, .. } => *to,
                Operation::Compare { .. } => 1,
                Operation::Store { .. } | Operation::Copy { .. } | Operation::Fill { .. } => 0,
            },
        }
    }

    fn home(&self, place: Place) -> Option<Home> {
        match place.object {
            Object::Function(_) => None,
            Object::Made(spot) => {
                let block = self.program.block(spot.block);
                let operation = &block.instructions[spot.number as usize].operation;
                if let Operation::Call {
                    callee: Callee::Function(index),
                    ..
                } = operation
                    && let Some(same) =
                        library::gives_the_same(&self.program.functions[*index as usize].name)
                {
                    return Some(match same {
                        Same::State(state) => Home::State(state),
                        Same::Memory => Home::Library(FunctionId(*index)),
                    });
                }
                Some(Home::Object(place.object))
            }
            object => Some(Home::Object(object)),
        }
    }

    fn regions(&self, function: FunctionId, address: Operand, size: Option<u64>) -> Vec<Region> {
        let (program, points) = (self.program, self.points);
        let direct = base_of(program, function, address);
        if let Some((variable, Some(offset))) = direct {
            let object = object_of(variable);
            let place = points.shifted(program, Place { object, offset: 0 }, offset);
            let mut region = self.region(Home::Object(place.object), place.offset, size);
            let end = size.map(|size| offset.saturating_add(size as i64));
            region.exact = Some((variable, offset, end.unwrap_or(i64::MAX)));
            // How far a function goes is not known: it may also go less far, and then overwrites nothing.
            if size.is_none() {
                region.exact = None;
            }
            return vec![region];
        }
        let places = points.places(program, function, address);
        let mut regions: Vec<Region> = Vec::new();
        for place in places {
            if let Some(home) = self.home(place) {
                regions.push(self.region(home, place.offset, size));
            }
        }
        if let Some((variable, None)) = direct {
            let home = Home::Object(object_of(variable));
            if !regions.iter().any(|region| region.home == home) {
                regions.push(Region::whole(home));
            }
        }
        if regions.is_empty() {
            regions.push(Region::whole(Home::Outside));
        }
        regions
    }

    fn region(&self, home: Home, offset: u32, size: Option<u64>) -> Region {
        let layout = match home {
            Home::Object(Object::Global(global)) => Some(self.program.global(global).layout),
            Home::Object(Object::Structure(layout)) => Some(layout),
            Home::Object(Object::Local(function, value)) => {
                match self.program.operation(function, value) {
                    Some(Operation::Variable { layout, .. }) => Some(*layout),
                    _ => None,
                }
            }
            _ => None,
        };
        let Some(layout) = layout else {
            return Region::whole(home);
        };
        let is_array = matches!(self.program.layouts[layout as usize], Layout::Array { .. });
        match size {
            Some(size) if size <= 8 || offset == 0 => Region {
                home,
                begin: offset,
                end: offset.saturating_add(u32::try_from(size).unwrap_or(u32::MAX)),
                exact: None,
            },
            // Elements behind the first are the first again.
            _ if is_array => Region::whole(home),
            _ => Region {
                home,
                begin: offset,
                end: u32::MAX,
                exact: None,
            },
        }
    }
}

fn object_of(variable: Variable) -> Object {
    match variable {
        Variable::Local(function, value) => Object::Local(function, value),
        Variable::Global(global) => Object::Global(global),
    }
}

fn constant(length: Operand) -> Option<u64> {
    match length {
        Operand::Constant(length) => u64::try_from(length).ok(),
        _ => None,
    }
}
