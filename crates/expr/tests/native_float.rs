//! Floating point against C: a small program, compiled here, computes every operator
//! on many pairs of values, bit for bit, NaN included.

use parallax_expr::{Op, Rounding, eval};
use std::io::Write;
use std::process::{Command, Stdio};

/// Reads `operator a b` (numbers in hexadecimal) per line and prints the result's bits.
/// `volatile` keeps the compiler from computing anything itself.
const PROGRAM: &str = r#"
#include <math.h>
#include <stdio.h>
#include <string.h>
typedef unsigned __int128 u128;
static u128 read_number(const char *s) {
    u128 v = 0;
    for (; *s; s++) v = v << 4 | (unsigned)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
    return v;
}
static void print_number(u128 v) {
    printf("%lx%016lx\n", (unsigned long)(v >> 64), (unsigned long)v);
}
#define FORMAT(T, N, BYTES, FMOD, SQRT, RINT, TRUNC, FLOOR, CEIL, ROUND)                      \
    static u128 bits_##N(T v) { u128 r = 0; memcpy(&r, &v, BYTES); return r; }                \
    static T value_##N(u128 b) { T r; memcpy(&r, &b, BYTES); return r; }                      \
    static u128 run_##N(const char *op, u128 p, u128 q) {                                     \
        volatile T a = value_##N(p), b = value_##N(q);                                        \
        if (!strcmp(op, "add")) return bits_##N(a + b);                                       \
        if (!strcmp(op, "sub")) return bits_##N(a - b);                                       \
        if (!strcmp(op, "mul")) return bits_##N(a * b);                                       \
        if (!strcmp(op, "div")) return bits_##N(a / b);                                       \
        if (!strcmp(op, "rem")) return bits_##N(FMOD(a, b));                                  \
        if (!strcmp(op, "eq")) return a == b;                                                 \
        if (!strcmp(op, "lt")) return a < b;                                                  \
        if (!strcmp(op, "le")) return a <= b;                                                 \
        if (!strcmp(op, "nan")) return a != a;                                                \
        if (!strcmp(op, "sqrt")) return bits_##N(SQRT(a));                                    \
        if (!strcmp(op, "rint")) return bits_##N(RINT(a));                                    \
        if (!strcmp(op, "trunc")) return bits_##N(TRUNC(a));                                  \
        if (!strcmp(op, "floor")) return bits_##N(FLOOR(a));                                  \
        if (!strcmp(op, "ceil")) return bits_##N(CEIL(a));                                    \
        if (!strcmp(op, "round")) return bits_##N(ROUND(a));                                  \
        if (!strcmp(op, "to32")) { volatile float r = (float)a; return bits_32(r); }          \
        if (!strcmp(op, "to64")) { volatile double r = (double)a; return bits_64(r); }        \
        if (!strcmp(op, "to80")) { volatile long double r = (long double)a; return bits_80(r); } \
        if (!strcmp(op, "s32")) return (unsigned)(int)a;                                      \
        if (!strcmp(op, "s64")) return (unsigned long)(long)a;                                \
        if (!strcmp(op, "u64")) return (unsigned long)a;                                      \
        if (!strcmp(op, "s128")) return (u128)(__int128)a;                                    \
        if (!strcmp(op, "froms64")) return bits_##N((T)(long)p);                              \
        if (!strcmp(op, "fromu64")) return bits_##N((T)(unsigned long)p);                     \
        if (!strcmp(op, "froms128")) return bits_##N((T)(__int128)p);                         \
        if (!strcmp(op, "fromu128")) return bits_##N((T)p);                                   \
        return 0;                                                                             \
    }
static u128 bits_64(double v); static u128 bits_80(long double v);
FORMAT(float, 32, 4, fmodf, sqrtf, rintf, truncf, floorf, ceilf, roundf)
FORMAT(double, 64, 8, fmod, sqrt, rint, trunc, floor, ceil, round)
FORMAT(long double, 80, 10, fmodl, sqrtl, rintl, truncl, floorl, ceill, roundl)
int main(void) {
    char op[16], p[40], q[40];
    int width;
    while (scanf("%d %15s %39s %39s", &width, op, p, q) == 4) {
        u128 a = read_number(p), b = read_number(q);
        print_number(width == 32 ? run_32(op, a, b) : width == 64 ? run_64(op, a, b) : run_80(op, a, b));
    }
    return 0;
}
"#;

struct Case {
    width: u32,
    name: &'static str,
    a: u128,
    b: u128,
    ours: u128,
}

/// What C computes for every case.
fn run_in_c(cases: &[Case]) -> Vec<u128> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join("reference.c");
    let program = directory.path().join("reference");
    std::fs::write(&source, PROGRAM).expect("the source is written");
    let compilers = ["clang-19", "cc"];
    let compiled = compilers.iter().any(|compiler| {
        Command::new(compiler)
            .args(["-O1", "-fno-builtin", "-o"])
            .arg(&program)
            .arg(&source)
            .arg("-lm")
            .status()
            .is_ok_and(|status| status.success())
    });
    assert!(
        compiled,
        "none of {compilers:?} compiles the reference program"
    );
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the reference program starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text: String = cases
        .iter()
        .map(|c| format!("{} {} {:x} {:x}\n", c.width, c.name, c.a, c.b))
        .collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child
        .wait_with_output()
        .expect("the reference program ends");
    writer
        .join()
        .expect("the writer ends")
        .expect("all is written");
    String::from_utf8(output.stdout)
        .expect("hexadecimal text")
        .lines()
        .map(|line| u128::from_str_radix(line, 16).expect("a number"))
        .collect()
}

/// Interesting bit patterns of one format, and pseudo-random ones.
fn patterns(width: u32, random: usize) -> Vec<u128> {
    let (fraction_bits, exponent_bits) = match width {
        32 => (23, 8),
        64 => (52, 11),
        _ => (64, 15),
    };
    let top = (1u128 << exponent_bits) - 1;
    let bias = top >> 1;
    let fraction_mask = (1u128 << fraction_bits) - 1;
    let leading = if width == 80 { 1u128 << 63 } else { 0 };
    let quiet = if width == 80 {
        1u128 << 62
    } else {
        1 << (fraction_bits - 1)
    };
    let precision = if width == 80 { 63 } else { fraction_bits };
    let exponents = [
        0,
        1,
        bias - 2,
        bias - 1,
        bias,
        bias + 1,
        bias + 30,
        bias + 31,
        bias + 62,
        bias + 63,
        bias + precision - 1,
        bias + precision,
        bias + precision + 1,
        top - 1,
    ];
    let fractions = [
        0,
        1,
        quiet,
        quiet | 1,
        fraction_mask & !leading,
        0x5555 & fraction_mask,
    ];
    let mut result = Vec::new();
    for sign in [0u128, 1] {
        let mut add = |exponent: u128, fraction: u128| {
            result.push(sign << (width - 1) | exponent << fraction_bits | fraction);
        };
        for exponent in exponents {
            for fraction in fractions {
                add(exponent, fraction | if exponent == 0 { 0 } else { leading });
            }
        }
        for fraction in [0, 1, quiet, quiet | 0x123, 0x123] {
            add(top, fraction | leading);
        }
        if width == 80 {
            // Encodings that the processor refuses: unnormal, pseudo-infinity, pseudo-NaN;
            // and the pseudo-denormal, which it accepts.
            add(bias, 5);
            add(top, 0);
            add(top, quiet | 7);
            add(0, leading | 9);
        }
    }
    let mut state = 0x1234_5678_9abc_def0u64 + u64::from(width);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..random {
        let exponent = u128::from(next()) % 80 + bias - 40;
        let sign = u128::from(next() & 1);
        let fraction = u128::from(next()) & fraction_mask | leading;
        result.push(sign << (width - 1) | exponent << fraction_bits | fraction);
    }
    result
}

fn check(cases: Vec<Case>) {
    let expected = run_in_c(&cases);
    assert_eq!(expected.len(), cases.len());
    let wrong: Vec<String> = (cases.iter().zip(&expected))
        .filter(|(case, expected)| case.ours != **expected)
        .map(|(case, expected)| {
            let Case {
                width,
                name,
                a,
                b,
                ours,
            } = case;
            format!("{name} of {width} bits: {a:x}, {b:x} gives {ours:x}, C says {expected:x}")
        })
        .collect();
    let shown = wrong.len().min(20);
    assert!(
        wrong.is_empty(),
        "{} differ, e.g.\n{}",
        wrong.len(),
        wrong[..shown].join("\n")
    );
}

fn is_nan(width: u32, value: u128) -> bool {
    eval::unary(Op::FIsNan, width, 1, 0, value) == Some(1)
}

#[test]
fn two_operand_floating_point_operators_agree_with_c() {
    use Op::*;
    let operators = [
        (FAdd, "add"),
        (FSub, "sub"),
        (FMul, "mul"),
        (FDiv, "div"),
        (FRem, "rem"),
        (FEq, "eq"),
        (FLt, "lt"),
        (FLe, "le"),
    ];
    let mut cases = Vec::new();
    for width in [32, 64, 80] {
        let values = patterns(width, 40);
        for (index, &a) in values.iter().enumerate() {
            for &b in values.iter().skip(index % 3).step_by(3) {
                for (op, name) in operators {
                    // Which of two NaN operands SSE keeps depends on the order that the
                    // compiler put them in.
                    if width != 80 && is_nan(width, a) && is_nan(width, b) {
                        continue;
                    }
                    let ours = eval::binary(op, width, a, b).expect("a total operator");
                    cases.push(Case {
                        width,
                        name,
                        a,
                        b,
                        ours,
                    });
                }
            }
        }
    }
    check(cases);
}

#[test]
fn one_operand_floating_point_operators_agree_with_c() {
    let operators = [
        (Op::FIsNan, 0, 0, "nan"),
        (Op::FSqrt, 0, 0, "sqrt"),
        (Op::FRound, 0, Rounding::NearestEven as u32, "rint"),
        (Op::FRound, 0, Rounding::TowardZero as u32, "trunc"),
        (Op::FRound, 0, Rounding::Down as u32, "floor"),
        (Op::FRound, 0, Rounding::Up as u32, "ceil"),
        (Op::FRound, 0, Rounding::NearestAway as u32, "round"),
        (Op::FToF, 32, 0, "to32"),
        (Op::FToF, 64, 0, "to64"),
        (Op::FToF, 80, 0, "to80"),
        (Op::FToS, 32, 0, "s32"),
        (Op::FToS, 64, 0, "s64"),
        (Op::FToU, 64, 0, "u64"),
        (Op::FToS, 128, 0, "s128"),
    ];
    let mut cases = Vec::new();
    for width in [32, 64, 80] {
        for a in patterns(width, 400) {
            for (op, to, extra, name) in operators {
                // The processor refuses unnormal numbers, which it never makes either; glibc's
                // `roundl` works on the bits and takes them for what they look like.
                let unnormal = width == 80 && a >> 63 & 1 == 0 && a >> 64 & 0x7fff != 0;
                if unnormal && name == "round" {
                    continue;
                }
                // No value: C has no meaning for it.
                if let Some(ours) = eval::unary(op, width, to, extra, a) {
                    cases.push(Case {
                        width,
                        name,
                        a,
                        b: 0,
                        ours,
                    });
                }
            }
        }
    }
    check(cases);
}

#[test]
fn integers_become_the_floating_point_numbers_that_c_makes_of_them() {
    let mut numbers = vec![0u128, 1, u128::MAX, u128::MAX - 1, 1 << 127, (1 << 127) - 1];
    for bit in 0..128 {
        for around in [0u128, 1, 2, 3, 0x100, 0x180] {
            numbers.push((1u128 << bit).wrapping_add(around));
            numbers.push((1u128 << bit).wrapping_sub(around));
        }
        // Ties, and just beside them, for each precision.
        for precision in [24, 53, 64] {
            if bit >= precision {
                let half = 1u128 << (bit - precision);
                numbers.extend([
                    (1 << bit) + half,
                    (1 << bit) + 3 * half,
                    (1 << bit) + half + 1,
                ]);
            }
        }
    }
    let mut cases = Vec::new();
    for to in [32, 64, 80] {
        for &number in &numbers {
            for (op, from, name) in [
                (Op::SToF, 64, "froms64"),
                (Op::UToF, 64, "fromu64"),
                (Op::SToF, 128, "froms128"),
                (Op::UToF, 128, "fromu128"),
            ] {
                let a = if from == 64 {
                    number as u64 as u128
                } else {
                    number
                };
                let ours = eval::unary(op, from, to, 0, a).expect("a total operator");
                cases.push(Case {
                    width: to,
                    name,
                    a,
                    b: 0,
                    ours,
                });
            }
        }
    }
    check(cases);
}

#[test]
fn conversions_that_c_leaves_undefined_have_no_value() {
    let f64_bits = |value: f64| u128::from(value.to_bits());
    let to = |op, width, value: f64| eval::unary(op, 64, width, 0, f64_bits(value));
    assert_eq!(to(Op::FToS, 8, 127.9), Some(127));
    assert_eq!(to(Op::FToS, 8, 128.0), None);
    assert_eq!(to(Op::FToS, 8, -128.9), Some(0x80));
    assert_eq!(to(Op::FToS, 8, -129.0), None);
    assert_eq!(to(Op::FToU, 8, 255.9), Some(255));
    assert_eq!(to(Op::FToU, 8, 256.0), None);
    assert_eq!(to(Op::FToU, 8, -0.9), Some(0));
    assert_eq!(to(Op::FToU, 8, -1.0), None);
    assert_eq!(to(Op::FToS, 64, f64::NAN), None);
    assert_eq!(to(Op::FToS, 64, f64::INFINITY), None);
    assert_eq!(to(Op::FToU, 128, 1e300), None);
    assert_eq!(to(Op::FToU, 128, 2f64.powi(127)), Some(1 << 127));
}
