//! Puts what the searches know into the report.

mod findings;
mod targets;

use std::collections::BTreeMap;

use parallax_project::accepted::Accepted;
use parallax_report::PatchReport;
use parallax_report::model::{Loss, Program, Promise, Stats};

use super::rounds::Blames;
use super::work::Work;
use crate::failure::Failure;
use crate::versions::Pair;
use parallax_report::results::search::ranked;

/// The key of the trailer by which a commit says what becomes of behaviour, as English is written on either side.
const TRAILERS: [&str; 2] = ["Behaviour", "Behavior"];

/// Everything but phases, time line and what only the caller knows.
pub fn report(
    work: &Work<'_>,
    blames: &Blames,
    accepted: &[Accepted],
) -> Result<PatchReport, Failure> {
    let pair = work.pair;
    let findings = findings::all(work, blames, accepted)?;
    let is_seen = |entry: &&Accepted| findings.iter().any(|one| one.id == entry.finding);
    let stale = accepted.iter().filter(|entry| !is_seen(entry));
    let stale: Vec<String> = stale.map(|entry| entry.finding.clone()).collect();
    let (targets, skipped) = targets::all(work);
    let mut losses: BTreeMap<String, u64> = BTreeMap::new();
    let entries = work.covering.campaign.entries.iter().flatten();
    let of_targets = entries
        .clone()
        .flat_map(|entry| entry.losses.iter().cloned());
    let compared = work.comparing.done.iter();
    let of_comparing = compared
        .clone()
        .flat_map(|done| done.summary.losses.clone());
    for (name, count) in of_targets.chain(of_comparing) {
        *losses.entry(name).or_default() += count;
    }
    let sum = |of: fn(&parallax_search::engine::Summary) -> u64| -> u64 {
        compared.clone().map(|done| of(&done.summary)).sum()
    };
    Ok(PatchReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        patch: pair.shown(),
        programs: programs(work),
        findings,
        targets,
        skipped,
        losses: ranked(&losses)
            .into_iter()
            .map(|(function, count)| Loss { function, count })
            .collect(),
        promise: promise(pair)?,
        stale,
        stats: Stats {
            paths: sum(|one| one.pairs) + entries.clone().map(|entry| entry.paths).sum::<u64>(),
            queries: sum(|one| one.solver.queries)
                + entries.map(|entry| entry.queries).sum::<u64>(),
            ..Stats::default()
        },
        ..PatchReport::default()
    })
}

/// A report about a patch that changes no code.
pub fn nothing(pair: &Pair) -> Result<PatchReport, Failure> {
    Ok(PatchReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        patch: pair.shown(),
        promise: promise(pair)?,
        ..PatchReport::default()
    })
}

fn programs(work: &Work<'_>) -> Vec<Program> {
    let subjects = work.subjects.iter();
    subjects
        .map(|subject| {
            let touching = work.touching.get(&subject.name);
            Program {
                name: subject.name.clone(),
                scenarios: touching.map_or(0, |one| one.scenarios as u64),
                touching: touching.map_or(0, |one| one.touching as u64),
            }
        })
        .collect()
}

/// A commit of the range that promises that nothing changes that can be seen.
fn promise(pair: &Pair) -> Result<Option<Promise>, Failure> {
    let Some(repository) = &pair.project.repository else {
        return Ok(None);
    };
    let (old, new) = (&pair.builds.old.revision, &pair.builds.new.revision);
    for key in TRAILERS {
        let trailers = repository.trailers(old, new, key)?;
        let mut none = trailers.into_iter();
        let none = none.find(|trailer| trailer.value.eq_ignore_ascii_case("none"));
        if let Some(trailer) = none {
            return Ok(Some(Promise {
                commit: trailer.commit,
                subject: trailer.subject,
            }));
        }
    }
    Ok(None)
}
