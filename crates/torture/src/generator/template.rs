//! Expands the unit templates: C text with places to fill in at random.
//!
//! | in a template | becomes |
//! |---|---|
//! | `$n` | number of the unit |
//! | `$k`, `$K` | a 32-bit, a 64-bit constant |
//! | `$b` | a constant below 256 |
//! | `$s` | a number from 1 to 9 |
//! | `$w` | a shift amount from 1 to 31 |
//! | `$p` | a prime below 100 |
//! | `$i` | an index into the input, below 64 |
//! | `$e{T: a T1, b T2}` | an expression of type T over the variables `a` and `b` |
//! | `$[x$|y$|z$]` | one of the alternatives (which may contain all of the above) |
//!
//! Every occurrence is drawn anew. Templates are part of the program, so a mistake in one is a
//! bug, and panics.

use super::expr::{Var, expression};
use super::types::Type;
use crate::rng::Rng;

const PRIMES: &[u32] = &[
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 53, 61, 73, 89, 97,
];

/// Expands `template` as unit `number`.
pub fn expand(rng: &mut Rng, template: &str, number: usize) -> String {
    let mut output = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        output.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let kind = rest.chars().next().expect("a template ends with `$`");
        rest = &rest[kind.len_utf8()..];
        match kind {
            'n' => output.push_str(&number.to_string()),
            'k' => output.push_str(&format!("{:#x}u", rng.next_u64() as u32)),
            'K' => output.push_str(&format!("{:#x}ull", rng.next_u64())),
            'b' => output.push_str(&rng.below(256).to_string()),
            's' => output.push_str(&rng.between(1, 9).to_string()),
            'w' => output.push_str(&rng.between(1, 31).to_string()),
            'p' => output.push_str(&rng.pick(PRIMES).to_string()),
            'i' => output.push_str(&rng.below(64).to_string()),
            'e' => {
                let close = rest.find('}').expect("`$e{` without `}`");
                output.push_str(&fill_expression(rng, &rest[1..close]));
                rest = &rest[close + 1..];
            }
            '[' => {
                let (alternatives, after) = split_alternatives(rest);
                let chosen = *rng.pick(&alternatives);
                output.push_str(&expand(rng, chosen, number));
                rest = after;
            }
            other => panic!("`${other}` means nothing in a template"),
        }
    }
    output.push_str(rest);
    output
}

/// `T: a T1, b T2` to an expression.
fn fill_expression(rng: &mut Rng, spec: &str) -> String {
    let (ty, list) = spec.split_once(':').unwrap_or((spec, ""));
    let parse = |name: &str| {
        Type::parse(name.trim()).unwrap_or_else(|| panic!("`{name}` is no type of the prelude"))
    };
    let vars: Vec<Var> = list
        .split(',')
        .filter(|item| !item.trim().is_empty())
        .map(|item| {
            let (text, ty) = item
                .trim()
                .rsplit_once(' ')
                .unwrap_or_else(|| panic!("variable without type: `{item}`"));
            Var {
                text: format!("({})", text.trim()),
                ty: parse(ty),
            }
        })
        .collect();
    let depth = rng.between(1, 3);
    expression(rng, &vars, parse(ty), depth)
}

/// The alternatives up to the matching `$]`, and what follows it.
fn split_alternatives(text: &str) -> (Vec<&str>, &str) {
    let mut alternatives = Vec::new();
    let mut level = 0;
    let mut start = 0;
    let mut at = 0;
    while let Some(next) = text[at..].find('$') {
        at += next;
        match text[at + 1..].chars().next() {
            Some('[') => level += 1,
            Some(']') if level == 0 => {
                alternatives.push(&text[start..at]);
                return (alternatives, &text[at + 2..]);
            }
            Some(']') => level -= 1,
            Some('|') if level == 0 => {
                alternatives.push(&text[start..at]);
                start = at + 2;
            }
            _ => {}
        }
        at += 2;
    }
    panic!("`$[` without `$]`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_nest() {
        let (alternatives, after) = split_alternatives("a$|b$[c$|d$]e$] rest");
        assert_eq!(alternatives, ["a", "b$[c$|d$]e"]);
        assert_eq!(after, " rest");
    }

    #[test]
    fn text_without_places_stays_as_it_is() {
        assert_eq!(expand(&mut Rng::new(1), "int x;\n", 3), "int x;\n");
    }

    #[test]
    fn the_unit_number_is_filled_in_everywhere() {
        let text = expand(&mut Rng::new(1), "$[u$n$|u$n$](void) /* $n */", 12);
        assert_eq!(text, "u12(void) /* 12 */");
    }
}
