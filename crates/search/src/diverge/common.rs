//! Other paths that both versions take together: where the versions did not part on one path they may on the next.
//!
//! Sides of branches that were tried least come first, those in functions that were changed before others.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use parallax_abi::SiteId;
use parallax_solver::{Constraint, Path};

use super::visits::MOST_DECISIONS;
use crate::explore::ways::others;
use crate::worker::Traced;
use parallax_exec::sites::SiteMap;
use parallax_scenario::Scenario;
use parallax_trace::Trace;
use parallax_trace::path;
use parallax_trace::sensitive::{Failure, Sensitive};

/// Ways of one run that are asked for.
const MOST_WAYS: usize = 48;

/// Inputs that are to be run.
#[derive(Debug, Default)]
pub struct Frontier {
    /// How often a side was asked for, by site and value.
    tried: HashMap<(SiteId, u128), u32>,
    /// Ways that were asked for.
    known: HashSet<u64>,
    waiting: BTreeMap<Rank, Next>,
    number: u64,
}

/// Attempts at the same side, whether it is in unchanged code, generation, and order of arrival.
type Rank = (u32, bool, u32, u64);

/// An input that has not been run.
#[derive(Debug)]
pub struct Next {
    pub scenario: Scenario,
    /// The given input that it comes from.
    pub seed: Arc<Scenario>,
    pub generation: u32,
}

/// A way in which a run could have gone otherwise.
pub struct Way {
    /// Index of the decision.
    pub position: usize,
    pub goal: Vec<Constraint>,
    rank: (u32, bool),
}

impl Frontier {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The ways of a run that are worth asking for, of its first `most` decisions, in the order of the path.
    pub fn ways(
        &mut self,
        traced: &Traced,
        sites: &SiteMap,
        changed: &HashSet<String>,
        most: usize,
    ) -> Vec<Way> {
        let mut ways = Vec::new();
        for (position, decision) in traced.decisions.iter().enumerate().take(most) {
            if decision.repeated {
                continue;
            }
            let before = match position.checked_sub(1) {
                Some(last) => traced.decisions[last].exact,
                None => path::START,
            };
            let view = sites.get(decision.site);
            let is_unchanged = !view.is_some_and(|view| changed.contains(view.function));
            let original = view.map_or(decision.site, |view| view.original);
            for (_, value) in others(sites, decision, position as u32) {
                let name = path::extend(before, decision.site.0, decision.choice, value);
                if self.known.contains(&name) {
                    continue;
                }
                let tried = self.tried.get(&(original, value)).copied().unwrap_or(0);
                let goal = match value {
                    path::DEFAULT => path::no_case(sites, decision),
                    _ => vec![Constraint::equals(decision.label, value)],
                };
                let way = Way {
                    position,
                    goal,
                    rank: (tried, is_unchanged),
                };
                ways.push((way, name, (original, value)));
            }
        }
        ways.sort_by_key(|(way, _, _)| (way.rank, way.position));
        ways.truncate(MOST_WAYS);
        for (_, name, side) in &ways {
            self.known.insert(*name);
            *self.tried.entry(*side).or_default() += 1;
        }
        let mut ways: Vec<Way> = ways.into_iter().map(|(way, _, _)| way).collect();
        ways.sort_by_key(|way| way.position);
        ways
    }

    pub fn offer(&mut self, way: &Way, next: Next) {
        self.number += 1;
        let (tried, is_unchanged) = way.rank;
        let rank = (tried, is_unchanged, next.generation, self.number);
        self.waiting.insert(rank, next);
    }

    pub fn take(&mut self) -> Option<Next> {
        self.waiting.pop_first().map(|(_, next)| next)
    }
}

/// Takes what a run decided before a position into a path that had taken in what came before another one; gives the new one.
pub fn advance(
    path: &mut Path<'_, Trace>,
    pushed: usize,
    traced: &Traced,
    sites: &SiteMap,
    position: usize,
) -> usize {
    for decision in &traced.decisions[pushed..position.max(pushed)] {
        for constraint in decision.constraints(sites) {
            path.push(constraint);
        }
    }
    pushed.max(position)
}

/// Operations of one place that are asked about, on all paths that one slot sees; and of one run.
const MOST_TIMES: u32 = 2;
const MOST_FAILURES: usize = 64;

/// Operations that were asked whether they fail.
#[derive(Debug, Default)]
pub struct Failures {
    asked: HashMap<(SiteId, Failure), u32>,
}

impl Failures {
    /// The operations of a run that were not asked about often enough, in order.
    pub fn of(&mut self, traced: &Traced, sites: &SiteMap) -> Vec<Sensitive> {
        let mut list = Vec::new();
        for operation in &traced.operations {
            let view = sites.get(operation.site);
            let original = view.map_or(operation.site, |view| view.original);
            let asked = self.asked.entry((original, operation.failure)).or_default();
            let is_near = operation.position < MOST_DECISIONS;
            if *asked < MOST_TIMES && list.len() < MOST_FAILURES && is_near {
                *asked += 1;
                list.push(*operation);
            }
        }
        list
    }
}
