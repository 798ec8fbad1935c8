//! Floating-point arithmetic with the instructions that the compiled program uses.
//!
//! Inline assembly rather than Rust's operators: NaN payloads and signs can be observed by C
//! programs (`memcpy`, `signbit`, `printf`), Rust leaves them open, and 80-bit
//! values have no Rust type. `float` and `double` use SSE, `long double` the x87.
//!
//! When both operands are NaN, SSE keeps the first one, and a compiler may have swapped the operands of
//! `+` and `*`: the one case in which the bit pattern is not
//! determined by the source.

use core::arch::asm;
use core::cmp::Ordering;
use parallax_abi::Op;

/// Memory operand for the x87: ten bytes are read and written.
#[repr(C, align(16))]
struct Extended(u128);

/// Runs x87 instructions on `[a]` and `[b]`, the last of which pops the result into `[r]`.
macro_rules! x87 {
    ($a:expr, $b:expr, $($instruction:literal),+) => {{
        let (a, b) = (Extended($a), Extended($b));
        let mut r = Extended(0);
        // SAFETY: reads two and writes one properly sized local; the x87 stack is empty at
        // function boundaries by the ABI and empty again afterwards.
        unsafe {
            asm!(
                $($instruction,)+
                "/* {a} {b} {r} */",
                a = in(reg) &raw const a,
                b = in(reg) &raw const b,
                r = in(reg) &raw mut r,
                out("ax") _,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        r.0
    }};
}

/// Runs one SSE instruction on two values.
macro_rules! sse {
    ($type:ty, $instruction:literal, $a:expr, $b:expr) => {{
        let mut a = <$type>::from_bits($a as _);
        let b = <$type>::from_bits($b as _);
        // SAFETY: register-only arithmetic.
        unsafe {
            asm!(
                concat!($instruction, " {a}, {b}"),
                a = inout(xmm_reg) a,
                b = in(xmm_reg) b,
                options(nomem, nostack),
            );
        }
        u128::from(a.to_bits())
    }};
}

/// `+`, `-`, `*`, `/` and C's `fmod`.
pub(super) fn arithmetic(op: Op, width: u32, a: u128, b: u128) -> Option<u128> {
    Some(match (width, op) {
        (32, Op::FAdd) => sse!(f32, "addss", a, b),
        (32, Op::FSub) => sse!(f32, "subss", a, b),
        (32, Op::FMul) => sse!(f32, "mulss", a, b),
        (32, Op::FDiv) => sse!(f32, "divss", a, b),
        (64, Op::FAdd) => sse!(f64, "addsd", a, b),
        (64, Op::FSub) => sse!(f64, "subsd", a, b),
        (64, Op::FMul) => sse!(f64, "mulsd", a, b),
        (64, Op::FDiv) => sse!(f64, "divsd", a, b),
        (80, Op::FAdd) => {
            x87!(
                a,
                b,
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                "faddp st(1), st",
                "fstp tbyte ptr [{r}]"
            )
        }
        (80, Op::FSub) => {
            x87!(
                a,
                b,
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                "fsubp st(1), st",
                "fstp tbyte ptr [{r}]"
            )
        }
        (80, Op::FMul) => {
            x87!(
                a,
                b,
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                "fmulp st(1), st",
                "fstp tbyte ptr [{r}]"
            )
        }
        (80, Op::FDiv) => {
            x87!(
                a,
                b,
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                "fdivp st(1), st",
                "fstp tbyte ptr [{r}]"
            )
        }
        (32 | 64, Op::FRem) => remainder(width, a, b)?,
        (80, Op::FRem) => remainder_extended(a, b),
        _ => return None,
    })
}

/// `fmod` of `float` and `double`. The remainder is exact in every format, so
/// that the 80-bit one serves; what glibc does with NaN, infinity and zero is SSE's.
fn remainder(width: u32, a: u128, b: u128) -> Option<u128> {
    let nan = compare(width, a, b)?.is_none();
    if nan {
        return arithmetic(Op::FMul, width, a, b);
    }
    let wide = remainder_extended(resize(width, 80, a)?, resize(width, 80, b)?);
    resize(80, width, wide)
}

fn remainder_extended(a: u128, b: u128) -> u128 {
    x87!(
        a,
        b,
        "fld tbyte ptr [{b}]",
        "fld tbyte ptr [{a}]",
        "2:",
        "fprem",
        "fnstsw ax",
        "test ah, 4",
        "jnz 2b",
        "fstp st(1)",
        "fstp tbyte ptr [{r}]"
    )
}

/// Square root, correctly rounded.
pub(super) fn square_root(width: u32, a: u128) -> Option<u128> {
    Some(match width {
        32 => sse!(f32, "sqrtss", 0u32, a),
        64 => sse!(f64, "sqrtsd", 0u64, a),
        80 => x87!(a, 0, "fld tbyte ptr [{a}]", "fsqrt", "fstp tbyte ptr [{r}]"),
        _ => return None,
    })
}

/// Order of two values; `Some(None)` if one is NaN, `None` for other widths.
pub(super) fn compare(width: u32, a: u128, b: u128) -> Option<Option<Ordering>> {
    Some(match width {
        32 => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        64 => f64::from_bits(a as u64).partial_cmp(&f64::from_bits(b as u64)),
        80 => compare_extended(a, b),
        _ => return None,
    })
}

fn compare_extended(a: u128, b: u128) -> Option<Ordering> {
    let (a, b) = (Extended(a), Extended(b));
    let (unordered, equal, below): (u8, u8, u8);
    // SAFETY: reads two locals; the x87 stack is empty before and after.
    unsafe {
        asm!(
            "fld tbyte ptr [{b}]",
            "fld tbyte ptr [{a}]",
            "fucomip st, st(1)",
            "setp {unordered}",
            "sete {equal}",
            "setb {below}",
            "fstp st(0)",
            a = in(reg) &raw const a,
            b = in(reg) &raw const b,
            unordered = out(reg_byte) unordered,
            equal = out(reg_byte) equal,
            below = out(reg_byte) below,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            options(nostack),
        );
    }
    match (unordered, equal, below) {
        (1, _, _) => None,
        (_, 1, _) => Some(Ordering::Equal),
        (_, _, 1) => Some(Ordering::Less),
        _ => Some(Ordering::Greater),
    }
}

/// From one floating-point width to another.
pub(super) fn resize(from: u32, to: u32, a: u128) -> Option<u128> {
    Some(match (from, to) {
        (32, 64) => {
            let result: f64;
            // SAFETY: register-only conversion.
            unsafe {
                asm!("cvtss2sd {r}, {a}", r = out(xmm_reg) result, a = in(xmm_reg) f32::from_bits(a as u32),
                     options(nomem, nostack));
            }
            u128::from(result.to_bits())
        }
        (64, 32) => {
            let result: f32;
            // SAFETY: register-only conversion.
            unsafe {
                asm!("cvtsd2ss {r}, {a}", r = out(xmm_reg) result, a = in(xmm_reg) f64::from_bits(a as u64),
                     options(nomem, nostack));
            }
            u128::from(result.to_bits())
        }
        (32, 80) => x87!(a, 0, "fld dword ptr [{a}]", "fstp tbyte ptr [{r}]"),
        (64, 80) => x87!(a, 0, "fld qword ptr [{a}]", "fstp tbyte ptr [{r}]"),
        (80, 32) => {
            x87!(a, 0, "fld tbyte ptr [{a}]", "fstp dword ptr [{r}]")
        }
        (80, 64) => {
            x87!(a, 0, "fld tbyte ptr [{a}]", "fstp qword ptr [{r}]")
        }
        (32 | 64 | 80, _) if from == to => a,
        _ => return None,
    })
}
