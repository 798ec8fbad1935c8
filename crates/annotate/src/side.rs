//! One version out of an annotated source.

use crate::lex::{Kind, Token, tokens};

/// A version of an annotated program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Old,
    New,
}

/// The text in which every `change(old, new)` is what it is in one version. Lines stay where they are.
pub fn side(text: &str, side: Side) -> String {
    let all = tokens(text);
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while at < all.len() {
        if all[at].kind == Kind::Directive {
            // What a macro stands for.
            let inside = all[at].span.start + 1..all[at].span.end;
            result.push_str(&text[copied..inside.start]);
            result.push_str(&self::side(&text[inside.clone()], side));
            copied = inside.end;
            at += 1;
            continue;
        }
        let Some(call) = Call::at(text, &all, at) else {
            at += 1;
            continue;
        };
        let [old, new] = &call.arguments;
        let chosen = match side {
            Side::Old => old,
            Side::New => new,
        };
        result.push_str(&text[copied..call.whole.start]);
        let chosen = self::side(&text[chosen.clone()], side);
        // Annotations inside of annotations are chosen from, too.
        let lost = newlines(&text[call.whole.clone()]) - newlines(&chosen);
        result.push('(');
        result.push_str(&chosen);
        result.push(')');
        result.extend(std::iter::repeat_n('\n', lost));
        copied = call.whole.end;
        at = call.behind;
    }
    result.push_str(&text[copied..]);
    result
}

/// Whether a source or header includes `parallax.h`.
pub fn includes_header(text: &str) -> bool {
    let is_it = |token: Token| {
        let words = text[token.span].trim_start_matches('#').trim_start();
        let file = words.strip_prefix("include").map(str::trim_start);
        let names = ["<parallax.h>", "\"parallax.h\""];
        file.is_some_and(|file| names.iter().any(|name| file.starts_with(name)))
    };
    let all = tokens(text).into_iter();
    let mut directives = all.filter(|token| token.kind == Kind::Directive);
    directives.any(is_it)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// A use of the macro.
struct Call {
    whole: std::ops::Range<usize>,
    arguments: [std::ops::Range<usize>; 2],
    /// The token behind it.
    behind: usize,
}

impl Call {
    fn at(text: &str, all: &[Token], at: usize) -> Option<Call> {
        let is = |token: &Token, wanted: &str| &text[token.span.clone()] == wanted;
        let name = &all[at];
        let open = all.get(at + 1)?;
        if name.kind != Kind::Word || !is(name, "change") || !is(open, "(") {
            return None;
        }
        let mut depth = 0;
        let mut commas = Vec::new();
        for (number, token) in (at + 1..).zip(&all[at + 1..]) {
            if token.kind != Kind::Sign {
                continue;
            }
            match &text[token.span.clone()] {
                "(" => depth += 1,
                "," if depth == 1 => commas.push(token.span.clone()),
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let [comma] = commas.as_slice() else {
                    return None;
                };
                return Some(Call {
                    whole: name.span.start..token.span.end,
                    arguments: [open.span.end..comma.start, comma.end..token.span.start],
                    behind: number + 1,
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_is_one_argument() {
        let text = "x = y + change(a(1, 2), \"b, )\") * 2;\nchange(1)\n";
        assert_eq!(side(text, Side::Old), "x = y + (a(1, 2)) * 2;\nchange(1)\n");
        assert_eq!(
            side(text, Side::New),
            "x = y + ( \"b, )\") * 2;\nchange(1)\n"
        );
    }

    #[test]
    fn the_header_is_seen_where_it_is_included() {
        assert!(includes_header(
            "int a;\n # include  <parallax.h> // both\n"
        ));
        assert!(includes_header("#include \"parallax.h\"\n"));
        assert!(!includes_header("// #include <parallax.h>\n#define A\n"));
    }

    #[test]
    fn lines_stay_where_they_are() {
        let text = "#define A change(1, 2) + 3\nif (change(a,\n  change(b, c)) )\n  d;\n";
        assert_eq!(
            side(text, Side::Old),
            "#define A (1) + 3\nif ((a)\n )\n  d;\n"
        );
        assert_eq!(
            side(text, Side::New),
            "#define A ( 2) + 3\nif ((\n  ( c)) )\n  d;\n"
        );
    }
}
