//! What must hold for the target to be reached from somewhere.
//!
//! A condition is a conjunction: for each of some values, the set of what it may be. A disjunction of two becomes the union, value by
//! value, and nothing is said of values that only one of them speaks of. So a condition is always implied by what
//! really has to hold: what it excludes is impossible.

use super::values::Values;
use crate::effects::Variable;
use crate::program::FunctionId;

/// Something that has a value at a point of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A parameter or the result of an instruction.
    Value(FunctionId, u32),
    /// What is at an offset in a variable.
    Memory(Variable, i64),
    /// What is at an offset from where a pointer in a variable points to.
    Behind(Variable, i64, i64),
    /// What is at an offset from where a value points to.
    BehindValue(FunctionId, u32, i64),
}

/// What a condition speaks of: some bits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub atom: Atom,
    pub width: u16,
    /// All bits of the width if the value itself is meant.
    pub mask: u64,
}

/// Conditions on more values than this lose the last ones.
const MAX_KEYS: usize = 24;

/// A condition; the default is that nothing is known to be needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// In order of keys; sets are neither empty nor everything.
    parts: Vec<(Key, Values)>,
}

impl Condition {
    pub fn parts(&self) -> &[(Key, Values)] {
        &self.parts
    }

    pub fn is_trivial(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds that a value must be in a set. `None` if that contradicts.
    #[must_use]
    pub fn and(mut self, key: Key, values: &Values) -> Option<Condition> {
        if values.is_empty() {
            return None;
        }
        match self.parts.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => {
                let both = self.parts[at].1.intersection(values);
                if both.is_empty() {
                    return None;
                }
                self.parts[at].1 = both;
            }
            Err(at) if !values.is_all() => {
                self.parts.insert(at, (key, values.clone()));
                self.parts.truncate(MAX_KEYS);
            }
            Err(_) => {}
        }
        Some(self)
    }

    /// What must hold if this or the other must.
    #[must_use]
    pub fn or(&self, other: &Condition) -> Condition {
        let mut parts = Vec::new();
        let mut others = other.parts.iter().peekable();
        for (key, values) in &self.parts {
            while others.next_if(|(other, _)| other < key).is_some() {}
            if let Some((other, further)) = others.peek()
                && other == key
            {
                let union = values.union(further);
                if !union.is_all() {
                    parts.push((*key, union));
                }
            }
        }
        Condition { parts }
    }

    /// Takes out what is said about a value.
    pub fn take(&mut self, wanted: impl Fn(&Key) -> bool) -> Vec<(Key, Values)> {
        let mut taken = Vec::new();
        self.parts.retain(|(key, values)| {
            let is_wanted = wanted(key);
            if is_wanted {
                taken.push((*key, values.clone()));
            }
            !is_wanted
        });
        taken
    }

    /// Forgets what is said about values.
    pub fn forget(&mut self, unwanted: impl Fn(&Key) -> bool) {
        self.parts.retain(|(key, _)| !unwanted(key));
    }
}
