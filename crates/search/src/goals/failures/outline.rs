//! What is remembered of a path when its trace is gone: where it can be left, and what on it can fail.

use std::collections::{BTreeMap, BTreeSet};

use parallax_abi::SiteId;
use parallax_exec::sites::SiteMap;
use parallax_trace::path::{Choice, Decision};
use parallax_trace::sensitive::{self, Failure, Sensitive};
use rustc_hash::FxHashMap;

use crate::core::alternative::{Change, others};
use crate::core::goal::Path;
use crate::core::limits::{Limit, Limits};

/// A site and what can go wrong there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub site: SiteId,
    pub failure: Failure,
}

/// An operation that could fail.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub place: Place,
    /// Takes the path to the failure.
    pub change: Change,
    /// Decisions that come before it.
    pub position: usize,
}

/// A decision that could go otherwise.
#[derive(Clone, Debug)]
pub struct Branch {
    pub at: usize,
    pub site: SiteId,
    ways: Ways,
}

#[derive(Clone, Debug)]
enum Ways {
    Side,
    Otherwise,
    Cases(Vec<Vec<Change>>),
}

impl Branch {
    /// Where else it could have led: for each place the changes that lead there, one of which will do.
    pub fn places(&self) -> Vec<Vec<Change>> {
        let decision = self.at as u32;
        match &self.ways {
            Ways::Side => vec![vec![Change::Side { decision }]],
            Ways::Otherwise => vec![vec![Change::Otherwise { decision }]],
            Ways::Cases(places) => places.clone(),
        }
    }

    fn of(sites: &SiteMap, decisions: &[Decision], at: usize) -> Option<Branch> {
        let decision = &decisions[at];
        let ways = match decision.choice {
            _ if decision.repeated => return None,
            Choice::Side => Ways::Side,
            Choice::Object => Ways::Otherwise,
            Choice::Assumed if decision.value == 0 => Ways::Otherwise,
            Choice::Assumed | Choice::Fixed | Choice::Kept => return None,
            Choice::Case => Ways::Cases(cases(sites, decision, at as u32)?),
        };
        let site = decision.site;
        Some(Branch { at, site, ways })
    }
}

/// The cases of a `switch`, by where they lead; without the place that the run went to.
fn cases(sites: &SiteMap, decision: &Decision, at: u32) -> Option<Vec<Vec<Change>>> {
    let site = sites.get(decision.site)?;
    // The first successor is that of no case.
    let leads_to = |value: Option<u64>| {
        let case = value.and_then(|value| site.cases.iter().position(|case| *case == value));
        site.successors
            .get(case.map_or(0, |case| case + 1))
            .copied()
    };
    let here = leads_to(u64::try_from(decision.value).ok());
    let mut places: BTreeMap<Option<u64>, Vec<Change>> = BTreeMap::new();
    for (change, _) in others(sites, decision, at) {
        let place = match change {
            Change::Value { value, .. } => leads_to(Some(value)),
            _ => leads_to(None),
        };
        places.entry(place).or_default().push(change);
    }
    places.remove(&here);
    Some(places.into_values().collect())
}

/// See the module's description. Both lists are in the order of the path.
#[derive(Debug, Default)]
pub struct Outline {
    pub branches: Vec<Branch>,
    pub operations: Vec<Operation>,
}

impl Outline {
    pub fn new(path: &Path<'_>, limits: &mut Limits) -> Outline {
        if path.is_last {
            return Outline::default();
        }
        let traced = path.traced;
        let most = traced
            .decisions
            .len()
            .min(Limit::Decisions.value() as usize);
        let branches = (0..most).filter_map(|at| Branch::of(path.sites, &traced.decisions, at));
        let operation = |one: &Sensitive, change: Change| Operation {
            place: Place {
                site: one.site,
                failure: one.failure,
            },
            change,
            position: one.position,
        };
        let mut list: Vec<(u32, Operation)> = Vec::new();
        let most = Limit::Operations.value() as usize;
        for (number, one) in traced.operations.iter().enumerate().take(most) {
            let change = Change::Fail {
                operation: number as u32,
            };
            list.push((one.context, operation(one, change)));
        }
        // An assertion fails on the other side of its branch.
        for one in sensitive::assertions(&traced.trace, &traced.decisions, path.sites) {
            let change = Change::Side {
                decision: one.position as u32,
            };
            list.push((one.context, operation(&one, change)));
        }
        list.sort_by_key(|(_, operation)| operation.position);
        Outline {
            branches: branches.collect(),
            operations: few_of_each(list, limits),
        }
    }

    /// What comes from a decision on, as far as it may be followed.
    pub fn after(mut self, at: usize, limits: &mut Limits) -> Outline {
        self.branches.retain(|branch| branch.at >= at);
        let most = Limit::Followed.value() as usize;
        limits.hit_by(
            Limit::Followed,
            self.branches.len().saturating_sub(most) as u64,
        );
        let end = self.branches.get(most).map_or(usize::MAX, |one| one.at);
        self.branches.truncate(most);
        self.operations
            .retain(|operation| (at..=end).contains(&operation.position));
        self
    }

    pub fn places(&self) -> BTreeSet<Place> {
        self.operations.iter().map(|one| one.place).collect()
    }
}

/// Of one place in one calling context the first and the last ones.
fn few_of_each(list: Vec<(u32, Operation)>, limits: &mut Limits) -> Vec<Operation> {
    let most = Limit::SameOperation.value() as usize;
    let mut counts: FxHashMap<(Place, u32), (usize, usize)> = FxHashMap::default();
    for (context, operation) in &list {
        counts.entry((operation.place, *context)).or_default().1 += 1;
    }
    let mut few = Vec::new();
    for (context, operation) in list {
        let (seen, all) = counts.entry((operation.place, context)).or_default();
        *seen += 1;
        match *seen <= most / 2 || *all - *seen < most / 2 {
            true => few.push(operation),
            false => limits.hit(Limit::SameOperation),
        }
    }
    few
}
