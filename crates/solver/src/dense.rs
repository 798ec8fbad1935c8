//! A map from labels, as dense as labels are.
//!
//! Labels of a trace count from 1; labels of expressions built on top of it count
//! from [`overlay::FIRST`](crate::overlay::FIRST). Only for numbers: a vector of zeros is fresh memory of the kernel's, which costs nothing
//! until it is written, so that a path that touches few nodes of a large trace stays small.

use crate::overlay::FIRST;
use parallax_expr::Label;

#[derive(Debug, Default)]
pub(crate) struct Dense<T> {
    base: Vec<T>,
    extra: Vec<T>,
}

impl<T: Copy + Default> Dense<T> {
    #[inline]
    pub fn get(&self, label: Label) -> T {
        let (part, index) = match label.checked_sub(FIRST) {
            Some(index) => (&self.extra, index as usize),
            None => (&self.base, label as usize),
        };
        part.get(index).copied().unwrap_or_default()
    }

    #[inline]
    pub fn set(&mut self, label: Label, value: T) {
        let (part, index) = match label.checked_sub(FIRST) {
            Some(index) => (&mut self.extra, index as usize),
            None => (&mut self.base, label as usize),
        };
        if part.len() <= index {
            let mut larger = vec![T::default(); (index + 1).max(part.len() * 2).max(64)];
            larger[..part.len()].copy_from_slice(part);
            *part = larger;
        }
        part[index] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_labels_are_kept_apart() {
        let mut map = Dense::default();
        map.set(3, 30);
        map.set(FIRST + 3, 31);
        assert_eq!(
            (map.get(3), map.get(FIRST + 3), map.get(4), map.get(FIRST)),
            (30, 31, 0, 0)
        );
    }
}
