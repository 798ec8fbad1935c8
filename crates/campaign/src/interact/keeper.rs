//! Keeps what a search finds: the input as a scenario, the difference as a finding.

use parallax_report::results::interact::message;
use parallax_scenario::Recorded;
use parallax_search::interact::Finding;
use parallax_store::{KeptFinding, Origin, State, Store, hash};

use crate::failure::Failure;

/// The name of a finding: the same for the same one, in whatever order they are found.
pub fn finding_id(program: &str, finding: &Finding) -> String {
    const DIGITS: usize = 8;
    let name = hash(format!("{program}\n{}", finding.key).as_bytes());
    format!("{}-{}", finding.kind.name(), &name[..DIGITS])
}

/// Keeps a finding in a program; the name of its scenario in the store.
pub fn keep(store: &Store, program: &str, finding: &Finding) -> Result<String, Failure> {
    let shown = &finding.shown;
    let recorded = Recorded {
        program: program.as_bytes().into(),
        scenario: finding.scenario.clone(),
        result: shown.endings.new.clone(),
        ..Recorded::default()
    };
    let id = store.add(&recorded, Origin::Diverging)?.id;
    let problem = shown.problems.first();
    let place = problem.and_then(|problem| problem.location.as_ref());
    store.put_finding(&KeptFinding {
        program: program.as_bytes().into(),
        id: finding_id(program, finding),
        command: "interact".to_owned(),
        kind: finding.kind.name().to_owned(),
        location: place.map(|place| (place.file.clone(), place.line)),
        message: message(finding),
        scenario: finding.scenario.clone(),
        old: Some(shown.endings.old.clone()),
        new: Some(shown.endings.new.clone()),
        distance: None,
        depth: None,
        state: State::Confirmed,
        directory: None,
    })?;
    Ok(id)
}
