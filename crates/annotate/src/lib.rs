//! Two versions of a C source in one: `change(old, new)` of `parallax.h` (Shadow, ICSE 2016, section 3.1).
//!
//! All of this is text: nothing is compiled, macros are not looked into. [`side()`] gives one version of an annotated source.

mod lex;
mod side;

pub use side::{Side, includes_header, side};
