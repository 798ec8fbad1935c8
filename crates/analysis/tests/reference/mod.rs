//! A naive interpreter of described programs that remembers who wrote every byte: the dynamic reference for dependences.
//!
//! Objects lie far apart and their addresses depend only on what made them and how often that ran before, so that a disturbed run differs from an
//! undisturbed one only where it has to. Integers and pointers only.

use std::collections::{BTreeSet, HashMap};

use parallax_analysis::program::{
    Arithmetic, Callee, Conversion, Operand, Operation, Predicate, Program, Terminator,
};
use parallax_analysis::{BlockId, FunctionId, Spot};

/// Instructions after which a run is given up.
const STEPS: u64 = 60_000;
const DEPTH: u32 = 60;

/// One place where a run is made to go otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disturbance {
    pub spot: Spot,
    /// The how-manieth execution.
    pub time: u32,
}

/// What a run showed.
#[derive(Default)]
pub struct Observed {
    /// Reader and writer of the same byte.
    pub flows: BTreeSet<(Spot, Spot)>,
    /// Per instruction, what it computed each time; pointers do not count.
    pub values: HashMap<Spot, Vec<u64>>,
    /// It came to its end.
    pub ended: bool,
}

/// A run that cannot go on: too long, or an error of the program.
struct Lost;

pub struct Machine<'p> {
    program: &'p Program,
    memory: HashMap<u64, (u8, Option<Spot>)>,
    made: HashMap<(u64, u64), u64>,
    counts: HashMap<Spot, u32>,
    disturbance: Option<Disturbance>,
    observed: Observed,
    steps: u64,
}

fn mask(value: u64, width: u16) -> u64 {
    match width {
        1..64 => value & ((1 << width) - 1),
        _ => value,
    }
}

fn signed(value: u64, width: u16) -> i64 {
    match width {
        1..64 => ((value << (64 - width)) as i64) >> (64 - width),
        _ => value as i64,
    }
}

const FUNCTIONS: u64 = 0x7000_0000_0000;
const ERRNO: u64 = 0x6000_0000_0000;

fn global_address(index: u32) -> u64 {
    0x1000_0000_0000 + (u64::from(index) << 24)
}

impl<'p> Machine<'p> {
    /// Runs a function on integers.
    pub fn run(
        program: &'p Program,
        function: &str,
        arguments: &[u64],
        disturbance: Option<Disturbance>,
    ) -> Observed {
        let mut machine = Machine {
            program,
            memory: HashMap::new(),
            made: HashMap::new(),
            counts: HashMap::new(),
            disturbance,
            observed: Observed::default(),
            steps: 0,
        };
        machine.globals();
        let id = program.function_named(function).expect(function);
        let result = machine.call(id, arguments.to_vec(), 0);
        machine.observed.ended = result.is_ok();
        machine.observed
    }

    fn globals(&mut self) {
        for (index, global) in (0..).zip(&self.program.globals) {
            let base = global_address(index);
            for (offset, width, value) in &global.numbers {
                self.write(base + offset, *value as u64, u32::from(*width) / 8, None);
            }
            for (at, byte) in (0..).zip(global.text.iter().flatten()) {
                self.memory.insert(base + at, (*byte, None));
            }
            for (offset, pointer) in &global.pointers {
                let value = self.constant(*pointer);
                self.write(base + offset, value, 8, None);
            }
        }
    }

    fn constant(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Constant(constant) => constant as u64,
            Operand::Global { index, offset } => global_address(index).wrapping_add(offset as u64),
            Operand::Function(index) => FUNCTIONS + u64::from(index),
            Operand::Value(_) | Operand::Unknown => 0,
        }
    }

    fn write(&mut self, address: u64, value: u64, size: u32, by: Option<Spot>) {
        for at in 0..u64::from(size.min(8)) {
            let byte = (value >> (8 * at)) as u8;
            self.memory.insert(address.wrapping_add(at), (byte, by));
        }
    }

    fn byte(&mut self, address: u64, by: Spot) -> u8 {
        let (byte, writer) = self.memory.get(&address).copied().unwrap_or((0, None));
        if let Some(writer) = writer {
            self.observed.flows.insert((by, writer));
        }
        byte
    }

    fn read(&mut self, address: u64, size: u32, by: Spot) -> u64 {
        let bytes = (0..u64::from(size.min(8))).rev();
        bytes.fold(0, |value, at| {
            value << 8 | u64::from(self.byte(address.wrapping_add(at), by))
        })
    }

    fn make(&mut self, what: u64) -> u64 {
        let time = self.made.entry((what, 0)).or_default();
        *time += 1;
        0x2000_0000_0000 + (what << 24) + (*time << 12)
    }

    fn call(&mut self, id: FunctionId, arguments: Vec<u64>, depth: u32) -> Result<u64, Lost> {
        let program = self.program;
        let function = program.function(id);
        if depth > DEPTH {
            return Err(Lost);
        }
        let mut values = vec![0u64; function.values as usize];
        for (value, argument) in values.iter_mut().zip(&arguments) {
            *value = *argument;
        }
        let mut block = function.entry().ok_or(Lost)?;
        let mut before: Option<BlockId> = None;
        loop {
            let code = program.block(block);
            for (number, instruction) in (0..).zip(&code.instructions) {
                let spot = Spot { block, number };
                self.steps += 1;
                if self.steps > STEPS {
                    return Err(Lost);
                }
                let value = code.first_value + number;
                let result = self.execute(
                    id,
                    spot,
                    value,
                    &instruction.operation,
                    &values,
                    before,
                    depth,
                )?;
                values[value as usize] = result;
            }
            let spot = Spot {
                block,
                number: code.instructions.len() as u32,
            };
            let get = |operand: Operand| match operand {
                Operand::Value(value) => values[value as usize],
                other => self.constant(other),
            };
            let next = match &code.terminator {
                Terminator::Jump(to) => *to,
                Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                } => {
                    let mut side = get(*condition) & 1;
                    if self.is_disturbed(spot) {
                        side ^= 1;
                    }
                    self.note(spot, side);
                    if side == 1 { *then } else { *otherwise }
                }
                Terminator::Switch {
                    value,
                    width,
                    default,
                    cases,
                } => {
                    let value = get(*value);
                    self.note(spot, mask(value, *width));
                    let case = cases
                        .iter()
                        .find(|(case, _)| mask(*case as u64, *width) == mask(value, *width));
                    case.map_or(*default, |(_, to)| *to)
                }
                Terminator::Return(value) => {
                    let result = value.map_or(0, get);
                    self.note(spot, result as u32 as u64);
                    return Ok(result);
                }
                Terminator::AnyOf(_) | Terminator::Stop => return Err(Lost),
            };
            before = Some(block);
            block = program.successor(id, next);
        }
    }

    fn is_disturbed(&mut self, spot: Spot) -> bool {
        let count = self.counts.entry(spot).or_default();
        *count += 1;
        let now = Disturbance { spot, time: *count };
        self.disturbance == Some(now)
    }

    fn note(&mut self, spot: Spot, value: u64) {
        self.observed.values.entry(spot).or_default().push(value);
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one activation")]
    fn execute(
        &mut self,
        id: FunctionId,
        spot: Spot,
        number: u32,
        operation: &Operation,
        values: &[u64],
        before: Option<BlockId>,
        depth: u32,
    ) -> Result<u64, Lost> {
        let program = self.program;
        let constant = |operand: Operand| self.constant(operand);
        let get = |operand: Operand| match operand {
            Operand::Value(value) => values[value as usize],
            other => constant(other),
        };
        let mut width = 32;
        let result = match operation {
            Operation::Variable { .. } => {
                width = 64;
                self.make(u64::from(id.0) << 12 | u64::from(number))
            }
            Operation::Load {
                address,
                width: bits,
                size,
            } => {
                width = *bits;
                self.read(get(*address), *size, spot)
            }
            Operation::Store {
                address,
                value,
                width: bits,
                size,
            } => {
                let (address, mut value) = (get(*address), get(*value));
                if self.is_disturbed(spot) && *bits < 64 {
                    value ^= 1;
                }
                self.write(address, value, *size, Some(spot));
                self.note(spot, if *bits < 64 { mask(value, *bits) } else { 0 });
                return Ok(0);
            }
            Operation::Offset {
                base,
                constant,
                scaled,
                ..
            } => {
                width = 64;
                let mut address = get(*base).wrapping_add(*constant as u64);
                for (index, stride) in scaled {
                    address = address.wrapping_add(get(*index).wrapping_mul(*stride));
                }
                address
            }
            Operation::Compare {
                predicate,
                left,
                right,
                width: bits,
            } => {
                width = 1;
                u64::from(compare(*predicate, get(*left), get(*right), *bits))
            }
            Operation::Arithmetic {
                operator,
                left,
                right,
                width: bits,
            } => {
                width = *bits;
                compute(*operator, get(*left), get(*right), *bits)
            }
            Operation::Convert {
                kind,
                value,
                from,
                to,
            } => {
                width = *to;
                match kind {
                    Conversion::SignExtend => mask(signed(get(*value), *from) as u64, *to),
                    Conversion::ZeroExtend => mask(get(*value), *from),
                    Conversion::Truncate | Conversion::Same => mask(get(*value), *to),
                }
            }
            Operation::Phi {
                incoming,
                width: bits,
            } => {
                width = *bits;
                let from = incoming
                    .iter()
                    .find(|(from, _)| Some(program.successor(id, *from)) == before);
                from.map_or(0, |(_, operand)| get(*operand))
            }
            Operation::Select {
                condition,
                then,
                otherwise,
                width: bits,
            } => {
                width = *bits;
                match get(*condition) & 1 {
                    1 => get(*then),
                    _ => get(*otherwise),
                }
            }
            Operation::Copy { to, from, length } => {
                let (to, from, length) = (get(*to), get(*from), get(*length).min(4096));
                let bytes: Vec<u8> = (0..length)
                    .map(|at| self.byte(from.wrapping_add(at), spot))
                    .collect();
                for (at, byte) in (0..).zip(bytes) {
                    self.memory.insert(to.wrapping_add(at), (byte, Some(spot)));
                }
                0
            }
            Operation::Fill { to, value, length } => {
                let (to, value, length) = (get(*to), get(*value), get(*length).min(4096));
                for at in 0..length {
                    self.memory
                        .insert(to.wrapping_add(at), (value as u8, Some(spot)));
                }
                0
            }
            Operation::Call {
                callee,
                arguments,
                width: bits,
                ..
            } => {
                width = *bits;
                let target = match callee {
                    Callee::Function(index) => *index,
                    Callee::Pointer(pointer) => {
                        u32::try_from(get(*pointer).wrapping_sub(FUNCTIONS)).map_err(|_| Lost)?
                    }
                    Callee::Assembly => return Err(Lost),
                };
                let arguments: Vec<u64> = arguments.iter().map(|operand| get(*operand)).collect();
                let function = program.functions.get(target as usize).ok_or(Lost)?;
                match function.is_defined() {
                    true => self.call(FunctionId(target), arguments, depth + 1)?,
                    false => self.library(&function.name, &arguments, spot)?,
                }
            }
            Operation::Other { .. } => return Err(Lost),
        };
        if (1..64).contains(&width) {
            self.note(spot, mask(result, width));
        } else {
            self.note(spot, 0);
        }
        Ok(result)
    }

    fn text(&mut self, address: u64, by: Spot) -> Vec<u8> {
        let mut text = Vec::new();
        while text.len() < 256 {
            match self.byte(address.wrapping_add(text.len() as u64), by) {
                0 => break,
                byte => text.push(byte),
            }
        }
        text
    }

    fn put(&mut self, address: u64, text: &[u8], by: Spot) {
        for (at, byte) in (0..).zip(text.iter().chain([&0])) {
            self.memory
                .insert(address.wrapping_add(at), (*byte, Some(by)));
        }
    }

    fn library(&mut self, name: &str, given: &[u64], spot: Spot) -> Result<u64, Lost> {
        let made = u64::from(spot.block.0) << 8 | u64::from(spot.number) | 1 << 20;
        Ok(match name {
            "malloc" => self.make(made),
            "free" | "putchar" => 0,
            "strlen" => self.text(given[0], spot).len() as u64,
            "atoi" => {
                let text = self.text(given[0], spot);
                let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
                digits.fold(0u64, |sum, digit| {
                    sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
                })
            }
            "strcpy" => {
                let text = self.text(given[1], spot);
                self.put(given[0], &text, spot);
                given[0]
            }
            "strcat" => {
                let (mut text, more) = (self.text(given[0], spot), self.text(given[1], spot));
                text.extend(more);
                self.put(given[0], &text, spot);
                given[0]
            }
            "strchr" => {
                let text = self.text(given[0], spot);
                let at = text.iter().position(|byte| *byte == given[1] as u8);
                at.map_or(0, |at| given[0] + at as u64)
            }
            "strtol" => {
                let text = self.text(given[0], spot);
                let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.write(ERRNO, u64::from(digits == 0), 4, Some(spot));
                if given[1] != 0 {
                    self.write(given[1], given[0] + digits as u64, 8, Some(spot));
                }
                text[..digits].iter().fold(0u64, |sum, digit| {
                    sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
                })
            }
            "__errno_location" => ERRNO,
            _ => return Err(Lost),
        })
    }
}

fn compare(predicate: Predicate, left: u64, right: u64, width: u16) -> bool {
    use Predicate::*;
    let (a, b) = (mask(left, width), mask(right, width));
    let (x, y) = (signed(left, width), signed(right, width));
    match predicate {
        Equal => a == b,
        Different => a != b,
        UnsignedLess => a < b,
        UnsignedLessOrEqual => a <= b,
        UnsignedGreater => a > b,
        UnsignedGreaterOrEqual => a >= b,
        SignedLess => x < y,
        SignedLessOrEqual => x <= y,
        SignedGreater => x > y,
        SignedGreaterOrEqual => x >= y,
    }
}

fn compute(operator: Arithmetic, left: u64, right: u64, width: u16) -> u64 {
    use Arithmetic::*;
    let (a, b) = (mask(left, width), mask(right, width));
    let (x, y) = (signed(left, width), signed(right, width));
    let shift = b.min(63) as u32;
    let result = match operator {
        Add => a.wrapping_add(b),
        Subtract => a.wrapping_sub(b),
        Multiply => a.wrapping_mul(b),
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        ShiftLeft => a << shift,
        ShiftRightLogical => a >> shift,
        ShiftRightArithmetic => (x >> shift) as u64,
        DivideUnsigned => a.checked_div(b).unwrap_or(0),
        DivideSigned => x.checked_div(y).unwrap_or(0) as u64,
        RemainderUnsigned => a.checked_rem(b).unwrap_or(0),
        RemainderSigned => x.checked_rem(y).unwrap_or(0) as u64,
    };
    mask(result, width)
}
