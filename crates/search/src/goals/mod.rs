//! What searches look for, one module each. Goals do not know each other.

pub mod code;
pub mod differences;
pub mod failures;
pub mod lines;
pub mod orders;
