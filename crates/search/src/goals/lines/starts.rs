//! Which entries the search for a target starts from: those that came nearest, from as many different places as there are. What is equally
//! far at another branch is a better help than more of the same.

use std::collections::HashMap;

use parallax_analysis::BlockId;
use parallax_analysis::seeds::Closest;

/// Entries that a search starts from at most.
const MOST: usize = 24;
/// Of these, how many that no way is known from.
const MOST_LOST: usize = 4;

/// Numbers of the best, the nearest first; places take turns at the same distance.
pub fn order<W: Ord + Copy>(closest: &[Option<Closest>], sizes: &[W]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..closest.len()).collect();
    all.sort_by_key(|index| (distance(closest[*index]), sizes[*index]));
    let mut taken: HashMap<Option<BlockId>, usize> = HashMap::new();
    let mut turns: Vec<(u32, usize, usize, usize)> = Vec::new();
    for (place, index) in all.into_iter().enumerate() {
        let block = closest[index].map(|closest| closest.block);
        let turn = taken.entry(block).or_default();
        if block.is_some() || *turn < MOST_LOST {
            turns.push((distance(closest[index]), *turn, place, index));
        }
        *turn += 1;
    }
    turns.sort_unstable();
    turns.truncate(MOST);
    turns.into_iter().map(|(_, _, _, index)| index).collect()
}

fn distance(closest: Option<Closest>) -> u32 {
    closest.map_or(u32::MAX, |closest| closest.distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(block: u32, distance: u32) -> Option<Closest> {
        Some(Closest {
            block: BlockId(block),
            distance,
        })
    }

    #[test]
    fn the_nearest_come_first_and_places_take_turns() {
        let closest = [at(1, 3), at(1, 2), at(2, 2), at(1, 2), None];
        assert_eq!(order(&closest, &[0, 1, 2, 3, 0]), [1, 2, 3, 0, 4]);
    }

    #[test]
    fn what_no_way_is_known_from_fills_few_places() {
        let closest = vec![None; 100];
        assert_eq!(order(&closest, &[0; 100]).len(), MOST_LOST);
        let closest = vec![at(1, 1); 100];
        assert_eq!(order(&closest, &[0; 100]).len(), MOST);
    }
}
