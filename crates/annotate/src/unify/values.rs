//! Two versions of an expression: the annotation goes as deep into it as it can.

use std::ops::Range;

use super::{Pattern, Unfit, Unifier};
use crate::expression::{Expression, Form, expression};
use crate::text::Text;

impl<'t> Unifier<'_, 't> {
    /// Two versions of an expression.
    pub(super) fn value(&mut self, old: &Range<usize>, new: &Range<usize>) -> Result<(), Unfit> {
        if self.equal(old, new) {
            return Ok(());
        }
        if old.is_empty() || new.is_empty() || self.new.word(new.start) == "{" {
            return Err(Unfit);
        }
        let one = expression(self.old, old.clone());
        let other = expression(self.new, new.clone());
        if is_unread(&one) || is_unread(&other) {
            return Err(Unfit);
        }
        self.expression(&one, &other)
    }

    /// Puts the annotation as deep into an expression as it goes.
    fn expression(&mut self, old: &Expression, new: &Expression) -> Result<(), Unfit> {
        if self.equal(&old.tokens, &new.tokens) {
            return Ok(());
        }
        if let Some((part, constant)) = self.added_clause(old, new) {
            let text = format!("change({constant}, {})", self.new.part(&part));
            self.replace(self.new.span(&part), text, Pattern::Value);
            return Ok(());
        }
        let word = |at: &usize| self.new.word(*at);
        match (&old.form, &new.form) {
            (
                Form::Assign { operator, sides },
                Form::Assign {
                    operator: another,
                    sides: others,
                },
            ) => {
                let is_same = self.old.word(*operator) == word(another);
                let left = self.equal(&sides[0].tokens, &others[0].tokens);
                return match is_same && left {
                    true => self.expression(&sides[1], &others[1]),
                    false => Err(Unfit),
                };
            }
            (
                Form::Between { operator, sides },
                Form::Between {
                    operator: another,
                    sides: others,
                },
            ) if self.old.word(*operator) == word(another)
                && self.only_one_differs(&sides[..], &others[..]) =>
            {
                return self.parts(&sides[..], &others[..]);
            }
            (Form::Choice(sides), Form::Choice(others))
                if self.only_one_differs(&sides[..], &others[..]) =>
            {
                return self.parts(&sides[..], &others[..]);
            }
            (Form::Call(parts), Form::Call(others))
                if parts.len() == others.len()
                    && self.equal(&parts[0].tokens, &others[0].tokens) =>
            {
                return self.parts(parts, others);
            }
            (Form::Around(inner), Form::Around(another)) => {
                // What is around them; `&` and `++` need a place, not a value.
                let ends = |text: &Text<'_>, outer: &Expression, inner: &Expression| {
                    let before = text
                        .part(&(outer.tokens.start..inner.tokens.start))
                        .to_owned();
                    let behind = text.part(&(inner.tokens.end..outer.tokens.end)).to_owned();
                    (before, behind)
                };
                let one = ends(self.old, old, inner);
                let other = ends(self.new, new, another);
                let needs_place = ["&", "++", "--"]
                    .iter()
                    .any(|sign| one.0 == *sign || one.1 == *sign);
                if one == other && !needs_place {
                    return self.expression(inner, another);
                }
            }
            (Form::Assign { .. }, _) | (_, Form::Assign { .. }) => return Err(Unfit),
            _ => {}
        }
        let argument = |text: &Text<'t>, expression: &Expression| {
            let part = text.part(&expression.tokens);
            match &expression.form {
                Form::Between { operator, .. } if text.word(*operator) == "," => {
                    format!("({part})")
                }
                _ => part.to_owned(),
            }
        };
        let text = format!(
            "change({}, {})",
            argument(self.old, old),
            argument(self.new, new)
        );
        self.replace(self.new.span(&new.tokens), text, Pattern::Value);
        Ok(())
    }

    fn only_one_differs(&self, old: &[Expression], new: &[Expression]) -> bool {
        let pairs = old.iter().zip(new);
        let differs = pairs.filter(|(one, other)| !self.equal(&one.tokens, &other.tokens));
        differs.count() == 1
    }

    fn parts(&mut self, old: &[Expression], new: &[Expression]) -> Result<(), Unfit> {
        for (one, other) in old.iter().zip(new) {
            self.expression(one, other)?;
        }
        Ok(())
    }

    /// `A` became `A && B` or `A || B`: what was added, and what it is in the old version.
    fn added_clause(&self, old: &Expression, new: &Expression) -> Option<(Range<usize>, u8)> {
        let Form::Between { operator, sides } = &new.form else {
            return None;
        };
        let neutral = match self.new.word(*operator) {
            "&&" => 1,
            "||" => 0,
            _ => return None,
        };
        let [left, right] = &**sides;
        if self.equal(&old.tokens, &left.tokens) {
            Some((right.tokens.clone(), neutral))
        } else if self.equal(&old.tokens, &right.tokens) {
            Some((left.tokens.clone(), neutral))
        } else {
            None
        }
    }
}

/// Whether tokens could not be read as an expression.
fn is_unread(expression: &Expression) -> bool {
    matches!(expression.form, Form::Leaf) && expression.tokens.len() > 1
}
