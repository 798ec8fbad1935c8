//! Random functions: typed parameters and locals, assignments, branches, loops,
//! switches, jumps and calls of the functions before them.
//!
//! *Always terminating:* functions call only earlier ones, and each loop turn and
//! each call takes from the program's fuel (`spend` of the prelude).

use super::expr::{Var, condition, constant, expression};
use super::types::{Float, Int, Type};
use crate::rng::Rng;
use std::fmt::Write;

/// A function that later code may call.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub parameters: Vec<Type>,
    pub result: Type,
}

/// Makes functions `f_<n>` that share the globals they are told about.
pub struct FunctionMaker<'a> {
    rng: &'a mut Rng,
    globals: &'a [Var],
    functions: &'a [Function],
    text: String,
    indent: usize,
    /// Variables that may be read and assigned, globals first.
    vars: Vec<Var>,
    result: Type,
    labels: usize,
    locals: usize,
}

/// Draws a type; mostly integers.
pub fn any_type(rng: &mut Rng) -> Type {
    match rng.below(8) {
        0 => Type::Float(*rng.pick(Float::ALL)),
        1 => Type::Int(*rng.pick(Int::ALL)),
        _ => Type::Int(*rng.pick(Int::COMMON)),
    }
}

/// The statement that puts a value into the checksum.
pub fn mix_statement(ty: Type, value: &str) -> String {
    match ty {
        Type::Int(Int::U128 | Int::I128) => format!("mix128((u128){value});"),
        Type::Int(_) => format!("mix((u64){value});"),
        Type::Float(Float::Single) => format!("mix_float({value});"),
        Type::Float(Float::Double) => format!("mix_double({value});"),
        Type::Float(Float::Extended) => format!("mix_ldouble({value});"),
    }
}

/// What is assigned to a variable: floating point stays in a tame range.
fn tamed(ty: Type, value: String) -> String {
    match ty {
        Type::Int(_) => value,
        Type::Float(float) => format!("tame{}({value})", float.suffix()),
    }
}

impl<'a> FunctionMaker<'a> {
    pub fn new(
        rng: &'a mut Rng,
        globals: &'a [Var],
        functions: &'a [Function],
    ) -> FunctionMaker<'a> {
        let result = any_type(rng);
        FunctionMaker {
            rng,
            globals,
            functions,
            text: String::new(),
            indent: 1,
            vars: Vec::new(),
            result,
            labels: 0,
            locals: 0,
        }
    }

    /// The function's definition.
    pub fn make(mut self, number: usize) -> (Function, String) {
        let name = format!("f_{number}");
        let parameters: Vec<Type> = (0..self.rng.between(0, 9))
            .map(|_| any_type(self.rng))
            .collect();
        let list: Vec<String> = parameters
            .iter()
            .enumerate()
            .map(|(index, ty)| format!("{} p{index}", ty.name()))
            .collect();
        self.vars = self.globals.to_vec();
        for (index, ty) in parameters.iter().enumerate() {
            self.vars.push(Var {
                text: format!("p{index}"),
                ty: *ty,
            });
        }
        self.line("if (!spend()) return 0;");
        for _ in 0..self.rng.between(1, 4) {
            self.declare();
        }
        for _ in 0..self.rng.between(3, 8) {
            self.statement(2);
        }
        let value = expression(self.rng, &self.vars, self.result, 2);
        let value = tamed(self.result, value);
        self.line(&format!("return {value};"));
        let inline = *self
            .rng
            .pick(&["", "", "__attribute__((noinline)) ", "inline "]);
        let list = if list.is_empty() {
            "void".to_owned()
        } else {
            list.join(", ")
        };
        let definition = format!(
            "static {inline}{} {name}({list}) {{\n{}}}\n\n",
            self.result.name(),
            self.text
        );
        let function = Function {
            name,
            parameters,
            result: self.result,
        };
        (function, definition)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = self.indent * 4);
    }

    fn declare(&mut self) {
        let ty = any_type(self.rng);
        let value = tamed(ty, expression(self.rng, &self.vars, ty, 2));
        let name = format!("v{}", self.locals);
        self.locals += 1;
        let volatile = if self.rng.one_in(12) { "volatile " } else { "" };
        self.line(&format!("{volatile}{} {name} = {value};", ty.name()));
        self.vars.push(Var { text: name, ty });
    }

    /// Statements inside braces; what they declare ends with them.
    fn block(&mut self, depth: usize) {
        self.indent += 1;
        let visible = self.vars.len();
        for _ in 0..self.rng.between(1, 3) {
            self.statement(depth);
        }
        self.vars.truncate(visible);
        self.indent -= 1;
    }

    fn statement(&mut self, depth: usize) {
        let choice = if depth == 0 {
            self.rng.below(8)
        } else {
            self.rng.below(15)
        };
        match choice {
            0..=2 => self.assign(),
            3 => self.compound(),
            4 => self.declare(),
            5 => self.element(),
            6 => self.call(),
            7 => {
                let ty = any_type(self.rng);
                let value = expression(self.rng, &self.vars, ty, 2);
                self.line(&mix_statement(ty, &value));
            }
            8..=9 => self.branch(depth - 1),
            10..=11 => self.repeat(depth - 1),
            12 => self.switch(depth - 1),
            13 => self.skip(depth - 1),
            _ => self.again(depth - 1),
        }
    }

    fn target(&mut self) -> Option<Var> {
        if self.vars.is_empty() {
            return None;
        }
        Some(self.rng.pick(&self.vars).clone())
    }

    fn assign(&mut self) {
        let Some(var) = self.target() else { return };
        let value = tamed(var.ty, expression(self.rng, &self.vars, var.ty, 3));
        self.line(&format!("{} = {value};", var.text));
    }

    fn compound(&mut self) {
        let Some(var) = self.target() else { return };
        let Type::Int(int) = var.ty else {
            return self.assign();
        };
        let value = expression(self.rng, &self.vars, var.ty, 2);
        // `+=` on signed or narrow types could overflow; bit operations cannot.
        let wraps = !int.signed() && int.width() >= 32;
        let operator = if wraps {
            *self.rng.pick(&["+=", "-=", "*=", "^="])
        } else {
            *self.rng.pick(&["&=", "|=", "^="])
        };
        self.line(&format!("{} {operator} {value};", var.text));
    }

    /// A write through a masked, often symbolic, index.
    fn element(&mut self) {
        let index = expression(self.rng, &self.vars, Type::Int(Int::U32), 2);
        let (array, ty, length) = *self
            .rng
            .pick(&[("work8", Int::U8, 64), ("work32", Int::I32, 16)]);
        let value = expression(self.rng, &self.vars, Type::Int(ty), 2);
        self.line(&format!("{array}[{index} & {}] = {value};", length - 1));
        if self.rng.one_in(2) {
            let index = expression(self.rng, &self.vars, Type::Int(Int::U32), 1);
            self.line(&format!("mix((u64){array}[{index} & {}]);", length - 1));
        }
    }

    fn call(&mut self) {
        if self.functions.is_empty() {
            return self.assign();
        }
        let function = self.rng.pick(self.functions).clone();
        let arguments: Vec<String> = function
            .parameters
            .iter()
            .map(|ty| tamed(*ty, expression(self.rng, &self.vars, *ty, 2)))
            .collect();
        let call = format!("{}({})", function.name, arguments.join(", "));
        let same = self
            .vars
            .iter()
            .filter(|var| var.ty == function.result)
            .cloned()
            .collect::<Vec<_>>();
        if same.is_empty() || self.rng.one_in(3) {
            self.line(&mix_statement(function.result, &call));
        } else {
            let var = self.rng.pick(&same).text.clone();
            self.line(&format!("{var} = {call};"));
        }
    }

    fn branch(&mut self, depth: usize) {
        let test = condition(self.rng, &self.vars, 2);
        self.line(&format!("if ({test}) {{"));
        self.block(depth);
        if self.rng.one_in(2) {
            self.line("} else {");
            self.block(depth);
        }
        self.line("}");
    }

    fn repeat(&mut self, depth: usize) {
        let test = condition(self.rng, &self.vars, 1);
        let turns = self.rng.between(1, 6);
        let counter = format!("k{}", self.locals);
        self.locals += 1;
        let readable = Var {
            text: format!("((u32){counter})"),
            ty: Type::Int(Int::U32),
        };
        match self.rng.below(3) {
            0 => self.line(&format!(
                "for (int {counter} = 0; {counter} < {turns} && spend(); {counter}++) {{"
            )),
            1 => self.line(&format!(
                "for (unsigned {counter} = (unsigned)!!({test}) + {turns}; {counter}-- > 0 && spend();) {{"
            )),
            _ => self.line(&format!(
                "for (long {counter} = 0; {counter} < 8 && {test} && spend(); {counter} += 2) {{"
            )),
        }
        // The counter is read through a copy that cannot be assigned to.
        self.indent += 1;
        let copy = format!("c{}", self.locals);
        self.locals += 1;
        self.line(&format!("u32 {copy} = {};", readable.text));
        self.indent -= 1;
        let visible = self.vars.len();
        self.vars.push(Var {
            text: copy,
            ty: readable.ty,
        });
        self.block(depth);
        self.vars.truncate(visible);
        self.indent += 1;
        if self.rng.one_in(3) {
            let test = condition(self.rng, &self.vars, 1);
            let jump = *self.rng.pick(&["break", "continue"]);
            self.line(&format!("if ({test}) {jump};"));
            let ty = Type::Int(Int::U32);
            let value = expression(self.rng, &self.vars, ty, 1);
            self.line(&mix_statement(ty, &value));
        }
        self.indent -= 1;
        self.line("}");
    }

    fn switch(&mut self, depth: usize) {
        let int = *self.rng.pick(Int::COMMON);
        let value = expression(self.rng, &self.vars, Type::Int(int), 2);
        let narrow = self.rng.one_in(2);
        if narrow {
            self.line(&format!("switch ({value} & 7) {{"));
        } else {
            self.line(&format!("switch ({value}) {{"));
        }
        let mut seen = Vec::new();
        for case in 0..self.rng.between(2, 6) {
            let label = if narrow {
                case.to_string()
            } else {
                constant(self.rng, int)
            };
            if seen.contains(&label) {
                continue;
            }
            self.line(&format!("case {label}: {{"));
            seen.push(label);
            self.block(depth);
            self.line("}");
            if !self.rng.one_in(4) {
                self.line("break;");
            }
        }
        if self.rng.one_in(2) {
            self.line("default: {");
            self.block(depth);
            self.line("}");
        }
        self.line("}");
    }

    /// A forward `goto` over a block. The block's braces keep the jump
    /// from entering the scope of a declaration.
    fn skip(&mut self, depth: usize) {
        let test = condition(self.rng, &self.vars, 2);
        let label = format!("l{}", self.labels);
        self.labels += 1;
        self.line(&format!("if ({test}) goto {label};"));
        self.line("{");
        self.block(depth);
        self.line("}");
        self.line(&format!("{label}:;"));
    }

    /// A backward `goto`, bounded by fuel and by a counter.
    fn again(&mut self, depth: usize) {
        let label = format!("l{}", self.labels);
        self.labels += 1;
        let counter = format!("t{}", self.locals);
        self.locals += 1;
        let turns = self.rng.between(1, 4);
        self.line("{");
        self.indent += 1;
        self.line(&format!("int {counter} = 0;"));
        self.line(&format!("{label}:;"));
        self.line("{");
        self.block(depth);
        self.line("}");
        let test = condition(self.rng, &self.vars, 1);
        self.line(&format!(
            "if (++{counter} < {turns} && {test} && spend()) goto {label};"
        ));
        self.indent -= 1;
        self.line("}");
    }
}
