//! Logic gates in the SAT solver, each made once.
//!
//! Variables are oriented: a variable is introduced such that the seed makes it *true*. So the sign of a
//! literal is its value under the seed, and the solver, whose first guess for a variable is
//! "true", begins its search at the seed.

use rustc_hash::FxHashMap;
use rustsat::solvers::{
    ControlSignal, LimitConflicts, PhaseLit, Solve, SolveIncremental, SolverResult, Terminate,
};
use rustsat::types::{Lit, TernaryVal};
use rustsat_cadical::{CaDiCaL, Config};
use std::ops::Not;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A wire: a variable of the SAT solver or its complement. Positive if the seed makes it true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Bit(i32);

impl Bit {
    pub const TRUE: Bit = Bit(1);
    pub const FALSE: Bit = Bit(-1);

    pub fn constant(value: bool) -> Bit {
        if value { Bit::TRUE } else { Bit::FALSE }
    }

    /// The value, if it is the same for all inputs.
    pub fn known(self) -> Option<bool> {
        (self.0.abs() == 1).then_some(self.0 > 0)
    }

    /// The value on the seed.
    pub fn seed(self) -> bool {
        self.0 > 0
    }

    fn positive(self) -> Bit {
        Bit(self.0.abs())
    }

    fn lit(self) -> Lit {
        Lit::new(self.0.unsigned_abs() - 1, self.0 < 0)
    }
}

impl Not for Bit {
    type Output = Bit;
    fn not(self) -> Bit {
        Bit(-self.0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Bit, Bit),
    Xor(Bit, Bit),
    Choose(Bit, Bit, Bit),
    Majority(Bit, Bit, Bit),
}

/// The circuit became larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// What the SAT solver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sat,
    /// Assumptions that cannot hold together.
    Unsat(Vec<Bit>),
    Limit,
    Failed(String),
}

/// A growing circuit with its SAT solver.
pub(crate) struct Gates {
    sat: CaDiCaL<'static, 'static>,
    effort: Effort,
    known: FxHashMap<Gate, Bit>,
    wide: FxHashMap<Box<[Bit]>, Bit>,
    last: i32,
    /// Number of variables that must not be exceeded.
    limit: i32,
    /// When the solver has to stop, in microseconds since `start`.
    deadline: Arc<AtomicU64>,
    start: Instant,
    /// The first error of the solver's interface: the instance is of no use any more.
    broken: Option<String>,
}

/// How the SAT solver goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Search only: most queries are decided sooner than their circuit is simplified.
    Search,
    /// With everything that simplifies the circuit before and in between.
    Simplify,
}

impl Gates {
    pub fn new(effort: Effort) -> Gates {
        let mut sat = CaDiCaL::default();
        let configured = match effort {
            Effort::Search => sat
                .set_configuration(Config::Plain)
                .and_then(|()| sat.set_option("lucky", 0)),
            Effort::Simplify => Ok(()),
        };
        let deadline = Arc::new(AtomicU64::new(u64::MAX));
        let start = Instant::now();
        let seen = Arc::clone(&deadline);
        sat.attach_terminator(move || {
            if start.elapsed().as_micros() as u64 > seen.load(Ordering::Relaxed) {
                ControlSignal::Terminate
            } else {
                ControlSignal::Continue
            }
        });
        let mut gates = Gates {
            sat,
            effort,
            known: FxHashMap::default(),
            wide: FxHashMap::default(),
            last: 1,
            limit: i32::MAX - 1,
            deadline,
            start,
            broken: None,
        };
        gates.note(configured);
        gates.clause(&[Bit::TRUE]);
        gates
    }

    /// Number of variables.
    pub fn size(&self) -> usize {
        self.last as usize
    }

    /// Allows so many more variables.
    pub fn allow(&mut self, more: usize) {
        let more = i32::try_from(more).unwrap_or(i32::MAX);
        self.limit = self.last.saturating_add(more).min(i32::MAX - 1);
    }

    pub fn check_size(&self) -> Result<(), TooLarge> {
        if self.last > self.limit {
            Err(TooLarge)
        } else {
            Ok(())
        }
    }

    /// A new variable that is `seed` on the seed.
    pub fn fresh(&mut self, seed: bool) -> Bit {
        self.last += 1;
        if seed {
            Bit(self.last)
        } else {
            Bit(-self.last)
        }
    }

    /// A new variable for a bit of input. While solving is easy its guess is always the seed's value, which
    /// keeps models close to the seed; a hard search does better without.
    pub fn fresh_input(&mut self, seed: bool) -> Bit {
        let bit = self.fresh(seed);
        if self.effort == Effort::Search {
            let result = self.sat.phase_lit(bit.positive().lit());
            self.note(result);
        }
        bit
    }

    fn note<E: ToString>(&mut self, result: Result<(), E>) {
        if let Err(error) = result
            && self.broken.is_none()
        {
            self.broken = Some(error.to_string());
        }
    }

    /// Adds a clause that holds for all inputs.
    pub fn clause(&mut self, bits: &[Bit]) {
        let mut lits = [Lit::positive(0); 4];
        let result = if bits.len() <= lits.len() {
            for (lit, bit) in lits.iter_mut().zip(bits) {
                *lit = bit.lit();
            }
            self.sat.add_clause_ref(&lits[..bits.len()])
        } else {
            let lits: Vec<Lit> = bits.iter().map(|bit| bit.lit()).collect();
            self.sat.add_clause_ref(&lits[..])
        };
        self.note(result);
    }

    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.known(), b.known()) {
            (Some(false), _) | (_, Some(false)) => return Bit::FALSE,
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            _ if a == b => return a,
            _ if a == !b => return Bit::FALSE,
            _ => {}
        }
        let key = Gate::And(a.min(b), a.max(b));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let out = self.fresh(a.seed() && b.seed());
        self.clause(&[!out, a]);
        self.clause(&[!out, b]);
        self.clause(&[out, !a, !b]);
        self.known.insert(key, out);
        out
    }

    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.known(), b.known()) {
            (Some(value), _) => return if value { !b } else { b },
            (_, Some(value)) => return if value { !a } else { a },
            _ if a == b => return Bit::FALSE,
            _ if a == !b => return Bit::TRUE,
            _ => {}
        }
        let flip = a.seed() != b.seed();
        let (a, b) = (a.positive(), b.positive());
        let key = Gate::Xor(a.min(b), a.max(b));
        let out = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let out = self.fresh(false);
                self.clause(&[!out, a, b]);
                self.clause(&[!out, !a, !b]);
                self.clause(&[out, !a, b]);
                self.clause(&[out, a, !b]);
                self.known.insert(key, out);
                out
            }
        };
        if flip { !out } else { out }
    }

    /// `c ? a : b`.
    pub fn choose(&mut self, c: Bit, a: Bit, b: Bit) -> Bit {
        if let Some(value) = c.known() {
            return if value { a } else { b };
        }
        if a == b {
            return a;
        }
        if a == !b {
            return self.xor(c, b);
        }
        if !c.seed() {
            return self.choose(!c, b, a);
        }
        if a.known() == Some(true) || a == c {
            return self.or(c, b);
        }
        if a.known() == Some(false) || a == !c {
            return self.and(!c, b);
        }
        if b.known() == Some(false) || b == c {
            return self.and(c, a);
        }
        if b.known() == Some(true) || b == !c {
            return self.or(!c, a);
        }
        if !a.seed() {
            return !self.choose(c, !a, !b);
        }
        let key = Gate::Choose(c, a, b);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        // On the seed both `c` and `a` are true now.
        let out = self.fresh(true);
        self.clause(&[!c, !a, out]);
        self.clause(&[!c, a, !out]);
        self.clause(&[c, !b, out]);
        self.clause(&[c, b, !out]);
        // Implied, but lets the solver conclude without knowing `c`.
        self.clause(&[!a, !b, out]);
        self.clause(&[a, b, !out]);
        self.known.insert(key, out);
        out
    }

    /// Whether at least two of three are true.
    pub fn majority(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        let mut inputs = [a, b, c];
        inputs.sort_unstable_by_key(|bit| (bit.0.abs(), bit.0));
        let [a, b, c] = inputs;
        if let Some(value) = a.known() {
            return if value { self.or(b, c) } else { self.and(b, c) };
        }
        if a == b {
            return a;
        }
        if a == !b {
            return c;
        }
        if b == c {
            return b;
        }
        if b == !c {
            return a;
        }
        let key = Gate::Majority(a, b, c);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let seeds = [a, b, c].iter().filter(|bit| bit.seed()).count();
        let out = self.fresh(seeds >= 2);
        for (x, y) in [(a, b), (a, c), (b, c)] {
            self.clause(&[!x, !y, out]);
            self.clause(&[x, y, !out]);
        }
        self.known.insert(key, out);
        out
    }

    /// Whether all are true.
    pub fn all(&mut self, bits: &[Bit]) -> Bit {
        let mut inputs: Vec<Bit> = bits
            .iter()
            .copied()
            .filter(|&bit| bit != Bit::TRUE)
            .collect();
        inputs.sort_unstable_by_key(|bit| (bit.0.abs(), bit.0));
        inputs.dedup();
        let contradiction = inputs.windows(2).any(|pair| pair[0] == !pair[1]);
        if contradiction || inputs.first() == Some(&Bit::FALSE) {
            return Bit::FALSE;
        }
        match inputs[..] {
            [] => return Bit::TRUE,
            [single] => return single,
            [a, b] => return self.and(a, b),
            _ => {}
        }
        let inputs: Box<[Bit]> = inputs.into();
        if let Some(&known) = self.wide.get(&inputs) {
            return known;
        }
        let out = self.fresh(inputs.iter().all(|bit| bit.seed()));
        let mut long: Vec<Bit> = vec![out];
        for &bit in &inputs {
            self.clause(&[!out, bit]);
            long.push(!bit);
        }
        self.clause(&long);
        self.wide.insert(inputs, out);
        out
    }

    /// Whether any is true.
    pub fn any(&mut self, bits: &[Bit]) -> Bit {
        let negated: Vec<Bit> = bits.iter().map(|&bit| !bit).collect();
        !self.all(&negated)
    }

    /// Asks for values of all inputs under which the assumptions hold.
    pub fn solve(&mut self, assumptions: &[Bit], conflicts: u32, time: Duration) -> Verdict {
        if let Some(error) = &self.broken {
            return Verdict::Failed(error.clone());
        }
        let deadline = (self.start.elapsed() + time).as_micros() as u64;
        self.deadline.store(deadline, Ordering::Relaxed);
        let limited = self.sat.limit_conflicts(Some(conflicts));
        self.note(limited);
        let lits: Vec<Lit> = assumptions.iter().map(|bit| bit.lit()).collect();
        match self.sat.solve_assumps(&lits) {
            Ok(SolverResult::Sat) => Verdict::Sat,
            Ok(SolverResult::Unsat) => match self.sat.core() {
                Ok(core) => {
                    // The core is a clause: complements of the assumptions.
                    let failed = |bit: &Bit| core.contains(&!bit.lit());
                    Verdict::Unsat(assumptions.iter().copied().filter(failed).collect())
                }
                Err(error) => self.fail(error.to_string()),
            },
            Ok(SolverResult::Interrupted) => Verdict::Limit,
            Err(error) => self.fail(error.to_string()),
        }
    }

    fn fail(&mut self, error: String) -> Verdict {
        self.broken = Some(error.clone());
        Verdict::Failed(error)
    }

    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// A bit's value after [`Verdict::Sat`]; the seed's where it does not matter.
    pub fn value(&self, bit: Bit) -> bool {
        if let Some(value) = bit.known() {
            return value;
        }
        match self.sat.lit_val(bit.lit()) {
            Ok(TernaryVal::True) => true,
            Ok(TernaryVal::False) => false,
            _ => bit.seed(),
        }
    }
}
