//! Every limit of a search, as data: what it bounds, why, and what is lost where it is hit.
//!
//! There is one table. Whoever has to stop at a limit says so ([`Limits::hit`]), so that reports can name each limit that was hit and
//! how often; that everything within reach was tried is only said where none was.

use std::collections::BTreeMap;

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident = $value:expr, $unit:literal, $lost:literal;)*) => {
        /// What is limited. The comment of each says why.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Limit {
            $($(#[$doc])* $name,)*
        }

        impl Limit {
            /// All of them.
            pub const ALL: &'static [Limit] = &[$(Limit::$name,)*];

            pub const fn value(self) -> u64 {
                match self {
                    $(Limit::$name => $value,)*
                }
            }

            pub const fn unit(self) -> &'static str {
                match self {
                    $(Limit::$name => $unit,)*
                }
            }

            /// What is left out where it is hit.
            pub const fn lost(self) -> &'static str {
                match self {
                    $(Limit::$name => $lost,)*
                }
            }
        }
    };
}

limits! {
    /// Beyond it a search would not come to try them, and they would fill the memory.
    OpenAlternatives = 1_000_000, "alternatives", "alternatives that looked worse than others at the same branch";
    /// A server has decided tens of thousands of times before its first request. More would take longer to list than to run.
    Decisions = 30_000, "decisions of a run", "alternatives of later decisions";
    /// What a search for a line looks at of a run: more than it comes to try, and few enough that dozens of long runs take no time.
    NearDecisions = 2000, "decisions of a run", "alternatives of decisions that are farther from the line";
    /// As [`Limit::Decisions`], for operations that could fail.
    Operations = 30_000, "operations of a run", "later operations, which are not made to fail";
    /// A fixed address or size has as many values as the input; after a few more of the same tell nothing.
    FixedValues = 16, "values of one fixed thing", "further values of an address or a size";
    /// What differs is looked at by running all builds several times.
    Suspects = 4096, "inputs", "inputs that there was no time to look at closer";
    /// Of inputs whose differences look alike, besides smaller ones.
    Alike = 24, "inputs", "inputs whose difference looks like others";
    /// More of a run's way through changed code than fits into memory for each thread.
    OrderLog = 1 << 20, "entries of the log of a run", "changes that a long run executes later";
    /// Longer ones tell no more about which changes interact.
    Sequence = 256, "changes in a row", "changes that a run executes later";
    /// Inputs that wait to be traced by one slot.
    Untraced = 64, "inputs", "inputs that ran something new and were not traced";
    /// A loop comes by one operation again and again; the first and the last times tell most.
    SameOperation = 64, "checks of one operation on a path", "checks of the same operation in between";
    /// A path beside a test is looked at from where it leaves the test's; hundreds of branches later it is far away.
    Followed = 512, "branches after a test's path was left", "later branches of paths beside a test's";
    /// A place whose failure so many tests have shown, or could not show: more of them have nothing to add.
    ShownOften = 8, "tests", "checks of operations that fail for many tests, or were not seen to fail";
    /// More would make the report long.
    Divergences = 1000, "points", "points at which a test's path was left, in the report";
}

/// Which limits were hit, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(BTreeMap<Limit, u64>);

impl Limits {
    pub fn hit(&mut self, limit: Limit) {
        self.hit_by(limit, 1);
    }

    /// So many things were left out.
    pub fn hit_by(&mut self, limit: Limit, count: u64) {
        if count > 0 {
            *self.0.entry(limit).or_default() += count;
        }
    }

    pub fn hits(&self, limit: Limit) -> u64 {
        self.0.get(&limit).copied().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Limit, u64)> {
        self.0.iter().map(|(limit, hits)| (*limit, *hits))
    }

    pub fn absorb(&mut self, other: &Limits) {
        for (limit, hits) in other.iter() {
            self.hit_by(limit, hits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_counted_and_added_up() {
        let (mut one, mut other) = (Limits::default(), Limits::default());
        assert!(one.is_empty());
        one.hit(Limit::Suspects);
        other.hit_by(Limit::Suspects, 2);
        other.hit_by(Limit::Decisions, 0);
        one.absorb(&other);
        assert_eq!(one.iter().collect::<Vec<_>>(), [(Limit::Suspects, 3)]);
    }

    #[test]
    fn every_limit_has_a_value_and_says_what_is_lost() {
        for limit in Limit::ALL {
            assert!(limit.value() > 0 && !limit.unit().is_empty() && !limit.lost().is_empty());
        }
    }
}
