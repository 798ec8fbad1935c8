//! Texts with C's precedences, put in parentheses where they need them.

use std::format;
use std::string::String;

/// How tightly a text holds together, as in C's grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Choice,
    LogicalOr,
    LogicalAnd,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Order,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

/// A text and how tightly it holds together.
pub(super) struct Piece {
    pub text: String,
    level: Level,
}

impl Piece {
    pub fn new(text: String, level: Level) -> Piece {
        Piece { text, level }
    }

    pub fn primary(text: String) -> Piece {
        Piece::new(text, Level::Primary)
    }

    /// In parentheses unless it holds together at least as tightly as `level`.
    pub fn at(self, level: Level) -> String {
        if self.level >= level {
            self.text
        } else {
            format!("({})", self.text)
        }
    }

    /// In parentheses unless it holds together more tightly than `level`.
    pub fn above(self, level: Level) -> String {
        if self.level > level {
            self.text
        } else {
            format!("({})", self.text)
        }
    }
}
