//! One-bit values, written as conditions.

use super::bytes::whole_run;
use super::number::{character, string};
use super::piece::{Level, Piece};
use super::write::Writer;
use crate::bits::mask;
use crate::share::operands;
use crate::store::{Label, Store, value};
use parallax_abi::Op;
use parallax_abi::trace::Node;
use std::borrow::ToOwned;
use std::format;
use std::string::String;
use std::vec::Vec;

impl<S: Store + ?Sized> Writer<'_, S> {
    /// A one-bit value as a condition, or its negation.
    pub(super) fn condition(&mut self, label: Label, negated: bool) -> Piece {
        let node = self.store.node(label);
        let op = self.op(&node);
        match op {
            Op::Const => {
                let truth = (value(&node) != 0) != negated;
                return Piece::primary(if truth { "true" } else { "false" }.to_owned());
            }
            Op::Not => return self.condition(node.a, !negated),
            Op::Extract | Op::Table => {
                let text = self.plain(label).text;
                let (sign, level) = if negated {
                    ("!", Level::Unary)
                } else {
                    ("", Level::Primary)
                };
                return Piece::new(format!("{sign}{text}"), level);
            }
            _ => {}
        }
        let piece = match self.enter(label) {
            Err(piece) => Err(piece),
            Ok(()) => {
                let compared = self.comparison(op, &node, negated);
                let piece = compared.map_or_else(|| Err(self.logic(op, &node)), Ok);
                self.leave();
                piece
            }
        };
        match piece {
            // The comparison has taken the negation into itself.
            Ok(piece) => piece,
            Err(piece) if negated => {
                Piece::new(format!("!{}", piece.at(Level::Unary)), Level::Unary)
            }
            Err(piece) => piece,
        }
    }

    /// Comparisons, which can be negated by another operator.
    fn comparison(&mut self, op: Op, node: &Node, negated: bool) -> Option<Piece> {
        let is_signed = matches!(op, Op::Slt | Op::Sle);
        let operator = match (op, negated) {
            (Op::Eq, false) => "==",
            (Op::Eq, true) => "!=",
            (Op::Ult | Op::Slt, false) => "<",
            (Op::Ult | Op::Slt, true) => ">=",
            (Op::Ule | Op::Sle, false) => "<=",
            (Op::Ule | Op::Sle, true) => ">",
            (Op::FEq, false) => "==",
            (Op::FEq, true) => "!=",
            (Op::FLt, false) => "<",
            (Op::FLe, false) => "<=",
            // The negation of an ordered comparison is true for NaN.
            _ => return None,
        };
        if matches!(op, Op::FEq | Op::FLt | Op::FLe) {
            let left = self.float(node.a).above(Level::Order);
            let right = self.float(node.b).above(Level::Order);
            return Some(Piece::new(
                format!("{left} {operator} {right}"),
                Level::Order,
            ));
        }
        if op == Op::Eq
            && let Some(text) = self.string_comparison(node, operator)
        {
            return Some(Piece::new(text, Level::Equality));
        }
        // A constant reads better on the right.
        let constant_first = self.op(&self.store.node(node.a)) == Op::Const;
        let (left, right, operator) = match (constant_first, operator) {
            (false, _) => (node.a, node.b, operator),
            (true, "<") => (node.b, node.a, ">"),
            (true, "<=") => (node.b, node.a, ">="),
            (true, ">") => (node.b, node.a, "<"),
            (true, ">=") => (node.b, node.a, "<="),
            (true, _) => (node.b, node.a, operator),
        };
        let level = if op == Op::Eq {
            Level::Equality
        } else {
            Level::Order
        };
        let right = self.compared(left, right, is_signed);
        let left = if is_signed {
            self.signed(left)
        } else {
            self.any_integer(left)
        };
        Some(Piece::new(
            format!("{} {operator} {}", left.above(level), right.above(level)),
            level,
        ))
    }

    fn any_integer(&mut self, label: Label) -> Piece {
        if self.store.node(label).width == 1 {
            self.condition(label, false)
        } else {
            self.plain(label)
        }
    }

    /// The right side of a comparison: input bytes, and what is chosen from them, are
    /// compared with characters, results of arithmetic with numbers.
    fn compared(&mut self, left: Label, right: Label, is_signed: bool) -> Piece {
        let node = self.store.node(right);
        if self.op(&node) == Op::Const && node.width == 8 {
            let byte = node.lo as u8;
            let letters = matches!(
                self.op(&self.store.node(left)),
                Op::Input | Op::Ite | Op::Extract
            );
            if letters && (!is_signed || byte.is_ascii_graphic()) {
                return Piece::primary(character(byte));
            }
        }
        if is_signed {
            self.signed(right)
        } else {
            self.any_integer(right)
        }
    }

    /// Several input bytes compared with printable text.
    fn string_comparison(&mut self, node: &Node, operator: &str) -> Option<String> {
        let run = whole_run(self.store, node.a)?;
        let constant = self.store.node(node.b);
        if self.op(&constant) != Op::Const {
            return None;
        }
        let text = string(&run.bytes_of(value(&constant) & mask(u32::from(constant.width))))?;
        let source = self.names.source(run.source);
        Some(format!(
            "{source}[{}..{}] {operator} {text}",
            run.start,
            run.start + run.count
        ))
    }

    /// One-bit operators other than comparisons.
    fn logic(&mut self, op: Op, node: &Node) -> Piece {
        let (operator, level) = match op {
            Op::And => ("&&", Level::LogicalAnd),
            Op::Or => ("||", Level::LogicalOr),
            Op::Xor => ("!=", Level::Equality),
            Op::FLt | Op::FLe => {
                let operator = if op == Op::FLt { "<" } else { "<=" };
                let left = self.float(node.a).above(Level::Order);
                let right = self.float(node.b).above(Level::Order);
                return Piece::new(format!("{left} {operator} {right}"), Level::Order);
            }
            Op::FIsNan => return Piece::primary(format!("isnan({})", self.float(node.a).text)),
            Op::Ite => {
                let c = self.condition(node.a, false).above(Level::Choice);
                let (a, b) = (self.condition(node.b, false), self.condition(node.c, false));
                let text = format!("{c} ? {} : {}", a.above(Level::Choice), b.at(Level::Choice));
                return Piece::new(text, Level::Choice);
            }
            // What has another meaning on one bit is not canonical; its operator says enough.
            _ => {
                let arguments: Vec<String> = operands(node).map(|x| self.plain(x).text).collect();
                return Piece::primary(format!(
                    "{}({})",
                    crate::names::name(op),
                    arguments.join(", ")
                ));
            }
        };
        let left = self.condition(node.a, false).at(level);
        let right = self.condition(node.b, false).above(level);
        Piece::new(format!("{left} {operator} {right}"), level)
    }
}
