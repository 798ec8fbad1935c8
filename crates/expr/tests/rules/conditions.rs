//! Comparisons, conditionals and table reads.

use super::{becomes, stays};
use parallax_expr::sexpr::print;
use parallax_expr::{MemoryStore, Store};

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
