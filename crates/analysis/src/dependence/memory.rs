//! Which writes reach which reads.
//!
//! Inside of one activation of a function: along its control flow, until something overwrites all of it. Between functions: a write
//! reaches a read elsewhere if nothing overwrites it between the write and the end of its function, or a call that may lead to
//! the read; and nothing overwrites it between the begin of the reader's function, or a call there that may lead to the
//! write, and the read. In which order functions run is not asked otherwise.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::access::{Accesses, Home, Region};
use crate::calls::Calls;
use crate::pointsto::Object;
use crate::program::{BlockId, FunctionId, GlobalId, Program, Spot, Terminator};
use crate::set::Set;

/// One region that an instruction writes.
struct Write {
    spot: Spot,
    function: FunctionId,
    region: Region,
}

/// That a read may see what a write wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// In the same activation of a function.
    Here(Spot),
    /// In another one.
    Elsewhere(Spot),
    Initial(GlobalId),
}

/// Where a read region can come from inside of its function.
struct Arrival {
    writes: Vec<usize>,
    /// From before the function began.
    from_entry: bool,
    /// From inside of one of these functions, called on the way.
    from_calls: Set,
}

/// Where a write goes.
#[derive(Default)]
struct Departure {
    to_end: bool,
    /// Functions that run later, called on the way.
    to_calls: Set,
}

/// All writes of a program.
pub struct Memory<'a> {
    program: &'a Program,
    calls: &'a Calls,
    writes: Vec<Write>,
    by_home: HashMap<Home, Vec<usize>>,
    aliases: HashMap<Home, Vec<Home>>,
    /// Per function, all that it may call, itself included.
    reach: Vec<Set>,
    /// The function that the program begins with, unless it is called.
    main: Option<FunctionId>,
    /// All that functions outside may call back, at the end of the program if they like.
    called_back: Set,
    /// Per block, functions that may be called after it.
    later: HashMap<BlockId, Rc<Set>>,
    departures: HashMap<usize, Rc<Departure>>,
}

impl<'a> Memory<'a> {
    pub fn new(program: &'a Program, calls: &'a Calls, accesses: &Accesses<'a>) -> Memory<'a> {
        let mut memory = Memory {
            program,
            calls,
            writes: Vec::new(),
            by_home: HashMap::new(),
            aliases: HashMap::new(),
            reach: reach(program, calls),
            main: program
                .function_named("main")
                .filter(|main| calls.callers_of(*main).next().is_none()),
            called_back: Set::default(),
            later: HashMap::new(),
            departures: HashMap::new(),
        };
        for call in calls.all().iter().filter(|call| call.outside) {
            for callee in &call.callees {
                let reach = memory.reach[callee.index()].clone();
                memory.called_back.extend(&reach);
            }
        }
        for (one, other) in accesses.aliases() {
            if one != other {
                memory.aliases.entry(one).or_default().push(other);
                memory.aliases.entry(other).or_default().push(one);
            }
        }
        for block in program.block_ids() {
            let code = program.block(block);
            for number in 0..code.instructions.len() as u32 {
                let spot = Spot { block, number };
                for region in accesses.of(spot).writes {
                    let known = memory.by_home.entry(region.home).or_default();
                    known.push(memory.writes.len());
                    memory.writes.push(Write {
                        spot,
                        function: code.function,
                        region,
                    });
                }
            }
        }
        memory
    }

    /// What a region that is read at a spot may hold.
    pub fn sources(&mut self, spot: Spot, region: &Region) -> Vec<Source> {
        let function = self.program.block(spot.block).function;
        let found = self.writers(region);
        let (own, others): (Vec<usize>, Vec<usize>) = found
            .into_iter()
            .partition(|write| self.writes[*write].function == function);
        let arrival = self.arrive(spot, region, &own);
        let mut sources: Vec<Source> = arrival
            .writes
            .iter()
            .map(|write| Source::Here(self.writes[*write].spot))
            .collect();
        if arrival.from_entry
            && let Home::Object(Object::Global(global)) = region.home
        {
            sources.push(Source::Initial(global));
        }
        let is_own = matches!(region.home, Home::Object(Object::Local(of, _)) if of == function);
        let repeats = self.calls_again(function);
        for write in others.into_iter().chain(own) {
            let writer = self.writes[write].function;
            if writer == function {
                // A variable of this activation is not that of another one, unless its address went there.
                let named = region.exact.is_some() && self.writes[write].region.exact.is_some();
                if is_own && (named || !repeats) {
                    continue;
                }
            }
            let departure = self.depart(write);
            let before =
                arrival.from_entry && (departure.to_end || departure.to_calls.contains(function.0));
            let between = departure.to_end && arrival.from_calls.contains(writer.0);
            if before || between {
                sources.push(Source::Elsewhere(self.writes[write].spot));
            }
        }
        sources.sort_unstable();
        sources.dedup();
        // What reaches it directly need not be said twice.
        let here: HashSet<Spot> = sources
            .iter()
            .filter_map(|source| match source {
                Source::Here(spot) => Some(*spot),
                _ => None,
            })
            .collect();
        sources.retain(|source| !matches!(source, Source::Elsewhere(spot) if here.contains(spot)));
        sources
    }

    /// Whether a function can be entered while it runs.
    fn calls_again(&self, function: FunctionId) -> bool {
        let mut callees = self
            .program
            .function(function)
            .block_ids()
            .flat_map(|block| self.calls.of_block(block))
            .flat_map(|call| &call.callees);
        callees.any(|callee| self.reach[callee.index()].contains(function.0))
    }

    fn writers(&self, region: &Region) -> Vec<usize> {
        let others = self.aliases.get(&region.home).into_iter().flatten();
        let mut found: Vec<usize> = Vec::new();
        for home in std::iter::once(&region.home).chain(others) {
            let writes = self.by_home.get(home).into_iter().flatten().copied();
            // Of memory that is known in two ways offsets say nothing.
            let is_other = *home != region.home;
            found.extend(
                writes.filter(|write| is_other || self.writes[*write].region.overlaps(region)),
            );
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn called_in(&self, block: BlockId, from: u32, to: u32, into: &mut Set) {
        for call in self.calls.of_block(block) {
            if call.spot.number >= from && call.spot.number < to {
                for callee in &call.callees {
                    into.extend(&self.reach[callee.index()]);
                }
            }
        }
    }

    /// Walks backwards from a read. `own` are the writes in its function, in order.
    fn arrive(&self, spot: Spot, region: &Region, own: &[usize]) -> Arrival {
        let program = self.program;
        let function = program.function(program.block(spot.block).function);
        let mut arrival = Arrival {
            writes: Vec::new(),
            from_entry: false,
            from_calls: Set::default(),
        };
        let mut seen = vec![false; function.blocks.len()];
        let mut work = vec![(spot.block, spot.number)];
        while let Some((block, end)) = work.pop() {
            let from = own.partition_point(|write| self.writes[*write].spot.block < block);
            let in_block = own[from..]
                .iter()
                .take_while(|write| self.writes[**write].spot.block == block)
                .filter(|write| self.writes[**write].spot.number < end);
            let mut killed = None;
            for write in in_block.clone() {
                if self.writes[*write].region.covers(region) {
                    killed = Some(self.writes[*write].spot.number);
                }
            }
            let begin = killed.unwrap_or(0);
            let reaching = in_block.filter(|write| self.writes[**write].spot.number >= begin);
            arrival.writes.extend(reaching);
            self.called_in(block, begin, end, &mut arrival.from_calls);
            if killed.is_some() {
                continue;
            }
            arrival.from_entry |= block.0 == function.blocks.start;
            for predecessor in &program.block(block).predecessors {
                let at = (predecessor.0 - function.blocks.start) as usize;
                if !std::mem::replace(&mut seen[at], true) {
                    let end = program.block(*predecessor).instructions.len() as u32;
                    work.push((*predecessor, end));
                }
            }
        }
        arrival
    }

    /// Walks forwards from a write.
    fn depart(&mut self, number: usize) -> Rc<Departure> {
        if let Some(known) = self.departures.get(&number) {
            return Rc::clone(known);
        }
        let write = &self.writes[number];
        let (spot, region, function) = (write.spot, write.region, write.function);
        let killers: Vec<Spot> = match region.exact {
            None => Vec::new(),
            Some(_) => self.by_home[&region.home]
                .iter()
                .map(|write| &self.writes[*write])
                .filter(|write| write.function == function && write.region.covers(&region))
                .map(|write| write.spot)
                .collect(),
        };
        let mut departure = match killers.len() <= 1 {
            // It is its own killer, if any.
            true => self.depart_freely(spot),
            false => self.depart_until(spot, &killers),
        };
        // After the first function comes only what libraries call.
        if departure.to_end && self.main == Some(function) {
            departure.to_end = false;
            departure.to_calls.extend(&self.called_back);
        }
        let departure = Rc::new(departure);
        self.departures.insert(number, Rc::clone(&departure));
        departure
    }

    fn depart_freely(&mut self, spot: Spot) -> Departure {
        let later = self.called_later(spot.block);
        let mut to_calls = Set::clone(&later);
        self.called_in(spot.block, spot.number, u32::MAX, &mut to_calls);
        Departure {
            to_end: true,
            to_calls,
        }
    }

    /// Functions that may be called by blocks behind this one.
    fn called_later(&mut self, block: BlockId) -> Rc<Set> {
        if let Some(known) = self.later.get(&block) {
            return Rc::clone(known);
        }
        let mut called = Set::default();
        let mut seen: HashSet<BlockId> = HashSet::new();
        let mut work = self.program.block(block).successors.clone();
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                self.called_in(block, 0, u32::MAX, &mut called);
                work.extend(&self.program.block(block).successors);
            }
        }
        let called = Rc::new(called);
        self.later.insert(block, Rc::clone(&called));
        called
    }

    fn depart_until(&self, spot: Spot, killers: &[Spot]) -> Departure {
        let mut departure = Departure::default();
        let mut seen: HashSet<BlockId> = HashSet::new();
        let mut work = vec![(spot.block, spot.number + 1)];
        while let Some((block, begin)) = work.pop() {
            let killed = killers
                .iter()
                .filter(|killer| killer.block == block && killer.number >= begin)
                .map(|killer| killer.number)
                .min();
            self.called_in(
                block,
                begin,
                killed.unwrap_or(u32::MAX),
                &mut departure.to_calls,
            );
            if killed.is_some() {
                continue;
            }
            let code = self.program.block(block);
            departure.to_end |= matches!(code.terminator, Terminator::Return(_) | Terminator::Stop);
            for successor in &code.successors {
                if seen.insert(*successor) {
                    work.push((*successor, 0));
                }
            }
        }
        departure
    }
}

/// Per function, all functions that may run while it does.
fn reach(program: &Program, calls: &Calls) -> Vec<Set> {
    let mut reach: Vec<Set> = Vec::with_capacity(program.functions.len());
    for id in program.function_ids() {
        let mut own = Set::default();
        own.insert(id.0);
        reach.push(own);
    }
    let mut work: Vec<FunctionId> = program.function_ids().collect();
    let mut queued = vec![true; work.len()];
    while let Some(callee) = work.pop() {
        queued[callee.index()] = false;
        let known = reach[callee.index()].clone();
        for call in calls.callers_of(callee) {
            let caller = program.block(call.spot.block).function;
            if reach[caller.index()].extend(&known)
                && !std::mem::replace(&mut queued[caller.index()], true)
            {
                work.push(caller);
            }
        }
    }
    reach
}
