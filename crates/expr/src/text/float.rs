//! Floating-point terms.

use super::piece::{Level, Piece};
use super::write::Writer;
use crate::eval;
use crate::store::{Label, Store, value};
use parallax_abi::Op;
use parallax_abi::op::Rounding;
use parallax_abi::trace::Node;
use std::format;
use std::string::{String, ToString};

/// Whether the operator's result is a floating-point number.
pub(super) fn is_float(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        FAdd | FSub | FMul | FDiv | FRem | FSqrt | FRound | FToF | SToF | UToF
    )
}

impl<S: Store + ?Sized> Writer<'_, S> {
    /// A value that is used as a floating-point number.
    pub(super) fn float(&mut self, label: Label) -> Piece {
        let node = self.store.node(label);
        let op = Op::from_byte(node.op).unwrap_or(Op::Nothing);
        if op == Op::Const {
            return Piece::primary(constant(u32::from(node.width), value(&node)));
        }
        if !is_float(op) {
            let inner = match self.run_text(label) {
                Some(text) => text,
                None => self.plain(label).text,
            };
            return Piece::primary(format!("f{}({inner})", node.width));
        }
        match self.enter(label) {
            Err(piece) => piece,
            Ok(()) => {
                let piece = self.float_operation(op, &node);
                self.leave();
                piece
            }
        }
    }

    fn float_operation(&mut self, op: Op, node: &Node) -> Piece {
        let call = |name: &str, arguments: String| Piece::primary(format!("{name}({arguments})"));
        match op {
            Op::FAdd => self.float_infix(node, "+", Level::Sum),
            Op::FSub => self.float_infix(node, "-", Level::Sum),
            Op::FMul => self.float_infix(node, "*", Level::Product),
            Op::FDiv => self.float_infix(node, "/", Level::Product),
            Op::FRem => {
                let (a, b) = (self.float(node.a).text, self.float(node.b).text);
                call("fmod", format!("{a}, {b}"))
            }
            Op::FSqrt => call("sqrt", self.float(node.a).text),
            Op::FRound => {
                let name = match node.c {
                    mode if mode == Rounding::NearestEven as u32 => "rint",
                    mode if mode == Rounding::TowardZero as u32 => "trunc",
                    mode if mode == Rounding::Down as u32 => "floor",
                    mode if mode == Rounding::Up as u32 => "ceil",
                    _ => "round",
                };
                call(name, self.float(node.a).text)
            }
            Op::FToF => call(&format!("f{}", node.width), self.float(node.a).text),
            Op::SToF => call(&format!("f{}", node.width), self.signed(node.a).text),
            _ => call(&format!("f{}", node.width), self.plain(node.a).text),
        }
    }

    fn float_infix(&mut self, node: &Node, operator: &str, level: Level) -> Piece {
        let left = self.float(node.a).at(level);
        let right = self.float(node.b).above(level);
        Piece::new(format!("{left} {operator} {right}"), level)
    }
}

fn constant(width: u32, bits: u128) -> String {
    match width {
        32 => format!("{:?}", f32::from_bits(bits as u32)),
        64 => format!("{:?}", f64::from_bits(bits as u64)),
        _ => {
            let double = eval::unary(Op::FToF, 80, 64, 0, bits).unwrap_or(0);
            let exact = eval::unary(Op::FToF, 64, 80, 0, double) == Some(bits);
            let text = format!("{:?}", f64::from_bits(double as u64));
            if exact {
                text
            } else {
                format!("{bits:#x}").to_string()
            }
        }
    }
}
