//! Every rewrite rule, named: what is written, and what it becomes.
//!
//! `b0`, `b1`, … are input bytes; `w0`… 32-bit and `p0`… one-bit opaque values.

use parallax_expr::sexpr::{Construction, parse, print};
use parallax_expr::{MemoryStore, Store};

/// Opaque terms of several widths, which no rule takes apart: table reads and
/// predicates on them.
fn names(text: &str) -> String {
    let bytes: String = (0..8).map(|i| format!("(b{i} (input 0 {i}))")).collect();
    let words: String = (0..3)
        .map(|i| {
            format!("(w{i} (table {i} 32 0 (object {i} 0))) (q{i} (table {i} 64 0 (object {i} 0)))")
        })
        .collect();
    let bits: String = (0..3)
        .map(|i| format!("(p{i} (fisnan (table {i} 32 0 (object {i} 0))))"))
        .collect();
    format!("(let ({bytes}{words}{bits}) {text})")
}

/// Asserts that canonical construction of `written` is `expected`, taken as it stands.
#[track_caller]
fn becomes(written: &str, expected: &str) {
    let mut store = MemoryStore::new();
    let actual =
        parse(&mut store, &names(written), Construction::Canonical).expect("a valid expression");
    let wanted =
        parse(&mut store, &names(expected), Construction::Verbatim).expect("a valid expression");
    assert!(
        actual == wanted,
        "{written}\n  became    {}\n  and not   {}",
        print(&store, actual),
        print(&store, wanted)
    );
}

#[track_caller]
fn stays(written: &str) {
    becomes(written, written);
}

#[test]
fn rule_01_constants_fold() {
    becomes("(add 200:8 100:8)", "44:8");
    becomes("(sext 16 0x80:8)", "0xff80:16");
    becomes("(concat 0x12:8 0x34:8)", "0x1234:16");
    becomes("(slt 0xff:8 0:8)", "1:1");
    becomes("(udiv 7:8 0:8)", "0xff:8");
    becomes("(ite 1:1 b0 b1)", "b0");
    becomes("(fadd 0x3f800000:32 0x40000000:32)", "0x40400000:32");
}

#[test]
fn rule_02_constants_and_higher_labels_go_right() {
    becomes("(add 1:8 b0)", "(add b0 1:8)");
    becomes("(mul b1 b0)", "(mul b0 b1)");
    becomes("(eq 5:8 b0)", "(eq b0 5:8)");
    becomes("(feq w1 w0)", "(feq w0 w1)");
    stays("(fadd w1 w0)");
    stays("(sub b1 b0)");
}

#[test]
fn rule_03_constants_gather() {
    becomes("(add (add b0 1:8) 2:8)", "(add b0 3:8)");
    becomes("(sub b0 1:8)", "(add b0 0xff:8)");
    becomes("(sub (add b0 1:8) 3:8)", "(add b0 0xfe:8)");
    becomes("(add (sub 9:8 b0) 3:8)", "(sub 12:8 b0)");
    becomes("(sub 9:8 (add b0 3:8))", "(sub 6:8 b0)");
    becomes("(mul (mul b0 3:8) 5:8)", "(mul b0 15:8)");
    becomes("(and (and b0 0x3c:8) 0x0f:8)", "(and b0 0x0c:8)");
    becomes("(or (or b0 1:8) 2:8)", "(or b0 3:8)");
    becomes("(xor (xor b0 1:8) 3:8)", "(xor b0 2:8)");
    becomes("(add (add b0 7:8) b1)", "(add (add b0 b1) 7:8)");
    becomes("(sub (add b0 7:8) (add b1 2:8))", "(add (sub b0 b1) 5:8)");
    becomes("(or (and b0 0x0f:8) 0xf0:8)", "(or b0 0xf0:8)");
    becomes("(and (or b0 0x0f:8) 0x70:8)", "(and b0 0x70:8)");
}

#[test]
fn rule_04_neutral_and_absorbing_operands_vanish() {
    for same in [
        "(add w0 0:32)",
        "(sub w0 0:32)",
        "(mul w0 1:32)",
        "(udiv w0 1:32)",
        "(sdiv w0 1:32)",
        "(and w0 0xffffffff:32)",
        "(or w0 0:32)",
        "(xor w0 0:32)",
        "(shl w0 0:32)",
        "(lshr w0 0:32)",
        "(ashr w0 0:32)",
        "(urem w0 0:32)",
    ] {
        becomes(same, "w0");
    }
    for zero in [
        "(mul w0 0:32)",
        "(and w0 0:32)",
        "(shl w0 32:32)",
        "(lshr w0 40:32)",
        "(urem w0 1:32)",
        "(srem w0 1:32)",
        "(srem w0 0xffffffff:32)",
        "(shl 0:32 w0)",
        "(ashr 0:32 w0)",
    ] {
        becomes(zero, "0:32");
    }
    becomes("(or w0 0xffffffff:32)", "0xffffffff:32");
    becomes("(ashr 0xffffffff:32 w0)", "0xffffffff:32");
    becomes("(udiv w0 0:32)", "0xffffffff:32");
}

#[test]
fn rule_05_the_same_operand_twice() {
    for zero in ["(sub w0 w0)", "(xor w0 w0)", "(and w0 (not w0))"] {
        becomes(zero, "0:32");
    }
    for same in [
        "(and w0 w0)",
        "(or w0 w0)",
        "(sub (add w1 w0) w1)",
        "(add (sub w0 w1) w1)",
        "(xor (xor w0 w1) w1)",
        "(sub w1 (sub w1 w0))",
        "(and w0 (or w0 w1))",
        "(or w0 (and w0 w1))",
    ] {
        becomes(same, "w0");
    }
    becomes("(or w0 (not w0))", "0xffffffff:32");
    becomes("(xor w0 (not w0))", "0xffffffff:32");
    becomes("(and (and w0 w1) w1)", "(and w0 w1)");
    becomes("(sub (add w0 w1) (add w0 w2))", "(sub w1 w2)");
    becomes("(sub w0 (add w0 w1))", "(neg w1)");
    for one in ["(eq w0 w0)", "(ule w0 w0)", "(sle w0 w0)"] {
        becomes(one, "1:1");
    }
    becomes("(ult w0 w0)", "0:1");
    becomes("(slt w0 w0)", "0:1");
}

#[test]
fn rule_06_negation_is_moved_out_or_dropped() {
    becomes("(sub 0:32 w0)", "(neg w0)");
    becomes("(mul w0 0xffffffff:32)", "(neg w0)");
    becomes("(sdiv w0 0xffffffff:32)", "(neg w0)");
    becomes("(neg (neg w0))", "w0");
    becomes("(neg (sub w0 w1))", "(sub w1 w0)");
    becomes("(add w0 (neg w1))", "(sub w0 w1)");
    becomes("(sub w0 (neg w1))", "(add w0 w1)");
    becomes("(not (not w0))", "w0");
    becomes("(xor w0 0xffffffff:32)", "(not w0)");
    becomes("(not (xor b0 1:8))", "(xor b0 0xfe:8)");
    becomes("(xor (not b0) 1:8)", "(xor b0 0xfe:8)");
    becomes("(xor (not w0) w1)", "(not (xor w0 w1))");
    becomes("(sub 0xffffffff:32 w0)", "(not w0)");
    becomes("(add (not w0) 1:32)", "(neg w0)");
    becomes("(neg (not w0))", "(add w0 1:32)");
    becomes("(not (neg w0))", "(add w0 0xffffffff:32)");
    becomes("(neg (zext 8 p0))", "(sext 8 p0)");
    becomes("(not (ult b0 b1))", "(ule b1 b0)");
    becomes("(not (ule b0 b1))", "(ult b1 b0)");
    becomes("(not (slt b0 b1))", "(sle b1 b0)");
    becomes("(not (sle b0 b1))", "(slt b1 b0)");
    stays("(not (eq b0 b1))");
    stays("(not (flt w0 w1))");
}

#[test]
fn rule_07_one_bit_arithmetic_is_logic() {
    becomes("(add p0 p1)", "(xor p0 p1)");
    becomes("(sub p0 p1)", "(xor p0 p1)");
    becomes("(mul p0 p1)", "(and p0 p1)");
    becomes("(eq p0 1:1)", "p0");
    becomes("(eq p0 0:1)", "(not p0)");
    becomes("(xor p0 1:1)", "(not p0)");
    becomes("(eq (zext 32 p0) 0:32)", "(not p0)");
    becomes("(not (eq (zext 32 (eq b0 b1)) 0:32))", "(eq b0 b1)");
}

#[test]
fn rule_08_extract_picks_from_its_operand() {
    becomes("(extract 0 32 w0)", "w0");
    becomes("(extract 2 4 (extract 8 16 w0))", "(extract 10 4 w0)");
    becomes("(extract 0 8 (zext 32 b0))", "b0");
    becomes("(extract 8 8 (zext 32 b0))", "0:8");
    becomes("(extract 0 16 (zext 32 b0))", "(zext 16 b0)");
    becomes("(extract 0 16 (sext 32 b0))", "(sext 16 b0)");
    becomes("(extract 16 8 (sext 32 b0))", "(sext 8 (extract 7 1 b0))");
    becomes("(extract 8 8 (concat b2 (concat b1 b0)))", "b1");
    becomes(
        "(extract 8 16 (concat b2 (concat b1 b0)))",
        "(concat b2 b1)",
    );
    stays("(extract 4 8 (concat b1 b0))");
    becomes("(extract 8 8 (shl w0 8:32))", "(extract 0 8 w0)");
    becomes("(extract 0 8 (shl w0 8:32))", "0:8");
    becomes("(extract 0 8 (bswap w0))", "(extract 24 8 w0)");
    becomes("(extract 0 8 (and w0 0xff:32))", "(extract 0 8 w0)");
    becomes("(extract 8 8 (or w0 0xff:32))", "(extract 8 8 w0)");
    becomes("(extract 0 8 (or w0 0xff:32))", "0xff:8");
    becomes(
        "(extract 0 8 (add (zext 32 b0) 0xffffffe0:32))",
        "(add b0 0xe0:8)",
    );
    becomes(
        "(extract 0 8 (xor (zext 32 b0) (zext 32 b1)))",
        "(xor b0 b1)",
    );
    becomes(
        "(extract 0 8 (ite p0 0x141:32 0x242:32))",
        "(ite p0 0x41:8 0x42:8)",
    );
    stays("(extract 0 8 (add w0 w1))");
    stays("(extract 8 8 (add (zext 32 b0) (zext 32 b1)))");
}

#[test]
fn rule_09_concatenation_fuses() {
    becomes("(concat (concat b2 b1) b0)", "(concat b2 (concat b1 b0))");
    becomes(
        "(concat (extract 8 8 w0) (extract 0 8 w0))",
        "(extract 0 16 w0)",
    );
    becomes("(concat (extract 8 24 w0) (extract 0 8 w0))", "w0");
    becomes(
        "(concat (extract 16 8 w0) (concat (extract 8 8 w0) b0))",
        "(concat (extract 8 16 w0) b0)",
    );
    stays("(concat (extract 0 8 w0) (extract 8 8 w0))");
    becomes("(concat 1:8 (concat 2:8 b0))", "(concat 0x0102:16 b0)");
    becomes("(concat 0:8 b0)", "(zext 16 b0)");
    becomes("(concat (zext 16 b1) b0)", "(zext 24 (concat b1 b0))");
    becomes("(concat (sext 16 b1) b0)", "(sext 24 (concat b1 b0))");
    becomes("(concat 5:8 (zext 16 b0))", "(concat 0x0500:16 b0)");
}

#[test]
fn rule_09_a_value_that_was_taken_apart_into_bytes_comes_back() {
    for value in [
        "(add (zext 32 b0) 5:32)",
        "(sext 32 b0)",
        "(xor w0 (zext 32 b0))",
        "(zext 32 (eq b0 b1))",
    ] {
        let bytes: Vec<String> = (0..4)
            .map(|i| format!("(extract {} 8 {value})", 8 * i))
            .collect();
        let [low, second, third, high] = &bytes[..] else {
            unreachable!("four bytes")
        };
        becomes(
            &format!("(concat {high} (concat {third} (concat {second} {low})))"),
            value,
        );
        becomes(
            &format!("(concat (concat (concat {high} {third}) {second}) {low})"),
            value,
        );
    }
}

#[test]
fn rule_10_extensions_merge() {
    becomes("(zext 32 (zext 16 b0))", "(zext 32 b0)");
    becomes("(sext 32 (sext 16 b0))", "(sext 32 b0)");
    becomes("(sext 32 (zext 16 b0))", "(zext 32 b0)");
    becomes("(sext 32 (and b0 0x7e:8))", "(zext 32 (and b0 0x7e:8))");
    stays("(zext 32 (sext 16 b0))");
    becomes("(concat (sext 8 (extract 7 1 b0)) b0)", "(sext 16 b0)");
    becomes("(concat (extract 7 1 b0) b0)", "(sext 9 b0)");
}

#[test]
fn rule_11_shifts_by_constants_are_slices() {
    becomes("(lshr w0 8:32)", "(zext 32 (extract 8 24 w0))");
    becomes("(ashr w0 8:32)", "(sext 32 (extract 8 24 w0))");
    becomes("(ashr w0 99:32)", "(sext 32 (extract 31 1 w0))");
    becomes("(shl (shl w0 3:32) 4:32)", "(shl w0 7:32)");
    becomes("(shl (zext 32 b0) 8:32)", "(zext 32 (concat b0 0:8))");
    becomes("(shl (zext 32 b0) 24:32)", "(concat b0 0:24)");
    becomes("(mul (zext 32 b0) 256:32)", "(zext 32 (concat b0 0:8))");
    becomes("(ashr (shl w0 24:32) 24:32)", "(sext 32 (extract 0 8 w0))");
    becomes("(udiv w0 16:32)", "(zext 32 (extract 4 28 w0))");
    stays("(shl w0 8:32)");
    stays("(mul w0 8:32)");
}

#[test]
fn rule_12_masks_work_on_parts() {
    becomes("(and (zext 32 b0) 0x180:32)", "(zext 32 (and b0 0x80:8))");
    becomes("(and (sext 32 b0) 0xff:32)", "(zext 32 b0)");
    becomes("(and w0 0xff:32)", "(zext 32 (extract 0 8 w0))");
    becomes(
        "(and (concat b1 b0) 0xff0f:16)",
        "(concat b1 (and b0 0x0f:8))",
    );
    becomes(
        "(and (concat b1 b0) 0x00f0:16)",
        "(zext 16 (and b0 0xf0:8))",
    );
    becomes("(and (lshr w0 8:32) 0xff:32)", "(zext 32 (extract 8 8 w0))");
    becomes("(urem w0 256:32)", "(zext 32 (extract 0 8 w0))");
    becomes("(urem w0 8:32)", "(and w0 7:32)");
    becomes("(and (shl w0 8:32) 0xffffff00:32)", "(shl w0 8:32)");
    stays("(and w0 0x0f:32)");
}

#[test]
fn rule_13_bytes_put_together_are_a_concatenation() {
    let byte = |i: u32, place: u32| format!("(shl (zext 32 b{i}) {}:32)", 8 * place);
    let little = "(concat b3 (concat b2 (concat b1 b0)))";
    for op in ["or", "add", "xor"] {
        let parts: Vec<String> = (0..4).map(|i| byte(i, i)).collect();
        let written = format!(
            "({op} ({op} ({op} {} {}) {}) {})",
            parts[0], parts[1], parts[2], parts[3]
        );
        becomes(&written, little);
        let backwards = format!(
            "({op} {} ({op} {} ({op} {} {})))",
            parts[2], parts[0], parts[3], parts[1]
        );
        becomes(&backwards, little);
    }
    // acc = acc << 8 | byte
    becomes(
        "(or (shl (or (shl (or (shl (zext 32 b3) 8:32) (zext 32 b2)) 8:32) (zext 32 b1)) 8:32) (zext 32 b0))",
        little,
    );
    // b1 * 256 + b0
    becomes(
        "(add (mul (zext 32 b1) 256:32) (zext 32 b0))",
        "(zext 32 (concat b1 b0))",
    );
    becomes(
        "(or (shl w0 8:32) (zext 32 b0))",
        "(concat (extract 0 24 w0) b0)",
    );
    becomes(
        "(or (and w0 0xffffff00:32) (zext 32 b0))",
        "(concat (extract 8 24 w0) b0)",
    );
    becomes("(or (zext 32 b0) 0x4100:32)", "(concat 0x000041:24 b0)");
    becomes(
        "(or (shl (sext 32 b1) 8:32) (zext 32 b0))",
        "(sext 32 (concat b1 b0))",
    );
    becomes(
        "(or (and b0 0xf0:8) (and b1 0x0f:8))",
        "(concat (extract 4 4 b0) (extract 0 4 b1))",
    );
    stays("(or (and b0 0x55:8) (and b1 0xaa:8))");
    stays("(or (and b0 0x4a:8) 1:8)");
}

#[test]
fn rule_14_bitwise_operators_and_conditionals_on_extensions_are_narrow() {
    for op in ["and", "or", "xor"] {
        becomes(
            &format!("({op} (zext 32 b0) (zext 32 b1))"),
            &format!("(zext 32 ({op} b0 b1))"),
        );
    }
    becomes("(or (zext 32 b0) 0x20:32)", "(zext 32 (or b0 0x20:8))");
    becomes("(xor (zext 32 b0) 0x20:32)", "(zext 32 (xor b0 0x20:8))");
    becomes(
        "(or (concat b1 b0) 0x0020:16)",
        "(concat b1 (or b0 0x20:8))",
    );
    becomes(
        "(ite p0 (zext 32 b0) (zext 32 b1))",
        "(zext 32 (ite p0 b0 b1))",
    );
    becomes("(ite p0 (zext 32 b0) 65:32)", "(zext 32 (ite p0 b0 65:8))");
    becomes(
        "(ite p0 0xffffffff:32 (sext 32 b0))",
        "(sext 32 (ite p0 0xff:8 b0))",
    );
    stays("(ite p0 (zext 32 b0) 0x100:32)");
}

#[test]
fn rule_15_division_of_extensions_is_narrow() {
    becomes("(udiv (zext 32 b0) 10:32)", "(zext 32 (udiv b0 10:8))");
    becomes("(sdiv (zext 32 b0) 10:32)", "(zext 32 (udiv b0 10:8))");
    becomes("(srem (zext 32 b0) 10:32)", "(zext 32 (urem b0 10:8))");
    becomes("(urem (zext 32 b0) 1000:32)", "(zext 32 b0)");
    becomes("(udiv (zext 32 b0) 1000:32)", "0:32");
    stays("(sdiv w0 10:32)");
    stays("(sdiv w0 8:32)");
}

#[test]
fn rule_16_equality_is_solved_for_the_operand() {
    becomes("(eq (add b0 1:8) 5:8)", "(eq b0 4:8)");
    becomes("(eq (sub 9:8 b0) 5:8)", "(eq b0 4:8)");
    becomes("(eq (xor b0 1:8) 5:8)", "(eq b0 4:8)");
    becomes("(eq (not b0) 0xfb:8)", "(eq b0 4:8)");
    becomes("(eq (neg b0) 0xfc:8)", "(eq b0 4:8)");
    becomes("(eq (mul b0 3:8) 12:8)", "(eq b0 4:8)");
    stays("(eq (mul b0 4:8) 12:8)");
    becomes("(eq (bswap w0) 0x01020304:32)", "(eq w0 0x04030201:32)");
    becomes("(eq (bitreverse b0) 1:8)", "(eq b0 0x80:8)");
    becomes("(eq (sub w0 w1) 0:32)", "(eq w0 w1)");
    becomes("(eq (xor w0 w1) 0:32)", "(eq w0 w1)");
    becomes("(eq (zext 32 b0) 65:32)", "(eq b0 65:8)");
    becomes("(eq (zext 32 b0) 256:32)", "0:1");
    becomes("(eq (sext 32 b0) 0xffffffff:32)", "(eq b0 0xff:8)");
    becomes("(eq (sext 32 b0) 0x80:32)", "0:1");
    becomes("(eq (concat 1:8 b0) 0x0105:16)", "(eq b0 5:8)");
    becomes("(eq (concat 1:8 b0) 0x0205:16)", "0:1");
    becomes("(eq (concat b0 1:8) 0x0501:16)", "(eq b0 5:8)");
    becomes("(eq (ite p0 3:8 4:8) 3:8)", "p0");
    becomes("(eq (ite p0 3:8 4:8) 4:8)", "(not p0)");
    becomes("(eq (ite p0 3:8 4:8) 5:8)", "0:1");
    becomes("(eq (and b0 0x0f:8) 0x10:8)", "0:1");
    becomes("(eq (or b0 0x0f:8) 0x10:8)", "0:1");
    becomes("(eq (zext 32 b0) (zext 32 b1))", "(eq b0 b1)");
    becomes("(eq (zext 64 w0) (zext 64 b0))", "(eq w0 (zext 32 b0))");
    becomes("(eq (sext 32 b0) (sext 32 b1))", "(eq b0 b1)");
    becomes("(eq (add w0 w1) (add w0 w2))", "(eq w1 w2)");
    becomes("(eq (add w0 w1) w0)", "(eq w1 0:32)");
    becomes("(eq (add w0 3:32) (add w1 5:32))", "(eq w0 (add w1 2:32))");
    becomes("(eq (concat b0 b1) (concat b0 b2))", "(eq b1 b2)");
    becomes("(eq (not w0) (not w1))", "(eq w0 w1)");
    stays("(eq (concat b1 b0) 0x4142:16)");
}

#[test]
fn rule_17_order_with_constants_is_narrow_or_known() {
    becomes("(ult (zext 32 b0) 65:32)", "(ult b0 65:8)");
    becomes("(slt (zext 32 b0) 65:32)", "(ult b0 65:8)");
    becomes("(slt 65:32 (zext 32 b0))", "(ult 65:8 b0)");
    becomes("(slt (zext 32 b0) 0:32)", "0:1");
    becomes("(sle (zext 32 b0) 255:32)", "1:1");
    becomes("(ult (zext 32 b0) 300:32)", "1:1");
    becomes("(slt (sext 32 b0) 65:32)", "(slt b0 65:8)");
    becomes("(slt (sext 32 b0) 300:32)", "1:1");
    becomes("(slt 300:32 (sext 32 b0))", "0:1");
    becomes("(ult (sext 32 b0) 300:32)", "(ult b0 0x80:8)");
    becomes("(ult (zext 32 b0) (zext 32 b1))", "(ult b0 b1)");
    becomes("(slt (zext 32 b0) (zext 32 b1))", "(ult b0 b1)");
    becomes("(slt (sext 32 b0) (sext 32 b1))", "(slt b0 b1)");
    becomes("(ult (concat 1:8 b0) 0x0105:16)", "(ult b0 5:8)");
    becomes("(ult (concat 1:8 b0) 0x0005:16)", "0:1");
    becomes("(ult (concat b0 1:8) 0x0505:16)", "(ule b0 5:8)");
    becomes("(ult (concat b0 9:8) 0x0505:16)", "(ult b0 5:8)");
    becomes("(slt (concat b0 1:8) 0x0505:16)", "(sle b0 5:8)");
    becomes("(ult (ite p0 3:8 9:8) 5:8)", "p0");
    becomes("(ult 5:8 (ite p0 3:8 9:8))", "(not p0)");
    becomes("(ult b0 0:8)", "0:1");
    becomes("(ult b0 1:8)", "(eq b0 0:8)");
    becomes("(ule b0 0:8)", "(eq b0 0:8)");
    becomes("(ult 0:8 b0)", "(not (eq b0 0:8))");
    becomes("(ule 1:8 b0)", "(not (eq b0 0:8))");
    becomes("(ule b0 255:8)", "1:1");
    becomes("(ult b0 255:8)", "(not (eq b0 255:8))");
    becomes("(ule 255:8 b0)", "(eq b0 255:8)");
    becomes("(slt b0 0x80:8)", "0:1");
    becomes("(sle b0 0x7f:8)", "1:1");
    becomes("(slt b0 0x7f:8)", "(not (eq b0 0x7f:8))");
    stays("(ule b0 57:8)");
    stays("(ule 48:8 b0)");
    stays("(slt b0 0:8)");
}

#[test]
fn rule_18_conditionals_simplify() {
    becomes("(ite p0 w0 w0)", "w0");
    becomes("(ite (not p0) w0 w1)", "(ite p0 w1 w0)");
    becomes("(ite p0 1:32 0:32)", "(zext 32 p0)");
    becomes("(ite p0 0:32 1:32)", "(zext 32 (not p0))");
    becomes("(ite p0 0xffffffff:32 0:32)", "(sext 32 p0)");
    becomes("(ite p0 1:1 0:1)", "p0");
    becomes("(ite p0 0:1 1:1)", "(not p0)");
    becomes("(ite p0 p1 0:1)", "(and p0 p1)");
    becomes("(ite p0 1:1 p1)", "(or p0 p1)");
    becomes("(ite p0 0:1 p1)", "(and p1 (not p0))");
    becomes("(ite p0 p0 p1)", "(or p0 p1)");
    becomes("(ite p0 (ite p0 w0 w1) w2)", "(ite p0 w0 w2)");
    becomes("(ite p0 w0 (ite p0 w1 w2))", "(ite p0 w0 w2)");
    stays("(ite p0 (ite p1 w0 w1) w2)");
}

#[test]
fn rule_19_byte_swap_of_bytes_is_a_concatenation() {
    becomes(
        "(bswap (concat b3 (concat b2 (concat b1 b0))))",
        "(concat b0 (concat b1 (concat b2 b3)))",
    );
    becomes("(bswap (bswap w0))", "w0");
    becomes("(bswap b0)", "b0");
    becomes("(bitreverse (bitreverse w0))", "w0");
    stays("(bswap w0)");
}

#[test]
fn rule_20_table_reads_at_constant_addresses_are_the_bytes() {
    use parallax_expr::build;
    let mut store = MemoryStore::new();
    let byte = build::input(&mut store, 0, 0, b'x');
    let table = store.add_table(0x1000, b"abx", Some(&[0, 0, byte << 4]));
    let at = |store: &mut MemoryStore, address| build::constant(store, 64, address);
    let concrete = at(&mut store, 0x1001);
    let label = build::table(&mut store, concrete, table, 8, u128::from(b'b'));
    assert_eq!(print(&store, label), "0x62:8");
    let mixed = build::table(&mut store, concrete, table, 16, 0x7862);
    assert_eq!(print(&store, mixed), "(concat (input 0 0 120) 0x62:8)");
    assert_eq!(store.node(mixed).lo, 0x7862);
    let outside = at(&mut store, 0x2000);
    let label = build::table(&mut store, outside, table, 8, 7);
    assert_eq!(print(&store, label), "0x7:8");
}
