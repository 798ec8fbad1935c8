//! Makes C programs, one per seed.
//!
//! A program reads its arguments, standard input and a file, and is made of
//! *functions* (random statements, [`statements`]) and *units* (templates for what random statements never come
//! up with: parsers, lists, callbacks, `longjmp`, ... [`units`]). It prints a
//! checksum after each step, so that a difference shows where it began, and
//! ends with a status derived from the last one.
//!
//! Programs have no undefined behaviour, whatever their input, and always end:
//! otherwise plain and traced runs could differ for good reasons.

mod expr;
mod statements;
mod template;
mod types;
mod units;

use crate::inputs::Inputs;
use crate::rng::Rng;
use expr::{Var, constant};
use statements::{Function, FunctionMaker, any_type, mix_statement};
use std::fmt::Write;
use types::{Int, Type};

const PRELUDE: &str = include_str!("../../templates/prelude.c");
const READERS: &str = include_str!("../../templates/readers.c");

/// A generated program with what to run it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub seed: u64,
    /// C source of one file; needs `-lm -pthread`.
    pub source: String,
    pub inputs: Vec<Inputs>,
}

/// The program of `seed`.
pub fn generate(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let inputs = (0..3).map(|_| Inputs::generate(&mut rng.fork())).collect();
    let mut source = format!("/* Generated from seed {seed}. */\n{PRELUDE}\n");
    source.push_str(&tables(&mut rng));
    let (globals, declarations) = globals(&mut rng);
    source.push_str(&declarations);
    let functions = functions(&mut rng, &globals, &mut source);
    let units = units::choose(&mut rng);
    let mut steps = Vec::new();
    for (number, template) in units.iter().enumerate() {
        source.push_str(&template::expand(&mut rng, template.text, number));
        source.push('\n');
        steps.push((
            format!("unit {number} {}", template.name),
            format!("unit_{number}();"),
        ));
    }
    for function in &functions {
        steps.push((function.name.clone(), call_from_main(&mut rng, function)));
    }
    rng.shuffle(&mut steps);
    source.push_str(&template::expand(&mut rng, READERS, 0));
    source.push_str(&main_function(&mut rng, &globals, &steps));
    Program {
        seed,
        source,
        inputs,
    }
}

/// Constant tables that expressions look things up in, and work arrays.
fn tables(rng: &mut Rng) -> String {
    let mut text = String::new();
    for (name, ty, length) in [
        ("tab8", Int::U8, 256),
        ("tab16", Int::I16, 64),
        ("tab32", Int::U32, 32),
    ] {
        let values: Vec<String> = (0..length).map(|_| constant(rng, ty)).collect();
        let qualifier = *rng.pick(&["const ", ""]);
        let _ = writeln!(
            text,
            "static {qualifier}{} {name}[{length}] = {{{}}};",
            ty.name(),
            values.join(", ")
        );
    }
    text.push_str("static u8 work8[64];\nstatic i32 work32[16];\n");
    text
}

/// Global variables, a struct with bit-fields and a volatile among them.
fn globals(rng: &mut Rng) -> (Vec<Var>, String) {
    let mut vars = Vec::new();
    let mut text = String::new();
    for number in 0..rng.between(2, 6) {
        let ty = any_type(rng);
        let value = match ty {
            Type::Int(int) => constant(rng, int),
            Type::Float(_) => format!("{}.5", rng.below(100)),
        };
        let qualifier = *rng.pick(&["", "", "", "volatile ", "__thread "]);
        let name = format!("g_{number}");
        let _ = writeln!(text, "static {qualifier}{} {name} = {value};", ty.name());
        vars.push(Var { text: name, ty });
    }
    let packed = *rng.pick(&["", "", "__attribute__((packed)) "]);
    let _ = writeln!(text, "static struct {packed}{{");
    for number in 0..rng.between(2, 7) {
        let int = *rng.pick(&Int::ALL[1..9]);
        let bits = rng.between(1, int.width());
        if rng.one_in(5) {
            let _ = writeln!(text, "    {} b{number};", int.name());
        } else {
            let _ = writeln!(text, "    {} b{number} : {bits};", int.name());
        }
        if rng.one_in(8) {
            text.push_str("    unsigned : 0;\n");
        }
        vars.push(Var {
            text: format!("g_bits.b{number}"),
            ty: Type::Int(int),
        });
    }
    text.push_str("} g_bits;\n\n");
    (vars, text)
}

fn functions(rng: &mut Rng, globals: &[Var], source: &mut String) -> Vec<Function> {
    let mut functions = Vec::new();
    for number in 0..rng.between(2, 6) {
        let (function, text) = FunctionMaker::new(rng, globals, &functions).make(number);
        source.push_str(&text);
        functions.push(function);
    }
    functions
}

fn call_from_main(rng: &mut Rng, function: &Function) -> String {
    let arguments: Vec<String> = function
        .parameters
        .iter()
        .map(|ty| match ty {
            Type::Int(int) if rng.one_in(4) => constant(rng, *int),
            _ => format!("({})in({})", ty.name(), rng.below(64)),
        })
        .collect();
    mix_statement(
        function.result,
        &format!("{}({})", function.name, arguments.join(", ")),
    )
}

fn main_function(rng: &mut Rng, globals: &[Var], steps: &[(String, String)]) -> String {
    let mut text = String::from(
        "int main(int argc, char **argv) {\n\
         \x20   arg_count = argc > 2 ? argc - 2 : 0;\n\
         \x20   arg_values = argv + 2;\n\
         \x20   for (int i = 0; i < arg_count; i++)\n\
         \x20       for (const char *at = argv[i + 2]; *at && in_len < IN_MAX / 4; at++)\n\
         \x20           in_bytes[in_len++] = (u8)*at;\n\
         \x20   read_input(stdin, IN_MAX / 2);\n\
         \x20   FILE *file = argc > 1 ? fopen(argv[1], \"rb\") : NULL;\n\
         \x20   if (file) {\n\
         \x20       read_input(file, IN_MAX);\n\
         \x20       fclose(file);\n\
         \x20   }\n\
         \x20   printf(\"%zu bytes of input\\n\", in_len);\n",
    );
    for (name, call) in steps {
        let _ = writeln!(
            text,
            "    {call}\n    printf(\"%-24s %016\" PRIx64 \"\\n\", \"{name}\", sum);"
        );
        // A fresh start for some steps keeps one hungry step from starving all that follow.
        if rng.one_in(2) {
            text.push_str("    fuel = 30000;\n");
        }
    }
    for var in globals {
        let _ = writeln!(text, "    {}", mix_statement(var.ty, &var.text));
    }
    text.push_str("    mix_bytes(work8, sizeof work8);\n");
    text.push_str("    mix_bytes(work32, sizeof work32);\n");
    text.push_str("    printf(\"%016\" PRIx64 \"\\n\", sum);\n");
    text.push_str("    return (int)(sum >> 7 & 63);\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_program_every_time() {
        assert_eq!(generate(5), generate(5));
        assert_ne!(generate(5).source, generate(6).source);
    }
}
