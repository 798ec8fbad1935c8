//! Sets of small numbers that lie close together: words of 64 bits, those with a bit set, in order.

/// A set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// Number of the word, and its bits; never empty ones.
    words: Vec<(u32, u64)>,
}

impl Set {
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn len(&self) -> usize {
        let ones = self
            .words
            .iter()
            .map(|(_, bits)| bits.count_ones() as usize);
        ones.sum()
    }

    pub fn contains(&self, number: u32) -> bool {
        let found = self
            .words
            .binary_search_by_key(&(number / 64), |(word, _)| *word);
        found.is_ok_and(|at| self.words[at].1 >> (number % 64) & 1 == 1)
    }

    /// True if it was not there before.
    pub fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (number / 64, 1u64 << (number % 64));
        match self.words.binary_search_by_key(&word, |(word, _)| *word) {
            Ok(at) => {
                let new = self.words[at].1 & bit == 0;
                self.words[at].1 |= bit;
                new
            }
            Err(at) => {
                self.words.insert(at, (word, bit));
                true
            }
        }
    }

    /// True if anything was new.
    pub fn extend(&mut self, other: &Set) -> bool {
        // Nearly all unions add nothing: look before anything is built.
        if other.is_within(self) {
            return false;
        }
        let mut merged = Vec::with_capacity(self.words.len() + other.words.len());
        let (mut left, mut right) = (self.words.iter().peekable(), other.words.iter().peekable());
        loop {
            match (left.peek(), right.peek()) {
                (Some((a, x)), Some((b, y))) if a == b => {
                    merged.push((*a, x | y));
                    left.next();
                    right.next();
                }
                (Some((a, _)), Some((b, _))) if a > b => merged.extend(right.next()),
                (None, Some(_)) => merged.extend(right.next()),
                (Some(_), _) => merged.extend(left.next()),
                (None, None) => break,
            }
        }
        self.words = merged;
        true
    }

    fn is_within(&self, other: &Set) -> bool {
        let mut others = other.words.iter();
        self.words.iter().all(|(word, bits)| {
            others
                .find(|(other, _)| other >= word)
                .is_some_and(|(other, present)| other == word && bits & !present == 0)
        })
    }

    /// What is here and not in the other.
    pub fn without(&self, other: &Set) -> Set {
        let mut others = other.words.iter().peekable();
        let mut words = Vec::new();
        for (word, bits) in &self.words {
            while others.next_if(|(other, _)| other < word).is_some() {}
            let present = match others.peek() {
                Some((other, present)) if other == word => *present,
                _ => 0,
            };
            if bits & !present != 0 {
                words.push((*word, bits & !present));
            }
        }
        Set { words }
    }

    /// What is in both.
    pub fn common(&self, other: &Set) -> Set {
        self.without(&self.without(other))
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().flat_map(|(word, bits)| {
            let mut left = *bits;
            std::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let bit = left.trailing_zeros();
                left &= left - 1;
                Some(word * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> Set {
        let mut set = Set::default();
        for number in numbers {
            set.insert(*number);
        }
        set
    }

    #[test]
    fn union_and_difference_are_those_of_sets() {
        let (a, b) = (set(&[1, 63, 64, 500]), set(&[2, 64, 499, 700]));
        let mut union = a.clone();
        assert!(union.extend(&b));
        assert!(!union.extend(&a));
        assert_eq!(
            union.iter().collect::<Vec<_>>(),
            [1, 2, 63, 64, 499, 500, 700]
        );
        assert_eq!(a.without(&b).iter().collect::<Vec<_>>(), [1, 63, 500]);
        assert_eq!(union.len(), 7);
        assert!(a.without(&union).is_empty());
    }
}
