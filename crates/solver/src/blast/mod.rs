//! Layer four: everything that is integer becomes a circuit, and CaDiCaL looks for its inputs.
//!
//! Constraints are assumptions, so one circuit serves all queries of a path, what the solver learned
//! stays, and a contradiction names the constraints that take part in it.
//!
//! A path has a few circuits rather than one: the SAT solver gives every variable a value, so that a query about one
//! byte would pay for all that was ever asked about others. Queries go where their bytes have been before; a
//! circuit takes new bytes while it is small.

mod cases;
mod encode;
mod gates;
mod table;
mod word;

use crate::constraint::Why;
use crate::layer::{Changes, Layer, Outcome, Query, Reply, satisfies, take_back, tidy};
use crate::sets::{SetId, VarId};
use crate::shared::Shared;
use crate::smt::Smt;
use crate::terms::Terms;
use encode::Circuit;
use gates::{Bit, Effort, TooLarge, Verdict};
use parallax_expr::Store;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Instant;

/// Circuits that are kept.
const CIRCUITS: usize = 8;
/// A circuit of this many variables takes no bytes that it has not seen.
const SHARED_SIZE: usize = 20_000;
/// A circuit of this many variables is not used any more.
const FULL_SIZE: usize = 2_000_000;
/// Conflicts after which a query counts as hard: it gets a circuit of its own, which is worth simplifying.
const NEAR_CONFLICTS: u32 = 2_000;
/// Conflicts and attempts that bringing a byte back to the seed's value may cost.
const RETURN_CONFLICTS: u32 = 100;
const RETURN_ATTEMPTS: usize = 8;
/// How often a core is asked for a smaller one.
const CORE_ROUNDS: usize = 3;

/// Bit-blasting, above the SMT-LIB program.
pub(crate) struct Sat {
    shared: Arc<Shared>,
    circuits: FxHashMap<u32, Circuit>,
    /// Numbers of circuits, oldest first.
    order: Vec<u32>,
    next: u32,
    /// The circuit that a byte was last encoded in.
    home: FxHashMap<VarId, u32>,
    below: Smt,
}

impl Sat {
    pub fn new(shared: Arc<Shared>) -> Sat {
        Sat {
            below: Smt::new(Arc::clone(&shared)),
            shared,
            circuits: FxHashMap::default(),
            order: Vec::new(),
            next: 0,
            home: FxHashMap::default(),
        }
    }

    pub fn solve<S: Store>(&mut self, terms: &mut Terms<'_, S>, query: &Query<'_>) -> Reply {
        let start = Instant::now();
        let outcome = self.decide(terms, query);
        self.shared.spent(Layer::Sat, start.elapsed());
        let reply = Reply::new(Layer::Sat, outcome);
        match reply.outcome {
            Outcome::Sat(_) | Outcome::Unsat(_) if self.shared.config.oracle => {
                let below = self.below.solve(terms, query);
                self.shared.compare(reply, below)
            }
            Outcome::Sat(_) | Outcome::Unsat(_) => reply,
            Outcome::Unknown(_) => {
                let below = self.below.solve(terms, query);
                match below.outcome {
                    // Why the first back end gave up says more than that there is no second one.
                    Outcome::Unknown(Why::Unsupported) => reply,
                    _ => below,
                }
            }
        }
    }

    fn decide<S: Store>(&mut self, terms: &mut Terms<'_, S>, query: &Query<'_>) -> Outcome {
        let mut set = SetId::EMPTY;
        let mut floating = false;
        for fact in query.facts {
            let known = terms.fact(fact.label);
            set = terms.sets.union(set, known.set);
            floating |= known.floating;
        }
        let bytes: Vec<VarId> = terms.sets.members(set).collect();
        let number = self.pick(&bytes, query.facts.len());
        let Some(circuit) = self.circuits.get_mut(&number) else {
            return Outcome::Unknown(Why::TooLarge);
        };
        let mut outcome = ask(circuit, terms, query, &bytes, Effort::Search);
        if circuit.gates.is_broken() {
            self.forget(number);
        }
        if outcome == Outcome::Unknown(Why::Limit) && query.limits.conflicts > NEAR_CONFLICTS {
            let mut alone = Circuit::new(Effort::Simplify);
            outcome = ask(&mut alone, terms, query, &bytes, Effort::Simplify);
        }
        match outcome {
            // With free results of floating-point operators this is a guess.
            Outcome::Unknown(Why::WrongModel) if floating => Outcome::Unknown(Why::Unsupported),
            Outcome::Unknown(Why::WrongModel) => {
                self.shared.count(|statistics| statistics.wrong_models += 1);
                outcome
            }
            _ => outcome,
        }
    }

    /// The circuit for a query about these bytes.
    fn pick(&mut self, bytes: &[VarId], constraints: usize) -> u32 {
        let home = bytes.first().and_then(|byte| self.home.get(byte)).copied();
        let usable = |number: u32, most: usize| {
            let circuit = self.circuits.get(&number)?;
            (circuit.gates.size() < most).then_some(number)
        };
        // A few constraints among very many that a circuit has are better off alone.
        let worth = (constraints * 2_000).clamp(SHARED_SIZE, FULL_SIZE);
        let found = home.and_then(|number| usable(number, worth)).or_else(|| {
            self.order
                .last()
                .and_then(|&last| usable(last, SHARED_SIZE))
        });
        let number = found.unwrap_or_else(|| {
            if self.order.len() == CIRCUITS {
                let oldest = self.order[0];
                self.forget(oldest);
            }
            self.next += 1;
            self.circuits
                .insert(self.next, Circuit::new(Effort::Search));
            self.order.push(self.next);
            self.next
        });
        for &byte in bytes {
            self.home.insert(byte, number);
        }
        number
    }

    fn forget(&mut self, number: u32) {
        self.circuits.remove(&number);
        self.order.retain(|&other| other != number);
    }
}

/// Asks one circuit. [`Why::WrongModel`] if what it says does not hold.
fn ask<S: Store>(
    circuit: &mut Circuit,
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
    bytes: &[VarId],
    effort: Effort,
) -> Outcome {
    let assumptions = match assume(circuit, terms, query) {
        Ok(assumptions) => assumptions,
        Err(outcome) => return outcome,
    };
    let conflicts = match effort {
        Effort::Search => query.limits.conflicts.min(NEAR_CONFLICTS),
        Effort::Simplify => query.limits.conflicts.saturating_sub(NEAR_CONFLICTS),
    };
    let verdict = circuit
        .gates
        .solve(&assumptions, conflicts, query.limits.time);
    match verdict {
        Verdict::Sat => {
            let changes = read(circuit, terms, bytes);
            if !satisfies(terms, query, &changes) {
                return Outcome::Unknown(Why::WrongModel);
            }
            let changes = take_back(terms, query, changes);
            let changes = nearer(circuit, terms, query, bytes, &assumptions, changes);
            Outcome::Sat(tidy(terms, query, changes))
        }
        Verdict::Unsat(core) => {
            let core = shrink(circuit, core, query);
            let mut positions: Vec<usize> = core
                .iter()
                .filter_map(|bit| assumptions.iter().position(|other| other == bit))
                .collect();
            positions.sort_unstable();
            positions.dedup();
            Outcome::Unsat(positions)
        }
        Verdict::Limit => Outcome::Unknown(Why::Limit),
        Verdict::Failed(how) => Outcome::Unknown(Why::BackEnd(how)),
    }
}

/// Bits that are true when the constraints hold, or the outcome if that is known already.
fn assume<S: Store>(
    circuit: &mut Circuit,
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
) -> Result<Vec<Bit>, Outcome> {
    circuit.gates.allow(query.limits.gates);
    let mut assumptions: Vec<Bit> = Vec::with_capacity(query.facts.len());
    for (position, &fact) in query.facts.iter().enumerate() {
        match circuit.constraint(terms, fact) {
            Ok(bit) if bit == Bit::FALSE => return Err(Outcome::Unsat(vec![position])),
            Ok(bit) => assumptions.push(bit),
            Err(TooLarge) => return Err(Outcome::Unknown(Why::TooLarge)),
        }
    }
    Ok(assumptions)
}

/// The bytes in the solver's model that differ from the seed.
fn read<S: Store>(circuit: &Circuit, terms: &Terms<'_, S>, bytes: &[VarId]) -> Changes {
    let mut changes = Vec::new();
    for &byte in bytes {
        let Some(bits) = circuit.input(byte) else {
            continue;
        };
        let value = bits.iter().enumerate().fold(0u8, |sum, (at, &bit)| {
            sum | u8::from(circuit.gates.value(bit)) << at
        });
        if value != terms.seed(byte) {
            changes.push((byte, value));
        }
    }
    changes
}

/// Looks for a model that changes fewer bytes, as long as that is cheap.
fn nearer<S: Store>(
    circuit: &mut Circuit,
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
    bytes: &[VarId],
    assumptions: &[Bit],
    changes: Changes,
) -> Changes {
    let mut changes = changes;
    let mut tried: Vec<VarId> = Vec::new();
    while changes.len() > 1 && tried.len() < RETURN_ATTEMPTS {
        let Some(&(byte, _)) = changes.iter().find(|(byte, _)| !tried.contains(byte)) else {
            break;
        };
        tried.push(byte);
        let mut fixed = assumptions.to_vec();
        for &other in bytes {
            let changed = changes.iter().any(|(changed, _)| *changed == other);
            if (!changed || other == byte)
                && let Some(bits) = circuit.input(other)
            {
                fixed.extend(bits.iter().map(|&bit| if bit.seed() { bit } else { !bit }));
            }
        }
        let verdict = circuit
            .gates
            .solve(&fixed, RETURN_CONFLICTS, query.limits.time);
        if verdict == Verdict::Sat {
            let fewer = read(circuit, terms, bytes);
            if fewer.len() < changes.len() && satisfies(terms, query, &fewer) {
                changes = take_back(terms, query, fewer);
            }
        }
    }
    changes
}

/// Asks again with nothing but the core, which often gives a smaller one.
fn shrink(circuit: &mut Circuit, core: Vec<Bit>, query: &Query<'_>) -> Vec<Bit> {
    let mut core = core;
    for _ in 0..CORE_ROUNDS {
        if core.len() <= 2 {
            break;
        }
        let conflicts = query.limits.conflicts.min(NEAR_CONFLICTS);
        match circuit.gates.solve(&core, conflicts, query.limits.time) {
            Verdict::Unsat(smaller) if smaller.len() < core.len() => core = smaller,
            _ => break,
        }
    }
    core
}
