//! Random expressions without undefined behaviour and without side effects.
//!
//! *No undefined behaviour, whatever the operands:* arithmetic is done in unsigned types at
//! least as wide as `int`, or in signed types on operands that cannot
//! overflow (narrow ones, guarded ones); divisors are tested, shift amounts and
//! indexes masked, conversions from floating point range-checked (`to_*` of the prelude).
//!
//! *No side effects:* C leaves the order of evaluation open, so anything that
//! writes happens in statements of its own.
//!
//! *No visible NaN:* the sign of a NaN depends on who computed it (compiler or
//! processor). Expressions may become NaN, but only comparisons and range checks look at
//! them, which do not see the sign.

use super::types::{Float, Int, Type};
use crate::rng::Rng;

/// Something that can be read in an expression.
#[derive(Clone, Debug)]
pub struct Var {
    pub text: String,
    pub ty: Type,
}

/// An expression of type `ty` over `vars`; `depth` bounds the nesting.
pub fn expression(rng: &mut Rng, vars: &[Var], ty: Type, depth: usize) -> String {
    match ty {
        Type::Int(int) => integer(rng, vars, int, depth),
        Type::Float(float) => floating(rng, vars, float, depth),
    }
}

/// An expression for `if` and loops: scalar, no particular type.
pub fn condition(rng: &mut Rng, vars: &[Var], depth: usize) -> String {
    match rng.below(5) {
        0 => {
            let ty = *rng.pick(Int::COMMON);
            integer(rng, vars, ty, depth)
        }
        1 => {
            let (a, b) = (
                condition_leaf(rng, vars, depth),
                condition_leaf(rng, vars, depth),
            );
            format!("({a} {} {b})", rng.pick(&["&&", "||"]))
        }
        _ => comparison(rng, vars, depth),
    }
}

fn condition_leaf(rng: &mut Rng, vars: &[Var], depth: usize) -> String {
    if depth == 0 || !rng.one_in(3) {
        comparison(rng, vars, depth)
    } else {
        format!("!{}", condition(rng, vars, depth - 1))
    }
}

fn comparison(rng: &mut Rng, vars: &[Var], depth: usize) -> String {
    let operator = *rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
    let below = depth.saturating_sub(1);
    if rng.one_in(5) {
        let float = *rng.pick(Float::ALL);
        let a = floating(rng, vars, float, below);
        let b = floating(rng, vars, float, below);
        return format!("({a} {operator} {b})");
    }
    let ty = *rng.pick(Int::ALL);
    let a = integer(rng, vars, ty, below);
    let b = if rng.one_in(2) {
        constant(rng, ty)
    } else {
        integer(rng, vars, ty, below)
    };
    format!("({a} {operator} {b})")
}

/// A constant of the type, more often than not one at an edge.
pub fn constant(rng: &mut Rng, ty: Int) -> String {
    let bits = ty.width().min(64);
    let mask = if bits == 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    };
    let value = match rng.below(8) {
        0 => 0,
        1 => 1,
        2 => mask,
        3 => 1 << (bits - 1),
        4 => mask >> 1,
        5 => rng.below(256) as u64,
        6 => b' ' as u64 + rng.below(95) as u64,
        _ => rng.next_u64(),
    } & mask;
    match ty {
        Int::U128 | Int::I128 => {
            let high = if rng.one_in(2) { 0 } else { rng.next_u64() };
            format!(
                "(({})(((u128){high:#x}ull << 64) | {value:#x}ull))",
                ty.name()
            )
        }
        _ => format!("(({}){value:#x}ull)", ty.name()),
    }
}

fn integer(rng: &mut Rng, vars: &[Var], ty: Int, depth: usize) -> String {
    if depth == 0 || rng.one_in(10) {
        return integer_leaf(rng, vars, ty);
    }
    let below = depth - 1;
    let name = ty.name();
    let compute = ty.arithmetic();
    let wide = compute.name();
    let mask = ty.width() - 1;
    match rng.below(22) {
        0..=3 => {
            let a = integer(rng, vars, ty, below);
            let b = integer(rng, vars, ty, below);
            let operator = *rng.pick(&["+", "-", "*"]);
            format!("(({name})(({wide}){a} {operator} ({wide}){b}))")
        }
        4..=5 => {
            let a = integer(rng, vars, ty, below);
            let b = integer(rng, vars, ty, below);
            let operator = *rng.pick(&["&", "|", "^"]);
            format!("(({name})({a} {operator} {b}))")
        }
        6 => {
            let a = integer(rng, vars, ty, below);
            let amount = integer(rng, vars, Int::U32, below);
            format!("(({name})(({wide}){a} << ({amount} & {mask})))")
        }
        7 => {
            let a = integer(rng, vars, ty, below);
            let amount = integer(rng, vars, Int::U32, below);
            format!("(({name})({a} >> ({amount} & {mask})))")
        }
        8 => {
            let a = integer(rng, vars, ty, below);
            let b = integer(rng, vars, ty, below);
            format!("{}_{name}({a}, {b})", rng.pick(&["div", "rem"]))
        }
        9 => {
            let a = integer(rng, vars, ty, below);
            let divisor = rng.between(2, 100);
            format!("(({name})({a} {} {divisor}))", rng.pick(&["/", "%"]))
        }
        10 => {
            // Operands too narrow to overflow `int`: signed arithmetic as C programs do it.
            let a = integer(rng, vars, Int::I8, below);
            let b = integer(rng, vars, Int::I16, below);
            let operator = *rng.pick(&["+", "-", "*"]);
            format!("(({name})({a} {operator} {b}))")
        }
        11 if ty.signed() => {
            let a = integer(rng, vars, ty, below);
            let b = integer(rng, vars, ty, below);
            let function = *rng.pick(&["add", "sub", "mul", "plus", "minus"]);
            format!("{function}_{name}({a}, {b})")
        }
        11 | 12 => {
            let a = integer(rng, vars, ty, below);
            let operator = *rng.pick(&["~", "-"]);
            format!("(({name}){operator}({wide}){a})")
        }
        13..=14 => {
            let test = condition(rng, vars, below);
            let a = integer(rng, vars, ty, below);
            let b = integer(rng, vars, ty, below);
            format!("({test} ? {a} : {b})")
        }
        15 => {
            let test = condition(rng, vars, below);
            format!("(({name}){test})")
        }
        16..=17 => {
            // Through another width: truncation, then zero or sign extension.
            let other = *rng.pick(Int::ALL);
            let a = integer(rng, vars, other, below);
            format!("(({name}){a})")
        }
        18 => bits(rng, vars, ty, below),
        19 => {
            let float = *rng.pick(Float::ALL);
            let a = floating(rng, vars, float, below);
            let target = *rng.pick(&[Int::I32, Int::U32, Int::I64, Int::U64, Int::U8, Int::I16]);
            format!("(({name})to_{}({a}))", target.name())
        }
        20 => {
            let index = integer(rng, vars, Int::U32, below);
            format!("(({name})in({index}))")
        }
        _ => {
            let index = integer(rng, vars, Int::U32, below);
            let (table, length) = *rng.pick(&[("tab8", 256), ("tab16", 64), ("tab32", 32)]);
            format!("(({name}){table}[{index} & {}])", length - 1)
        }
    }
}

fn integer_leaf(rng: &mut Rng, vars: &[Var], ty: Int) -> String {
    let ints: Vec<&Var> = vars
        .iter()
        .filter(|var| matches!(var.ty, Type::Int(_)))
        .collect();
    match rng.below(6) {
        0 => constant(rng, ty),
        1 => format!("(({})in({}))", ty.name(), rng.below(64)),
        _ if !ints.is_empty() => {
            let var = *rng.pick(&ints);
            // A bit-field always gets a cast: compilers do not agree on its type in arithmetic.
            if var.ty == Type::Int(ty) && !var.text.contains('.') {
                var.text.clone()
            } else {
                format!("(({}){})", ty.name(), var.text)
            }
        }
        _ => format!("(({})in({}))", ty.name(), rng.below(64)),
    }
}

/// Bit tricks: most become intrinsics.
fn bits(rng: &mut Rng, vars: &[Var], ty: Int, depth: usize) -> String {
    let name = ty.name();
    let a32 = integer(rng, vars, Int::U32, depth);
    match rng.below(9) {
        0 => format!("(({name})__builtin_popcount({a32}))"),
        1 => format!("(({name})__builtin_clz({a32} | 1u))"),
        2 => format!("(({name})__builtin_ctz({a32} | 0x80000000u))"),
        3 => format!("(({name})__builtin_bswap32({a32}))"),
        4 => {
            let a = integer(rng, vars, Int::U64, depth);
            let function = *rng.pick(&["__builtin_bswap64", "__builtin_popcountll"]);
            format!("(({name}){function}({a}))")
        }
        5 => {
            let amount = rng.between(1, 31);
            let rest = 32 - amount;
            format!("(({name})rotl32({a32}, {amount}) ^ (({name}){rest}))")
        }
        6 => {
            let a = integer(rng, vars, Int::I32, depth);
            format!("(({name})magnitude({a}))")
        }
        7 => {
            let a = integer(rng, vars, Int::U16, depth);
            format!("(({name})__builtin_bswap16({a}))")
        }
        _ => {
            let b = integer(rng, vars, Int::U32, depth);
            let function = *rng.pick(&["smaller", "larger", "saturating_add", "saturating_sub"]);
            format!("(({name}){function}({a32}, {b}))")
        }
    }
}

fn floating(rng: &mut Rng, vars: &[Var], ty: Float, depth: usize) -> String {
    let name = ty.name();
    let suffix = ty.suffix();
    if depth == 0 || rng.one_in(10) {
        return floating_leaf(rng, vars, ty);
    }
    let below = depth - 1;
    match rng.below(12) {
        0..=4 => {
            let a = floating(rng, vars, ty, below);
            let b = floating(rng, vars, ty, below);
            let operator = *rng.pick(&["+", "-", "*"]);
            format!("({a} {operator} {b})")
        }
        5 => {
            let a = floating(rng, vars, ty, below);
            let b = floating(rng, vars, ty, below);
            format!("({a} / nonzero{suffix}({b}))")
        }
        6 => {
            let test = condition(rng, vars, below);
            let a = floating(rng, vars, ty, below);
            let b = floating(rng, vars, ty, below);
            format!("({test} ? {a} : {b})")
        }
        7 => {
            let a = floating(rng, vars, ty, below);
            let function = *rng.pick(&["fabs", "floor", "ceil", "trunc", "rint"]);
            format!("{function}{suffix}({a})")
        }
        8 => {
            let a = floating(rng, vars, ty, below);
            format!("sqrt{suffix}(fabs{suffix}({a}))")
        }
        9 => format!("(-{})", floating(rng, vars, ty, below)),
        10 => {
            let other = *rng.pick(Float::ALL);
            format!("(({name}){})", floating(rng, vars, other, below))
        }
        _ => {
            let int = *rng.pick(Int::COMMON);
            format!("(({name}){})", integer(rng, vars, int, below))
        }
    }
}

fn floating_leaf(rng: &mut Rng, vars: &[Var], ty: Float) -> String {
    let name = ty.name();
    if rng.one_in(4) || vars.is_empty() {
        let whole = rng.below(1000);
        let fraction = *rng.pick(&["0", "5", "25", "1", "75", "333"]);
        return format!("{whole}.{fraction}{}", ty.suffix());
    }
    let var = rng.pick(vars);
    match (var.ty, ty) {
        // The largest 128-bit numbers are out of `float`'s range.
        (Type::Int(Int::U128 | Int::I128), Float::Single) => {
            format!("((float)(i64){})", var.text)
        }
        _ => format!("(({name}){})", var.text),
    }
}
