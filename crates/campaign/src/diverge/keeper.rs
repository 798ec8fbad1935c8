//! Keeps what a comparison finds before anybody hears of it: the input as a scenario, the difference as a finding.

use parallax_project::Hunk;
use parallax_report::model::Role;
use parallax_report::results::diverge::message;
use parallax_search::diverge::clusters::Cluster;
use parallax_store::Store;

use super::Blame;
use crate::failure::Failure;
use crate::keeper;

/// The name of a difference: the same for the same one, in whatever order they are found.
pub fn finding_id(program: &str, cluster: &Cluster) -> String {
    keeper::finding_id(program, cluster.class().name(), &cluster.key)
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
    let guilty = blame.and_then(|(blame, hunks)| {
        let mut parts = blame.hunks.iter();
        let (number, _) = parts.find(|(_, role)| *role != Role::Needed)?;
        let hunk = hunks.get(*number)?;
        Some((hunk.file.clone(), hunk.new.first))
    });
    let seen = keeper::Seen {
        id: name.to_owned(),
        command: "diverge",
        kind: cluster.class().name(),
        message: message(cluster),
        location: guilty,
        distance: Some(cluster.distance),
        scenario: &cluster.scenario,
        shown: &cluster.shown,
    };
    keeper::keep(store, program, seen)
}
