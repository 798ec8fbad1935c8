//! One annotated source out of two versions.
//!
//! The new text is kept as it is, comments and all, and edited where the old one differs: statements are aligned
//! ([`align`](crate::align)), and each pair or single statement is annotated by the first of the paper's patterns that fits. What fits none is
//! left as in the new version and named, for somebody to look at.

mod files;
mod statements;
mod values;

use std::collections::HashSet;
use std::ops::Range;

use crate::lex::Kind;
use crate::statement::{Shape, Statement};
use crate::text::{Text, same};

/// The patterns of the paper's section 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// 1: an expression was changed.
    Value,
    /// 2: an assignment or a conditional was added or removed.
    Dummy,
    /// 3: code was added or removed.
    Code,
    /// 4: a variable was added or removed.
    Variable,
}

impl Pattern {
    pub const ALL: [Pattern; 4] = [
        Pattern::Value,
        Pattern::Dummy,
        Pattern::Code,
        Pattern::Variable,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Pattern::Value => "expression",
            Pattern::Dummy => "assignment or conditional",
            Pattern::Code => "code",
            Pattern::Variable => "variable",
        }
    }
}

/// An annotated source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unified {
    pub text: String,
    /// In the order of the file.
    pub patterns: Vec<Pattern>,
    /// Lines of the new version that are to be annotated by hand, and why.
    pub by_hand: Vec<(usize, String)>,
}

/// Makes one source of two versions.
pub fn unify(old: &str, new: &str) -> Unified {
    let (old, new) = (Text::new(old), Text::new(new));
    let mut unifier = Unifier {
        old: &old,
        new: &new,
        edits: Vec::new(),
        by_hand: Vec::new(),
        declared: HashSet::new(),
    };
    unifier.files();
    unifier.finish()
}

/// A piece of the new text that becomes another.
struct Edit {
    span: Range<usize>,
    text: String,
    pattern: Option<Pattern>,
}

struct Unifier<'u, 't> {
    old: &'u Text<'t>,
    new: &'u Text<'t>,
    edits: Vec<Edit>,
    by_hand: Vec<(usize, String)>,
    /// Names that the new version of the function declares.
    declared: HashSet<&'t str>,
}

/// The patterns do not fit.
struct Unfit;

impl<'t> Unifier<'_, 't> {
    fn finish(mut self) -> Unified {
        let new = self.new.text;
        if !self.edits.is_empty() && !crate::includes_header(new) {
            let first = self.new.tokens.iter();
            let first = first
                .filter(|token| token.kind == Kind::Directive)
                .map(|token| token.span.start)
                .next();
            let at = first.unwrap_or(0);
            self.edits.insert(
                0,
                Edit {
                    span: at..at,
                    text: "#include <parallax.h>\n".to_owned(),
                    pattern: None,
                },
            );
        }
        // What is put in at one place stays in the order in which it was found.
        self.edits.sort_by_key(|edit| edit.span.start);
        let mut text = String::with_capacity(new.len() * 2);
        let mut copied = 0;
        for edit in &self.edits {
            text.push_str(&new[copied..edit.span.start]);
            text.push_str(&edit.text);
            copied = edit.span.end;
        }
        text.push_str(&new[copied..]);
        self.by_hand.sort();
        Unified {
            text,
            patterns: self.edits.iter().filter_map(|edit| edit.pattern).collect(),
            by_hand: self.by_hand,
        }
    }

    fn replace(&mut self, span: Range<usize>, text: String, pattern: Pattern) {
        self.edits.push(Edit {
            span,
            text,
            pattern: Some(pattern),
        });
    }

    fn insert(&mut self, at: usize, text: String, pattern: Option<Pattern>) {
        self.edits.push(Edit {
            span: at..at,
            text,
            pattern,
        });
    }

    /// Inserts a line, indented as what it stands before.
    fn insert_line(&mut self, at: usize, text: String, pattern: Option<Pattern>) {
        let before = &self.new.text[..at];
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let indented: String = before[line..]
            .chars()
            .take_while(|letter| letter.is_whitespace())
            .collect();
        self.insert(at, format!("{text}\n{indented}"), pattern);
    }

    fn left(&mut self, byte: usize, why: &str) {
        self.by_hand.push((self.new.line(byte), why.to_owned()));
    }

    fn equal(&self, old: &Range<usize>, new: &Range<usize>) -> bool {
        same((self.old, old), (self.new, new))
    }
}

fn name_of<'t>(text: &Text<'t>, declaration: &Statement) -> Option<&'t str> {
    match declaration.shape {
        Shape::Declaration { name, .. } => name.map(|name| text.word(name)),
        _ => None,
    }
}
