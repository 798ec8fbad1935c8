//! Floating-point terms.

use super::integer::truth;
use super::{Printer, constant};
use crate::store::{Label, Store};
use parallax_abi::Op;
use parallax_abi::op::Rounding;
use parallax_abi::trace::Node;
use std::format;
use std::string::{String, ToString};

/// Operators that read their operands as floating-point numbers.
pub(super) fn reads_float(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        FAdd | FSub
            | FMul
            | FDiv
            | FRem
            | FSqrt
            | FRound
            | FEq
            | FLt
            | FLe
            | FIsNan
            | FToF
            | FToS
            | FToU
    )
}

/// Operators whose result is a floating-point number.
pub(super) fn makes_float(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        FAdd | FSub | FMul | FDiv | FRem | FSqrt | FRound | FToF | SToF | UToF
    )
}

/// Widths of exponent and significand, as SMT-LIB counts them.
fn format_of(width: u32) -> &'static str {
    match width {
        32 => "8 24",
        64 => "11 53",
        _ => "15 64",
    }
}

/// Bits as a number. SMT-LIB's 80-bit format has no explicit leading bit.
fn from_bits(width: u32, bits: &str) -> String {
    let format = format_of(width);
    match width {
        80 => format!(
            "((_ to_fp {format}) (concat ((_ extract 79 64) {bits}) ((_ extract 62 0) {bits})))"
        ),
        _ => format!("((_ to_fp {format}) {bits})"),
    }
}

impl<S: Store + ?Sized> Printer<'_, S> {
    /// An operand as a floating-point number.
    fn number(&self, label: Label) -> String {
        match self.numbers.get(&label) {
            Some(text) => text.clone(),
            None => from_bits(self.width(label), self.bits(label)),
        }
    }

    /// A node whose result is a floating-point number: the number, and its bits if they are used.
    pub(super) fn float_result(&mut self, label: Label, node: &Node) {
        self.floating = true;
        let width = u32::from(node.width);
        let term = self.float_number(super::operator(node), node);
        let sort = format!("(_ FloatingPoint {})", format_of(width));
        let needed = self.needed_bits.contains(&label);
        if needed {
            self.plan.named.insert(label);
        }
        let number = self.define(label, &sort, "f", term);
        if needed {
            let name = format!("n{label}");
            let back = from_bits(width, &name);
            self.body.push_str(&format!(
                "(declare-const {name} (_ BitVec {width}))\n(assert (= {back} {number}))\n"
            ));
            if width == 80 {
                let zero = constant(15, 0);
                self.body.push_str(&format!(
                    "(assert (= ((_ extract 63 63) {name}) (ite (= ((_ extract 78 64) {name}) {zero}) #b0 #b1)))\n"
                ));
            }
            self.bits.insert(label, name);
        }
        self.numbers.insert(label, number);
    }

    fn float_number(&self, op: Op, node: &Node) -> String {
        let format = format_of(u32::from(node.width));
        let rounded = |name: &str| {
            format!(
                "({name} RNE {} {})",
                self.number(node.a),
                self.number(node.b)
            )
        };
        match op {
            Op::FAdd => rounded("fp.add"),
            Op::FSub => rounded("fp.sub"),
            Op::FMul => rounded("fp.mul"),
            Op::FDiv => rounded("fp.div"),
            Op::FRem => remainder(&self.number(node.a), &self.number(node.b)),
            Op::FSqrt => format!("(fp.sqrt RNE {})", self.number(node.a)),
            Op::FRound => {
                let mode = match node.c {
                    mode if mode == Rounding::NearestEven as u32 => "RNE",
                    mode if mode == Rounding::TowardZero as u32 => "RTZ",
                    mode if mode == Rounding::Down as u32 => "RTN",
                    mode if mode == Rounding::Up as u32 => "RTP",
                    _ => "RNA",
                };
                format!("(fp.roundToIntegral {mode} {})", self.number(node.a))
            }
            Op::FToF => format!("((_ to_fp {format}) RNE {})", self.number(node.a)),
            Op::SToF => format!("((_ to_fp {format}) RNE {})", self.bits(node.a)),
            _ => format!("((_ to_fp_unsigned {format}) RNE {})", self.bits(node.a)),
        }
    }

    /// Predicates on floating-point numbers, and conversions to integers.
    pub(super) fn float_term(&mut self, op: Op, node: &Node) -> String {
        self.floating = true;
        let a = self.number(node.a);
        match op {
            Op::FEq => truth(format!("(fp.eq {a} {})", self.number(node.b))),
            Op::FLt => truth(format!("(fp.lt {a} {})", self.number(node.b))),
            Op::FLe => truth(format!("(fp.leq {a} {})", self.number(node.b))),
            Op::FIsNan => truth(format!("(fp.isNaN {a})")),
            Op::FToS => format!("((_ fp.to_sbv {}) RTZ {a})", node.width),
            Op::FToU => format!("((_ fp.to_ubv {}) RTZ {a})", node.width),
            // All other operators have been printed before.
            _ => "".to_string(),
        }
    }
}

/// C's `fmod`, whose quotient is truncated, from SMT-LIB's `fp.rem`, whose quotient is
/// rounded: on absolute values, made positive, with the sign of `a`. All steps are exact.
fn remainder(a: &str, b: &str) -> String {
    format!(
        "(let ((r (fp.rem (fp.abs {a}) (fp.abs {b})))) \
         (let ((m (ite (fp.isNegative r) (ite (fp.isZero r) (fp.neg r) (fp.add RNE r (fp.abs {b}))) r))) \
         (ite (fp.isNegative {a}) (fp.neg m) m)))"
    )
}
