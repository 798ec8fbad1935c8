//! What the runs of an exploration have covered together, when they last covered something new, and what each came
//! by without anybody having gone there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use parallax_abi::{SiteId, SiteKind};
use parallax_record::SiteTable;

use crate::core::random::mix;
use parallax_exec::coverage::{Counted, Counter, counted};
use parallax_exec::sites::ModuleSites;

/// When something new was covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Traced runs until then.
    pub runs: u64,
    pub time: Duration,
}

/// Everything that was covered so far.
#[derive(Debug, Default)]
pub struct News {
    modules: HashMap<u64, Module>,
    covered: HashSet<Counter>,
    /// By source file: when a block of it was last covered for the first time.
    latest: BTreeMap<String, Moment>,
}

#[derive(Debug)]
struct Module {
    /// Its place among the program's modules.
    number: u64,
    counted: Vec<Counted>,
    /// Counters of blocks in `main`.
    in_main: HashSet<u32>,
    /// Source file of each counter, as a number of `files`.
    file_of: Vec<u32>,
    files: Vec<String>,
    /// From a block that ends in a `switch` or another jump to one of many, to those many: all of them counters.
    /// Sides of branches have counters of their own.
    targets: HashMap<u32, Vec<u32>>,
}

impl News {
    pub fn new(tables: &[ModuleSites]) -> News {
        let modules = (0..).zip(tables);
        News {
            modules: modules
                .map(|(number, module)| (module.module, Module::new(number, &module.table)))
                .collect(),
            ..News::default()
        }
    }

    /// Takes in what a run counted; what nothing had counted before.
    pub fn take_in(&mut self, ran: &[(Counter, u32)], moment: Moment) -> Vec<Counter> {
        let mut first = Vec::new();
        for (counter, _) in ran {
            if !self.covered.insert(*counter) {
                continue;
            }
            first.push(*counter);
            let Some(module) = self.modules.get(&counter.module) else {
                continue;
            };
            if let (Some(Counted::Block(_)), Some(file)) =
                (module.counted(*counter), module.file(*counter))
            {
                self.latest.insert(file.to_owned(), moment);
            }
        }
        first
    }

    /// Names what ran of `main`. There options and kinds of input show, and what is done to data does not.
    pub fn mode(&self, ran: &[(Counter, u32)]) -> u64 {
        let is_in_main = |counter: &Counter| {
            let module = self.modules.get(&counter.module);
            module.is_some_and(|module| module.in_main.contains(&counter.index))
        };
        ran.iter()
            .map(|(counter, _)| *counter)
            .filter(is_in_main)
            .fold(0, |sum: u64, counter| sum.wrapping_add(self.name(counter)))
    }

    /// Names what a counter counts. The identity of a module depends on where it was built; what is
    /// explored must not.
    pub fn name(&self, counter: Counter) -> u64 {
        let module = self.modules.get(&counter.module);
        let number = module.map_or(counter.module, |module| module.number);
        mix(number ^ mix(u64::from(counter.index) + 1))
    }

    /// The side of a branch that a counter counts.
    pub fn side(&self, counter: Counter) -> Option<(SiteId, bool)> {
        match self.modules.get(&counter.module)?.counted(counter)? {
            Counted::Side(site, side) => Some((site, side)),
            Counted::Block(_) => None,
        }
    }

    /// What the run came by and nothing has taken: sides of branches, targets of a `switch`. By [`News::name`].
    pub fn open(&self, ran: &[(Counter, u32)]) -> Vec<u64> {
        let mut open: Vec<u64> = ran
            .iter()
            .flat_map(|(counter, _)| self.others(*counter))
            .filter(|counter| !self.covered.contains(counter))
            .map(|counter| self.name(counter))
            .collect();
        open.sort_unstable();
        open.dedup();
        open
    }

    /// Where a run that counted here could have gone instead or next.
    fn others(&self, counter: Counter) -> Vec<Counter> {
        let Some(module) = self.modules.get(&counter.module) else {
            return Vec::new();
        };
        let at = |index: u32| Counter { index, ..counter };
        match module.counted(counter) {
            Some(Counted::Side(_, true)) => vec![at(counter.index - 1)],
            Some(Counted::Side(_, false)) => vec![at(counter.index + 1)],
            Some(Counted::Block(_)) => {
                let targets = module.targets.get(&counter.index).into_iter().flatten();
                targets.map(|index| at(*index)).collect()
            }
            None => Vec::new(),
        }
    }

    /// By source file: when a block of it was last covered for the first time.
    pub fn into_latest(self) -> BTreeMap<String, Moment> {
        self.latest
    }
}

impl Module {
    fn new(number: u64, table: &SiteTable) -> Module {
        let mut module = Module {
            number,
            counted: counted(table),
            in_main: HashSet::new(),
            file_of: Vec::new(),
            files: table.files.clone(),
            targets: HashMap::new(),
        };
        for function in &table.functions {
            let mut blocks: HashMap<u64, u32> = HashMap::new();
            let mut jumps: Vec<(u32, &[u64])> = Vec::new();
            for site in &function.sites {
                let index = module.file_of.len() as u32;
                match SiteKind::from_byte(site.kind) {
                    Some(SiteKind::Block) => {
                        blocks.insert(site.id, index);
                        jumps.push((index, &site.successors));
                        module.file_of.push(site.file);
                    }
                    Some(SiteKind::Branch) => {
                        jumps.pop();
                        module.file_of.extend([site.file; 2]);
                    }
                    _ => {}
                }
            }
            if function.name == "main" {
                module.in_main.extend(blocks.values());
            }
            for (block, successors) in jumps.into_iter().filter(|(_, list)| list.len() > 1) {
                let targets = successors.iter().filter_map(|id| blocks.get(id).copied());
                module.targets.insert(block, targets.collect());
            }
        }
        module
    }

    fn counted(&self, counter: Counter) -> Option<Counted> {
        self.counted.get(counter.index as usize).copied()
    }

    fn file(&self, counter: Counter) -> Option<&str> {
        let file = self.file_of.get(counter.index as usize)?;
        self.files.get(*file as usize).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_record::{FunctionSites, Site};

    const MODULE: u64 = 9;

    fn site(id: u64, kind: SiteKind, successors: &[u64]) -> Site {
        Site {
            id,
            kind: kind as u8,
            file: 0,
            line: 1,
            column: 1,
            cases: Vec::new(),
            successors: successors.to_vec(),
            original: 0,
            within: Vec::new(),
            text: String::new(),
        }
    }

    /// Block 1 jumps by a switch to 2, 3 or 4; block 2 branches to 3 or 4.
    fn news() -> News {
        let sites = vec![
            site(1, SiteKind::Block, &[2, 3, 4]),
            site(11, SiteKind::Switch, &[2, 3, 4]),
            site(2, SiteKind::Block, &[3, 4]),
            site(12, SiteKind::Branch, &[3, 4]),
            site(3, SiteKind::Block, &[]),
            site(4, SiteKind::Block, &[]),
        ];
        let table = SiteTable {
            files: vec!["a.c".into()],
            functions: vec![FunctionSites {
                name: "main".into(),
                file: 0,
                line: 1,
                sites,
            }],
        };
        News::new(&[ModuleSites {
            module: MODULE,
            table,
        }])
    }

    fn at(index: u32) -> Counter {
        Counter {
            module: MODULE,
            index,
        }
    }

    fn once<const N: usize>(indices: [u32; N]) -> [(Counter, u32); N] {
        indices.map(|index| (at(index), 1))
    }

    fn moment(runs: u64) -> Moment {
        Moment {
            runs,
            time: Duration::from_secs(runs),
        }
    }

    #[test]
    fn targets_of_a_switch_that_nothing_reached_are_open() {
        let mut news = news();
        let ran = once([0, 4]);
        news.take_in(&ran, moment(1));
        let mut open = vec![news.name(at(1)), news.name(at(5))];
        open.sort_unstable();
        assert_eq!(news.open(&ran), open);
    }

    #[test]
    fn the_other_side_of_a_branch_is_open_until_it_is_taken() {
        let mut news = news();
        let ran = once([1, 2, 4]);
        news.take_in(&ran, moment(1));
        assert_eq!(news.open(&ran), [news.name(at(3))]);
        news.take_in(&once([3]), moment(2));
        assert!(news.open(&ran).is_empty());
    }

    #[test]
    fn the_latest_news_of_a_file_is_a_block_not_a_side() {
        let mut news = news();
        assert_eq!(news.take_in(&once([1, 2]), moment(1)).len(), 2);
        assert_eq!(news.take_in(&once([1, 3]), moment(2)), [at(3)]);
        assert_eq!(
            news.into_latest(),
            BTreeMap::from([("a.c".to_owned(), moment(1))])
        );
    }
}
