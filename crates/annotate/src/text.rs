//! A text with its tokens.

use std::ops::Range;

use crate::lex::{Kind, Token, tokens};

/// A text, cut. Ranges of tokens are by number.
pub struct Text<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
}

impl<'t> Text<'t> {
    pub fn new(text: &'t str) -> Text<'t> {
        Text {
            text,
            tokens: tokens(text),
        }
    }

    /// What a token is; empty behind the last one.
    pub fn word(&self, at: usize) -> &'t str {
        match self.tokens.get(at) {
            Some(token) => &self.text[token.span.clone()],
            None => "",
        }
    }

    pub fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// Where a range of tokens stands in the text.
    pub fn span(&self, range: &Range<usize>) -> Range<usize> {
        match range.is_empty() {
            true => {
                let at = self.tokens.get(range.start);
                let at = at.map_or(self.text.len(), |token| token.span.start);
                at..at
            }
            false => self.tokens[range.start].span.start..self.tokens[range.end - 1].span.end,
        }
    }

    /// The text of a range of tokens.
    pub fn part(&self, range: &Range<usize>) -> &'t str {
        &self.text[self.span(range)]
    }

    pub fn words(&self, range: &Range<usize>) -> impl Iterator<Item = &'t str> {
        range.clone().map(|at| self.word(at))
    }

    /// The number of a line's bytes' line.
    pub fn line(&self, byte: usize) -> usize {
        1 + self.text[..byte].matches('\n').count()
    }

    /// The bracket that closes the one at a token; the end of the text if none does.
    pub fn closing(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            if self.kind(at) != Some(Kind::Sign) {
                continue;
            }
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len()
    }
}

/// Whether two ranges of tokens are the same but for white space and comments.
pub fn same(old: (&Text<'_>, &Range<usize>), new: (&Text<'_>, &Range<usize>)) -> bool {
    old.1.len() == new.1.len() && old.0.words(old.1).eq(new.0.words(new.1))
}
