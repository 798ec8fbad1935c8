//! Expressions as S-expressions: exact, readable back; for tests and logs.
//!
//! ```text
//! 0x2a:8                          constant of 8 bits (also decimal: 42:8)
//! (input SOURCE OFFSET VALUE)     input byte; VALUE may be left out (0)
//! (object INDEX ADDRESS)          memory object
//! (table INDEX WIDTH VALUE x)     table read at address x
//! (zext WIDTH x)                  also sext, ftof, ftos, ftou, stof, utof
//! (extract LOW WIDTH x)           WIDTH bits from bit LOW on
//! (fround MODE x)                 MODE as a number, see `Rounding`
//! (add x y)  (not x)  (ite c x y) everything else: operator, operands
//! (let ((NAME x) …) y)            names, each visible from there on
//! ```

use crate::build::{self, verbatim};
use crate::names;
use crate::share::Plan;
use crate::store::{Label, Store, value};
use parallax_abi::Op;
use std::borrow::ToOwned;
use std::collections::HashMap;
use std::format;
use std::string::String;
use std::vec::Vec;

/// How deeply terms nest between names when printed.
const PRINT_NESTING: u32 = 64;
/// How deeply a text may nest to be read.
const PARSE_NESTING: u32 = 1000;

/// The expression as text; subterms that are used more than once are named.
pub fn print<S: Store + ?Sized>(store: &S, label: Label) -> String {
    if label == 0 {
        return "nothing".to_owned();
    }
    let plan = Plan::new(store, &[label], PRINT_NESTING, |_| Vec::new());
    let mut texts: HashMap<Label, String> = HashMap::new();
    let mut bindings = String::new();
    for &label_of in &plan.order {
        let node = store.node(label_of);
        let op = Op::from_byte(node.op).unwrap_or(Op::Nothing);
        let name = names::name(op);
        // Unnamed operands are used once; leaves are short enough to be written again.
        let text = |operand: Label| texts[&operand].as_str();
        let term = match op {
            Op::Nothing => "nothing".to_owned(),
            Op::Const => format!("{:#x}:{}", value(&node), node.width),
            Op::Input => {
                let offset = u64::from(node.b) | u64::from(node.c) << 32;
                format!("(input {} {offset} {})", node.a, node.lo)
            }
            Op::Object => format!("(object {} {:#x})", node.a, node.lo),
            Op::Table => {
                format!(
                    "(table {} {} {:#x} {})",
                    node.b,
                    node.width,
                    value(&node),
                    text(node.a)
                )
            }
            Op::Extract => format!("(extract {} {} {})", node.c, node.width, text(node.a)),
            Op::FRound => format!("(fround {} {})", node.c, text(node.a)),
            _ if takes_width(op) => format!("({name} {} {})", node.width, text(node.a)),
            _ => match op.arity() {
                1 => format!("({name} {})", text(node.a)),
                2 => format!("({name} {} {})", text(node.a), text(node.b)),
                _ => format!(
                    "({name} {} {} {})",
                    text(node.a),
                    text(node.b),
                    text(node.c)
                ),
            },
        };
        if label_of != label && plan.named.contains(&label_of) {
            let separator = if bindings.is_empty() { "" } else { " " };
            bindings.push_str(&format!("{separator}(n{label_of} {term})"));
            texts.insert(label_of, format!("n{label_of}"));
        } else {
            texts.insert(label_of, term);
        }
    }
    let body = texts.remove(&label).unwrap_or_default();
    if bindings.is_empty() {
        body
    } else {
        format!("(let ({bindings}) {body})")
    }
}

/// Operators whose result width is written down.
fn takes_width(op: Op) -> bool {
    use Op::*;
    matches!(op, ZExt | SExt | FToF | FToS | FToU | SToF | UToF)
}

/// How [`parse`] makes nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construction {
    /// With all rewrite rules.
    Canonical,
    /// As the text says.
    Verbatim,
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("the text ends inside an expression")]
    UnexpectedEnd,
    #[error("`{0}` is not expected here")]
    Unexpected(String),
    #[error("`{0}` is no operator")]
    UnknownOperator(String),
    #[error("`{0}` is not defined")]
    UnknownName(String),
    #[error("`{0}` is not a number in range")]
    BadNumber(String),
    #[error("the operands of `{0}` do not fit it")]
    BadOperands(&'static str),
    #[error("the text nests more than {PARSE_NESTING} levels")]
    TooDeep,
    #[error("the expression has no value, or the store is full")]
    NotBuilt,
}

/// Reads an expression into a store.
pub fn parse<S: Store + ?Sized>(
    store: &mut S,
    text: &str,
    construction: Construction,
) -> Result<Label, ParseError> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        store,
        tokens: &tokens,
        names: HashMap::new(),
        construction,
        depth: 0,
    };
    let label = parser.expression()?;
    match parser.tokens.first() {
        Some(rest) => Err(ParseError::Unexpected((*rest).to_owned())),
        None => Ok(label),
    }
}

struct Parser<'s, 't, S: ?Sized> {
    store: &'s mut S,
    tokens: &'t [&'t str],
    names: HashMap<&'t str, Label>,
    construction: Construction,
    depth: u32,
}

impl<'t, S: Store + ?Sized> Parser<'_, 't, S> {
    fn next(&mut self) -> Result<&'t str, ParseError> {
        let (first, rest) = self.tokens.split_first().ok_or(ParseError::UnexpectedEnd)?;
        self.tokens = rest;
        Ok(first)
    }

    fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        match self.next()? {
            found if found == token => Ok(()),
            found => Err(ParseError::Unexpected(found.to_owned())),
        }
    }

    fn number(&mut self, maximum: u128) -> Result<u128, ParseError> {
        let token = self.next()?;
        number(token)
            .filter(|n| *n <= maximum)
            .ok_or_else(|| ParseError::BadNumber(token.to_owned()))
    }

    fn width(&mut self) -> Result<u32, ParseError> {
        let width = self.number(128)? as u32;
        if width == 0 {
            Err(ParseError::BadNumber("0".to_owned()))
        } else {
            Ok(width)
        }
    }

    fn expression(&mut self) -> Result<Label, ParseError> {
        let token = self.next()?;
        if token != "(" {
            return self.atom(token);
        }
        self.depth += 1;
        if self.depth > PARSE_NESTING {
            return Err(ParseError::TooDeep);
        }
        let head = self.next()?;
        let label = if head == "let" {
            self.bindings()?
        } else {
            let op = names::operator(head)
                .ok_or_else(|| ParseError::UnknownOperator(head.to_owned()))?;
            self.operation(op)?
        };
        self.expect(")")?;
        self.depth -= 1;
        if label == 0 {
            Err(ParseError::NotBuilt)
        } else {
            Ok(label)
        }
    }

    fn atom(&mut self, token: &str) -> Result<Label, ParseError> {
        let Some((digits, width)) = token.split_once(':') else {
            return self
                .names
                .get(token)
                .copied()
                .ok_or_else(|| ParseError::UnknownName(token.to_owned()));
        };
        let bad = || ParseError::BadNumber(token.to_owned());
        let width = width
            .parse::<u32>()
            .ok()
            .filter(|width| (1..=128).contains(width))
            .ok_or_else(bad)?;
        let value = number(digits)
            .filter(|v| *v <= crate::bits::mask(width))
            .ok_or_else(bad)?;
        match build::constant(self.store, width, value) {
            0 => Err(ParseError::NotBuilt),
            label => Ok(label),
        }
    }

    fn bindings(&mut self) -> Result<Label, ParseError> {
        self.expect("(")?;
        loop {
            match self.next()? {
                ")" => return self.expression(),
                "(" => {
                    let name = self.next()?;
                    let label = self.expression()?;
                    self.names.insert(name, label);
                    self.expect(")")?;
                }
                other => return Err(ParseError::Unexpected(other.to_owned())),
            }
        }
    }

    fn operation(&mut self, op: Op) -> Result<Label, ParseError> {
        match op {
            Op::Nothing | Op::Const => Err(ParseError::UnknownOperator(names::name(op).to_owned())),
            Op::Input => {
                let source = self.number(u128::from(u32::MAX))? as u32;
                let offset = self.number(u128::from(u64::MAX))? as u64;
                let value = match self.tokens.first() {
                    Some(&")") => 0,
                    _ => self.number(255)? as u8,
                };
                Ok(build::input(self.store, source, offset, value))
            }
            Op::Object => {
                let object = self.number(u128::from(u32::MAX))? as u32;
                let base = self.number(u128::from(u64::MAX))? as u64;
                Ok(build::object(self.store, object, base))
            }
            Op::Table => {
                let table = self.number(u128::from(u32::MAX))? as u32;
                let width = self.width()?;
                let value = self.number(u128::MAX)?;
                let address = self.expression()?;
                if self.width_of(address) != 64 || !width.is_multiple_of(8) {
                    return Err(ParseError::BadOperands(names::name(op)));
                }
                Ok(build::table(self.store, address, table, width, value))
            }
            Op::Ite => {
                let (c, a, b) = (self.expression()?, self.expression()?, self.expression()?);
                if self.width_of(c) != 1 || self.width_of(a) != self.width_of(b) {
                    return Err(ParseError::BadOperands(names::name(op)));
                }
                Ok(match self.construction {
                    Construction::Canonical => build::ite(self.store, c, a, b),
                    Construction::Verbatim => verbatim::ite(self.store, c, a, b),
                })
            }
            _ if op.arity() == 1 => self.unary(op),
            _ => self.binary(op),
        }
    }

    fn unary(&mut self, op: Op) -> Result<Label, ParseError> {
        let extra = match op {
            Op::Extract => self.number(127)? as u32,
            Op::FRound => self.number(4)? as u32,
            _ => 0,
        };
        let written = if op == Op::Extract || takes_width(op) {
            Some(self.width()?)
        } else {
            None
        };
        let a = self.expression()?;
        let from = self.width_of(a);
        let to = written.unwrap_or(from);
        let fits = match op {
            Op::Extract => extra + to <= from,
            Op::ZExt | Op::SExt => to >= from,
            Op::ByteSwap => from.is_multiple_of(8),
            _ => true,
        };
        if !fits {
            return Err(ParseError::BadOperands(names::name(op)));
        }
        Ok(match self.construction {
            Construction::Canonical => build::unary(self.store, op, a, to, extra),
            Construction::Verbatim => verbatim::unary(self.store, op, a, to, extra),
        })
    }

    fn binary(&mut self, op: Op) -> Result<Label, ParseError> {
        let (a, b) = (self.expression()?, self.expression()?);
        let (p, q) = (self.width_of(a), self.width_of(b));
        let fits = if op == Op::Concat {
            p + q <= 128
        } else {
            p == q
        };
        if !fits {
            return Err(ParseError::BadOperands(names::name(op)));
        }
        Ok(match self.construction {
            Construction::Canonical => build::binary(self.store, op, a, b),
            Construction::Verbatim => verbatim::binary(self.store, op, a, b),
        })
    }

    fn width_of(&self, label: Label) -> u32 {
        u32::from(self.store.node(label).width)
    }
}

fn number(token: &str) -> Option<u128> {
    match token.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => token.parse().ok(),
    }
}
