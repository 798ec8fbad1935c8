//! The ends of what answers a question.
//!
//! A solver gives any answer. Of a number that the program reads as such the smallest and the largest that will do are the
//! ones that people would try, and where arithmetic wraps round. A number has four ends, those of its negative and
//! of its other values, or, as a number without sign, of its upper and its lower half: the same four.

use std::collections::HashSet;

use parallax_abi::Op;
use parallax_expr::{Label, MemoryStore, Store};
use parallax_solver::{Answer, Constraint, Holds, Model, Path};

/// Numbers of one question whose ends are looked for.
const MOST_WORDS: usize = 2;
/// Expressions that are looked through for numbers.
const MOST_NODES: usize = 500;

/// Numbers that an expression is made of: bytes of the input that are put together to one value, and nothing else.
pub fn words<S: Store>(store: &S, roots: impl Iterator<Item = Label>) -> Vec<Label> {
    let mut words = Vec::new();
    let mut seen = HashSet::new();
    let mut pending: Vec<Label> = roots.collect();
    while let Some(label) = pending.pop() {
        if label == 0 || !seen.insert(label) || seen.len() > MOST_NODES {
            continue;
        }
        if is_word(store, label) {
            words.push(label);
            continue;
        }
        let node = store.node(label);
        let arity = Op::from_byte(node.op).map_or(0, Op::arity);
        pending.extend([node.a, node.b, node.c].into_iter().take(arity));
    }
    words.sort_unstable();
    words.truncate(MOST_WORDS);
    words
}

fn is_word<S: Store>(store: &S, label: Label) -> bool {
    let is_part = |label: Label| {
        let op = store.node(label).op;
        op == Op::Input as u8 || is_word(store, label)
    };
    let node = store.node(label);
    node.op == Op::Concat as u8 && is_part(node.a) && is_part(node.b)
}

/// Answers with which one of the goal's numbers is at an end. The goal has an answer under what the path holds.
pub fn extremes(path: &mut Path<'_, MemoryStore>, goal: &[Constraint]) -> Vec<Model> {
    let roots = goal.iter().map(|constraint| constraint.label);
    let words = words(path.expressions(), roots);
    let mut models: Vec<Model> = Vec::new();
    for word in words {
        let width = u32::from(path.expressions().node(word).width);
        let Some(half) = 1u128.checked_shl(width - 1) else {
            continue;
        };
        for (low, high) in [(half, half + (half - 1)), (0, half - 1)] {
            for end in [End::Low, End::High] {
                let found = search(path, goal, word, (low, high), end);
                models.extend(found.filter(|model| !models.contains(model)));
            }
        }
    }
    models
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Low,
    High,
}

/// Halves the range until only one value is left; the answer with it. `None` if no value of the range will do.
fn search(
    path: &mut Path<'_, MemoryStore>,
    goal: &[Constraint],
    word: Label,
    (mut low, mut high): (u128, u128),
    end: End,
) -> Option<Model> {
    let mut ask = |low: u128, high: u128| {
        let within = Constraint {
            label: word,
            holds: Holds::Within(low, high),
        };
        let goal = [goal, &[within]].concat();
        match path.solve(path.len(), &goal, None) {
            Answer::Sat(model) => Some(model),
            Answer::Unsat(_) | Answer::Unknown(_) => None,
        }
    };
    // The end itself will often do.
    let last = match end {
        End::Low => low,
        End::High => high,
    };
    if let Some(model) = ask(last, last) {
        return Some(model);
    }
    let mut best = ask(low, high)?;
    while low < high {
        let middle = low + (high - low) / 2;
        let (near, far) = match end {
            End::Low => ((low, middle), (middle + 1, high)),
            End::High => ((middle + 1, high), (low, middle)),
        };
        match ask(near.0, near.1) {
            Some(model) => {
                best = model;
                (low, high) = near;
            }
            None => (low, high) = far,
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use parallax_expr::build;
    use parallax_solver::{Config, Solver};

    use super::*;

    /// A little-endian number of four bytes, all 0.
    fn number(store: &mut MemoryStore) -> Label {
        let bytes: Vec<Label> = (0..4)
            .map(|offset| build::input(store, 0, offset, 0))
            .collect();
        let mut word = bytes[0];
        for byte in &bytes[1..] {
            word = build::concat(store, *byte, word);
        }
        word
    }

    fn value_of(model: &Model) -> i32 {
        let byte = |offset: u64| model.bytes.get(&(0, offset)).copied().unwrap_or(0);
        i32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    }

    fn ends(make: impl Fn(&mut MemoryStore, Label) -> Label) -> Vec<i32> {
        let mut store = MemoryStore::new();
        let word = number(&mut store);
        let condition = make(&mut store, word);
        let solver = Solver::new(Config::default());
        let names = [0];
        let mut path = solver.path(&store, &names);
        let goal = [Constraint::is(condition, true)];
        extremes(&mut path, &goal).iter().map(value_of).collect()
    }

    #[test]
    fn the_ends_of_a_range_are_found() {
        let between = |store: &mut MemoryStore, word: Label| {
            let (low, high) = (
                build::constant(store, 32, 11),
                build::constant(store, 32, 20),
            );
            let above = build::binary(store, Op::Sle, low, word);
            let below = build::binary(store, Op::Sle, word, high);
            build::and(store, above, below)
        };
        assert_eq!(ends(between), [11, 20]);
    }

    #[test]
    fn both_ends_where_arithmetic_wraps_round_are_found() {
        // x - 1 > 7 and not x + 1 > 7.
        let wraps = |store: &mut MemoryStore, word: Label| {
            let (one, seven) = (build::constant(store, 32, 1), build::constant(store, 32, 7));
            let (less, more) = (build::sub(store, word, one), build::add(store, word, one));
            let old = build::binary(store, Op::Slt, seven, less);
            let new = build::binary(store, Op::Sle, more, seven);
            build::and(store, old, new)
        };
        assert_eq!(ends(wraps), [i32::MIN, i32::MAX]);
    }

    #[test]
    fn single_bytes_are_no_numbers() {
        let mut store = MemoryStore::new();
        let byte = build::input(&mut store, 0, 0, 0);
        let wide = build::zext(&mut store, byte, 32);
        let limit = build::constant(&mut store, 32, 9);
        let less = build::binary(&mut store, Op::Ult, wide, limit);
        assert!(words(&store, [less].into_iter()).is_empty());
    }
}
