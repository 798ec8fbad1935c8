//! Which lines of two versions of a file are the same.

use std::collections::HashMap;

use crate::diverge::align::align;

/// Files that differ in more lines than this are aligned no further.
const MOST_CHANGES: usize = 2000;

/// Lines of two versions; numbers are from 1.
#[derive(Debug, Default)]
pub struct Lines {
    old: Vec<Line>,
    new: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    /// Without what spaces there are.
    text: String,
    /// The line of the other version that it is.
    counterpart: Option<u32>,
    /// If there is none: the last line of the new version before it that is in both.
    gap: u32,
}

/// How two lines are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same line.
    Same,
    /// Neither has a counterpart in order, but they say the same.
    Moved,
    /// Both were changed, between the same lines that were not.
    Changed,
    /// One of them was changed, or both in different places.
    Other,
    /// Each has another counterpart.
    Apart,
}

impl Lines {
    pub fn new(old: &str, new: &str) -> Lines {
        let words = |text: &str| -> Vec<String> {
            let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            text.lines().map(plain).collect()
        };
        let (old, new) = (words(old), words(new));
        let pairs = align(&old, &new, MOST_CHANGES);
        let to_new: HashMap<usize, usize> = pairs.iter().copied().collect();
        let to_old: HashMap<usize, usize> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let number = |at: usize| at as u32 + 1;
        let describe = |texts: Vec<String>,
                        counterparts: &HashMap<usize, usize>,
                        in_new: &dyn Fn(usize, usize) -> usize| {
            let mut gap = 0;
            let mut lines = Vec::new();
            for (at, text) in texts.into_iter().enumerate() {
                let counterpart = counterparts.get(&at).copied();
                if let Some(other) = counterpart {
                    gap = number(in_new(at, other));
                }
                lines.push(Line {
                    text,
                    counterpart: counterpart.map(number),
                    gap,
                });
            }
            lines
        };
        Lines {
            old: describe(old, &to_new, &|_, other| other),
            new: describe(new, &to_old, &|own, _| own),
        }
    }

    pub fn relation(&self, old: u32, new: u32) -> Relation {
        let find = |lines: &'_ [Line], number: u32| {
            (number as usize)
                .checked_sub(1)
                .filter(|at| *at < lines.len())
        };
        let (Some(a), Some(b)) = (find(&self.old, old), find(&self.new, new)) else {
            return Relation::Other;
        };
        let (a, b) = (&self.old[a], &self.new[b]);
        match (a.counterpart, b.counterpart) {
            (Some(known), _) if known == new => Relation::Same,
            (Some(_), Some(_)) => Relation::Apart,
            (None, None) if a.text == b.text && a.text.len() > 1 => Relation::Moved,
            (None, None) if a.gap == b.gap => Relation::Changed,
            _ => Relation::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_counterpart_and_changed_ones_their_gap() {
        let old = "int f\n{\n  if (a)\n    x();\n  y();\n  gone();\n}\n";
        let new = "moved\nint f\n{\n  int z;\n  if (b)\n     x();\n  y();\n}\ngone();\n";
        let lines = Lines::new(old, new);
        assert_eq!(lines.relation(4, 6), Relation::Same);
        assert_eq!(lines.relation(3, 5), Relation::Changed);
        assert_eq!(lines.relation(4, 7), Relation::Apart);
        assert_eq!(lines.relation(3, 6), Relation::Other);
        assert_eq!(lines.relation(6, 9), Relation::Moved);
        assert_eq!(lines.relation(90, 1), Relation::Other);
    }
}
