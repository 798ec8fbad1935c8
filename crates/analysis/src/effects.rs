//! What calls and stores can change.
//!
//! A variable *escapes* if its address is used for anything but reading and writing the variable itself. What does not
//! escape is only changed by instructions that name it.

use std::collections::{HashMap, HashSet};

use crate::calls::Calls;
use crate::pointsto::{Object, Place, PointsTo};
use crate::program::{
    BlockId, Callee, FunctionId, GlobalId, Linkage, Operand, Operation, Program, Spot,
};
use crate::set::Set;

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// The one that a function's value is the address of.
    Local(FunctionId, u32),
    Global(GlobalId),
}

/// Functions outside of the program that change no memory which the program's conditions could speak of.
const HARMLESS: &[&str] = &[
    "strlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "memcmp",
    "strchr",
    "strrchr",
    "strstr",
    "memchr",
    "strcoll",
    "strspn",
    "strcspn",
    "isatty",
    "toupper",
    "tolower",
    "getenv",
    "printf",
    "fprintf",
    "puts",
    "fputs",
    "putchar",
    "fputc",
    "putc",
    "fwrite",
    "putchar_unlocked",
    "fputs_unlocked",
    "fwrite_unlocked",
    "fflush",
    "gettext",
    "dcgettext",
    "dcngettext",
    "abs",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "__ctype_get_mb_cur_max",
    "free",
    "malloc",
    "calloc",
    "exit",
    "abort",
    "error",
    "wcwidth",
    "iswprint",
    "iswalnum",
    "btowc",
    "mbsinit",
    "strerror",
    "time",
    "getpid",
    "getuid",
    "geteuid",
];

/// What a call can change, beyond variables that do not escape.
#[derive(Clone, Debug, Default)]
struct Changes {
    /// Globals that are written to by name.
    globals: Set,
    /// Memory behind pointers.
    behind_pointers: bool,
    /// Code that nobody knows runs.
    anything: bool,
}

/// What can be changed by what.
pub struct Effects<'a> {
    program: &'a Program,
    points: &'a PointsTo,
    escaped: HashSet<Variable>,
    functions: Vec<Changes>,
    /// Calls that enter code of the program.
    entering: HashMap<Spot, Vec<FunctionId>>,
}

/// The variable that an address lies in, and the offset if it is constant.
pub fn base_of(
    program: &Program,
    function: FunctionId,
    operand: Operand,
) -> Option<(Variable, Option<i64>)> {
    match operand {
        Operand::Global { index, offset } => {
            Some((Variable::Global(GlobalId(index)), Some(offset)))
        }
        Operand::Value(value) => match program.operation(function, value)? {
            Operation::Variable { .. } => Some((Variable::Local(function, value), Some(0))),
            Operation::Offset {
                base,
                constant,
                scaled,
                ..
            } => {
                let (variable, offset) = base_of(program, function, *base)?;
                let offset = offset.filter(|_| scaled.is_empty());
                Some((variable, offset.map(|offset| offset + constant)))
            }
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Effects<'a> {
    pub fn new(program: &'a Program, calls: &Calls, points: &'a PointsTo) -> Effects<'a> {
        let mut effects = Effects {
            program,
            points,
            escaped: HashSet::new(),
            functions: vec![Changes::default(); program.functions.len()],
            entering: HashMap::new(),
        };
        for call in calls.all() {
            effects.entering.insert(call.spot, call.callees.clone());
        }
        for global in &program.globals {
            for (_, pointer) in &global.pointers {
                effects.escape(FunctionId(0), *pointer);
            }
        }
        for block in program.block_ids() {
            effects.look_at(block);
        }
        effects.close(calls);
        effects
    }

    fn escape(&mut self, function: FunctionId, operand: Operand) {
        if let Some((variable, _)) = base_of(self.program, function, operand) {
            self.escaped.insert(variable);
        }
    }

    fn look_at(&mut self, block: BlockId) {
        let program = self.program;
        let code = program.block(block);
        let function = code.function;
        for (number, instruction) in (0..).zip(&code.instructions) {
            match &instruction.operation {
                Operation::Variable { .. } | Operation::Load { .. } | Operation::Compare { .. } => {
                }
                Operation::Offset { scaled, .. } => {
                    for (index, _) in scaled {
                        self.escape(function, *index);
                    }
                }
                Operation::Store { address, value, .. } => {
                    self.escape(function, *value);
                    self.write(function, *address);
                }
                Operation::Copy { to, .. } | Operation::Fill { to, .. } => {
                    self.write(function, *to);
                }
                Operation::Call { callee, .. } => {
                    let spot = Spot { block, number };
                    for operand in instruction.operation.operands() {
                        self.escape(function, operand);
                    }
                    let known = match callee {
                        Callee::Function(index) => {
                            let callee = &program.functions[*index as usize];
                            callee.is_defined() || HARMLESS.contains(&callee.name.as_str())
                        }
                        _ => false,
                    };
                    let changes = &mut self.functions[function.index()];
                    if !known {
                        changes.behind_pointers = true;
                    }
                    if matches!(callee, Callee::Pointer(_)) && !self.entering.contains_key(&spot) {
                        changes.anything = true;
                    }
                }
                operation => {
                    for operand in operation.operands() {
                        self.escape(function, operand);
                    }
                    if matches!(operation, Operation::Other { .. }) {
                        self.functions[function.index()].behind_pointers = true;
                    }
                }
            }
        }
        if let crate::program::Terminator::Return(Some(value)) = code.terminator {
            self.escape(function, value);
        }
    }

    fn write(&mut self, function: FunctionId, address: Operand) {
        let changes = &mut self.functions[function.index()];
        match base_of(self.program, function, address) {
            Some((Variable::Global(global), _)) => {
                changes.globals.insert(global.0);
            }
            Some((Variable::Local(..), _)) => {}
            None => changes.behind_pointers = true,
        }
    }

    /// What a function changes includes what its callees change.
    fn close(&mut self, calls: &Calls) {
        let program = self.program;
        let mut work: Vec<FunctionId> = program.function_ids().collect();
        let mut queued = vec![true; work.len()];
        while let Some(callee) = work.pop() {
            queued[callee.index()] = false;
            let changes = self.functions[callee.index()].clone();
            for call in calls.callers_of(callee) {
                let caller = program.block(call.spot.block).function;
                let known = &mut self.functions[caller.index()];
                let mut grown = known.globals.extend(&changes.globals);
                grown |= changes.behind_pointers && !known.behind_pointers;
                grown |= changes.anything && !known.anything;
                known.behind_pointers |= changes.behind_pointers;
                known.anything |= changes.anything;
                if grown && !std::mem::replace(&mut queued[caller.index()], true) {
                    work.push(caller);
                }
            }
        }
    }

    /// Whether a variable's address is used for anything but reading and writing it.
    pub fn escapes(&self, variable: Variable) -> bool {
        self.escaped.contains(&variable)
    }

    /// Whether a call can change a variable.
    pub fn call_changes(&self, spot: Spot, variable: Variable) -> bool {
        let harmless = self.is_harmless(spot);
        match variable {
            Variable::Local(..) => self.escapes(variable) && !harmless,
            Variable::Global(global) => {
                if harmless {
                    return false;
                }
                // The C library has variables of its own, like `optind`.
                let foreign = self.program.global(global).linkage == Linkage::Declared;
                let outside = !self.entering.contains_key(&spot);
                if foreign && outside {
                    return true;
                }
                if self.escapes(variable) && self.call_changes_memory(spot) {
                    return true;
                }
                self.callees(spot).any(|changes| {
                    changes.anything || foreign || changes.globals.contains(global.0)
                })
            }
        }
    }

    /// Whether a call can change memory that only pointers lead to.
    pub fn call_changes_memory(&self, spot: Spot) -> bool {
        if self.is_harmless(spot) {
            return false;
        }
        !self.entering.contains_key(&spot)
            || self.callees(spot).any(|changes| {
                changes.behind_pointers || changes.anything || !changes.globals.is_empty()
            })
    }

    fn callees(&self, spot: Spot) -> impl Iterator<Item = &Changes> {
        let callees = self.entering.get(&spot).into_iter().flatten();
        callees.map(|callee| &self.functions[callee.index()])
    }

    fn is_harmless(&self, spot: Spot) -> bool {
        let block = self.program.block(spot.block);
        match &block.instructions[spot.number as usize].operation {
            Operation::Call {
                callee: Callee::Function(index),
                ..
            } => {
                let callee = &self.program.functions[*index as usize];
                !callee.is_defined() && HARMLESS.contains(&callee.name.as_str())
            }
            _ => false,
        }
    }

    /// Whether writing through a pointer can change what is at an offset of a variable.
    pub fn store_changes(
        &self,
        function: FunctionId,
        address: Operand,
        variable: Variable,
        offset: i64,
    ) -> bool {
        if !self.escapes(variable) {
            return false;
        }
        let places = self.points.places(self.program, function, address);
        let object = match variable {
            Variable::Local(function, value) => Object::Local(function, value),
            Variable::Global(global) => Object::Global(global),
        };
        let begin = Place { object, offset: 0 };
        let wanted = self.points.shifted(self.program, begin, offset);
        // A pointer of which nothing is known may point anywhere.
        places.is_empty() || places.contains(&wanted)
    }
}
