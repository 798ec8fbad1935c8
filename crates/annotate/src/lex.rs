//! C text in tokens.
//!
//! Enough of C to find expressions and statements in the text as the programmer wrote it: macros are not expanded, a
//! directive is one token with all its lines, comments and white space belong to no token.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Names and keywords.
    Word,
    Number,
    /// Strings and characters.
    Literal,
    /// Operators and brackets, the longest that fit.
    Sign,
    /// A line that begins with `#`, with those that continue it.
    Directive,
}

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// Signs of more than one character, longer ones first.
const LONG_SIGNS: [&str; 23] = [
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
];

/// The tokens of a text. A literal or comment that is never closed ends with its line or the text.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        bytes: text.as_bytes(),
        at: 0,
        line_begins: true,
    };
    std::iter::from_fn(|| lexer.next()).collect()
}

struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Nothing but white space since the line began.
    line_begins: bool,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<Token> {
        self.skip_blank();
        let start = self.at;
        let first = *self.bytes.get(start)?;
        let kind = match first {
            b'#' if self.line_begins => {
                self.skip_directive();
                Kind::Directive
            }
            b'"' | b'\'' => {
                self.skip_literal(first);
                Kind::Literal
            }
            b'0'..=b'9' => {
                self.skip_number();
                Kind::Number
            }
            b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => {
                self.skip_number();
                Kind::Number
            }
            _ if is_word(first) => {
                while self.peek(0).is_some_and(is_word) {
                    self.at += 1;
                }
                // L"..." and the like.
                match self.peek(0) {
                    Some(quote @ (b'"' | b'\'')) if self.at - start <= 2 => {
                        self.skip_literal(quote);
                        Kind::Literal
                    }
                    _ => Kind::Word,
                }
            }
            _ => {
                let rest = &self.bytes[start..];
                let long = LONG_SIGNS
                    .iter()
                    .find(|sign| rest.starts_with(sign.as_bytes()));
                self.at += long.map_or(1, |sign| sign.len());
                Kind::Sign
            }
        };
        self.line_begins = kind == Kind::Directive;
        Some(Token {
            kind,
            span: start..self.at,
        })
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'\n', _) => {
                    self.line_begins = true;
                    self.at += 1;
                }
                (b'\\', Some(b'\n')) => self.at += 2,
                (b'/', Some(b'*')) => self.skip_comment(),
                (b'/', Some(b'/')) => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
        self.at = end.map_or(self.bytes.len(), |end| self.at + end + 4);
    }

    fn skip_directive(&mut self) {
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'\n', _) => return,
                (b'\\', Some(b'\n')) => self.at += 2,
                (b'/', Some(b'*')) => self.skip_comment(),
                (b'/', Some(b'/')) => return,
                _ => self.at += 1,
            }
        }
    }

    fn skip_literal(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 1,
                b'\n' => return,
                _ if byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at = (self.at + 1).min(self.bytes.len());
        }
    }

    fn skip_number(&mut self) {
        while let Some(byte) = self.peek(0) {
            let before = self.bytes[self.at.saturating_sub(1)];
            let is_sign =
                matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
            let hexadecimal_e = is_sign && matches!(before, b'e' | b'E') && self.is_hexadecimal();
            if !(is_word(byte) || byte == b'.' || is_sign && !hexadecimal_e) {
                return;
            }
            self.at += 1;
        }
    }

    /// Whether the number that ends here begins with `0x`: its `e` is a digit.
    fn is_hexadecimal(&self) -> bool {
        let before = &self.bytes[..self.at];
        let start = before
            .iter()
            .rposition(|byte| !(is_word(*byte) || *byte == b'.'))
            .map_or(0, |last| last + 1);
        before[start..].starts_with(b"0x") || before[start..].starts_with(b"0X")
    }
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte == b'$' || byte >= 0x80 || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let tokens = tokens(text).into_iter();
        tokens.map(|token| &text[token.span]).collect()
    }

    #[test]
    fn expressions_are_cut_where_c_cuts_them() {
        assert_eq!(
            texts("a+++b->c <<= 0x1e+2 - 1e+2 + .5f;"),
            [
                "a", "++", "+", "b", "->", "c", "<<=", "0x1e", "+", "2", "-", "1e+2", "+", ".5f",
                ";"
            ]
        );
    }

    #[test]
    fn comments_belong_to_no_token_and_literals_hide_them() {
        assert_eq!(
            texts("a /* b */ \"/* c \\\" */\" // d\n'\\'' L\"e\""),
            ["a", "\"/* c \\\" */\"", "'\\''", "L\"e\""]
        );
    }

    #[test]
    fn a_directive_is_one_token_with_the_lines_that_continue_it() {
        let text = "#define A \\\n 1 /* x\n */ + 2\nint a # b;";
        let all = texts(text);
        assert_eq!(all[0], "#define A \\\n 1 /* x\n */ + 2");
        assert_eq!(all[1..], ["int", "a", "#", "b", ";"]);
    }

    #[test]
    fn what_is_never_closed_ends_the_text() {
        assert_eq!(texts("a \"b"), ["a", "\"b"]);
        assert_eq!(texts("a \"b\\"), ["a", "\"b\\"]);
        assert_eq!(texts("a /* b"), ["a"]);
    }
}
