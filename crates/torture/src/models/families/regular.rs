//! Cases for regular expressions.

use crate::models::case::Case;
use crate::models::words::{int, string};
use crate::rng::Rng;

/// Pieces of patterns that mean the same however they are put together. `regcomp` takes a
/// second operator behind one for an error, so that pieces with one are closed.
const BASIC: &[&str] = &[
    "a",
    "b",
    "c",
    ".",
    "\\(.*\\)",
    "[ab]",
    "[^a]",
    "\\([a-c]*\\)",
    "[[:alpha:]]",
    "[]a]",
    "\\.",
    "\\\\",
    "\\(a\\{1,2\\}\\)",
    "\\(b\\{2\\}\\)",
    "\\(a\\+\\)",
    "\\(b\\?\\)",
    "\\(a\\|b\\)",
    "\\(ab*\\)",
    "\\|",
];
const EXTENDED: &[&str] = &[
    "a",
    "b",
    "c",
    ".",
    "(.*)",
    "[ab]",
    "[^a]",
    "([a-c]*)",
    "[[:alpha:]]",
    "[]a]",
    "\\.",
    "\\\\",
    "(a{1,2})",
    "(b{2})",
    "(a+)",
    "(b?)",
    "(a|b)",
    "(ab*)",
    "|",
];

const REG_EXTENDED: i32 = 1;
const MATCH_FLAGS: usize = 4;

pub fn regular(rng: &mut Rng) -> Case {
    let check = *rng.pick(&["regexec", "regexec", "re_search"]);
    let text = string(rng, b"aaabbcAB.\n\\]", 7);
    let flags = match check {
        "regexec" => rng.below(16) as i32,
        _ => rng.below(16) as i32 & !REG_EXTENDED,
    };
    let pieces = if flags & REG_EXTENDED != 0 {
        EXTENDED
    } else {
        BASIC
    };
    let mut pattern: String = (0..rng.between(1, 4)).map(|_| *rng.pick(pieces)).collect();
    // Empty alternatives have their own rules.
    pattern = pattern
        .trim_matches(['|', '\\'])
        .replace("||", "|")
        .replace("\\|\\|", "\\|");
    // Anchors in the middle match at newlines although they should not.
    if rng.one_in(4) && !pattern.contains('|') {
        pattern.insert(0, '^');
    }
    if rng.one_in(4) && !pattern.contains('|') {
        pattern.push('$');
    }
    let last = match check {
        "regexec" => rng.below(MATCH_FLAGS),
        _ => rng.below(text.len() + 1),
    };
    let case = Case::new(check, rng);
    case.mixed([pattern.as_bytes(), &[0]].concat(), rng)
        .text(text)
        .concrete(int(flags))
        .concrete(int(last as i32))
}
