//! Statements and the items of a file as trees over tokens.

use std::ops::Range;

use crate::expression::is_type_word;
use crate::lex::Kind;
use crate::text::Text;

/// A statement.
#[derive(Debug)]
pub struct Statement {
    pub tokens: Range<usize>,
    pub shape: Shape,
}

#[derive(Debug)]
pub enum Shape {
    Block(Vec<Statement>),
    If {
        condition: Range<usize>,
        then: Box<Statement>,
        otherwise: Option<Box<Statement>>,
    },
    /// Anything else with an expression and a body: `while`, `switch`.
    Guarded {
        expression: Range<usize>,
        body: Box<Statement>,
    },
    For {
        parts: [Range<usize>; 3],
        body: Box<Statement>,
    },
    Do {
        body: Box<Statement>,
        condition: Range<usize>,
    },
    /// A label or case, without what follows.
    Label,
    Return(Range<usize>),
    /// The name that is declared, and its initial value.
    Declaration {
        name: Option<usize>,
        initial: Option<Range<usize>>,
    },
    Expression(Range<usize>),
    /// `break`, `goto`, ..., and what cannot be read.
    Other,
    Directive,
}

impl Statement {
    /// Shows the statement and all that are inside of it.
    pub fn walk(&self, see: &mut dyn FnMut(&Statement)) {
        see(self);
        match &self.shape {
            Shape::Block(list) => list.iter().for_each(|inner| inner.walk(see)),
            Shape::If {
                then, otherwise, ..
            } => {
                then.walk(see);
                if let Some(otherwise) = otherwise {
                    otherwise.walk(see);
                }
            }
            Shape::Guarded { body, .. } | Shape::For { body, .. } | Shape::Do { body, .. } => {
                body.walk(see);
            }
            Shape::Label
            | Shape::Return(_)
            | Shape::Declaration { .. }
            | Shape::Expression(_)
            | Shape::Other
            | Shape::Directive => {}
        }
    }
}

/// What a file consists of.
#[derive(Debug)]
pub struct Item {
    pub tokens: Range<usize>,
    pub kind: ItemKind,
}

#[derive(Debug)]
pub enum ItemKind {
    Function { name: usize, body: Statement },
    Declaration(Statement),
    Directive,
}

/// The items of a file.
pub fn items(text: &Text<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < text.tokens.len() {
        let item = item(text, at);
        at = item.tokens.end;
        items.push(item);
    }
    items
}

fn item(text: &Text<'_>, start: usize) -> Item {
    if text.kind(start) == Some(Kind::Directive) {
        return Item {
            tokens: start..start + 1,
            kind: ItemKind::Directive,
        };
    }
    let mut parameters = None;
    let mut has_value = false;
    let mut at = start;
    while at < text.tokens.len() {
        match text.word(at) {
            "(" => {
                let close = text.closing(at);
                if at > start && text.kind(at - 1) == Some(Kind::Word) {
                    parameters = Some(at - 1);
                }
                at = close;
            }
            "=" => has_value = true,
            "{" => {
                let close = text.closing(at);
                if let Some(name) = parameters
                    && !has_value
                {
                    let end = (close + 1).min(text.tokens.len());
                    let body = Reader { text, end }.statement(at);
                    return Item {
                        tokens: start..end,
                        kind: ItemKind::Function { name, body },
                    };
                }
                at = close;
            }
            "[" => at = text.closing(at),
            ";" => break,
            // A directive in the middle of a declaration is left alone with it.
            _ => {}
        }
        at += 1;
    }
    let end = (at + 1).min(text.tokens.len());
    Item {
        tokens: start..end,
        kind: ItemKind::Declaration(declaration(text, start..end)),
    }
}

struct Reader<'r, 't> {
    text: &'r Text<'t>,
    end: usize,
}

impl Reader<'_, '_> {
    fn word(&self, at: usize) -> &str {
        match at < self.end {
            true => self.text.word(at),
            false => "",
        }
    }

    fn statement(&self, start: usize) -> Statement {
        let make = |end: usize, shape: Shape| Statement {
            tokens: start..end.min(self.end).max(start + 1),
            shape,
        };
        if self.text.kind(start) == Some(Kind::Directive) {
            return make(start + 1, Shape::Directive);
        }
        match self.word(start) {
            "{" => {
                let close = self.text.closing(start).min(self.end);
                let inner = Reader {
                    text: self.text,
                    end: close,
                };
                let mut list = Vec::new();
                let mut at = start + 1;
                while at < close {
                    let next = inner.statement(at);
                    at = next.tokens.end;
                    list.push(next);
                }
                make(close + 1, Shape::Block(list))
            }
            "if" if self.word(start + 1) == "(" => {
                let close = self.text.closing(start + 1);
                let then = self.statement(close + 1);
                let mut end = then.tokens.end;
                let otherwise = (self.word(end) == "else").then(|| {
                    let otherwise = self.statement(end + 1);
                    end = otherwise.tokens.end;
                    Box::new(otherwise)
                });
                make(
                    end,
                    Shape::If {
                        condition: start + 2..close,
                        then: Box::new(then),
                        otherwise,
                    },
                )
            }
            "while" | "switch" if self.word(start + 1) == "(" => {
                let close = self.text.closing(start + 1);
                let body = self.statement(close + 1);
                make(
                    body.tokens.end,
                    Shape::Guarded {
                        expression: start + 2..close,
                        body: Box::new(body),
                    },
                )
            }
            "for" if self.word(start + 1) == "(" => self.for_statement(start),
            "do" => {
                let body = self.statement(start + 1);
                let open = body.tokens.end + 1;
                let close = self.text.closing(open);
                make(
                    close + 2,
                    Shape::Do {
                        body: Box::new(body),
                        condition: open + 1..close,
                    },
                )
            }
            "case" | "default" => {
                let mut at = start;
                while at < self.end && self.word(at) != ":" {
                    at += 1;
                }
                make(at + 1, Shape::Label)
            }
            "return" => {
                let end = self.semicolon(start);
                make(end + 1, Shape::Return(start + 1..end))
            }
            "break" | "continue" | "goto" | "else" | ";" => {
                make(self.semicolon(start) + 1, Shape::Other)
            }
            _ if self.text.kind(start) == Some(Kind::Word) && self.word(start + 1) == ":" => {
                make(start + 2, Shape::Label)
            }
            _ => {
                let end = self.semicolon(start);
                match is_declaration(self.text, start, end) {
                    true => declaration(self.text, start..(end + 1).min(self.end)),
                    false => make(end + 1, Shape::Expression(start..end)),
                }
            }
        }
    }

    fn for_statement(&self, start: usize) -> Statement {
        let close = self.text.closing(start + 1);
        let mut parts = vec![];
        let mut from = start + 2;
        let mut at = from;
        while at < close && parts.len() < 2 {
            match self.word(at) {
                "(" | "[" | "{" => at = self.text.closing(at),
                ";" => {
                    parts.push(from..at);
                    from = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        let body = self.statement(close + 1);
        let tokens = start..body.tokens.end;
        parts.push(from..close);
        let shape = match <[Range<usize>; 3]>::try_from(parts) {
            Ok(parts) => Shape::For {
                parts,
                body: Box::new(body),
            },
            Err(_) => Shape::Other,
        };
        Statement { tokens, shape }
    }

    /// The semicolon that ends a statement, or where the block ends.
    fn semicolon(&self, start: usize) -> usize {
        let mut at = start;
        while at < self.end {
            match self.word(at) {
                "(" | "[" | "{" => at = self.text.closing(at),
                ";" => return at,
                _ => {}
            }
            at += 1;
        }
        self.end
    }
}

fn is_declaration(text: &Text<'_>, start: usize, end: usize) -> bool {
    const STORAGE: [&str; 5] = ["static", "extern", "register", "auto", "typedef"];
    let word = text.word(start);
    if STORAGE.contains(&word) || is_type_word(word) {
        return true;
    }
    // `name name`, or `name * name` with a value or nothing behind it.
    let mut at = start + 1;
    while text.word(at) == "*" || text.word(at) == "const" {
        at += 1;
    }
    let is_name = |at: usize| at < end && text.kind(at) == Some(Kind::Word);
    is_name(start)
        && is_name(at)
        && (at == end - 1 || matches!(text.word(at + 1), "=" | "[" | "," | ";"))
}

fn declaration(text: &Text<'_>, tokens: Range<usize>) -> Statement {
    let mut value = None;
    let mut name = None;
    let mut commas = 0;
    let mut at = tokens.start;
    while at < tokens.end {
        match text.word(at) {
            "=" if value.is_none() => value = Some(at),
            "," => commas += 1,
            "(" | "[" | "{" => at = text.closing(at),
            _ if text.kind(at) == Some(Kind::Word) && value.is_none() && commas == 0 => {
                name = Some(at);
            }
            _ => {}
        }
        at += 1;
    }
    let last = tokens.end - 1;
    let initial = value.filter(|value| commas == 0 && *value + 1 < last);
    Statement {
        shape: Shape::Declaration {
            name: name.filter(|_| commas == 0),
            initial: initial.map(|value| value + 1..last),
        },
        tokens,
    }
}
