//! Extracts, concatenations, extensions, shifts and masks.

use super::{becomes, stays};

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
