//! The writer: numbers, unsigned and signed, with C's precedences, and names for
//! what is shared.

use super::bytes::{leading_run, offset, pieces, whole_run};
use super::float::is_float;
use super::number::{mask_number, signed_number, unsigned};
use super::piece::{Level, Piece};
use super::{Limits, Names};
use crate::bits::signed;
use crate::share::{is_leaf, operands};
use crate::store::{Label, Store, value};
use parallax_abi::Op;
use parallax_abi::trace::Node;
use std::borrow::ToOwned;
use std::collections::HashMap;
use std::format;
use std::string::String;
use std::vec::Vec;

/// What is not written any more.
const CUT: &str = "…";
/// Subterms of at least this size get a name when they are used more than once…
const NAMED_SIZE: u32 = 6;
/// … in an expression of at least this size.
const NAMING_SIZE: u32 = 30;

pub(super) struct Writer<'a, S: ?Sized> {
    pub store: &'a S,
    pub names: &'a dyn Names,
    limits: Limits,
    depth: u32,
    terms: u32,
    /// Shared subterms and their numbers, 0 before they are first met.
    shared: HashMap<Label, u32>,
    /// Shared subterms in order of their numbers.
    defined: Vec<Label>,
    /// The one that is being defined: not written as its own name.
    defining: Label,
}

impl<'a, S: Store + ?Sized> Writer<'a, S> {
    pub fn new(store: &'a S, names: &'a dyn Names, limits: Limits) -> Self {
        Writer {
            store,
            names,
            limits,
            depth: 0,
            terms: 0,
            shared: HashMap::new(),
            defined: Vec::new(),
            defining: 0,
        }
    }

    /// The text of a whole expression, with definitions; negated if `positive` is false.
    pub fn whole(mut self, label: Label, positive: bool) -> String {
        if label == 0 {
            return "nothing".to_owned();
        }
        self.find_shared(label);
        self.defining = label;
        let mut text = match self.store.node(label).width {
            1 => self.condition(label, !positive).text,
            _ => self.any(label).text,
        };
        let mut next = 0;
        while let Some(&shared) = self.defined.get(next) {
            self.defining = shared;
            let definition = match self.store.node(shared).width {
                1 => self.condition(shared, false).text,
                _ => self.any(shared).text,
            };
            next += 1;
            let separator = if next == 1 { " where" } else { "," };
            text.push_str(&format!("{separator} t{next} = {definition}"));
        }
        text
    }

    pub fn op(&self, node: &Node) -> Op {
        Op::from_byte(node.op).unwrap_or(Op::Nothing)
    }

    /// Finds the subterms that deserve names, as far as the limits allow to look.
    fn find_shared(&mut self, root: Label) {
        let mut uses: HashMap<Label, u32> = HashMap::new();
        let mut order: Vec<Label> = Vec::new();
        let mut pending = std::vec![(root, 0)];
        while let Some((label, depth)) = pending.pop() {
            let count = uses.entry(label).or_default();
            *count += 1;
            let node = self.store.node(label);
            let atom = is_leaf(&node) || whole_run(self.store, label).is_some();
            if *count == 1
                && !atom
                && depth < self.limits.depth
                && order.len() < 4 * self.limits.terms as usize
            {
                order.push(label);
                pending.extend(operands(&node).map(|operand| (operand, depth + 1)));
            }
        }
        order.sort_unstable();
        let mut sizes: HashMap<Label, u32> = HashMap::new();
        for &label in &order {
            let sum = operands(&self.store.node(label)).fold(1u32, |sum, operand| {
                sum.saturating_add(sizes.get(&operand).copied().unwrap_or(1))
            });
            sizes.insert(label, sum);
        }
        if sizes.get(&root).is_none_or(|&size| size < NAMING_SIZE) {
            return;
        }
        for (&label, &size) in &sizes {
            if uses[&label] > 1 && size >= NAMED_SIZE {
                self.shared.insert(label, 0);
            }
        }
    }

    /// Counts a term. The piece to write instead if it has a name or the limits are reached.
    pub fn enter(&mut self, label: Label) -> Result<(), Piece> {
        if self.defining == label {
            self.defining = 0;
        } else if let Some(number) = self.shared.get_mut(&label) {
            if *number == 0 {
                self.defined.push(label);
                *number = self.defined.len() as u32;
            }
            return Err(Piece::primary(format!("t{number}")));
        }
        self.terms += 1;
        if self.depth >= self.limits.depth || self.terms > self.limits.terms {
            return Err(Piece::primary(CUT.to_owned()));
        }
        self.depth += 1;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A value whose operator says how it is to be read.
    fn any(&mut self, label: Label) -> Piece {
        let op = self.op(&self.store.node(label));
        if is_float(op) {
            self.float(label)
        } else {
            self.plain(label)
        }
    }

    /// `source[start..end]` of a value that is neighbouring input bytes.
    pub fn run_text(&self, label: Label) -> Option<String> {
        let run = whole_run(self.store, label).filter(|run| !run.big_endian)?;
        let source = self.names.source(run.source);
        Some(format!(
            "{source}[{}..{}]",
            run.start,
            run.start + run.count
        ))
    }

    /// The value as an unsigned number.
    pub fn plain(&mut self, label: Label) -> Piece {
        let node = self.store.node(label);
        let op = self.op(&node);
        if op == Op::Const {
            return Piece::primary(unsigned(value(&node)));
        }
        if node.width == 1 && !matches!(op, Op::Extract | Op::Table) {
            return self.condition(label, false);
        }
        if is_float(op) {
            let text = self.float(label).text;
            return Piece::primary(format!("bits({text})"));
        }
        match self.enter(label) {
            Err(piece) => piece,
            Ok(()) => {
                let piece = self.operation(op, label, &node);
                self.leave();
                let width = u32::from(node.width);
                if wraps(op) && !matches!(width, 32 | 64) {
                    Piece::primary(format!("u{width}({})", piece.text))
                } else {
                    piece
                }
            }
        }
    }

    /// An operand of wrapping arithmetic of the same width, which needs no cast of its own.
    fn addend(&mut self, label: Label) -> Piece {
        let node = self.store.node(label);
        let op = self.op(&node);
        if !wraps(op) {
            return self.plain(label);
        }
        match self.enter(label) {
            Err(piece) => piece,
            Ok(()) => {
                let piece = self.operation(op, label, &node);
                self.leave();
                piece
            }
        }
    }

    /// The value as a signed number.
    pub fn signed(&mut self, label: Label) -> Piece {
        let node = self.store.node(label);
        let width = u32::from(node.width);
        match self.op(&node) {
            Op::Const => Piece::primary(signed_number(width, value(&node))),
            Op::SExt => self.signed(node.a),
            Op::ZExt => self.plain(label),
            Op::Extract if width != 1 => {
                let inner = self.shifted(&node);
                Piece::primary(format!("i{width}({inner})"))
            }
            op if wraps(op) => {
                let text = self.addend(label).text;
                Piece::primary(format!("i{width}({text})"))
            }
            _ => {
                let text = self
                    .run_text(label)
                    .unwrap_or_else(|| self.plain(label).text);
                Piece::primary(format!("i{width}({text})"))
            }
        }
    }

    /// `x` or `x >> low`, of which an extract takes the low bits.
    fn shifted(&mut self, node: &Node) -> String {
        if node.c == 0 {
            self.plain(node.a).text
        } else {
            format!("{} >> {}", self.plain(node.a).at(Level::Shift), node.c)
        }
    }

    fn operation(&mut self, op: Op, label: Label, node: &Node) -> Piece {
        let width = u32::from(node.width);
        let call = |name: &str, argument: String| Piece::primary(format!("{name}({argument})"));
        match op {
            Op::Input => Piece::primary(format!("{}[{}]", self.names.source(node.a), offset(node))),
            Op::Object => Piece::new(format!("&{}", self.names.object(node.a)), Level::Unary),
            Op::Table => self.table(node),
            Op::Not => self.prefix("~", node.a),
            Op::Neg => self.prefix("-", node.a),
            Op::ZExt => self.zero_extension(node),
            Op::SExt => self.sign_extension(node),
            Op::Extract => self.extract(node),
            Op::Concat => self.concat(label, width),
            Op::PopCount => call("popcount", self.plain(node.a).text),
            Op::LeadingZeros => call(&format!("clz{width}"), self.plain(node.a).text),
            Op::TrailingZeros => call(&format!("ctz{width}"), self.plain(node.a).text),
            Op::ByteSwap => call(&format!("bswap{width}"), self.plain(node.a).text),
            Op::BitReverse => call(&format!("bitreverse{width}"), self.plain(node.a).text),
            Op::Add => self.sum(node),
            Op::Sub => {
                let (a, b) = (self.addend(node.a), self.addend(node.b));
                Piece::new(
                    format!("{} - {}", a.at(Level::Sum), b.above(Level::Sum)),
                    Level::Sum,
                )
            }
            Op::Mul => {
                let (a, b) = (self.addend(node.a), self.addend(node.b));
                Piece::new(
                    format!("{} * {}", a.at(Level::Product), b.above(Level::Product)),
                    Level::Product,
                )
            }
            Op::UDiv => self.infix(node, "/", Level::Product, false),
            Op::URem => self.infix(node, "%", Level::Product, false),
            Op::SDiv => self.infix(node, "/", Level::Product, true),
            Op::SRem => self.infix(node, "%", Level::Product, true),
            Op::Shl => {
                let (a, b) = (self.addend(node.a), self.plain(node.b));
                Piece::new(
                    format!("{} << {}", a.at(Level::Shift), b.above(Level::Shift)),
                    Level::Shift,
                )
            }
            Op::LShr => self.infix(node, ">>", Level::Shift, false),
            Op::AShr => {
                let (a, b) = (self.signed(node.a), self.plain(node.b));
                Piece::new(
                    format!("{} >> {}", a.at(Level::Shift), b.above(Level::Shift)),
                    Level::Shift,
                )
            }
            Op::And => self.bitwise(node, "&", Level::BitAnd),
            Op::Or => self.bitwise(node, "|", Level::BitOr),
            Op::Xor => self.bitwise(node, "^", Level::BitXor),
            Op::Ite => {
                let c = self.condition(node.a, false).above(Level::Choice);
                let (a, b) = (self.plain(node.b), self.plain(node.c));
                Piece::new(
                    format!("{c} ? {} : {}", a.above(Level::Choice), b.at(Level::Choice)),
                    Level::Choice,
                )
            }
            Op::FToS => call(&format!("i{width}"), self.float(node.a).text),
            Op::FToU => call(&format!("u{width}"), self.float(node.a).text),
            // Conditions and floating point are written by their own methods.
            _ => Piece::primary(CUT.to_owned()),
        }
    }

    fn prefix(&mut self, operator: &str, operand: Label) -> Piece {
        let inner = self.addend(operand).at(Level::Unary);
        Piece::new(format!("{operator}{inner}"), Level::Unary)
    }

    fn infix(&mut self, node: &Node, operator: &str, level: Level, is_signed: bool) -> Piece {
        let (a, b) = if is_signed {
            (self.signed(node.a), self.signed(node.b))
        } else {
            (self.plain(node.a), self.plain(node.b))
        };
        Piece::new(
            format!("{} {operator} {}", a.at(level), b.above(level)),
            level,
        )
    }

    fn bitwise(&mut self, node: &Node, operator: &str, level: Level) -> Piece {
        let left = self.plain(node.a).at(level);
        let other = self.store.node(node.b);
        let right = match self.op(&other) {
            Op::Const => mask_number(value(&other)),
            _ => self.plain(node.b).above(level),
        };
        Piece::new(format!("{left} {operator} {right}"), level)
    }

    fn sum(&mut self, node: &Node) -> Piece {
        let left = self.addend(node.a).at(Level::Sum);
        let other = self.store.node(node.b);
        let width = u32::from(other.width);
        if self.op(&other) == Op::Const {
            let number = signed(width, value(&other));
            if (-0xffff..0).contains(&number) {
                return Piece::new(format!("{left} - {}", -number), Level::Sum);
            }
        }
        let right = self.addend(node.b).above(Level::Sum);
        Piece::new(format!("{left} + {right}"), Level::Sum)
    }

    fn zero_extension(&mut self, node: &Node) -> Piece {
        let inner = self.store.node(node.a);
        let op = self.op(&inner);
        if op == Op::Extract {
            let whole = u32::from(self.store.node(inner.a).width);
            if whole == u32::from(node.width) && inner.c + u32::from(inner.width) == whole {
                let text = self.shifted(&inner);
                return Piece::new(text, Level::Shift);
            }
        }
        if wraps(op) && inner.width == 32 {
            let text = self.addend(node.a).text;
            return Piece::primary(format!("u32({text})"));
        }
        self.plain(node.a)
    }

    fn sign_extension(&mut self, node: &Node) -> Piece {
        let inner = self.store.node(node.a);
        if self.op(&inner) == Op::Extract {
            let whole = u32::from(self.store.node(inner.a).width);
            if whole == u32::from(node.width) && inner.c + u32::from(inner.width) == whole {
                let text = self.signed(inner.a).at(Level::Shift);
                return Piece::new(format!("{text} >> {}", inner.c), Level::Shift);
            }
        }
        self.signed(node.a)
    }

    fn extract(&mut self, node: &Node) -> Piece {
        let text = match node.width {
            8 | 16 | 32 | 64 => format!("u{}({})", node.width, self.shifted(node)),
            1 => format!("bit({}, {})", self.plain(node.a).text, node.c),
            width => {
                let inner = self.plain(node.a).text;
                format!("bits({inner}, {}..{})", node.c, node.c + u32::from(width))
            }
        };
        Piece::primary(text)
    }

    fn concat(&mut self, label: Label, width: u32) -> Piece {
        let pieces = pieces(self.store, label);
        let mut texts: Vec<String> = Vec::new();
        let mut above = width;
        let mut index = 0;
        while index < pieces.len() {
            let run = leading_run(self.store, &pieces[index..]);
            let (piece, count, bits) = match run {
                Some(run) => {
                    let source = self.names.source(run.source);
                    let order = if run.big_endian { "be" } else { "" };
                    let (start, end, bits) =
                        (run.start, run.start + run.count, 8 * run.count as u32);
                    let text = format!("u{bits}{order}({source}[{start}..{end}])");
                    (Piece::primary(text), run.count as usize, bits)
                }
                None => {
                    let node = self.store.node(pieces[index]);
                    (self.plain(pieces[index]), 1, u32::from(node.width))
                }
            };
            if run.is_some_and(|run| run.count as usize == pieces.len()) {
                return piece;
            }
            index += count;
            above -= bits;
            let zero = count == 1 && {
                let node = self.store.node(pieces[index - 1]);
                self.op(&node) == Op::Const && value(&node) == 0
            };
            match (zero, above) {
                (true, _) => {}
                (false, 0) => texts.push(piece.above(Level::BitOr)),
                _ => texts.push(format!("{} << {above}", piece.at(Level::Shift))),
            }
        }
        let level = if texts.len() == 1 {
            Level::Shift
        } else {
            Level::BitOr
        };
        Piece::new(texts.join(" | "), level)
    }

    fn table(&mut self, node: &Node) -> Piece {
        let (object, index) = self.address(node.a);
        Piece::primary(match node.width {
            8 => format!("{object}[{index}]"),
            width => format!("u{width}({object}[{index}..])"),
        })
    }

    /// An address as the object that it was derived from, and the rest of the sum.
    fn address(&mut self, address: Label) -> (String, String) {
        let mut rest: Vec<Label> = Vec::new();
        let mut object = None;
        let mut pending = std::vec![address];
        while let Some(label) = pending.pop() {
            let node = self.store.node(label);
            match self.op(&node) {
                Op::Add if rest.len() + pending.len() < 16 => pending.extend([node.b, node.a]),
                Op::Object if object.is_none() => object = Some(self.names.object(node.a)),
                _ => rest.push(label),
            }
        }
        let Some(object) = object else {
            return ("memory".to_owned(), self.plain(address).text);
        };
        let mut index = String::new();
        for label in rest {
            let node = self.store.node(label);
            let number = signed(u32::from(node.width), value(&node));
            if self.op(&node) == Op::Const && number < 0 && !index.is_empty() {
                index.push_str(&format!(" - {}", unsigned(number.unsigned_abs())));
                continue;
            }
            let text = self.plain(label).at(Level::Sum);
            index.push_str(if index.is_empty() { "" } else { " + " });
            index.push_str(&text);
        }
        (
            object,
            if index.is_empty() {
                "0".to_owned()
            } else {
                index
            },
        )
    }
}

/// Arithmetic whose result depends on the width that it is done in.
fn wraps(op: Op) -> bool {
    use Op::*;
    matches!(op, Not | Neg | Add | Sub | Mul | Shl)
}
