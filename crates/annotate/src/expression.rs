//! Expressions as trees over tokens.

use std::ops::Range;

use crate::lex::Kind;
use crate::text::Text;

/// An expression.
#[derive(Debug)]
pub struct Expression {
    pub tokens: Range<usize>,
    pub form: Form,
}

#[derive(Debug)]
pub enum Form {
    /// Names, numbers, literals, and what could not be read.
    Leaf,
    /// An operator before or behind one operand; also a cast and brackets.
    Around(Box<Expression>),
    /// An operator between two.
    Between {
        operator: usize,
        sides: Box<[Expression; 2]>,
    },
    Choice(Box<[Expression; 3]>),
    /// The called expression and its arguments, or the array and its index.
    Call(Vec<Expression>),
    /// A member of an operand.
    Member,
    Assign {
        operator: usize,
        sides: Box<[Expression; 2]>,
    },
}

const TYPE_WORDS: [&str; 16] = [
    "char", "const", "double", "enum", "float", "int", "long", "short", "signed", "struct",
    "union", "unsigned", "void", "volatile", "bool", "_Bool",
];

/// Whether a word begins a type for sure.
pub fn is_type_word(word: &str) -> bool {
    TYPE_WORDS.contains(&word) || word.ends_with("_t")
}

/// Reads tokens as one expression; a leaf if they are none.
pub fn expression(text: &Text<'_>, tokens: Range<usize>) -> Expression {
    let mut reader = Reader {
        text,
        at: tokens.start,
        end: tokens.end,
    };
    match reader.sequence() {
        Some(read) if reader.at == tokens.end => read,
        _ => Expression {
            tokens,
            form: Form::Leaf,
        },
    }
}

struct Reader<'r, 't> {
    text: &'r Text<'t>,
    at: usize,
    end: usize,
}

impl Reader<'_, '_> {
    fn word(&self) -> &str {
        match self.at < self.end {
            true => self.text.word(self.at),
            false => "",
        }
    }

    fn sequence(&mut self) -> Option<Expression> {
        let mut left = self.assignment()?;
        while self.word() == "," {
            left = self.between(left, Reader::assignment)?;
        }
        Some(left)
    }

    fn between(
        &mut self,
        left: Expression,
        right: fn(&mut Self) -> Option<Expression>,
    ) -> Option<Expression> {
        let operator = self.at;
        self.at += 1;
        let right = right(self)?;
        Some(Expression {
            tokens: left.tokens.start..right.tokens.end,
            form: Form::Between {
                operator,
                sides: Box::new([left, right]),
            },
        })
    }

    fn assignment(&mut self) -> Option<Expression> {
        const OPERATORS: [&str; 11] = [
            "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=",
        ];
        let left = self.choice()?;
        if !OPERATORS.contains(&self.word()) {
            return Some(left);
        }
        let operator = self.at;
        self.at += 1;
        let right = self.assignment()?;
        Some(Expression {
            tokens: left.tokens.start..right.tokens.end,
            form: Form::Assign {
                operator,
                sides: Box::new([left, right]),
            },
        })
    }

    fn choice(&mut self) -> Option<Expression> {
        let condition = self.binary(0)?;
        if self.word() != "?" {
            return Some(condition);
        }
        self.at += 1;
        let then = self.sequence()?;
        if self.word() != ":" {
            return None;
        }
        self.at += 1;
        let otherwise = self.assignment()?;
        Some(Expression {
            tokens: condition.tokens.start..otherwise.tokens.end,
            form: Form::Choice(Box::new([condition, then, otherwise])),
        })
    }

    fn binary(&mut self, level: usize) -> Option<Expression> {
        const LEVELS: [&[&str]; 10] = [
            &["||"],
            &["&&"],
            &["|"],
            &["^"],
            &["&"],
            &["==", "!="],
            &["<", ">", "<=", ">="],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.prefix();
        };
        let mut left = self.binary(level + 1)?;
        while operators.contains(&self.word()) {
            let operator = self.at;
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Expression {
                tokens: left.tokens.start..right.tokens.end,
                form: Form::Between {
                    operator,
                    sides: Box::new([left, right]),
                },
            };
        }
        Some(left)
    }

    fn prefix(&mut self) -> Option<Expression> {
        const OPERATORS: [&str; 9] = ["!", "~", "-", "+", "*", "&", "++", "--", "sizeof"];
        let start = self.at;
        let is_cast = self.word() == "(" && self.is_cast();
        if is_cast {
            self.at = self.text.closing(self.at) + 1;
        } else if OPERATORS.contains(&self.word()) {
            let is_size = self.word() == "sizeof";
            self.at += 1;
            // `sizeof (type)` has no operand.
            if is_size && self.word() == "(" && self.is_type(self.at + 1) {
                self.at = self.text.closing(self.at) + 1;
                return Some(Expression {
                    tokens: start..self.at,
                    form: Form::Leaf,
                });
            }
        } else {
            return self.suffixed();
        }
        let inner = self.prefix()?;
        Some(Expression {
            tokens: start..inner.tokens.end,
            form: Form::Around(Box::new(inner)),
        })
    }

    fn is_type(&self, at: usize) -> bool {
        is_type_word(self.text.word(at))
    }

    /// Whether the bracket here holds a type: by its words, or because an operand stands right behind it.
    fn is_cast(&self) -> bool {
        if self.is_type(self.at + 1) {
            return true;
        }
        let close = self.text.closing(self.at);
        let mut inside = self.at + 1..close;
        let is_plain =
            inside.all(|at| self.text.kind(at) == Some(Kind::Word) || self.text.word(at) == "*");
        let behind = close + 1;
        let follows = behind < self.end
            && matches!(
                self.text.kind(behind),
                Some(Kind::Word | Kind::Number | Kind::Literal)
            );
        is_plain && close > self.at + 1 && follows
    }

    fn suffixed(&mut self) -> Option<Expression> {
        let mut operand = self.primary()?;
        loop {
            let start = operand.tokens.start;
            let form = match self.word() {
                "(" | "[" => {
                    let close = self.text.closing(self.at);
                    if close >= self.end {
                        return None;
                    }
                    let mut parts = vec![operand];
                    self.at += 1;
                    while self.at < close {
                        parts.push(self.assignment()?);
                        match self.word() {
                            "," => self.at += 1,
                            _ if self.at == close => {}
                            _ => return None,
                        }
                    }
                    self.at = close + 1;
                    Form::Call(parts)
                }
                "." | "->" => {
                    self.at += 2;
                    Form::Member
                }
                "++" | "--" => {
                    self.at += 1;
                    Form::Around(Box::new(operand))
                }
                _ => return Some(operand),
            };
            operand = Expression {
                tokens: start..self.at,
                form,
            };
        }
    }

    fn primary(&mut self) -> Option<Expression> {
        let start = self.at;
        if start >= self.end {
            return None;
        }
        if self.word() == "(" {
            let close = self.text.closing(start);
            if close >= self.end {
                return None;
            }
            self.at += 1;
            let inner = self.sequence()?;
            if self.at != close {
                return None;
            }
            self.at = close + 1;
            return Some(Expression {
                tokens: start..self.at,
                form: Form::Around(Box::new(inner)),
            });
        }
        let is_literal = |at: usize| self.text.kind(at) == Some(Kind::Literal);
        match self.text.kind(start)? {
            Kind::Word | Kind::Number => self.at += 1,
            // Strings one behind the other are one.
            Kind::Literal => {
                self.at += 1;
                while self.at < self.end && is_literal(self.at) {
                    self.at += 1;
                }
            }
            Kind::Sign | Kind::Directive => return None,
        }
        Some(Expression {
            tokens: start..self.at,
            form: Form::Leaf,
        })
    }
}

/// Whether evaluating it does anything besides giving a value.
pub fn has_effects(text: &Text<'_>, tokens: &Range<usize>) -> bool {
    let is_effect = |at: usize| {
        let word = text.word(at);
        let is_call = word == "(" && at > tokens.start && text.kind(at - 1) == Some(Kind::Word);
        let is_assignment = word.ends_with('=')
            && !["==", "!=", "<=", ">="].contains(&word)
            && text.kind(at) == Some(Kind::Sign);
        is_call && text.word(at - 1) != "sizeof" || is_assignment || word == "++" || word == "--"
    };
    tokens.clone().any(is_effect)
}
