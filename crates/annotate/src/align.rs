//! What of one list is what of another.

/// A step through both lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Versions of one.
    Both(usize, usize),
    New(usize),
    /// Of the old list only; stands before this one of the new list.
    Old(usize, usize),
}

/// Aligns two lists so that what is paired scores most in all; what scores 0 is never paired.
pub fn align<T>(old: &[T], new: &[T], score: &dyn Fn(&T, &T) -> u32) -> Vec<Step> {
    let width = new.len() + 1;
    let mut best = vec![0u32; (old.len() + 1) * width];
    let scores: Vec<u32> = old
        .iter()
        .flat_map(|one| new.iter().map(move |other| score(one, other)))
        .collect();
    for one in (0..old.len()).rev() {
        for other in (0..new.len()).rev() {
            let paired = match scores[one * new.len() + other] {
                0 => 0,
                score => score + best[(one + 1) * width + other + 1],
            };
            let skipped = best[(one + 1) * width + other].max(best[one * width + other + 1]);
            best[one * width + other] = paired.max(skipped);
        }
    }
    let mut steps = Vec::new();
    let (mut one, mut other) = (0, 0);
    while one < old.len() || other < new.len() {
        let here = best[one * width + other];
        let is_pair = one < old.len()
            && other < new.len()
            && scores[one * new.len() + other] > 0
            && here == scores[one * new.len() + other] + best[(one + 1) * width + other + 1];
        if is_pair {
            steps.push(Step::Both(one, other));
            one += 1;
            other += 1;
        } else if one < old.len() && (other == new.len() || here == best[(one + 1) * width + other])
        {
            steps.push(Step::Old(one, other));
            one += 1;
        } else {
            steps.push(Step::New(other));
            other += 1;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_paired_in_order() {
        let score = |one: &char, other: &char| u32::from(one == other);
        let (old, new) = (['a', 'b', 'c', 'd'], ['x', 'b', 'd', 'c']);
        let steps = align(&old, &new, &score);
        let pairs = steps.iter().filter(|step| matches!(step, Step::Both(..)));
        assert_eq!(pairs.count(), 2);
        assert_eq!(steps[0], Step::Old(0, 0));
        assert_eq!(steps[1], Step::New(0));
        assert_eq!(steps[2], Step::Both(1, 1));
    }
}
