//! What inputs showed, as findings of the report.

use parallax_exec::compare::{self, Line};
use parallax_exec::finding::Problem as Seen;
use parallax_project::accepted::Accepted as Entry;
use parallax_report::model::{
    Accepted, Difference, DifferenceLine, Finding, Guilty, Problem, Role,
};
use parallax_store::hash;

use super::super::rounds::Blames;
use super::super::work::{self, Work};
use crate::diverge::{self, Blame, Ready};
use crate::failure::Failure;
use crate::versions::{Pair, Subject};
use parallax_report::given::command_line;
use parallax_report::results::diverge::project::{message, parting, short};

/// Lines around those that differ.
const AROUND: usize = 2;
/// Names of scenarios are shown so long, as in `parallax scenarios`.
const SHOWN_ID: usize = 8;

/// All findings; their inputs are kept as scenarios.
pub fn all(work: &Work<'_>, blames: &Blames, accepted: &[Entry]) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for (subject, all) in work.shown() {
        for known in &all {
            let cluster = &known.cluster;
            let key = (subject.name.clone(), cluster.key.clone());
            let blame = blames.get(&key);
            let ready = work.comparing.ready(&subject.name);
            let guilty = blame.map(|blame| (blame, work.pair.patch.hunks.as_slice()));
            let scenario = diverge::keep_as(work.store, &subject.name, &known.id, cluster, guilty)?;
            let mut finding = of(work.pair, subject, known, ready, blame);
            finding.replay = format!(
                "parallax replay {} --on both --range {}",
                &scenario[..SHOWN_ID.min(scenario.len())],
                work.pair.range()
            );
            finding.scenario_id = Some(scenario);
            let key = (subject.name.clone(), cluster.shown.key());
            finding.interaction = work.interactions.get(&key).cloned();
            let entry = accepted.iter().find(|entry| entry.finding == finding.id);
            finding.accepted = entry.map(|entry| Accepted {
                because: entry.because.clone(),
            });
            findings.push(finding);
        }
    }
    Ok(findings)
}

fn of(
    pair: &Pair,
    subject: &Subject,
    known: &work::Finding,
    ready: Option<&Ready>,
    blame: Option<&Blame>,
) -> Finding {
    let cluster = &known.cluster;
    let shown = &cluster.shown;
    let problems: Vec<Problem> = shown
        .problems
        .iter()
        .map(|one| problem(pair, one))
        .collect();
    let parted = cluster.place.zip(ready);
    let parted = parted.and_then(|(place, ready)| parting(pair.tops(), ready.places(), &place));
    let hunks: Vec<Guilty> = blame
        .iter()
        .flat_map(|blame| &blame.hunks)
        .map(|(hunk, role)| Guilty {
            hunk: *hunk,
            role: *role,
        })
        .collect();
    let of_problem = problems
        .first()
        .and_then(|one| Some((one.file.clone()?, one.line)));
    let of_parting = || parted.as_ref().map(|one| (one.file.clone(), one.line));
    let of_hunk = || {
        let guilty = hunks.iter().find(|guilty| guilty.role == Role::Guilty)?;
        let hunk = pair.patch.hunks.get(guilty.hunk)?;
        Some((hunk.file.clone(), hunk.new.first))
    };
    let place = of_problem.or_else(of_parting).or_else(of_hunk);
    let (file, line) = place.unzip();
    let name = &subject.name;
    Finding {
        id: known.id.clone(),
        fingerprint: hash(format!("{name}\n{}", known.id).as_bytes()),
        class: shown.class.into(),
        kind: problems.first().map(|problem| problem.kind.clone()),
        program: name.clone(),
        message: message(pair.tops(), cluster),
        technique: known.technique,
        file,
        line: line.unwrap_or(0),
        command: command_line(&callable(name), &cluster.scenario),
        scenario: cluster.scenario.clone(),
        old: Some(shown.endings.old.clone()),
        new: Some(shown.endings.new.clone()),
        differences: shown.differences.iter().map(difference).collect(),
        problems,
        hunks,
        hunks_minimal: blame.is_some_and(|blame| blame.is_minimal),
        parting: parted,
        golden: shown.golden,
        count: cluster.count,
        seconds: cluster.seconds,
        ..Finding::default()
    }
}

/// A program in the folder that one is in is found only with its path.
pub fn callable(name: &str) -> String {
    match name.contains('/') {
        true => name.to_owned(),
        false => format!("./{name}"),
    }
}

fn problem(pair: &Pair, seen: &Seen) -> Problem {
    let place = seen.location.as_ref();
    Problem {
        kind: seen.kind.name().to_owned(),
        message: seen.message.clone(),
        file: place.map(|place| short(pair.tops(), &place.file)),
        line: place.map_or(0, |place| place.line),
        functions: seen.functions.clone(),
    }
}

fn difference(difference: &compare::Difference) -> Difference {
    let (old, new) = match difference {
        compare::Difference::End { one, other } => (one.clone(), other.clone()),
        _ => Default::default(),
    };
    let line = |line: &Line| match line {
        Line::Same(bytes) => DifferenceLine::Same(bytes.clone()),
        Line::One(bytes) => DifferenceLine::Old(bytes.clone()),
        Line::Other(bytes) => DifferenceLine::New(bytes.clone()),
    };
    let around = difference.diff().map(|diff| diff.around(AROUND));
    let lines = around.into_iter().flatten();
    Difference {
        part: difference.part(),
        old,
        new,
        lines: lines.map(|one| one.map(line)).collect(),
    }
}
