//! Two versions of a statement, and statements that only one version has.

use std::collections::HashSet;
use std::ops::Range;

use super::{Pattern, Unfit, Unifier};
use crate::align::{Step, align};
use crate::expression::{Form, expression, has_effects};
use crate::statement::{Shape, Statement};
use crate::text::Text;

impl<'t> Unifier<'_, 't> {
    pub(super) fn statement(&mut self, old: &Statement, new: &Statement) -> Result<(), Unfit> {
        if self.equal(&old.tokens, &new.tokens) {
            return Ok(());
        }
        let kept = (self.edits.len(), self.by_hand.len());
        let result = self.shapes(old, new);
        if result.is_err() {
            self.edits.truncate(kept.0);
            self.by_hand.truncate(kept.1);
        }
        result
    }

    fn shapes(&mut self, old: &Statement, new: &Statement) -> Result<(), Unfit> {
        match (&old.shape, &new.shape) {
            (Shape::Block(before), Shape::Block(after)) => {
                let end = self.new.span(&new.tokens).end - 1;
                self.lists(before, after, end);
                Ok(())
            }
            (
                Shape::If {
                    condition: one,
                    then: before,
                    otherwise: else_before,
                },
                Shape::If {
                    condition: other,
                    then: after,
                    otherwise: else_after,
                },
            ) => {
                self.value(one, other)?;
                self.statement_or_both(before, after)?;
                self.alternatives(else_before.as_deref(), else_after.as_deref(), after)
            }
            (
                Shape::Guarded {
                    expression: one,
                    body: before,
                },
                Shape::Guarded {
                    expression: other,
                    body: after,
                },
            ) if self.old.word(old.tokens.start) == self.new.word(new.tokens.start) => {
                self.value(one, other)?;
                self.statement_or_both(before, after)
            }
            (
                Shape::For {
                    parts: one,
                    body: before,
                },
                Shape::For {
                    parts: other,
                    body: after,
                },
            ) => {
                for (one, other) in one.iter().zip(other) {
                    self.value(one, other)?;
                }
                self.statement_or_both(before, after)
            }
            (
                Shape::Do {
                    body: before,
                    condition: one,
                },
                Shape::Do {
                    body: after,
                    condition: other,
                },
            ) => {
                self.value(one, other)?;
                self.statement_or_both(before, after)
            }
            (Shape::Return(one), Shape::Return(other))
            | (Shape::Expression(one), Shape::Expression(other)) => self.value(one, other),
            (Shape::Declaration { .. }, Shape::Declaration { .. }) => self.declarations(old, new),
            _ => Err(Unfit),
        }
    }

    /// The same statement in both, or each in its version.
    fn statement_or_both(&mut self, old: &Statement, new: &Statement) -> Result<(), Unfit> {
        if self.statement(old, new).is_ok() {
            return Ok(());
        }
        if has_labels(old) || has_labels(new) {
            return Err(Unfit);
        }
        let span = self.new.span(&new.tokens);
        let (before, after) = (self.old.part(&old.tokens), &self.new.text[span.clone()]);
        let text = format!("{{ if (change(1, 0)) {{ {before} }} else {{ {after} }} }}");
        self.replace(span, text, Pattern::Code);
        Ok(())
    }

    /// What follows `else` in both; `then` is what the new version has before it.
    fn alternatives(
        &mut self,
        old: Option<&Statement>,
        new: Option<&Statement>,
        then: &Statement,
    ) -> Result<(), Unfit> {
        match (old, new) {
            (None, None) => Ok(()),
            (Some(old), Some(new)) => self.statement_or_both(old, new),
            (None, Some(new)) => self.only_new(new),
            (Some(old), None) => {
                if has_labels(old) {
                    return Err(Unfit);
                }
                let span = self.new.span(&then.tokens);
                let text = self.old.part(&old.tokens);
                // Without braces an inner `if` could take the `else`.
                self.insert(span.start, "{ ".to_owned(), None);
                let text = format!(" }} else if (change(1, 0)) {{ {text} }}");
                self.insert(span.end, text, Some(Pattern::Code));
                Ok(())
            }
        }
    }

    fn lists(&mut self, old: &[Statement], new: &[Statement], end: usize) {
        let score = |one: &Statement, other: &Statement| self.similarity(one, other);
        for step in align(old, new, &score) {
            match step {
                Step::Both(one, other) => {
                    let (one, other) = (&old[one], &new[other]);
                    if self.statement(one, other).is_err() {
                        let at = self.new.span(&other.tokens).start;
                        let kept = self.edits.len();
                        if self.only_old(one, at).is_err() || self.only_new(other).is_err() {
                            self.edits.truncate(kept);
                            self.left(at, "the statement");
                        }
                    }
                }
                Step::New(only) => {
                    if self.only_new(&new[only]).is_err() {
                        self.left(self.new.span(&new[only].tokens).start, "what was added");
                    }
                }
                Step::Old(only, before) => {
                    let at = new
                        .get(before)
                        .map_or(end, |next| self.new.span(&next.tokens).start);
                    if self.only_old(&old[only], at).is_err() {
                        self.left(at, "what was removed before this");
                    }
                }
            }
        }
    }

    /// How much two statements have in common; 0 if they are not versions of one.
    fn similarity(&self, old: &Statement, new: &Statement) -> u32 {
        if self.equal(&old.tokens, &new.tokens) {
            return 8;
        }
        if std::mem::discriminant(&old.shape) != std::mem::discriminant(&new.shape)
            || matches!(old.shape, Shape::Label | Shape::Directive | Shape::Other)
        {
            return 0;
        }
        let words: HashSet<&str> = self.old.words(&old.tokens).collect();
        let mut others: HashSet<&str> = self.new.words(&new.tokens).collect();
        let all = words.len() + others.len();
        others.retain(|word| words.contains(word));
        // Of ten words of both at least five are the same.
        let common = (20 * others.len() / all.max(1)) as u32;
        match common >= 5 {
            true => common / 2,
            false => 0,
        }
    }

    /// A statement that the old version does not have.
    fn only_new(&mut self, new: &Statement) -> Result<(), Unfit> {
        let span = self.new.span(&new.tokens);
        match &new.shape {
            Shape::Expression(whole) => {
                if let Some((left, right)) = simple_assignment(self.new, whole) {
                    let text = format!("change({left}, {})", self.new.part(&right));
                    self.replace(self.new.span(&right), text, Pattern::Dummy);
                    return Ok(());
                }
            }
            Shape::If {
                condition,
                otherwise: None,
                ..
            } => {
                let text = format!("change(0, {})", self.new.part(condition));
                self.replace(self.new.span(condition), text, Pattern::Dummy);
                return Ok(());
            }
            Shape::Declaration { initial, .. } => {
                if let Some(initial) = initial
                    && has_effects(self.new, initial)
                {
                    let text = format!("change(0, {})", self.new.part(initial));
                    self.replace(self.new.span(initial), text, Pattern::Variable);
                }
                return Ok(());
            }
            _ => {}
        }
        if has_labels(new) || matches!(new.shape, Shape::Directive) {
            return Err(Unfit);
        }
        self.insert(
            span.start,
            "if (change(0, 1)) { ".to_owned(),
            Some(Pattern::Code),
        );
        self.insert(span.end, " }".to_owned(), None);
        Ok(())
    }

    /// A statement that the new version does not have, to stand before a place of it.
    fn only_old(&mut self, old: &Statement, at: usize) -> Result<(), Unfit> {
        let text = self.old.part(&old.tokens);
        let start = self.old.span(&old.tokens).start;
        let with = |part: &Range<usize>, inside: String| {
            let part = self.old.span(part);
            let (before, behind) = (part.start - start, part.end - start);
            format!("{}{inside}{}", &text[..before], &text[behind..])
        };
        match &old.shape {
            Shape::Expression(whole) => {
                if let Some((left, right)) = simple_assignment(self.old, whole) {
                    let inside = format!("change({}, {left})", self.old.part(&right));
                    let text = with(&right, inside);
                    self.insert_line(at, text, Some(Pattern::Dummy));
                    return Ok(());
                }
            }
            Shape::If {
                condition,
                otherwise: None,
                ..
            } if !has_labels(old) => {
                let inside = format!("change({}, 0)", self.old.part(condition));
                let text = with(condition, inside);
                self.insert_line(at, text, Some(Pattern::Dummy));
                return Ok(());
            }
            Shape::Declaration { name, initial } => {
                let is_there = name.is_some_and(|name| self.declared.contains(self.old.word(name)));
                if is_there {
                    return match initial {
                        Some(_) => Err(Unfit),
                        None => Ok(()),
                    };
                }
                let text = match initial {
                    Some(initial) if has_effects(self.old, initial) => {
                        with(initial, format!("change({}, 0)", self.old.part(initial)))
                    }
                    _ => text.to_owned(),
                };
                self.insert_line(at, text, Some(Pattern::Variable));
                return Ok(());
            }
            _ => {}
        }
        if has_labels(old) || matches!(old.shape, Shape::Directive) {
            return Err(Unfit);
        }
        let text = format!("if (change(1, 0)) {{ {text} }}");
        self.insert_line(at, text, Some(Pattern::Code));
        Ok(())
    }

    /// Two declarations of one variable that differ in its value.
    pub(super) fn declarations(&mut self, old: &Statement, new: &Statement) -> Result<(), Unfit> {
        let (
            Shape::Declaration {
                initial: Some(one), ..
            },
            Shape::Declaration {
                initial: Some(other),
                ..
            },
        ) = (&old.shape, &new.shape)
        else {
            return Err(Unfit);
        };
        let heads = (old.tokens.start..one.start, new.tokens.start..other.start);
        match self.equal(&heads.0, &heads.1) {
            true => self.value(one, other),
            false => Err(Unfit),
        }
    }
}

/// `name = value` without further effects.
fn simple_assignment<'t>(text: &Text<'t>, whole: &Range<usize>) -> Option<(&'t str, Range<usize>)> {
    let read = expression(text, whole.clone());
    let Form::Assign { operator, sides } = &read.form else {
        return None;
    };
    let [left, right] = &**sides;
    let is_simple = text.word(*operator) == "=" && left.tokens.len() == 1;
    (is_simple && !has_effects(text, &right.tokens))
        .then(|| (text.part(&left.tokens), right.tokens.clone()))
}

/// Whether something can be jumped to inside.
fn has_labels(statement: &Statement) -> bool {
    let mut found = false;
    statement.walk(&mut |inner| found |= matches!(inner.shape, Shape::Label));
    found
}
