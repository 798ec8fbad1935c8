//! The items of two files: functions, declarations, directives.

use std::collections::HashSet;

use super::{Pattern, Unifier, name_of};
use crate::align::{Step, align};
use crate::expression::{Form, expression};
use crate::statement::{Item, ItemKind, Statement, items};
use crate::text::Text;

impl<'t> Unifier<'_, 't> {
    pub(super) fn files(&mut self) {
        let (old, new) = (items(self.old), items(self.new));
        let score = |one: &Item, other: &Item| self.likeness(one, other);
        let steps = align(&old, &new, &score);
        for step in steps {
            match step {
                Step::Both(one, other) => self.items(&old[one], &new[other]),
                Step::New(only) => self.new_item(&new[only]),
                Step::Old(only, before) => {
                    let at = new.get(before).map_or(self.new.text.len(), |next| {
                        self.new.span(&next.tokens).start
                    });
                    self.old_item(&old[only], at);
                }
            }
        }
    }

    /// How much two items have in common; 0 if they are not versions of one.
    fn likeness(&self, old: &Item, new: &Item) -> u32 {
        let is_same = self.equal(&old.tokens, &new.tokens);
        match (&old.kind, &new.kind) {
            (ItemKind::Function { name, .. }, ItemKind::Function { name: other, .. })
                if self.old.word(*name) == self.new.word(*other) =>
            {
                8
            }
            _ if is_same => 4,
            (ItemKind::Declaration(one), ItemKind::Declaration(other)) => {
                match (name_of(self.old, one), name_of(self.new, other)) {
                    (Some(one), Some(other)) if one == other => 3,
                    _ => 0,
                }
            }
            (ItemKind::Directive, ItemKind::Directive) => {
                let one = defined(self.old.part(&old.tokens));
                let other = defined(self.new.part(&new.tokens));
                match (one, other) {
                    (Some((one, _)), Some((other, _))) if one == other => 3,
                    _ => 0,
                }
            }
            _ => 0,
        }
    }

    fn items(&mut self, old: &Item, new: &Item) {
        if self.equal(&old.tokens, &new.tokens) {
            return;
        }
        let start = self.new.span(&new.tokens).start;
        match (&old.kind, &new.kind) {
            (ItemKind::Function { body: before, .. }, ItemKind::Function { body: after, .. }) => {
                let header = |item: &Item, body: &Statement| item.tokens.start..body.tokens.start;
                if !self.equal(&header(old, before), &header(new, after)) {
                    self.left(start, "the function's parameters or type");
                }
                self.declared = names(self.new, after);
                if self.statement(before, after).is_err() {
                    self.left(start, "the function's body");
                }
            }
            (ItemKind::Declaration(before), ItemKind::Declaration(after)) => {
                if self.declarations(before, after).is_err() {
                    self.left(start, "the declaration");
                }
            }
            (ItemKind::Directive, ItemKind::Directive) => self.directives(old, new),
            _ => self.left(start, "what is declared here"),
        }
    }

    /// Two definitions of one macro.
    fn directives(&mut self, old: &Item, new: &Item) {
        let span = self.new.span(&new.tokens);
        let one = defined(self.old.part(&old.tokens));
        let other = defined(self.new.part(&new.tokens));
        let is_value = |text: &str| {
            let text = Text::new(text);
            let all = 0..text.tokens.len();
            let read = expression(&text, all.clone());
            !all.is_empty() && (all.len() == 1 || !matches!(read.form, Form::Leaf))
        };
        match (one, other) {
            (Some((_, before)), Some((head, after))) if is_value(before) && is_value(after) => {
                let text = format!("{head}change({before}, {after})");
                self.replace(span, text, Pattern::Value);
            }
            _ => self.left(span.start, "the directive"),
        }
    }

    fn new_item(&mut self, new: &Item) {
        // What the old version does not use does no harm to it.
        if let ItemKind::Directive = new.kind {
            let text = self.new.part(&new.tokens);
            if defined(text).is_none()
                && !text.trim_start_matches('#').trim().starts_with("include")
            {
                self.left(self.new.span(&new.tokens).start, "the directive");
            }
        }
    }

    /// Keeps what the old version needs.
    fn old_item(&mut self, old: &Item, at: usize) {
        let text = self.old.part(&old.tokens);
        match &old.kind {
            ItemKind::Directive => {
                if defined(text).is_some() {
                    self.insert(at, format!("{text}\n"), None);
                } else if !text.trim_start_matches('#').trim().starts_with("include") {
                    self.left(
                        at.min(self.new.text.len()),
                        "a directive that was removed before this",
                    );
                } else {
                    self.insert(at, format!("{text}\n"), None);
                }
            }
            ItemKind::Function { .. } | ItemKind::Declaration(_) => {
                self.insert(at, format!("{text}\n\n"), Some(Pattern::Variable));
            }
        }
    }
}

/// What a `#define` says before its value, and the value.
fn defined(directive: &str) -> Option<(&str, &str)> {
    let inside = directive.trim_start_matches('#').trim_start();
    let rest = inside.strip_prefix("define")?.trim_start();
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let name = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
    let head = match rest[name..].starts_with('(') {
        true => name + rest[name..].find(')')? + 1,
        false => name,
    };
    let value = rest[head..].trim_start();
    let head = &directive[..directive.len() - value.len()];
    Some((head, value.trim_end()))
}

/// Names that are declared anywhere in a statement.
fn names<'t>(text: &Text<'t>, statement: &Statement) -> HashSet<&'t str> {
    let mut found = HashSet::new();
    statement.walk(&mut |inner| found.extend(name_of(text, inner)));
    found
}
