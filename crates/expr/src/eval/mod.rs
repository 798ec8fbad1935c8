//! Operators on concrete values, bit for bit as the machine computes them.
//!
//! Values are held in `u128` with unused high bits zero; floating-point values
//! are their bit patterns. Integer operators are total with SMT-LIB's
//! conventions (see [`Op`]). The result is `None` where there is none: a
//! conversion from floating point to an integer that cannot hold the value
//! (C gives it no meaning, and the machine's answer depends on the instruction
//! that the compiler chose), an operator of another arity, or a
//! floating-point operator on a width that is none of 32, 64 and 80.
//!
//! Floating point is computed in the processor's current environment, which is
//! the traced program's: a program that changes its rounding mode sees its own results
//! here, and the engine, in the default mode, does not.

mod convert;
mod fpu;

use crate::bits::{mask, shift_left, sign_bit, sign_extend, signed, slice};
use parallax_abi::Op;

/// A one-operand operator on `a` of `from` bits, giving `to` bits. `extra` is
/// [`Op::Extract`]'s low bit or [`Op::FRound`]'s mode.
#[inline]
pub fn unary(op: Op, from: u32, to: u32, extra: u32, a: u128) -> Option<u128> {
    Some(match op {
        Op::Not => !a & mask(from),
        Op::Neg => a.wrapping_neg() & mask(from),
        Op::ZExt => a,
        Op::SExt => sign_extend(from, to, a),
        Op::Extract => slice(a, extra, to),
        Op::PopCount => u128::from(a.count_ones()),
        Op::LeadingZeros => u128::from(a.leading_zeros() - (128 - from)),
        Op::TrailingZeros => u128::from(a.trailing_zeros().min(from)),
        Op::ByteSwap => a.swap_bytes() >> (128 - from),
        Op::BitReverse => a.reverse_bits() >> (128 - from),
        Op::FSqrt => fpu::square_root(from, a)?,
        Op::FRound => convert::round(from, extra, a)?,
        Op::FIsNan => u128::from(fpu::compare(from, a, a)?.is_none()),
        Op::FToF => fpu::resize(from, to, a)?,
        Op::FToS => convert::to_integer(from, to, true, a)?,
        Op::FToU => convert::to_integer(from, to, false, a)?,
        Op::SToF => {
            let number = signed(from, a);
            convert::from_integer(to, number < 0, number.unsigned_abs())?
        }
        Op::UToF => convert::from_integer(to, false, a)?,
        _ => return None,
    })
}

/// A two-operand operator on operands of `width` bits ([`Op::Concat`]: `width`
/// is the width of `b`).
#[inline]
pub fn binary(op: Op, width: u32, a: u128, b: u128) -> Option<u128> {
    let all = mask(width);
    Some(match op {
        Op::Concat => shift_left(a, width) | b,
        Op::Add => a.wrapping_add(b) & all,
        Op::Sub => a.wrapping_sub(b) & all,
        Op::Mul => a.wrapping_mul(b) & all,
        Op::UDiv if b == 0 => all,
        Op::UDiv if width <= 64 => u128::from(a as u64 / b as u64),
        Op::UDiv => a / b,
        Op::URem if b == 0 => a,
        Op::URem if width <= 64 => u128::from(a as u64 % b as u64),
        Op::URem => a % b,
        Op::SDiv if b == 0 => {
            if a & sign_bit(width) != 0 {
                1
            } else {
                all
            }
        }
        Op::SDiv => signed(width, a).wrapping_div(signed(width, b)) as u128 & all,
        Op::SRem if b == 0 => a,
        Op::SRem => signed(width, a).wrapping_rem(signed(width, b)) as u128 & all,
        Op::Shl if b >= u128::from(width) => 0,
        Op::Shl => (a << b) & all,
        Op::LShr if b >= u128::from(width) => 0,
        Op::LShr => a >> b,
        Op::AShr => {
            let amount = b.min(u128::from(width - 1)) as u32;
            (signed(width, a) >> amount) as u128 & all
        }
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Eq => u128::from(a == b),
        Op::Ult => u128::from(a < b),
        Op::Ule => u128::from(a <= b),
        Op::Slt => u128::from(signed(width, a) < signed(width, b)),
        Op::Sle => u128::from(signed(width, a) <= signed(width, b)),
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem => fpu::arithmetic(op, width, a, b)?,
        Op::FEq => u128::from(fpu::compare(width, a, b)? == Some(core::cmp::Ordering::Equal)),
        Op::FLt => u128::from(fpu::compare(width, a, b)?.is_some_and(|order| order.is_lt())),
        Op::FLe => u128::from(fpu::compare(width, a, b)?.is_some_and(|order| order.is_le())),
        _ => return None,
    })
}

/// Width of a one-operand operator's result when the caller gives `to`, which
/// only conversions and [`Op::Extract`] heed.
#[inline]
pub(crate) fn unary_width(op: Op, from: u32, to: u32) -> u32 {
    match op {
        Op::ZExt
        | Op::SExt
        | Op::Extract
        | Op::FToF
        | Op::FToS
        | Op::FToU
        | Op::SToF
        | Op::UToF => to,
        Op::FIsNan => 1,
        _ => from,
    }
}
