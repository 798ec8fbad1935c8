//! What expressions look like to people.

use parallax_expr::sexpr::{Construction, parse};
use parallax_expr::text::{Limits, Names, render, render_condition};
use parallax_expr::{Label, MemoryStore, Op, build};

struct Program;

impl Names for Program {
    fn source(&self, source: u32) -> String {
        ["stdin", "argv[1]", "file(\"x\")"][source as usize].to_string()
    }

    fn object(&self, object: u32) -> String {
        ["table", "weights"][object as usize].to_string()
    }
}

const BYTES: &str = "(let ((b0 (input 0 0)) (b1 (input 0 1)) (b2 (input 0 2)) (b3 (input 0 3)) (a0 (input 1 0)) (a1 (input 1 1))
    (f12 (input 2 12)) (w (concat b3 (concat b2 (concat b1 b0)))) (be (concat b0 (concat b1 (concat b2 b3)))))";

fn label(store: &mut MemoryStore, expression: &str) -> Label {
    let text = format!("{BYTES} {expression})");
    parse(store, &text, Construction::Canonical).expect("a valid expression")
}

#[track_caller]
fn shows(expression: &str, expected: &str) {
    let mut store = MemoryStore::new();
    let label = label(&mut store, expression);
    assert_eq!(render(&store, label, &Program, Limits::default()), expected);
}

#[track_caller]
fn shows_negated(expression: &str, expected: &str) {
    let mut store = MemoryStore::new();
    let label = label(&mut store, expression);
    let text = render_condition(&store, label, false, &Program, Limits::default());
    assert_eq!(text, expected);
}

#[test]
fn bytes_are_compared_with_characters() {
    shows("(eq a0 45:8)", "argv[1][0] == '-'");
    shows("(eq (zext 32 b3) 10:32)", "stdin[3] == '\\n'");
    shows("(not (eq f12 0:8))", "file(\"x\")[12] != '\\0'");
    shows("(ule b0 57:8)", "stdin[0] <= '9'");
    shows("(ule 48:8 b0)", "stdin[0] >= '0'");
    shows("(ult b0 0x80:8)", "stdin[0] < 0x80");
    shows(
        "(and (ule 48:8 b0) (ule b0 57:8))",
        "stdin[0] >= '0' && stdin[0] <= '9'",
    );
}

#[test]
fn neighbouring_bytes_are_one_number() {
    shows("(ult w 100:32)", "u32(stdin[0..4]) < 100");
    shows("(ult be 0x10000:32)", "u32be(stdin[0..4]) < 0x10000");
    shows("(eq w 0x46464952:32)", "stdin[0..4] == \"RIFF\"");
    shows("(eq be 0x52494646:32)", "stdin[0..4] == \"RIFF\"");
    shows("(eq w 0x464c457f:32)", "u32(stdin[0..4]) == 0x464c457f");
    shows(
        "(concat a0 (concat b1 b0))",
        "argv[1][0] << 16 | u16(stdin[0..2])",
    );
    shows("(concat b0 0:8)", "stdin[0] << 8");
}

#[test]
fn signedness_is_written_where_it_matters() {
    shows("(slt b0 0:8)", "i8(stdin[0]) < 0");
    shows("(slt w 0xfffffffe:32)", "i32(stdin[0..4]) < -2");
    shows("(slt (sext 32 b0) 5:32)", "i8(stdin[0]) < 5");
    shows("(sdiv w 3:32)", "i32(stdin[0..4]) / 3");
    shows("(udiv w 3:32)", "u32(stdin[0..4]) / 3");
    shows("(slt (add w 1:32) 9:32)", "i32(u32(stdin[0..4]) + 1) < 9");
    shows("(add (sext 32 b0) 1:32)", "i8(stdin[0]) + 1");
}

#[test]
fn narrow_arithmetic_shows_where_it_wraps() {
    shows("(ult (add b0 b1) 10:8)", "u8(stdin[0] + stdin[1]) < 10");
    shows("(zext 32 (add b0 0xe0:8))", "u8(stdin[0] - 32)");
    shows("(add (zext 32 b0) 0xffffffd0:32)", "stdin[0] - 48");
    shows(
        "(ule (add (zext 32 b0) 0xffffffd0:32) 9:32)",
        "stdin[0] - 48 <= 9",
    );
}

#[test]
fn precedence_is_that_of_c() {
    shows("(eq (and b0 0x80:8) 0:8)", "(stdin[0] & 0x80) == 0");
    shows(
        "(mul (add w 1:32) (zext 32 b0))",
        "(u32(stdin[0..4]) + 1) * stdin[0]",
    );
    shows(
        "(ite (eq b0 65:8) w be)",
        "stdin[0] == 'A' ? u32(stdin[0..4]) : u32be(stdin[0..4])",
    );
    shows(
        "(sub w (sub be (zext 32 b0)))",
        "u32(stdin[0..4]) - (u32be(stdin[0..4]) - stdin[0])",
    );
    shows(
        "(or (eq b0 65:8) (and (eq b1 66:8) (eq b2 67:8)))",
        "stdin[0] == 'A' || stdin[1] == 'B' && stdin[2] == 'C'",
    );
}

#[test]
fn parts_of_values() {
    shows("(lshr w 4:32)", "u32(stdin[0..4]) >> 4");
    shows("(ashr w 4:32)", "i32(stdin[0..4]) >> 4");
    shows("(extract 0 8 (mul w w))", "u8(stdin[0] * stdin[0])");
    shows(
        "(extract 8 8 (mul w w))",
        "u8(u32(stdin[0..4]) * u32(stdin[0..4]) >> 8)",
    );
    shows("(extract 4 3 b0)", "bits(stdin[0], 4..7)");
    shows("(extract 7 1 b0)", "bit(stdin[0], 7)");
    shows("(not (extract 7 1 b0))", "!bit(stdin[0], 7)");
}

#[test]
fn table_reads_are_indexing() {
    shows(
        "(eq (table 0 8 0 (add (object 0 0x1000) (zext 64 b0))) 1:8)",
        "table[stdin[0]] == 1",
    );
    shows(
        "(table 0 32 0 (add (add (object 1 0x1000) (zext 64 b0)) 8:64))",
        "u32(weights[stdin[0] + 8..])",
    );
    shows(
        "(add (object 1 0x1000) (zext 64 b0))",
        "&weights + stdin[0]",
    );
}

#[test]
fn floating_point() {
    shows("(flt w 0x3fc00000:32)", "f32(stdin[0..4]) < 1.5");
    shows("(not (flt w 0x3fc00000:32))", "!(f32(stdin[0..4]) < 1.5)");
    shows(
        "(fadd (fmul w w) 0x3f800000:32)",
        "f32(stdin[0..4]) * f32(stdin[0..4]) + 1.0",
    );
    shows("(ftos 32 (fsqrt w))", "i32(sqrt(f32(stdin[0..4])))");
    shows("(stof 64 w)", "f64(i32(stdin[0..4]))");
    shows("(fisnan w)", "isnan(f32(stdin[0..4]))");
    shows("(frem w 0x40000000:32)", "fmod(f32(stdin[0..4]), 2.0)");
    shows("(fround 2 w)", "floor(f32(stdin[0..4]))");
}

#[test]
fn conditions_that_did_not_hold_are_negated() {
    shows_negated("(eq b0 65:8)", "stdin[0] != 'A'");
    shows_negated("(not (eq b0 65:8))", "stdin[0] == 'A'");
    shows_negated("(ult b0 b1)", "stdin[0] >= stdin[1]");
    shows_negated("(ule 48:8 b0)", "stdin[0] < '0'");
    shows_negated(
        "(and (eq b0 65:8) (eq b1 66:8))",
        "!(stdin[0] == 'A' && stdin[1] == 'B')",
    );
    shows_negated("(fle w w)", "!(f32(stdin[0..4]) <= f32(stdin[0..4]))");
}

#[test]
fn large_shared_terms_get_names() {
    shows(
        "(let ((x (mul (add w 7:32) (xor be (udiv w 3:32)))) (y (mul x (add x (zext 32 b0))))) (ult (mul y (add y x)) 100:32))",
        "t1 * (t2 + t1) < 100 where t1 = t2 * (t2 + stdin[0]), t2 = (u32(stdin[0..4]) + 7) * (u32be(stdin[0..4]) ^ u32(stdin[0..4]) / 3)",
    );
}

#[test]
fn deep_terms_are_cut_and_do_not_exhaust_the_stack() {
    let mut store = MemoryStore::new();
    let byte = build::input(&mut store, 0, 0, 1);
    let mut label = build::zext(&mut store, byte, 32);
    let first = label;
    for _ in 0..60_000 {
        let square = build::binary(&mut store, Op::Mul, label, label);
        label = build::add(&mut store, square, first);
    }
    let text = render(&store, label, &Program, Limits::default());
    assert!(text.contains('…'), "{text}");
    assert!(text.len() < 4000, "{} characters", text.len());
}
