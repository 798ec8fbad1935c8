//! Scenarios that run changed code: of the new version, or of the old one what the patch takes out.
//!
//! Those that run the same in both versions are one, the smallest. The best come first: each runs as much changed code as can be
//! that those before it do not run, and when all of it has been run, the next round begins.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use parallax_exec::coverage::Counter;
use parallax_project::{Build, Hunk};
use parallax_report::results::diverge::project as report;
use parallax_scenario::Scenario;
use parallax_search::diverge::walk::{Both, Version};
use parallax_store::{Filter, Listed, Store, scenario_id};

use super::{Pair, Subject};
use crate::failure::Failure;
use crate::measure::measure;
use crate::patch::{self, Suite};
use crate::stored::{KEPT, SEEDS};

/// Scenarios that are taken of a program whose changed lines have no code: what they change may show anywhere.
const MOST_ANYWHERE: usize = 24;

/// A scenario to start from.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Its name in the store.
    pub id: String,
    pub scenario: Scenario,
    /// The project's own, or one that the user gave; else Parallax made it.
    pub is_given: bool,
}

impl Seed {
    /// No arguments and no input, for a program without tests.
    pub fn nothing(program: &str) -> Seed {
        let scenario = Scenario::default();
        Seed {
            id: scenario_id(program.as_bytes(), &scenario),
            scenario,
            is_given: false,
        }
    }
}

/// What is known about a program and a patch.
#[derive(Clone, Debug, Default)]
pub struct Touching {
    /// The best first.
    pub seeds: Vec<Seed>,
    /// How many scenarios of the program there are.
    pub scenarios: usize,
    /// How many run changed code, those included that run the same as others.
    pub touching: usize,
    /// Whether changed lines have code at all: an initialiser has none.
    pub has_code: bool,
}

impl Touching {
    /// How many of them there are.
    pub fn counted(&self) -> report::Touching {
        report::Touching {
            scenarios: self.scenarios as u64,
            touching: self.touching as u64,
            distinct: self.seeds.len(),
            has_code: self.has_code,
        }
    }
}

/// Changed code that ran: in which version, and which counter.
type Ran = BTreeSet<(bool, Counter)>;

/// Counters of the code that a patch changes in a program, in both versions.
pub struct Changed {
    code: Both<HashSet<Counter>>,
}

impl Changed {
    pub fn new(pair: &Pair, subject: &Subject) -> Result<Changed, Failure> {
        Ok(Changed {
            code: Both {
                old: changed_code(pair, subject, Version::Old)?,
                new: changed_code(pair, subject, Version::New)?,
            },
        })
    }
}

/// Finds the scenarios of a program that run changed code. What scenarios run is measured where that is not known.
pub fn touching(store: &Store, pair: &Pair, subject: &Subject) -> Result<Touching, Failure> {
    touching_code(store, pair, subject, &Changed::new(pair, subject)?)
}

/// Likewise, for who asks again and again.
pub fn touching_code(
    store: &Store,
    pair: &Pair,
    subject: &Subject,
    changed: &Changed,
) -> Result<Touching, Failure> {
    let listed = store.list(&Filter {
        program: Some(subject.name.as_bytes().into()),
        origins: KEPT.to_vec(),
        ..Filter::default()
    })?;
    let mut found = Touching {
        scenarios: listed.len(),
        ..Touching::default()
    };
    let mut ran: BTreeMap<String, Ran> = BTreeMap::new();
    let mut everything: BTreeMap<String, Ran> = BTreeMap::new();
    for version in [Version::New, Version::Old] {
        let changed = changed.code.get(version);
        found.has_code |= !changed.is_empty();
        let is_new = version == Version::New;
        // Without code in this version, what runs there tells nothing; the new one is needed to tell scenarios apart.
        if changed.is_empty() && !is_new {
            continue;
        }
        let suite = measured(store, pair, subject, version, &listed)?;
        for test in suite.tests {
            let all = test.ran.iter();
            let touched = all.clone().filter(|one| changed.contains(one));
            let entry = ran.entry(test.id.clone()).or_default();
            entry.extend(touched.map(|one| (is_new, *one)));
            let entry = everything.entry(test.id).or_default();
            entry.extend(all.map(|one| (is_new, *one)));
        }
    }
    let sizes: BTreeMap<&str, u64> = listed
        .iter()
        .map(|one| (one.id.as_str(), one.size))
        .collect();
    let is_listed = |id: &String| sizes.contains_key(id.as_str());
    ran.retain(|id, touched| is_listed(id) && (!touched.is_empty() || !found.has_code));
    found.touching = ran.len();
    let size = |id: &String| sizes.get(id.as_str()).copied().unwrap_or(u64::MAX);
    let mut distinct: BTreeMap<&Ran, &String> = BTreeMap::new();
    for id in ran.keys() {
        let Some(all) = everything.get(id) else {
            continue;
        };
        let best = distinct.entry(all).or_insert(id);
        if (size(id), id) < (size(best), best) {
            *best = id;
        }
    }
    let candidates: Vec<(&String, &Ran, u64)> = distinct
        .into_iter()
        .map(|(all, id)| (id, if found.has_code { &ran[id] } else { all }, size(id)))
        .collect();
    let mut order = ranked(&candidates);
    if !found.has_code {
        order.truncate(MOST_ANYWHERE);
    }
    for id in order {
        let kept = store.get(&id)?;
        found.seeds.push(Seed {
            scenario: kept.recorded.scenario,
            is_given: SEEDS.contains(&kept.origin),
            id,
        });
    }
    Ok(found)
}

/// The best first: what adds most, then what is smallest.
fn ranked(candidates: &[(&String, &Ran, u64)]) -> Vec<String> {
    let mut rest: Vec<_> = candidates.to_vec();
    rest.sort_by_key(|(id, _, size)| (*size, *id));
    let mut order = Vec::new();
    let mut seen: HashSet<(bool, Counter)> = HashSet::new();
    while !rest.is_empty() {
        let adds = |ran: &Ran| ran.iter().filter(|one| !seen.contains(one)).count();
        let best = (0..rest.len()).max_by_key(|at| (adds(rest[*at].1), std::cmp::Reverse(*at)));
        let Some(best) = best else { break };
        if adds(rest[best].1) == 0 && !seen.is_empty() {
            seen.clear();
            continue;
        }
        let (id, ran, _) = rest.remove(best);
        seen.extend(ran.iter().copied());
        order.push(id.clone());
    }
    order
}

fn build(pair: &Pair, version: Version) -> &Build {
    pair.builds.get(version)
}

/// What scenarios run in a version.
fn measured(
    store: &Store,
    pair: &Pair,
    subject: &Subject,
    version: Version,
    listed: &[Listed],
) -> Result<Suite, Failure> {
    let tree = &build(pair, version).tree;
    measure(&pair.context, store, listed, tree, &pair.folders())?;
    Suite::read(store, subject.paths.get(version))
}

/// Counters of the code on lines that a version has and the other one has not.
fn changed_code(
    pair: &Pair,
    subject: &Subject,
    version: Version,
) -> Result<HashSet<Counter>, Failure> {
    let lines = |hunk: &Hunk| {
        let both = Both {
            old: (hunk.old_file.clone(), hunk.old.lines()),
            new: (hunk.file.clone(), hunk.new.lines()),
        };
        let (file, lines) = both.get(version).clone();
        lines.map(move |line| (file.clone(), line))
    };
    let lines: Vec<(String, u32)> = pair.patch.hunks.iter().flat_map(lines).collect();
    if lines.is_empty() {
        return Ok(HashSet::new());
    }
    let source = &build(pair, version).source;
    patch::counters(&pair.context, subject.paths.get(version), source, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_adds_most_comes_first_and_then_the_next_round_begins() {
        let counter = |index: u32| (true, Counter { module: 0, index });
        let ran = |list: &[u32]| list.iter().map(|index| counter(*index)).collect::<Ran>();
        let sets = [ran(&[1]), ran(&[1, 2]), ran(&[3]), ran(&[2])];
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let candidates: Vec<_> = names
            .iter()
            .zip(&sets)
            .zip(1..)
            .map(|((id, set), size)| (id, set, size))
            .collect();
        assert_eq!(ranked(&candidates), ["b", "c", "a", "d"]);
    }
}
