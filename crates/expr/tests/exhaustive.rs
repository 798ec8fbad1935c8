//! All integer operators on all operands of up to four bits, against arithmetic
//! on plain signed and unsigned numbers.

use parallax_expr::{Op, eval};

const MAX_WIDTH: u32 = 4;

fn signed(width: u32, value: i64) -> i64 {
    if value >= 1 << (width - 1) {
        value - (1 << width)
    } else {
        value
    }
}

/// The result modulo `2^width`.
fn wrap(width: u32, value: i64) -> u128 {
    value.rem_euclid(1 << width) as u128
}

fn binary(op: Op, width: u32, a: i64, b: i64) -> u128 {
    let (x, y) = (signed(width, a), signed(width, b));
    let ones = (1 << width) - 1;
    let result = match op {
        Op::Concat => a * (1 << width) + b,
        Op::Add => return wrap(width, a + b),
        Op::Sub => return wrap(width, a - b),
        Op::Mul => return wrap(width, a * b),
        Op::UDiv if b == 0 => ones,
        Op::UDiv => a / b,
        Op::SDiv if b == 0 => {
            if x < 0 {
                1
            } else {
                ones
            }
        }
        Op::SDiv => return wrap(width, x / y),
        Op::URem if b == 0 => a,
        Op::URem => a % b,
        Op::SRem if b == 0 => a,
        Op::SRem => return wrap(width, x % y),
        Op::Shl => return wrap(width, a << b),
        Op::LShr => a >> b,
        Op::AShr => return wrap(width, x >> b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Eq => i64::from(a == b),
        Op::Ult => i64::from(a < b),
        Op::Ule => i64::from(a <= b),
        Op::Slt => i64::from(x < y),
        Op::Sle => i64::from(x <= y),
        _ => unreachable!("not an integer operator"),
    };
    result as u128
}

#[test]
fn two_operand_integer_operators_agree_with_plain_arithmetic() {
    use Op::*;
    for op in [
        Concat, Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor, Eq, Ult, Ule,
        Slt, Sle,
    ] {
        for width in 1..=MAX_WIDTH {
            for a in 0..1 << width {
                for b in 0..1 << width {
                    assert_eq!(
                        eval::binary(op, width, a as u128, b as u128),
                        Some(binary(op, width, a, b)),
                        "{op:?} of {a} and {b}, {width} bits"
                    );
                }
            }
        }
    }
}

#[test]
fn one_operand_integer_operators_agree_with_their_definition_bit_by_bit() {
    for width in 1..=MAX_WIDTH {
        for a in 0u128..1 << width {
            let bit = |index: u32| index < width && a >> index & 1 == 1;
            let from_bits = |bit: &dyn Fn(u32) -> bool, width: u32| {
                (0..width).fold(0u128, |sum, index| sum | u128::from(bit(index)) << index)
            };
            let same = |op| eval::unary(op, width, width, 0, a);
            assert_eq!(same(Op::Not), Some(from_bits(&|i| !bit(i), width)));
            assert_eq!(same(Op::Neg), Some(wrap(width, -(a as i64))));
            assert_eq!(
                same(Op::BitReverse),
                Some(from_bits(&|i| bit(width - 1 - i), width))
            );
            let ones = (0..width).filter(|&i| bit(i)).count() as u128;
            assert_eq!(same(Op::PopCount), Some(ones));
            let leading = (0..width).rev().take_while(|&i| !bit(i)).count() as u128;
            assert_eq!(same(Op::LeadingZeros), Some(leading));
            let trailing = (0..width).take_while(|&i| !bit(i)).count() as u128;
            assert_eq!(same(Op::TrailingZeros), Some(trailing));
            for to in width..=8 {
                assert_eq!(eval::unary(Op::ZExt, width, to, 0, a), Some(a));
                let sign = bit(width - 1);
                let widened = from_bits(&|i| if i < width { bit(i) } else { sign }, to);
                assert_eq!(eval::unary(Op::SExt, width, to, 0, a), Some(widened));
            }
            for length in 1..=width {
                for low in 0..=width - length {
                    let expected = from_bits(&|i| bit(low + i), length);
                    assert_eq!(
                        eval::unary(Op::Extract, width, length, low, a),
                        Some(expected)
                    );
                }
            }
        }
    }
}

#[test]
fn byte_swap_reverses_the_bytes_of_every_whole_width() {
    for bytes in 1..=16u32 {
        let value = (0..bytes).fold(0u128, |sum, byte| sum << 8 | u128::from(byte + 1));
        let swapped = (0..bytes)
            .rev()
            .fold(0u128, |sum, byte| sum << 8 | u128::from(byte + 1));
        assert_eq!(
            eval::unary(Op::ByteSwap, 8 * bytes, 8 * bytes, 0, value),
            Some(swapped)
        );
    }
}

#[test]
fn widest_values_do_not_overflow_the_arithmetic() {
    let (ones, top) = (u128::MAX, 1u128 << 127);
    assert_eq!(eval::binary(Op::Add, 128, ones, 1), Some(0));
    assert_eq!(eval::binary(Op::Mul, 128, ones, ones), Some(1));
    assert_eq!(eval::binary(Op::SDiv, 128, top, ones), Some(top));
    assert_eq!(eval::binary(Op::SRem, 128, top, ones), Some(0));
    assert_eq!(eval::binary(Op::Shl, 128, 1, 127), Some(top));
    assert_eq!(eval::binary(Op::Shl, 128, 1, 128), Some(0));
    assert_eq!(eval::binary(Op::AShr, 128, top, ones), Some(ones));
    assert_eq!(eval::binary(Op::Slt, 128, top, 0), Some(1));
    assert_eq!(eval::unary(Op::Neg, 128, 128, 0, top), Some(top));
    assert_eq!(eval::unary(Op::LeadingZeros, 128, 128, 0, 0), Some(128));
}
