//! What in one version of a program is what in the other.
//!
//! Functions are matched by name, else by what they contain ([`functions`]); inside of matched functions blocks are aligned
//! ([`blocks`]) by lines, where the text of both versions is known, and by their instructions. What was taken out into
//! a function of its own is looked for there, and the other way round. Conditions are matched as wholes: `a` and `a && b`
//! are versions of one condition if one of their parts is ([`code::Function`]).

mod blocks;
mod code;
mod functions;
mod lines;

use std::collections::{BTreeMap, HashMap, HashSet};

use parallax_abi::SiteKind;
use parallax_abi::entry::symbol::MODEL_SOURCES;

use crate::core::random::mix;
use code::{Code, Function};
use lines::{Lines, Relation};
use parallax_exec::sites::ModuleSites;

/// Blocks of different functions must have more in common to be the same.
const LEAST_ELSEWHERE: i32 = 6;

/// Gives the text of a source file of a version, if it is known.
pub type Text<'t> = &'t dyn Fn(&str) -> Option<String>;

/// A version's tables and texts.
#[derive(Clone, Copy)]
pub struct Source<'s> {
    pub tables: &'s [ModuleSites],
    pub text: Text<'s>,
}

/// Both versions' places under common names.
#[derive(Debug, Default)]
pub struct Correspondence {
    pub old: Places,
    pub new: Places,
    /// Functions whose code is not the same in both, by name.
    pub changed: Vec<String>,
}

/// The places of one version. Sites are those that the code was written at, not inlined copies.
#[derive(Debug, Default)]
pub struct Places {
    blocks: HashMap<u64, Place>,
    decisions: HashMap<u64, Unit>,
    calls: HashMap<u64, u64>,
}

impl Places {
    /// Finds where code that only this version has comes back to what both have.
    fn find_landings(&mut self, code: &Code) {
        for function in &code.functions {
            for first in 0..function.blocks.len() {
                if self.block(function.blocks[first].site).in_both {
                    continue;
                }
                let mut seen = HashSet::from([first]);
                let mut pending = vec![first];
                let mut landings = HashSet::new();
                while let Some(at) = pending.pop() {
                    for next in &function.blocks[at].successors {
                        let place = self.block(function.blocks[*next].site);
                        if place.in_both {
                            landings.insert(place.name);
                        } else if seen.insert(*next) {
                            pending.push(*next);
                        }
                    }
                }
                let site = function.blocks[first].site;
                let only = match landings.len() {
                    1 => landings.into_iter().next(),
                    _ => None,
                };
                if let Some(place) = self.blocks.get_mut(&site) {
                    place.landing = only;
                }
            }
        }
    }
}

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The same for both versions of it.
    pub name: u64,
    pub in_both: bool,
    /// The condition that it is part of, and whether that begins here.
    pub group: u64,
    pub begins: bool,
    /// Of code that only one version has: the block of both that all of it leads to, if it is one.
    pub landing: Option<u64>,
}

/// Where something is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The same for both versions of a condition.
    pub name: u64,
    /// Decisions of one version with the same group are parts of one condition.
    pub group: u64,
    /// Whether the condition begins with it.
    pub first: bool,
    /// Common name of the block that it is in.
    pub block: u64,
}

impl Places {
    /// A block; one that no table has is the same in both.
    pub fn block(&self, site: u64) -> Place {
        let unknown = Place {
            name: site,
            in_both: true,
            group: site,
            begins: true,
            landing: None,
        };
        self.blocks.get(&site).copied().unwrap_or(unknown)
    }

    pub fn decision(&self, site: u64) -> Unit {
        let unknown = Unit {
            name: site,
            group: site,
            first: true,
            block: site,
        };
        self.decisions.get(&site).copied().unwrap_or(unknown)
    }

    /// The common name of a call; `None` if only this version has it.
    pub fn call(&self, site: u64) -> Option<u64> {
        self.calls.get(&site).copied()
    }
}

impl Correspondence {
    pub fn new(old: Source<'_>, new: Source<'_>) -> Correspondence {
        let codes =
            [old, new].map(|source| Code::new(source.tables.iter().map(|module| &module.table)));
        let pairs = functions::corresponding(&codes[0], &codes[1]);
        let mut finder = Finder {
            old: &codes[0],
            new: &codes[1],
            texts: [old.text, new.text],
            lines: HashMap::new(),
            matched: BTreeMap::new(),
            taken: HashSet::new(),
        };
        finder.match_blocks(&pairs);
        finder.match_moved(&pairs);
        let mut result = Correspondence {
            changed: finder.changed(&pairs),
            ..Correspondence::default()
        };
        let renamed = pairs.iter().map(|(old, new)| {
            let names = (
                &codes[0].functions[*old].name,
                &codes[1].functions[*new].name,
            );
            (names.0.as_str(), names.1.as_str())
        });
        let renamed = renamed.collect();
        name_all(&codes[0], &codes[1], &finder.matched, &renamed, &mut result);
        result.keep_common_calls();
        for (code, places) in [(&codes[0], &mut result.old), (&codes[1], &mut result.new)] {
            places.find_landings(code);
        }
        result
    }
}

impl Correspondence {
    /// A call in a block that both versions have need not be in both.
    fn keep_common_calls(&mut self) {
        let names = |places: &Places| places.calls.values().copied().collect::<HashSet<u64>>();
        let (old, new) = (names(&self.old), names(&self.new));
        self.old.calls.retain(|_, name| new.contains(name));
        self.new.calls.retain(|_, name| old.contains(name));
    }
}

/// A block of a version: function and block.
type At = (usize, usize);

struct Finder<'c> {
    old: &'c Code,
    new: &'c Code,
    texts: [Text<'c>; 2],
    lines: HashMap<(String, String), Option<Lines>>,
    /// From old to new.
    matched: BTreeMap<At, At>,
    taken: HashSet<At>,
}

impl Finder<'_> {
    /// Makes sure that the lines of two functions' files are compared.
    fn compare_files(&mut self, old: &Function, new: &Function) -> (String, String) {
        let key = (old.file.clone(), new.file.clone());
        if !self.lines.contains_key(&key) {
            let texts = ((self.texts[0])(&old.file), (self.texts[1])(&new.file));
            let lines = match texts {
                (Some(old), Some(new)) => Some(Lines::new(&old, &new)),
                _ => None,
            };
            self.lines.insert(key.clone(), lines);
        }
        key
    }

    fn join(&mut self, old: At, new: At) {
        self.matched.insert(old, new);
        self.taken.insert(new);
    }

    fn match_blocks(&mut self, pairs: &[(usize, usize)]) {
        let (old_code, new_code) = (self.old, self.new);
        for (old, new) in pairs {
            let (one, other) = (&old_code.functions[*old], &new_code.functions[*new]);
            let key = self.compare_files(one, other);
            let lines = self.lines.get(&key).and_then(Option::as_ref);
            for (a, b) in blocks::corresponding(one, other, lines) {
                self.join((*old, a), (*new, b));
            }
        }
    }

    /// Looks for blocks of matched functions in functions that only one version has and that they call there.
    fn match_moved(&mut self, pairs: &[(usize, usize)]) {
        let (old_code, new_code) = (self.old, self.new);
        let calls = |function: &Function, name: &str| {
            let mut calls = function.blocks.iter().flat_map(|block| &block.calls);
            calls.any(|(_, callee)| callee == name)
        };
        let olds: HashSet<usize> = pairs.iter().map(|(old, _)| *old).collect();
        let news: HashSet<usize> = pairs.iter().map(|(_, new)| *new).collect();
        let added = (0..new_code.functions.len()).filter(|at| !news.contains(at));
        for extracted in added {
            let name = &new_code.functions[extracted].name;
            for (old, new) in pairs {
                if calls(&new_code.functions[*new], name) {
                    self.match_free(*old, extracted);
                }
            }
        }
        let removed = (0..old_code.functions.len()).filter(|at| !olds.contains(at));
        for merged in removed {
            let name = &old_code.functions[merged].name;
            for (old, new) in pairs {
                if calls(&old_code.functions[*old], name) {
                    self.match_free(merged, *new);
                }
            }
        }
    }

    /// Aligns what has no counterpart yet.
    fn match_free(&mut self, old: usize, new: usize) {
        let (one, other) = (&self.old.functions[old], &self.new.functions[new]);
        let key = self.compare_files(one, other);
        let lines = self.lines.get(&key).and_then(Option::as_ref);
        let free_old = (0..one.blocks.len()).filter(|at| !self.matched.contains_key(&(old, *at)));
        let free_new = (0..other.blocks.len()).filter(|at| !self.taken.contains(&(new, *at)));
        let (free_old, free_new): (Vec<_>, Vec<_>) = (free_old.collect(), free_new.collect());
        for (a, b) in blocks::best(one, &free_old, other, &free_new, lines, LEAST_ELSEWHERE) {
            self.join((old, a), (new, b));
        }
    }

    /// Whether functions whose blocks have no common names look alike.
    fn same_text(&self, old: &Function, new: &Function) -> bool {
        let mut pairs = old.blocks.iter().zip(&new.blocks);
        let key = (old.file.clone(), new.file.clone());
        let lines = self.lines.get(&key).and_then(Option::as_ref);
        let same_line = |old: u32, new: u32| match lines {
            Some(lines) => old == 0 || new == 0 || lines.relation(old, new) == Relation::Same,
            None => true,
        };
        old.blocks.len() == new.blocks.len()
            && pairs.all(|(a, b)| a.content == b.content && same_line(a.line, b.line))
    }

    /// Functions that are not the same block by block.
    fn changed(&self, pairs: &[(usize, usize)]) -> Vec<String> {
        // What we put in place of library functions is not the program's.
        let is_own = |function: &Function| !function.file.contains(MODEL_SOURCES);
        let mut names = Vec::new();
        let sites =
            |function: &Function| function.blocks.iter().map(|b| b.site).collect::<Vec<_>>();
        for (old, new) in pairs {
            let (one, other) = (&self.old.functions[*old], &self.new.functions[*new]);
            // In files or functions of another name every site has another id.
            let is_comparable = one.name == other.name && base(&one.file) == base(&other.file);
            let is_same = match is_comparable {
                true => sites(one) == sites(other),
                false => self.same_text(one, other),
            };
            if !is_same && is_own(other) {
                names.push(other.name.clone());
            }
        }
        let olds: HashSet<usize> = pairs.iter().map(|(old, _)| *old).collect();
        let news: HashSet<usize> = pairs.iter().map(|(_, new)| *new).collect();
        let alone = |code: &Code, known: &HashSet<usize>| -> Vec<String> {
            let numbered = code.functions.iter().enumerate();
            let alone = numbered.filter(|(at, one)| !known.contains(at) && is_own(one));
            alone.map(|(_, function)| function.name.clone()).collect()
        };
        names.extend(alone(self.old, &olds));
        names.extend(alone(self.new, &news));
        names.sort();
        names.dedup();
        names
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Sites of the old version that the new one does not have get names that the new one does not use.
const ONLY_OLD: u64 = 0x6f6c_6421_6f6c_6421;

/// Gives everything its common name.
fn name_all(
    old: &Code,
    new: &Code,
    matched: &BTreeMap<At, At>,
    renamed: &HashMap<&str, &str>,
    result: &mut Correspondence,
) {
    let taken: HashSet<At> = matched.values().copied().collect();
    for (f, function) in new.functions.iter().enumerate() {
        for (b, block) in function.blocks.iter().enumerate() {
            let group = mix(function.blocks[function.compounds[b]].site ^ 1);
            let place = Place {
                name: mix(block.site),
                in_both: taken.contains(&(f, b)),
                group,
                begins: function.compounds[b] == b,
                landing: None,
            };
            result.new.blocks.insert(block.site, place);
            name_content(&mut result.new, function, b, block.site, group);
            let in_both = place.in_both.then_some(block.site);
            name_calls(&mut result.new, function, b, in_both, &HashMap::new());
        }
    }
    let partners = partners(old, new, matched);
    for (f, function) in old.functions.iter().enumerate() {
        for (b, block) in function.blocks.iter().enumerate() {
            let counterpart = matched
                .get(&(f, b))
                .map(|(f, b)| &new.functions[*f].blocks[*b]);
            let name = counterpart.map_or(block.site ^ ONLY_OLD, |block| block.site);
            let own = function.blocks[function.compounds[b]].site;
            let group = partners.get(&(f, function.compounds[b])).copied();
            result.old.blocks.insert(
                block.site,
                Place {
                    name: mix(name),
                    in_both: counterpart.is_some(),
                    group: mix(own ^ 1),
                    begins: function.compounds[b] == b,
                    landing: None,
                },
            );
            let group = mix(group.unwrap_or(own ^ ONLY_OLD) ^ 1);
            name_content(&mut result.old, function, b, name, group);
            let common = counterpart.map(|block| block.site);
            name_calls(&mut result.old, function, b, common, renamed);
        }
    }
}

/// Names the decisions of a block: branches by the condition that they are part of, others by the block's common name.
fn name_content(places: &mut Places, function: &Function, b: usize, common: u64, condition: u64) {
    let block = &function.blocks[b];
    let own_group = mix(function.blocks[function.compounds[b]].site ^ 1);
    if let Some(decision) = &block.decision {
        let unit = match decision.kind {
            SiteKind::Branch => Unit {
                name: condition,
                group: own_group,
                first: function.compounds[b] == b,
                block: mix(common),
            },
            _ => Unit {
                name: mix(common ^ 2),
                group: mix(decision.site),
                first: true,
                block: mix(common),
            },
        };
        places.decisions.insert(decision.site, unit);
    }
    for (number, site) in (3u64..).zip(&block.selects) {
        let unit = Unit {
            name: mix(mix(common) ^ number),
            group: mix(*site),
            first: true,
            block: mix(common),
        };
        places.decisions.insert(*site, unit);
    }
}

/// Names the calls of a block that both versions have by the called function and the calls of it that come before.
fn name_calls(
    places: &mut Places,
    function: &Function,
    b: usize,
    common: Option<u64>,
    renamed: &HashMap<&str, &str>,
) {
    let Some(common) = common else {
        return;
    };
    let mut before: HashMap<&str, u64> = HashMap::new();
    for (site, callee) in &function.blocks[b].calls {
        let callee = renamed.get(callee.as_str()).copied().unwrap_or(callee);
        let number = before.entry(callee).or_default();
        *number += 1;
        places
            .calls
            .insert(*site, mix(mix(common) ^ *number ^ text_hash(callee)));
    }
}

fn text_hash(text: &str) -> u64 {
    text.bytes().fold(
        0xcbf2_9ce4_8422_2325,
        |sum, byte| mix(sum ^ u64::from(byte)),
    )
}

/// Of each condition of the old version: the first site of the condition of the new version that most of its blocks are in.
fn partners(old: &Code, new: &Code, matched: &BTreeMap<At, At>) -> HashMap<At, u64> {
    let mut counts: BTreeMap<At, BTreeMap<At, usize>> = BTreeMap::new();
    for ((f, b), (g, c)) in matched {
        let decides = |function: &Function, b: usize| {
            let decision = function.blocks[b].decision.as_ref();
            decision.is_some_and(|decision| decision.kind == SiteKind::Branch)
        };
        let (one, other) = (&old.functions[*f], &new.functions[*g]);
        if decides(one, *b) && decides(other, *c) {
            let count = counts.entry((*f, one.compounds[*b])).or_default();
            *count.entry((*g, other.compounds[*c])).or_default() += 1;
        }
    }
    let best = counts.into_iter().map(|(own, others)| {
        let most = others.values().copied().max().unwrap_or(0);
        let partner = others.into_iter().find(|(_, count)| *count == most);
        (own, partner.map_or((0, 0), |(partner, _)| partner))
    });
    best.map(|(own, (g, c))| (own, new.functions[g].blocks[c].site))
        .collect()
}
