//! Bounds: from the values that bytes may have to the values that expressions may have.
//!
//! Intervals are unsigned and never wrap; an operation that may wrap gives all values of its width. Expressions of one byte
//! are exact, because all values of the byte are tried.

use super::domains::{Domain, Domains};
use super::values::Values;
use crate::constraint::Holds;
use crate::layer::Query;
use crate::overlay::{operands, operator};
use crate::sets::VarId;
use crate::terms::Terms;
use parallax_expr::bits::{mask, sign_bit};
use parallax_expr::{Label, Node, Op, Store, value};
use rustc_hash::FxHashMap;

/// Lowest and highest value.
type Bounds = (u128, u128);

/// Expressions larger than this are left to the solver.
const MAX_NODES: usize = 2_000;
/// Bytes for which it is found out whether a contradiction needs them.
const MAX_BYTES: usize = 32;

/// Constraints of the query that contradict a constraint of the goal by bounds alone.
pub(super) fn contradiction<S: Store>(
    terms: &mut Terms<'_, S>,
    domains: &mut Domains,
    query: &Query<'_>,
    domain: &Domain,
) -> Option<Vec<usize>> {
    for position in query.goal..query.facts.len() {
        let fact = query.facts[position];
        let set = terms.fact(fact.label).set;
        let possible = |terms: &mut Terms<'_, S>, domains: &mut Domains, values: &Allowed| {
            let mut bounds = Intervals {
                terms,
                domains,
                values,
                known: FxHashMap::default(),
            };
            bounds
                .of(fact.label)
                .is_none_or(|bounds| may_hold(fact.holds, bounds))
        };
        let mut values: Allowed = domain.values.clone();
        if possible(terms, domains, &values) {
            continue;
        }
        // Which bytes' limits are needed for that?
        let mut needed: Vec<VarId> = terms
            .sets
            .members(set)
            .filter(|byte| values.contains_key(byte))
            .collect();
        if needed.len() <= MAX_BYTES {
            needed.retain(|&byte| {
                let kept = values.remove(&byte);
                let necessary = possible(terms, domains, &values);
                if let (true, Some(kept)) = (necessary, kept) {
                    values.insert(byte, kept);
                }
                necessary
            });
        }
        let mut core = vec![position];
        for byte in needed {
            core.extend(domains.bounding(terms, query, byte));
        }
        core.sort_unstable();
        core.dedup();
        return Some(core);
    }
    None
}

type Allowed = FxHashMap<VarId, Values>;

fn may_hold(holds: Holds, (low, high): Bounds) -> bool {
    match holds {
        Holds::Equals(value) => low <= value && value <= high,
        Holds::Differs(value) => low != value || high != value,
        Holds::Within(from, to) => low <= to && from <= high,
        Holds::Outside(from, to) => low < from || to < high,
    }
}

struct Intervals<'i, 'p, S> {
    terms: &'i mut Terms<'p, S>,
    domains: &'i mut Domains,
    values: &'i Allowed,
    known: FxHashMap<Label, Bounds>,
}

impl<S: Store> Intervals<'_, '_, S> {
    /// `None` if the expression is damaged or too large.
    fn of(&mut self, root: Label) -> Option<Bounds> {
        let mut pending = vec![root];
        while let Some(&label) = pending.last() {
            if self.known.contains_key(&label) {
                pending.pop();
                continue;
            }
            if self.known.len() >= MAX_NODES {
                return None;
            }
            let node = self.terms.store.node(label);
            let set = self.terms.fact(label).set;
            if set == crate::sets::SetId::EMPTY && operator(&node) != Op::Nothing {
                self.known.insert(label, (value(&node), value(&node)));
                continue;
            }
            if let Some(byte) = self.terms.sets.only(set) {
                let bounds = self.of_byte(label, byte, node.width);
                self.known.insert(label, bounds);
                continue;
            }
            let (all, arity) = operands(label, &node);
            if all[..arity].contains(&0) {
                return None;
            }
            let before = pending.len();
            pending.extend(
                all[..arity]
                    .iter()
                    .filter(|at| !self.known.contains_key(at)),
            );
            if pending.len() == before {
                let bounds = self.operation(&node);
                self.known.insert(label, bounds);
            }
        }
        self.known.get(&root).copied()
    }

    fn of_byte(&mut self, label: Label, byte: VarId, width: u8) -> Bounds {
        let everything = (0, mask(u32::from(width)));
        let Some(image) = self.domains.image(self.terms, label, byte) else {
            return everything;
        };
        let allowed = self.values.get(&byte).copied().unwrap_or(Values::ALL);
        let results = allowed.iter().filter_map(|value| image[usize::from(value)]);
        let bounds = results.fold(None, |bounds: Option<Bounds>, result| match bounds {
            None => Some((result, result)),
            Some((low, high)) => Some((low.min(result), high.max(result))),
        });
        bounds.unwrap_or(everything)
    }

    fn operation(&self, node: &Node) -> Bounds {
        let width = u32::from(node.width);
        let everything = (0, mask(width));
        let (a, b) = (self.bounds(node.a), self.bounds(node.b));
        let from = u32::from(self.terms.store.node(node.a).width);
        let fits = |bounds: Option<Bounds>| bounds.filter(|(_, high)| *high <= mask(width));
        let result = match operator(node) {
            Op::ZExt => Some(a),
            // Only numbers whose sign is known.
            Op::SExt if a.1 < sign_bit(from) => Some(a),
            Op::Extract if a.1 >> node.c <= mask(width) => Some((a.0 >> node.c, a.1 >> node.c)),
            Op::Concat => {
                let below = u32::from(self.terms.store.node(node.b).width);
                Some((a.0 << below | b.0, a.1 << below | b.1))
            }
            Op::Add => fits(a.1.checked_add(b.1).map(|high| (a.0 + b.0, high))).or_else(|| {
                // Both ends wrap around once: a constant was subtracted.
                let (low, high) = (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?);
                let round = mask(width).checked_add(1)?;
                (low >= round && high < 2 * round).then(|| (low - round, high - round))
            }),
            Op::Sub => a.0.checked_sub(b.1).map(|low| (low, a.1 - b.0)),
            Op::Mul => fits(a.1.checked_mul(b.1).map(|high| (a.0 * b.0, high))),
            Op::UDiv if b.0 > 0 => Some((a.0 / b.1, a.1 / b.0)),
            Op::URem if b.0 > 0 => Some((0, a.1.min(b.1 - 1))),
            Op::And => Some((0, a.1.min(b.1))),
            Op::Or => {
                let bits = 128 - (a.1 | b.1).leading_zeros();
                Some((a.0.max(b.0), mask(bits)))
            }
            Op::Xor => Some((0, mask(128 - (a.1 | b.1).leading_zeros()))),
            Op::LShr if b.1 < u128::from(width) => Some((a.0 >> b.1, a.1 >> b.0)),
            Op::Ite => {
                let c = self.bounds(node.c);
                match a {
                    (1, 1) => Some(b),
                    (0, 0) => Some(c),
                    _ => Some((b.0.min(c.0), b.1.max(c.1))),
                }
            }
            Op::Eq if a.1 < b.0 || b.1 < a.0 => Some((0, 0)),
            Op::Ult => order(a, b, true),
            Op::Ule => order(a, b, false),
            Op::Slt | Op::Sle if a.1 < sign_bit(from) && b.1 < sign_bit(from) => {
                order(a, b, node.op == Op::Slt as u8)
            }
            _ => None,
        };
        result.unwrap_or(everything)
    }

    fn bounds(&self, label: Label) -> Bounds {
        self.known.get(&label).copied().unwrap_or((0, u128::MAX))
    }
}

/// `a < b` or `a <= b`, if it is always or never so.
fn order(a: Bounds, b: Bounds, strict: bool) -> Option<Bounds> {
    let always = if strict { a.1 < b.0 } else { a.1 <= b.0 };
    let never = if strict { a.0 >= b.1 } else { a.0 > b.1 };
    match (always, never) {
        (true, _) => Some((1, 1)),
        (_, true) => Some((0, 0)),
        _ => None,
    }
}
