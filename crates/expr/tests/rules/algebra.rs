//! Constants, order of operands, neutral operands, negation.

use super::{becomes, stays};

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
