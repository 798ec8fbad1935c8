//! Keeps what a comparison finds before anybody hears of it: the input as a scenario, the difference as a finding.

use parallax_project::Hunk;
use parallax_report::model::Role;
use parallax_report::results::diverge::message;
use parallax_scenario::Recorded;
use parallax_search::diverge::clusters::Cluster;
use parallax_store::{KeptFinding, Origin, State, Store, hash};

use super::Blame;
use crate::failure::Failure;

/// The name of a difference: the same for the same one, in whatever order they are found.
pub fn finding_id(program: &str, cluster: &Cluster) -> String {
    const DIGITS: usize = 8;
    let name = hash(format!("{program}\n{}", cluster.key).as_bytes());
    format!("{}-{}", cluster.class().name(), &name[..DIGITS])
}

/// Keeps a difference in a program; the name of its scenario in the store.
pub fn keep(
    store: &Store,
    program: &str,
    cluster: &Cluster,
    blame: Option<(&Blame, &[Hunk])>,
) -> Result<String, Failure> {
    keep_as(
        store,
        program,
        &finding_id(program, cluster),
        cluster,
        blame,
    )
}

/// Likewise, under a name that it has already.
pub fn keep_as(
    store: &Store,
    program: &str,
    name: &str,
    cluster: &Cluster,
    blame: Option<(&Blame, &[Hunk])>,
) -> Result<String, Failure> {
    let shown = &cluster.shown;
    let recorded = Recorded {
        program: program.as_bytes().into(),
        scenario: cluster.scenario.clone(),
        result: shown.endings.new.clone(),
        ..Recorded::default()
    };
    let id = store.add(&recorded, Origin::Diverging)?.id;
    let guilty = blame.and_then(|(blame, hunks)| {
        let mut parts = blame.hunks.iter();
        let (number, _) = parts.find(|(_, role)| *role != Role::Needed)?;
        let hunk = hunks.get(*number)?;
        Some((hunk.file.clone(), hunk.new.first))
    });
    let problem = shown.problems.first();
    let place = problem.and_then(|problem| problem.location.as_ref());
    store.put_finding(&KeptFinding {
        program: program.as_bytes().into(),
        id: name.to_owned(),
        command: "diverge".to_owned(),
        kind: shown.class.name().to_owned(),
        location: guilty.or_else(|| place.map(|place| (place.file.clone(), place.line))),
        message: message(cluster),
        scenario: cluster.scenario.clone(),
        old: Some(shown.endings.old.clone()),
        new: Some(shown.endings.new.clone()),
        distance: Some(cluster.distance),
        depth: None,
        state: State::Confirmed,
        directory: None,
    })?;
    Ok(id)
}
