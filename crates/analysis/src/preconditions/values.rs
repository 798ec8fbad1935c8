//! Sets of integers of one width: a few ranges, as unsigned numbers.

use crate::program::Predicate;

/// Sets with more ranges than this are made larger instead.
const MAX_RANGES: usize = 24;

/// A set of integers of 1 to 64 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    width: u16,
    /// Inclusive, in order, neither touching nor empty.
    ranges: Vec<(u64, u64)>,
}

/// The largest number of a width.
pub fn largest(width: u16) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// A sign-extended constant as an unsigned number of a width.
pub fn unsigned(value: i64, width: u16) -> u64 {
    value as u64 & largest(width)
}

impl Values {
    pub fn all(width: u16) -> Values {
        Values {
            width,
            ranges: vec![(0, largest(width))],
        }
    }

    pub fn none(width: u16) -> Values {
        Values {
            width,
            ranges: Vec::new(),
        }
    }

    pub fn one(value: u64, width: u16) -> Values {
        Values {
            width,
            ranges: vec![(value & largest(width), value & largest(width))],
        }
    }

    pub fn width(&self) -> u16 {
        self.width
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub fn is_all(&self) -> bool {
        self.ranges == [(0, largest(self.width))]
    }

    pub fn contains(&self, value: u64) -> bool {
        let value = value & largest(self.width);
        self.ranges
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&value))
    }

    /// The only member.
    pub fn single(&self) -> Option<u64> {
        match self.ranges[..] {
            [(from, to)] if from == to => Some(from),
            _ => None,
        }
    }

    /// The ranges, inclusive and in order.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    fn of(width: u16, mut ranges: Vec<(u64, u64)>) -> Values {
        ranges.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (from, to) in ranges {
            match merged.last_mut() {
                Some((_, last)) if from <= last.saturating_add(1) => *last = (*last).max(to),
                _ => merged.push((from, to)),
            }
        }
        while merged.len() > MAX_RANGES {
            // Fill the smallest gap.
            let gaps = 1..merged.len();
            let at = gaps
                .min_by_key(|at| merged[*at].0 - merged[*at - 1].1)
                .expect("there are several");
            merged[at - 1].1 = merged[at].1;
            merged.remove(at);
        }
        Values {
            width,
            ranges: merged,
        }
    }

    pub fn union(&self, other: &Values) -> Values {
        let ranges = self.ranges.iter().chain(&other.ranges).copied();
        Values::of(self.width, ranges.collect())
    }

    pub fn intersection(&self, other: &Values) -> Values {
        let mut ranges = Vec::new();
        for (a, b) in &self.ranges {
            for (c, d) in &other.ranges {
                if a.max(c) <= b.min(d) {
                    ranges.push((*a.max(c), *b.min(d)));
                }
            }
        }
        Values::of(self.width, ranges)
    }

    pub fn complement(&self) -> Values {
        let mut ranges = Vec::new();
        let mut next = Some(0);
        for (from, to) in &self.ranges {
            if let Some(next) = next
                && next < *from
            {
                ranges.push((next, from - 1));
            }
            next = (*to < largest(self.width)).then(|| to + 1);
        }
        if let Some(next) = next {
            ranges.push((next, largest(self.width)));
        }
        Values {
            width: self.width,
            ranges,
        }
    }

    /// All numbers for which `number predicate right` holds.
    pub fn satisfying(predicate: Predicate, right: i64, width: u16) -> Values {
        let top = largest(width);
        let right = unsigned(right, width);
        // As signed numbers order from here on: half, …, top, 0, …, half - 1.
        let half = top / 2 + 1;
        let below = |limit: u64, inclusive: bool| -> Values {
            match (limit, inclusive) {
                (0, false) => Values::none(width),
                (limit, inclusive) => Values::of(width, vec![(0, limit - u64::from(!inclusive))]),
            }
        };
        let signed_below = |limit: u64, inclusive: bool| -> Values {
            // Turned round so that the order is that of unsigned numbers, and back.
            let turned = below(limit ^ half, inclusive);
            turned.shifted(half)
        };
        match predicate {
            Predicate::Equal => Values::one(right, width),
            Predicate::Different => Values::one(right, width).complement(),
            Predicate::UnsignedLess => below(right, false),
            Predicate::UnsignedLessOrEqual => below(right, true),
            Predicate::UnsignedGreater => below(right, true).complement(),
            Predicate::UnsignedGreaterOrEqual => below(right, false).complement(),
            Predicate::SignedLess => signed_below(right, false),
            Predicate::SignedLessOrEqual => signed_below(right, true),
            Predicate::SignedGreater => signed_below(right, true).complement(),
            Predicate::SignedGreaterOrEqual => signed_below(right, false).complement(),
        }
    }

    /// Every number plus a distance, modulo the width.
    pub fn shifted(&self, distance: u64) -> Values {
        let top = largest(self.width);
        let mut ranges = Vec::new();
        for (from, to) in &self.ranges {
            let (from, to) = (
                from.wrapping_add(distance) & top,
                to.wrapping_add(distance) & top,
            );
            if from <= to {
                ranges.push((from, to));
            } else {
                ranges.push((from, top));
                ranges.push((0, to));
            }
        }
        Values::of(self.width, ranges)
    }

    /// The same numbers in a larger width.
    pub fn widened(&self, width: u16) -> Values {
        Values {
            width,
            ranges: self.ranges.clone(),
        }
    }

    /// The numbers of a smaller width whose zero-extension is here.
    pub fn before_zero_extension(&self, width: u16) -> Values {
        let all = Values::of(self.width, vec![(0, largest(width))]);
        let ranges = self.intersection(&all).ranges;
        Values { width, ranges }
    }

    /// The numbers of a smaller width whose sign-extension is here.
    pub fn before_sign_extension(&self, width: u16) -> Values {
        let half = largest(width) / 2;
        let negative = unsigned(-(half as i64) - 1, self.width);
        let low = Values::of(self.width, vec![(0, half)]);
        let high = Values::of(self.width, vec![(negative, largest(self.width))]);
        let mut ranges = self.intersection(&low).ranges;
        for (from, to) in self.intersection(&high).ranges {
            ranges.push((from & largest(width), to & largest(width)));
        }
        Values::of(width, ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks against every number of 4 bits.
    fn check(values: &Values, wanted: impl Fn(i64) -> bool) {
        for number in -8i64..8 {
            let bits = unsigned(number, 4);
            assert_eq!(
                values.contains(bits),
                wanted(number),
                "{number} in {values:?}"
            );
        }
    }

    #[test]
    fn comparisons_hold_for_exactly_the_right_numbers() {
        for right in -8i64..8 {
            let by = |predicate| Values::satisfying(predicate, right, 4);
            let bits = unsigned(right, 4);
            check(&by(Predicate::Equal), |n| n == right);
            check(&by(Predicate::Different), |n| n != right);
            check(&by(Predicate::SignedLess), |n| n < right);
            check(&by(Predicate::SignedLessOrEqual), |n| n <= right);
            check(&by(Predicate::SignedGreater), |n| n > right);
            check(&by(Predicate::SignedGreaterOrEqual), |n| n >= right);
            check(&by(Predicate::UnsignedLess), |n| unsigned(n, 4) < bits);
            check(&by(Predicate::UnsignedGreaterOrEqual), |n| {
                unsigned(n, 4) >= bits
            });
        }
    }

    #[test]
    fn set_operations_are_those_of_sets() {
        let odd = [1u64, 3, 5, 13].map(|n| Values::one(n, 4));
        let odd = odd.iter().fold(Values::none(4), |sum, one| sum.union(one));
        let small = Values::satisfying(Predicate::UnsignedLess, 5, 4);
        check(&odd.intersection(&small), |n| n == 1 || n == 3);
        check(&odd.complement(), |n| ![1, 3, 5, -3].contains(&n));
        check(&odd.shifted(3), |n| [4, 6, -8, 0].contains(&n));
        assert!(odd.union(&odd.complement()).is_all());
        assert!(Values::none(4).complement().is_all());
    }

    #[test]
    fn extensions_are_undone() {
        let wide = |n: i64| Values::one(unsigned(n, 8), 8);
        let values = wide(-3).union(&wide(2)).union(&wide(100)).union(&wide(13));
        check(&values.before_sign_extension(4), |n| n == -3 || n == 2);
        check(&values.before_zero_extension(4), |n| {
            n == 2 || unsigned(n, 4) == 13
        });
    }
}
