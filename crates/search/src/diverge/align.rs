//! Longest common alignments of two sequences, found greedily (Myers), with a limit on how different they may be.

/// Pairs of indices of equal elements, ascending in both. If more than `most` elements would have to be left out, only what
/// comes before that is aligned.
pub fn align<T: PartialEq>(old: &[T], new: &[T], most: usize) -> Vec<(usize, usize)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tails = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = tails.take_while(|(a, b)| a == b).count();
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    let middle = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let (between, whole) = greedy(middle.0, middle.1, most);
    pairs.extend(between.into_iter().map(|(a, b)| (a + head, b + head)));
    if whole {
        pairs.extend((1..=tail).rev().map(|at| (old.len() - at, new.len() - at)));
    }
    pairs
}

/// The pairs, and whether they reach to the end of both.
fn greedy<T: PartialEq>(old: &[T], new: &[T], most: usize) -> (Vec<(usize, usize)>, bool) {
    let (n, m) = (old.len() as isize, new.len() as isize);
    let limit = (n + m).min(most as isize);
    let offset = limit + 1;
    // Farthest reaching index in `old` on each diagonal, as it was before each step.
    let mut farthest = vec![0isize; 2 * offset as usize + 1];
    let mut history: Vec<Vec<isize>> = Vec::new();
    let mut best = (0, 0);
    let mut end = None;
    'search: for d in 0..=limit {
        history.push(farthest[(offset - d) as usize..=(offset + d) as usize].to_vec());
        let mut k = -d;
        while k <= d {
            let down =
                k == -d || k != d && at(&farthest, offset, k - 1) < at(&farthest, offset, k + 1);
            let mut x = match down {
                true if d == 0 => 0,
                true => at(&farthest, offset, k + 1),
                false => at(&farthest, offset, k - 1) + 1,
            };
            let mut y = x - k;
            while x < n && y < m && old[x as usize] == new[y as usize] {
                x += 1;
                y += 1;
            }
            farthest[(offset + k) as usize] = x;
            if x <= n && y <= m && x + y > best.0 + best.1 {
                best = (x, y);
                end = Some(d);
            }
            if x >= n && y >= m {
                end = Some(d);
                best = (n, m);
                break 'search;
            }
            k += 2;
        }
    }
    let mut pairs = Vec::new();
    let (mut x, mut y) = best;
    for d in (0..=end.unwrap_or(0)).rev() {
        let before = &history[d as usize];
        let value = |k: isize| before[(k + d) as usize];
        let k = x - y;
        let (from_x, from_k) = if d == 0 {
            (0, 0)
        } else {
            let down = k == -d || k != d && value(k - 1) < value(k + 1);
            let from_k = if down { k + 1 } else { k - 1 };
            (value(from_k), from_k)
        };
        let start = from_x + (k - from_k).max(0);
        while x > start {
            x -= 1;
            y -= 1;
            pairs.push((x as usize, y as usize));
        }
        (x, y) = (from_x, from_x - from_k);
    }
    pairs.reverse();
    (pairs, best == (n, m))
}

fn at(farthest: &[isize], offset: isize, k: isize) -> isize {
    farthest[(offset + k) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(old: &str, new: &str, most: usize) -> String {
        let (a, b): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let pairs = align(&a, &b, most);
        assert!(
            pairs.is_sorted_by(|x, y| x.0 < y.0 && x.1 < y.1),
            "{pairs:?}"
        );
        assert!(pairs.iter().all(|(x, y)| a[*x] == b[*y]), "{pairs:?}");
        pairs.iter().map(|(x, _)| a[*x]).collect()
    }

    #[test]
    fn what_is_common_is_found_around_what_was_added_and_removed() {
        assert_eq!(common("abcd", "abcd", 9), "abcd");
        assert_eq!(common("abcd", "abxcd", 9), "abcd");
        assert_eq!(common("abxcd", "abcd", 9), "abcd");
        assert_eq!(common("abcabba", "cbabac", 99).len(), 4);
        assert_eq!(common("", "abc", 9), "");
        assert_eq!(common("abc", "", 9), "");
        assert_eq!(common("xay", "bac", 9), "a");
    }

    #[test]
    fn sequences_that_are_too_different_are_aligned_as_far_as_they_are_not() {
        let common = common("aaaabcdefgh", "aaaaqrstuvwxyz", 4);
        assert!(common.starts_with("aaaa"), "{common}");
    }

    #[test]
    fn every_alignment_of_short_words_is_a_longest_one() {
        let word = |mut number: usize| {
            let mut text = String::new();
            for _ in 0..5 {
                text.push(char::from(b'a' + (number % 3) as u8));
                number /= 3;
            }
            text
        };
        for (i, j) in (0..243)
            .step_by(7)
            .flat_map(|i| (0..243).step_by(5).map(move |j| (i, j)))
        {
            let (a, b) = (word(i), word(j));
            assert_eq!(
                common(&a, &b, 99).len(),
                longest(a.as_bytes(), b.as_bytes()),
                "{a} {b}"
            );
        }
    }

    fn longest(a: &[u8], b: &[u8]) -> usize {
        match (a.split_first(), b.split_first()) {
            (Some((x, a)), Some((y, b))) if x == y => 1 + longest(a, b),
            (Some((_, rest)), Some((_, other))) => longest(rest, b).max(longest(a, other)),
            _ => 0,
        }
    }
}
