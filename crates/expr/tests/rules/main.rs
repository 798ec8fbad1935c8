//! Every rewrite rule, named: what is written, and what it becomes.
//!
//! `b0`, `b1`, … are input bytes; `w0`… 32-bit and `p0`… one-bit opaque values.

mod algebra;
mod conditions;
mod parts;

use parallax_expr::MemoryStore;
use parallax_expr::sexpr::{Construction, parse, print};

/// Opaque terms of several widths, which no rule takes apart: table reads and
/// predicates on them.
fn names(text: &str) -> String {
    let bytes: String = (0..8).map(|i| format!("(b{i} (input 0 {i}))")).collect();
    let words: String = (0..3)
        .map(|i| {
            format!("(w{i} (table {i} 32 0 (object {i} 0))) (q{i} (table {i} 64 0 (object {i} 0)))")
        })
        .collect();
    let bits: String = (0..3)
        .map(|i| format!("(p{i} (fisnan (table {i} 32 0 (object {i} 0))))"))
        .collect();
    format!("(let ({bytes}{words}{bits}) {text})")
}

/// Asserts that canonical construction of `written` is `expected`, taken as it stands.
#[track_caller]
fn becomes(written: &str, expected: &str) {
    let mut store = MemoryStore::new();
    let actual =
        parse(&mut store, &names(written), Construction::Canonical).expect("a valid expression");
    let wanted =
        parse(&mut store, &names(expected), Construction::Verbatim).expect("a valid expression");
    assert!(
        actual == wanted,
        "{written}\n  became    {}\n  and not   {}",
        print(&store, actual),
        print(&store, wanted)
    );
}

#[track_caller]
fn stays(written: &str) {
    becomes(written, written);
}
