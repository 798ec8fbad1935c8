//! Which blocks of two versions of a function are the same ones.
//!
//! Blocks come in the order of the source, so that what corresponds does so in order: the best alignment is found by
//! dynamic programming over how much two blocks have in common: their line, their name (a hash of their instructions),
//! what they contain, how they end.

use super::code::{Block, Function};
use super::lines::{Lines, Relation};

/// Tables larger than this are not filled: only blocks with the same name correspond then.
const MOST_CELLS: usize = 4_000_000;
/// Blocks with less in common are not the same.
const LEAST: i32 = 3;

/// Pairs of indices, ascending in both.
pub fn corresponding(old: &Function, new: &Function, lines: Option<&Lines>) -> Vec<(usize, usize)> {
    let names = |function: &Function| function.blocks.iter().map(|b| b.site).collect::<Vec<_>>();
    if names(old) == names(new) {
        return (0..old.blocks.len()).map(|at| (at, at)).collect();
    }
    let chosen = |function: &Function| (0..function.blocks.len()).collect::<Vec<_>>();
    best(old, &chosen(old), new, &chosen(new), lines, LEAST)
}

/// The best alignment of some blocks of each.
pub fn best(
    old: &Function,
    some_old: &[usize],
    new: &Function,
    some_new: &[usize],
    lines: Option<&Lines>,
    least: i32,
) -> Vec<(usize, usize)> {
    let (n, m) = (some_old.len(), some_new.len());
    if n.saturating_mul(m) > MOST_CELLS {
        let name = |function: &Function, some: &[usize]| -> Vec<u64> {
            some.iter().map(|at| function.blocks[*at].site).collect()
        };
        let pairs = crate::diverge::align::align(&name(old, some_old), &name(new, some_new), 2000);
        return pairs
            .into_iter()
            .map(|(a, b)| (some_old[a], some_new[b]))
            .collect();
    }
    let score = |a: usize, b: usize| {
        let (a, b) = (some_old[a], some_new[b]);
        let entries = i32::from(a == 0 && b == 0) * 4;
        let offsets = |function: &Function, block: &Block| block.line.wrapping_sub(function.line);
        let (x, y) = (&old.blocks[a], &new.blocks[b]);
        // Code from macros of headers has lines of its own.
        let lines = lines.filter(|_| x.file == old.file && y.file == new.file);
        let offset = i32::from(lines.is_none() && offsets(old, x) == offsets(new, y));
        in_common(x, y, lines) + entries + offset
    };
    let width = m + 1;
    let mut table = vec![0i32; (n + 1) * width];
    let mut scores = vec![i32::MIN; n * m];
    for a in 0..n {
        for b in 0..m {
            let own = score(a, b);
            scores[a * m + b] = own;
            let skip = table[a * width + b + 1].max(table[(a + 1) * width + b]);
            let take = if own >= least {
                table[a * width + b] + own
            } else {
                i32::MIN
            };
            table[(a + 1) * width + b + 1] = skip.max(take);
        }
    }
    let mut pairs = Vec::new();
    let (mut a, mut b) = (n, m);
    while a > 0 && b > 0 {
        let here = table[a * width + b];
        let own = scores[(a - 1) * m + b - 1];
        if own >= least && here == table[(a - 1) * width + b - 1] + own {
            (a, b) = (a - 1, b - 1);
            pairs.push((some_old[a], some_new[b]));
        } else if here == table[(a - 1) * width + b] {
            a -= 1;
        } else {
            b -= 1;
        }
    }
    pairs.reverse();
    pairs
}

fn in_common(old: &Block, new: &Block, lines: Option<&Lines>) -> i32 {
    let kind = |block: &Block| block.decision.as_ref().map(|decision| decision.kind);
    let mut score = 0;
    if let Some(lines) = lines.filter(|_| old.line != 0 && new.line != 0) {
        score += match lines.relation(old.line, new.line) {
            Relation::Same => 8,
            Relation::Moved => 6,
            Relation::Changed => 3,
            Relation::Other => -1,
            // Whatever else they have in common, it is chance.
            Relation::Apart => return i32::MIN / 2,
        };
        score += i32::from(old.column == new.column);
    }
    if old.site == new.site {
        score += 4;
    }
    if kind(old) != kind(new) || old.successors.len() != new.successors.len() {
        score -= 4;
    } else {
        score += 1;
    }
    score + similarity(old, new)
}

/// From -2 to 4: how much of the content is the same.
fn similarity(old: &Block, new: &Block) -> i32 {
    let (a, b) = (&old.content, &new.content);
    if a.is_empty() && b.is_empty() {
        return 1;
    }
    let mut left: Vec<&(u8, String)> = b.iter().collect();
    let mut common = 0;
    for item in a {
        if let Some(at) = left.iter().position(|other| *other == item) {
            left.swap_remove(at);
            common += 1;
        }
    }
    let all = a.len().max(b.len()) as i32;
    6 * common / all - 2
}
