//! The points of a path: where some input would have gone another way.

use std::collections::BTreeMap;

use super::run::{Probed, Task};
use crate::question::{Goal, Known, Question, Wanted};
use crate::worker::{Rigour, Worker};
use parallax_exec::sites::SiteMap;
use parallax_trace::path::Choice;

/// The positions of a path's points, among its first `limit` decisions; and whether there was no time for all of them.
pub fn survey(
    worker: &mut Worker<'_>,
    sites: &SiteMap,
    probed: &Probed,
    limit: usize,
    task: &Task<'_>,
) -> (Vec<usize>, bool) {
    let names = worker.names(&probed.traced);
    let mut inquiry = worker.inquiry(&probed.traced, &names, Rigour::Ways);
    let fixed = Known::new();
    let wanted = Wanted {
        traced: &probed.traced,
        sites,
        fixed: &fixed,
    };
    let decisions = &probed.traced.decisions[..limit.min(probed.traced.decisions.len())];
    let mut points = Vec::new();
    for (at, decision) in decisions.iter().enumerate() {
        if task.is_over() {
            return (points, true);
        }
        let mut can_leave = |goal: Goal| match wanted.question(goal, &mut inquiry.path) {
            Question::Solve { prefix, goal } => !inquiry.solve(prefix, &goal).is_unsat(),
            Question::Structure | Question::Impossible => false,
        };
        if !decision.repeated
            && goals(probed, sites, at)
                .into_iter()
                .flatten()
                .any(&mut can_leave)
        {
            points.push(at);
        }
    }
    (points, false)
}

/// Where else a decision could have led: for each place the goals that lead there, one of which will do.
pub fn goals(probed: &Probed, sites: &SiteMap, at: usize) -> Vec<Vec<Goal>> {
    let decision = &probed.traced.decisions[at];
    let index = at as u32;
    match decision.choice {
        Choice::Side => vec![vec![Goal::Side { decision: index }]],
        Choice::Object => vec![vec![Goal::Otherwise { decision: index }]],
        Choice::Assumed if decision.value == 0 => vec![vec![Goal::Otherwise { decision: index }]],
        Choice::Assumed | Choice::Fixed | Choice::Kept => Vec::new(),
        Choice::Case => {
            let Some(site) = sites.get(decision.site) else {
                return Vec::new();
            };
            let leads_to = |number: usize| site.successors.get(number).copied();
            let position = |value: u128| {
                site.cases
                    .iter()
                    .position(|case| u128::from(*case) == value)
            };
            let here = leads_to(position(decision.value).map_or(0, |case| case + 1));
            let mut places: BTreeMap<Option<u64>, Vec<Goal>> = BTreeMap::new();
            for (number, case) in site.cases.iter().enumerate() {
                let goal = Goal::Value {
                    decision: index,
                    value: *case,
                };
                places.entry(leads_to(number + 1)).or_default().push(goal);
            }
            let default = Goal::Default { decision: index };
            places.entry(leads_to(0)).or_default().push(default);
            places.remove(&here);
            places.into_values().collect()
        }
    }
}
