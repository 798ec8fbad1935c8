//! Which functions of two versions are the same ones.

use std::collections::{BTreeMap, HashMap};

use super::code::{Code, Function};

/// Functions without a counterpart that are compared by what they contain, of each version.
const MOST_COMPARED: usize = 400;
/// Of a thousand: how much of two functions must be the same for one to be the other under another name.
const LEAST: usize = 700;

/// Pairs of indices. By file and name, then by name, then by content.
pub fn corresponding(old: &Code, new: &Code) -> Vec<(usize, usize)> {
    let mut pairs = Pairs {
        old,
        new,
        partner: HashMap::new(),
        taken: vec![false; new.functions.len()],
    };
    pairs.by(&|function| (base_name(&function.file).to_owned(), function.name.clone()));
    pairs.by(&|function| (String::new(), function.name.clone()));
    pairs.by_content();
    let mut list: Vec<(usize, usize)> = pairs.partner.into_iter().collect();
    list.sort_unstable();
    list
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

struct Pairs<'c> {
    old: &'c Code,
    new: &'c Code,
    partner: HashMap<usize, usize>,
    taken: Vec<bool>,
}

impl Pairs<'_> {
    fn free(&self) -> (Vec<usize>, Vec<usize>) {
        let old = 0..self.old.functions.len();
        let new = 0..self.new.functions.len();
        (
            old.filter(|at| !self.partner.contains_key(at)).collect(),
            new.filter(|at| !self.taken[*at]).collect(),
        )
    }

    fn join(&mut self, old: usize, new: usize) {
        self.partner.insert(old, new);
        self.taken[new] = true;
    }

    /// Joins functions with the same key; several with one key in their order.
    fn by(&mut self, key: &dyn Fn(&Function) -> (String, String)) {
        let (old, new) = self.free();
        let mut known: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for at in new.into_iter().rev() {
            known
                .entry(key(&self.new.functions[at]))
                .or_default()
                .push(at);
        }
        for at in old {
            let partners = known.get_mut(&key(&self.old.functions[at]));
            if let Some(partner) = partners.and_then(Vec::pop) {
                self.join(at, partner);
            }
        }
    }

    fn by_content(&mut self) {
        let (old, new) = self.free();
        if old.len().max(new.len()) > MOST_COMPARED {
            return;
        }
        let mut candidates: Vec<(usize, usize, usize)> = Vec::new();
        for a in &old {
            for b in &new {
                let common = in_common(&self.old.functions[*a], &self.new.functions[*b]);
                if common >= LEAST {
                    candidates.push((common, *a, *b));
                }
            }
        }
        candidates.sort_by_key(|(common, a, b)| (std::cmp::Reverse(*common), *a, *b));
        for (_, a, b) in candidates {
            if !self.partner.contains_key(&a) && !self.taken[b] {
                self.join(a, b);
            }
        }
    }
}

/// Of a thousand: how much of the content is the same.
fn in_common(old: &Function, new: &Function) -> usize {
    let counts = |function: &Function| {
        let mut counts: HashMap<(u8, String), usize> = HashMap::new();
        for item in function.blocks.iter().flat_map(|block| &block.content) {
            *counts.entry(item.clone()).or_default() += 1;
        }
        counts
    };
    let (a, b) = (counts(old), counts(new));
    let size = |counts: &HashMap<(u8, String), usize>| counts.values().sum::<usize>();
    let all = size(&a).max(size(&b));
    // Short functions look alike by chance.
    if all < 8 {
        return 0;
    }
    let shared = a
        .iter()
        .map(|(item, count)| (*count).min(b.get(item).copied().unwrap_or(0)));
    1000 * shared.sum::<usize>() / all
}
