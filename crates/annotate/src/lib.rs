//! Two versions of a C source in one: `change(old, new)` of `parallax.h` (Shadow, ICSE 2016, section 3.1).
//!
//! All of this is text: nothing is compiled, macros are not looked into. [`side()`] gives one version of an annotated source, and
//! [`unify()`] proposes an annotated source for two versions.

mod align;
mod expression;
mod lex;
mod side;
mod statement;
mod text;
mod unify;

pub use side::{Side, includes_header, side};
pub use unify::{Pattern, Unified, unify};
