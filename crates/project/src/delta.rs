//! Delta debugging: the parts of a whole that are needed for something to show.
//!
//! The algorithm is *ddmin* (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input). The whole shows it and nothing at
//! all does not. What comes out is 1-minimal: whichever single part is taken away, it does not show any more, or nobody can tell
//! because there is nothing to look at (a program that does not build). Guesses of who knows more are tried first.

use std::collections::{BTreeMap, BTreeSet};

/// Numbers of parts.
pub type Parts = BTreeSet<usize>;

/// What some of the parts come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    Shows,
    Vanishes,
    /// Something else, or nothing that could be looked at.
    Unclear,
}

/// Parts that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    pub parts: Parts,
    /// What it comes to without a single one of them, as far as that was found out.
    pub without: BTreeMap<usize, Verdict>,
}

impl Minimal {
    /// Whether nothing could be left out, as far as anybody can tell.
    pub fn is_minimal(&self) -> bool {
        let is_needed = |part: &usize| {
            let verdict = self.without.get(part);
            verdict.is_some_and(|verdict| *verdict != Verdict::Shows)
        };
        self.parts.iter().all(is_needed)
    }
}

/// Says what parts come to; `None` if there is no time left to find out.
pub type Ask<'a, E> = dyn FnMut(&Parts) -> Result<Option<Verdict>, E> + 'a;

/// Finds parts of `0..count` that are needed, given sets that are likely to be enough, the likeliest first.
pub fn minimal<E>(count: usize, guesses: &[Parts], ask: &mut Ask<'_, E>) -> Result<Minimal, E> {
    let mut search = Search {
        ask,
        known: BTreeMap::from([(Parts::new(), Verdict::Vanishes)]),
        is_over: false,
    };
    let all: Parts = (0..count).collect();
    let mut parts = all.clone();
    for guess in guesses {
        let is_smaller = !guess.is_empty() && guess.is_subset(&parts) && *guess != parts;
        if is_smaller && search.shows(guess)? {
            parts = guess.clone();
            break;
        }
    }
    let mut pieces = 2;
    while parts.len() > 1 && !search.is_over {
        let cut = cut(&parts, pieces);
        let mut smaller = None;
        for piece in &cut {
            if search.shows(piece)? {
                smaller = Some((piece.clone(), 2));
                break;
            }
        }
        // Of two pieces, each is what the other leaves.
        if smaller.is_none() && cut.len() > 2 {
            for piece in &cut {
                let rest: Parts = parts.difference(piece).copied().collect();
                if search.shows(&rest)? {
                    smaller = Some((rest, (cut.len() - 1).max(2)));
                    break;
                }
            }
        }
        match smaller {
            Some((found, next)) => (parts, pieces) = (found, next),
            None if pieces >= parts.len() => break,
            None => pieces = (2 * pieces).min(parts.len()),
        }
    }
    let mut without = BTreeMap::new();
    for part in &parts {
        let mut rest = parts.clone();
        rest.remove(part);
        if let Some(verdict) = search.verdict(&rest)? {
            without.insert(*part, verdict);
        }
    }
    Ok(Minimal { parts, without })
}

struct Search<'s, 'a, E> {
    ask: &'s mut Ask<'a, E>,
    known: BTreeMap<Parts, Verdict>,
    is_over: bool,
}

impl<E> Search<'_, '_, E> {
    fn shows(&mut self, parts: &Parts) -> Result<bool, E> {
        Ok(self.verdict(parts)? == Some(Verdict::Shows))
    }

    fn verdict(&mut self, parts: &Parts) -> Result<Option<Verdict>, E> {
        if let Some(known) = self.known.get(parts) {
            return Ok(Some(*known));
        }
        if self.is_over {
            return Ok(None);
        }
        match (self.ask)(parts)? {
            Some(verdict) => {
                self.known.insert(parts.clone(), verdict);
                Ok(Some(verdict))
            }
            None => {
                self.is_over = true;
                Ok(None)
            }
        }
    }
}

/// Cuts parts into so many pieces of about the same size, neighbours together.
fn cut(parts: &Parts, pieces: usize) -> Vec<Parts> {
    let list: Vec<usize> = parts.iter().copied().collect();
    let bounds = |piece: usize| list.len() * piece / pieces;
    (0..pieces)
        .map(|piece| {
            list[bounds(piece)..bounds(piece + 1)]
                .iter()
                .copied()
                .collect()
        })
        .filter(|piece: &Parts| !piece.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows if all of `needed` are there; cannot be told if one of `pairs` is there without its other half.
    fn find(
        count: usize,
        needed: &[usize],
        pairs: &[(usize, usize)],
        most: usize,
    ) -> (Minimal, usize) {
        let mut asked = 0;
        let result: Result<Minimal, ()> = minimal(count, &[], &mut |parts| {
            if asked == most {
                return Ok(None);
            }
            asked += 1;
            let broken =
                |(user, used): &(usize, usize)| parts.contains(user) && !parts.contains(used);
            Ok(Some(if pairs.iter().any(broken) {
                Verdict::Unclear
            } else if needed.iter().all(|part| parts.contains(part)) {
                Verdict::Shows
            } else {
                Verdict::Vanishes
            }))
        });
        (result.unwrap(), asked)
    }

    #[test]
    fn a_single_part_is_found_in_few_questions() {
        for needed in 0..64 {
            let (found, asked) = find(64, &[needed], &[], usize::MAX);
            assert_eq!(found.parts, Parts::from([needed]));
            assert!(found.is_minimal());
            assert!(asked <= 12, "{asked}");
        }
    }

    #[test]
    fn parts_that_only_show_together_are_found_together() {
        for (one, other) in [(0, 1), (0, 7), (2, 5), (6, 7)] {
            let (found, _) = find(8, &[one, other], &[], usize::MAX);
            assert_eq!(found.parts, Parts::from([one, other]));
            let vanishes = |verdict: &Verdict| *verdict == Verdict::Vanishes;
            assert!(found.without.values().all(vanishes));
        }
    }

    #[test]
    fn a_part_that_another_needs_to_build_stays_and_is_known_as_such() {
        let (found, _) = find(6, &[4], &[(4, 1)], usize::MAX);
        assert_eq!(found.parts, Parts::from([1, 4]));
        assert_eq!(found.without[&1], Verdict::Unclear);
        assert_eq!(found.without[&4], Verdict::Vanishes);
        assert!(found.is_minimal());
    }

    #[test]
    fn without_time_what_is_known_to_show_it_comes_out() {
        let (found, asked) = find(64, &[3, 40], &[], 3);
        assert_eq!(asked, 3);
        assert!(found.parts.is_superset(&Parts::from([3, 40])));
        assert!(!found.is_minimal());
    }

    #[test]
    fn a_right_guess_is_all_that_is_asked() {
        let mut asked = Vec::new();
        let guesses = [Parts::from([2]), Parts::from([1])];
        let found: Result<Minimal, ()> = minimal(9, &guesses, &mut |parts| {
            asked.push(parts.clone());
            let shows = parts.contains(&1);
            Ok(Some(if shows {
                Verdict::Shows
            } else {
                Verdict::Vanishes
            }))
        });
        assert_eq!(found.unwrap().parts, Parts::from([1]));
        assert_eq!(asked, guesses);
    }
}
