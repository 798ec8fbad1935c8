//! Expressions for people: C, with the input's names in it.
//!
//! ```text
//! stdin[0] == 'a'                        one input byte, compared as a character
//! u32(file("x")[0..4]) < 100             bytes 0 to 3, little endian; u32be(…) is big endian
//! argv[1][0..4] == "--he"                several bytes compared with text
//! i8(stdin[3]) < 0                       i8, i32 …: read as a signed number; everything else is unsigned
//! u8(stdin[0] + stdin[1]) >= 10          u8, u16 …: arithmetic that wraps at fewer than 32 bits
//! bits(x, 3..7), bit(x, 2)               part of a value
//! table[stdin[0]]                        a table read; u32(table[n..]) for more than one byte
//! f64(stdin[0..8]) < 1.5                 floating point
//! t1 * t1 < 5 where t1 = …               what is used often and long gets a name
//! …                                      cut: the expression is larger than the limits
//! ```

mod bytes;
mod condition;
mod float;
mod number;
mod piece;
mod write;

use crate::store::{Label, Store};
use std::format;
use std::string::String;
use write::Writer;

/// What things are called.
pub trait Names {
    /// An input source: `argv[1]`, `stdin`, `file("x")`.
    fn source(&self, source: u32) -> String;

    /// A memory object.
    fn object(&self, object: u32) -> String {
        format!("object{object}")
    }
}

impl<F: Fn(u32) -> String> Names for F {
    fn source(&self, source: u32) -> String {
        self(source)
    }
}

/// How much to write.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nesting of operators.
    pub depth: u32,
    /// Operators and leaves altogether.
    pub terms: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 24,
            terms: 300,
        }
    }
}

/// The expression as text. Conditions (one bit) are written as such.
pub fn render<S: Store + ?Sized>(
    store: &S,
    label: Label,
    names: &dyn Names,
    limits: Limits,
) -> String {
    Writer::new(store, names, limits).whole(label, true)
}

/// A condition as it held: its negation if `holds` is false.
pub fn render_condition<S: Store + ?Sized>(
    store: &S,
    label: Label,
    holds: bool,
    names: &dyn Names,
    limits: Limits,
) -> String {
    Writer::new(store, names, limits).whole(label, holds)
}
