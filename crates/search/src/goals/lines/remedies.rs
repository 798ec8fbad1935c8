//! What could make a branch go the other way that no choice of input bytes turns round on the paths that are known.
//!
//! A condition that is concrete rests on variables that got their values elsewhere. Statements that give them other values are
//! what has to run (KATCH's definition switching), those first that are known to give what the condition needs. From
//! right-hand sides that are no constants the search goes on to what they read, up to functions
//! outside of the program of which it is known what they answer to: `getopt`, comparisons, `getenv`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parallax_analysis::definitions::{Definition, Definitions, Read, Value, Writes, judge};
use parallax_analysis::effects::{Effects, base_of};
use parallax_analysis::preconditions::Values;
use parallax_analysis::program::Operand;
use parallax_analysis::words::{self, OptionWord, Source, System};
use parallax_analysis::{Analysis, BlockId, FunctionId, Spot};

use super::ran::Ran;

/// What can be done about a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Let this block run: it gives a variable another value.
    Define(BlockId),
    /// Add one of these options.
    Options(Vec<OptionWord>),
    /// Let a word be one of these texts.
    Texts(Vec<Vec<u8>>),
    /// Set this environment variable.
    Variable(Vec<u8>),
    /// Let the system answer otherwise.
    System(System),
    /// Let a text be so long.
    Length(u64),
    /// Let numbers have so many digits.
    Digits(usize),
    /// Let what runs already run more often: it counts, up to this if that is known.
    Repeat(Option<u64>),
    /// What gives the value that is needed runs already, but not in time.
    Reorder,
}

/// A remedy, and how far-fetched it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    pub cost: u32,
    pub remedy: Remedy,
}

/// Right-hand sides that are gone through at most.
const DEEPEST: u32 = 6;
/// Definitions of one thing that are looked at.
const MOST_DEFINITIONS: usize = 64;
/// More options than this that would do say nothing about which.
const MOST_OPTIONS: usize = 12;
/// The same of texts.
const MOST_TEXTS: usize = 24;
/// Places that take a function's address of which one has to run.
const MOST_TAKERS: usize = 4;
/// Advice on one branch.
const MOST_ADVICE: usize = 16;
/// It cannot be told from the code whether a definition gives what is needed.
const UNSURE: u32 = 2;

/// Answers what could be done.
pub struct Adviser<'a> {
    analysis: &'a Analysis,
    definitions: Definitions<'a>,
    getopts: Vec<Spot>,
    texts: Arc<HashSet<Vec<u8>>>,
    takers: Arc<HashMap<FunctionId, Vec<BlockId>>>,
}

/// What all searches in a program share.
#[derive(Clone)]
pub struct Facts {
    writes: Arc<Writes>,
    getopts: Vec<Spot>,
    /// That the program has in it.
    texts: Arc<HashSet<Vec<u8>>>,
    takers: Arc<HashMap<FunctionId, Vec<BlockId>>>,
}

impl Facts {
    pub fn of(analysis: &Analysis) -> Facts {
        Facts {
            writes: Arc::new(Writes::new(&analysis.program, &analysis.points)),
            getopts: words::getopt_calls(&analysis.program),
            texts: Arc::new(
                words::texts(&analysis.program)
                    .map(<[u8]>::to_vec)
                    .collect(),
            ),
            takers: Arc::new(takers(analysis)),
        }
    }
}

/// The blocks in which the addresses of functions are taken, other than to call them.
fn takers(analysis: &Analysis) -> HashMap<FunctionId, Vec<BlockId>> {
    let program = &analysis.program;
    let mut takers: HashMap<FunctionId, Vec<BlockId>> = HashMap::new();
    for block in program.block_ids() {
        for instruction in &program.block(block).instructions {
            for operand in instruction.operation.operands() {
                if let Operand::Function(index) = operand {
                    let blocks = takers.entry(FunctionId(index)).or_default();
                    if blocks.last() != Some(&block) {
                        blocks.push(block);
                    }
                }
            }
        }
    }
    takers
}

impl<'a> Adviser<'a> {
    pub fn new(analysis: &'a Analysis, effects: &'a Effects<'a>, facts: Facts) -> Adviser<'a> {
        let Analysis {
            program,
            calls,
            points,
            ..
        } = analysis;
        Adviser {
            analysis,
            definitions: Definitions::with(program, calls, points, effects, facts.writes),
            getopts: facts.getopts,
            texts: facts.texts,
            takers: facts.takers,
        }
    }

    /// What could lead from a branch to its side, in a run that executed this; the best first.
    pub fn advise(&self, branch: BlockId, side: BlockId, ran: &Ran) -> Vec<Advice> {
        let mut inquiry = Inquiry {
            adviser: self,
            ran,
            seen: HashSet::new(),
            found: Vec::new(),
        };
        let is_side = self
            .analysis
            .program
            .block(branch)
            .successors
            .contains(&side);
        let needs = is_side.then(|| self.definitions.needs(branch, side));
        for need in needs.into_iter().flatten() {
            let wanted = need.values.as_ref().map(|values| (need.mask, values));
            let digits = need.values.as_ref().map_or(0, digits);
            if digits > 1 {
                inquiry.add(1, Remedy::Digits(digits));
            }
            inquiry.follow(&need.read, need.definitions, wanted, 0);
        }
        let mut found = inquiry.found;
        found.sort_by_key(|advice| advice.cost);
        let mut distinct: Vec<Advice> = Vec::new();
        for advice in found {
            if !distinct.iter().any(|known| known.remedy == advice.remedy) {
                distinct.push(advice);
            }
        }
        distinct.truncate(MOST_ADVICE);
        distinct
    }
}

/// Digits of the number in a set that has the fewest; none of 0.
fn digits(values: &Values) -> usize {
    if values.contains(0) {
        return 0;
    }
    let unused = 64 - u32::from(values.width()).min(64);
    let signed = |number: u64| ((number << unused) as i64 >> unused).unsigned_abs();
    let ends = values.ranges().iter().flat_map(|(from, to)| [*from, *to]);
    let least = ends.map(signed).min().and_then(u64::checked_ilog10);
    least.map_or(0, |power| power as usize + 1)
}

impl Adviser<'_> {
    /// Whether the program has this text in it.
    pub fn has_text(&self, text: &[u8]) -> bool {
        self.texts.contains(text)
    }

    /// All options that the program knows.
    pub fn options(&self) -> Vec<OptionWord> {
        words::options(&self.analysis.program, &self.getopts)
    }

    /// What leads to a function that is called through pointers: the words that it is found by in tables, and the code that takes its
    /// address and has not run.
    pub fn calling(&self, function: FunctionId, ran: &Ran) -> Vec<Remedy> {
        let names = words::names_of(&self.analysis.program, function);
        let is_useful = (1..=MOST_TEXTS).contains(&names.len());
        let texts = || Remedy::Texts(names.into_iter().map(<[u8]>::to_vec).collect());
        let takers = self.takers.get(&function).into_iter().flatten();
        let defining = takers.filter(|block| !ran.has(**block)).take(MOST_TAKERS);
        let defining = defining.map(|block| Remedy::Define(*block));
        is_useful.then(texts).into_iter().chain(defining).collect()
    }
}

struct Inquiry<'i, 'a> {
    adviser: &'i Adviser<'a>,
    ran: &'i Ran,
    seen: HashSet<Read>,
    found: Vec<Advice>,
}

/// Which bits of something have to be in which set.
type Wanted<'v> = Option<(u64, &'v Values)>;

impl Inquiry<'_, '_> {
    fn follow(
        &mut self,
        read: &Read,
        definitions: Vec<Definition>,
        wanted: Wanted<'_>,
        depth: u32,
    ) {
        if depth > DEEPEST || !self.seen.insert(read.clone()) {
            return;
        }
        let values = wanted.map(|(_, values)| values);
        self.outside(read, values, depth);
        for definition in definitions.into_iter().take(MOST_DEFINITIONS) {
            let Some(spot) = definition.spot else {
                continue;
            };
            if definition.fits == Some(false) {
                continue;
            }
            let alternative = &definition.alternative;
            let block = alternative.by_way_of.unwrap_or(spot.block);
            if !self.ran.has(block) {
                let unsure = match definition.fits {
                    Some(true) => 0,
                    _ => UNSURE,
                };
                self.add(depth + unsure, Remedy::Define(block));
            } else if definition.fits == Some(true) {
                self.add(depth, Remedy::Reorder);
            }
            if let Some(system) = words::answer_at(&self.adviser.analysis.program, spot) {
                self.add(depth + UNSURE, Remedy::System(system));
            }
            if let Value::Computed(reads) = &alternative.value {
                if !alternative.is_copy && self.counts(read, reads) && self.ran.has(block) {
                    let range = values.and_then(|values| values.ranges().first());
                    let least = range.map(|(least, _)| *least);
                    self.add(depth, Remedy::Repeat(least));
                }
                let wanted = wanted.filter(|_| alternative.is_copy);
                for read in reads {
                    let mut further = self.adviser.definitions.of_read(read);
                    if let Some((mask, values)) = wanted {
                        judge(&mut further, mask, Some(values));
                    }
                    self.follow(read, further, wanted, depth + 1);
                }
            }
        }
    }

    /// Whether a variable is computed from itself.
    fn counts(&self, variable: &Read, reads: &[Read]) -> bool {
        let program = &self.adviser.analysis.program;
        let base = |read: &Read| match read {
            Read::Memory { spot, address, .. } => {
                base_of(program, program.block(spot.block).function, *address)
            }
            _ => None,
        };
        let known = base(variable);
        known.is_some() && reads.iter().any(|read| base(read) == known)
    }

    /// What functions outside of the program have to do with it.
    fn outside(&mut self, read: &Read, values: Option<&Values>, depth: u32) {
        let program = &self.adviser.analysis.program;
        let source = match read {
            Read::Result(spot) => words::source_of(program, *spot, values),
            Read::Memory { .. } => {
                let names = words::names_of_variable(program, read).into_iter();
                let names: Vec<Vec<u8>> = names.map(<[u8]>::to_vec).collect();
                if (1..=MOST_TEXTS).contains(&names.len()) {
                    self.add(depth, Remedy::Texts(names));
                }
                let options = words::flags_of(program, &self.adviser.getopts, read, values);
                Some(Source::Options(options))
            }
            Read::Parameter(..) => None,
        };
        match source {
            Some(Source::Options(options)) if (1..=MOST_OPTIONS).contains(&options.len()) => {
                self.add(depth, Remedy::Options(options));
            }
            Some(Source::Texts(texts)) if (1..=MOST_TEXTS).contains(&texts.len()) => {
                self.add(depth, Remedy::Texts(texts));
            }
            Some(Source::Variable(name)) => self.add(depth, Remedy::Variable(name)),
            Some(Source::System(system)) => self.add(depth + UNSURE, Remedy::System(system)),
            Some(Source::Length(length)) => self.add(depth, Remedy::Length(length)),
            Some(Source::Options(_) | Source::Texts(_)) | None => {}
        }
    }

    fn add(&mut self, cost: u32, remedy: Remedy) {
        self.found.push(Advice { cost, remedy });
    }
}
