//! Sets of byte values, and which value of several to take.

/// A set of values of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Values([u64; 4]);

impl Values {
    pub const ALL: Values = Values([u64::MAX; 4]);
    pub const NONE: Values = Values([0; 4]);

    pub fn insert(&mut self, value: u8) {
        self.0[usize::from(value / 64)] |= 1 << (value % 64);
    }

    pub fn contains(&self, value: u8) -> bool {
        self.0[usize::from(value / 64)] >> (value % 64) & 1 != 0
    }

    pub fn and(self, other: Values) -> Values {
        Values(std::array::from_fn(|part| self.0[part] & other.0[part]))
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|part| part.count_ones() as usize).sum()
    }

    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=255).filter(move |&value| self.contains(value))
    }

    /// Values in the order in which a person would try them in place of `seed`.
    pub fn by_preference(self, seed: u8) -> Vec<u8> {
        let mut values: Vec<u8> = self.iter().collect();
        values.sort_by_key(|&value| preference(seed, value));
        values
    }

    /// The first of [`by_preference`](Values::by_preference).
    pub fn best(self, seed: u8) -> Option<u8> {
        self.iter().min_by_key(|&value| preference(seed, value))
    }
}

/// Lower is better: the seed's own value, its own kind of character, then what can be read and typed.
fn preference(seed: u8, value: u8) -> (u8, u8) {
    let kind = |value: u8| match value {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        b'!'..=b'~' => 4,
        b' ' => 5,
        b'\n' | b'\t' => 6,
        1..=31 | 127 => 7,
        128..=255 => 8,
        // Ends strings, and with them what was meant to be reached.
        0 => 9,
    };
    let rank = if value == seed {
        0
    } else if seed != 0 && kind(value) == kind(seed) {
        1
    } else {
        1 + kind(value)
    };
    // The nearest of its kind to the seed, or simply the first.
    let distance = if rank == 1 {
        value.abs_diff(seed)
    } else {
        value
    };
    (rank, distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_typed_comes_before_what_cannot() {
        assert_eq!(Values::ALL.best(b'x'), Some(b'x'));
        let mut values = Values::NONE;
        for value in [0, 1, 200, b'q', b'7'] {
            values.insert(value);
        }
        assert_eq!(values.by_preference(b'x'), [b'q', b'7', 1, 200, 0]);
        assert_eq!(values.by_preference(b'0'), [b'7', b'q', 1, 200, 0]);
        assert_eq!((values.len(), Values::NONE.best(3)), (5, None));
    }
}
