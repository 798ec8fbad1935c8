//! Cases for functions that take a comparison function.

use crate::models::case::Case;
use crate::models::words::{int, long};
use crate::rng::Rng;

/// Ways of comparing, the last of which contradicts itself.
const WAYS: usize = 3;

pub fn sort(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "qsort", "qsort", "qsort_r", "bsearch", "lfind", "lsearch", "tsearch",
    ]);
    let size = *rng.pick(&[1, 2, 4, 8, 8, 16, 20, 32, 33, 40]);
    let count = *rng.pick(&[0, 1, 2, 3, 5, 8, 13, 40]);
    let count = if check.starts_with("qsort") {
        count
    } else {
        count.min(8)
    };
    let mut elements: Vec<Vec<u8>> = (0..count)
        .map(|_| (0..size).map(|_| rng.below(64) as u8).collect())
        .collect();
    let is_sorting = check.starts_with("qsort");
    if !is_sorting {
        elements.sort();
    }
    let key = match elements.is_empty() || rng.one_in(3) {
        true => (0..size).map(|_| rng.below(64) as u8).collect(),
        false => rng.pick(&elements).clone(),
    };
    // A tree that was built by contradictions cannot be taken apart again.
    let ways = if check == "tsearch" { WAYS - 1 } else { WAYS };
    let case = Case::new(check, rng)
        .symbolic(elements.concat())
        .concrete(long(size))
        .concrete(int(rng.below(ways) as i32));
    if is_sorting {
        case
    } else {
        case.mixed(key, rng)
    }
}
