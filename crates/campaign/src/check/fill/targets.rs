//! What became of each group of changed lines, for the report.

use parallax_report::model::{Skipped, State, Step, Target};
use parallax_store::ledger::{self, Entry, Status};

use super::super::work::Work;
use super::findings::callable;
use crate::patch;
use parallax_report::given::command_line;

pub fn all(work: &Work<'_>) -> (Vec<Target>, Vec<Skipped>) {
    let campaign = &work.covering.campaign;
    let found = campaign.found;
    let targets = found.targets.iter().zip(&campaign.entries);
    let targets = targets.map(|(target, entry)| of(work, found, target, entry.as_ref()));
    (targets.collect(), found.skipped.clone())
}

fn of(
    work: &Work<'_>,
    found: &patch::Found,
    target: &patch::Target,
    entry: Option<&Entry>,
) -> Target {
    let programs = target.programs(&found.subjects).into_iter();
    let mut shown = Target {
        file: target.file.clone(),
        lines: target.lines.clone(),
        function: target.function.clone(),
        programs: programs.map(str::to_owned).collect(),
        ..Target::default()
    };
    let Some(entry) = entry else {
        return shown;
    };
    shown.state = match entry.status {
        Status::Suite => State::Suite,
        Status::Covered => State::Covered,
        Status::Infeasible => State::Infeasible,
        Status::Blocked => State::Blocked,
        Status::Missed => State::Missed,
    };
    // What a new input reaches, at least that one runs.
    shown.hits = target.hits.max(u64::from(entry.status.is_covered()));
    shown.why = why(entry);
    shown.seconds = entry.seconds;
    let name = entry.program.as_ref().or(entry.programs.first());
    let program = name.map(|name| callable(name)).unwrap_or_default();
    if entry.status == Status::Covered {
        shown.notes = entry.notes.clone();
        shown.scenario_id = entry.scenario.clone();
        let kept = entry
            .scenario
            .as_ref()
            .and_then(|id| work.store.get(id).ok());
        if let Some(kept) = kept {
            shown.command = Some(command_line(&program, &kept.recorded.scenario));
            shown.scenario = Some(kept.recorded.scenario);
        }
        shown.steps = entry.steps.iter().map(|one| step(&program, one)).collect();
    }
    shown
}

fn step(program: &str, step: &ledger::Step) -> Step {
    let branch = step.branch.as_ref().filter(|spot| !spot.file.is_empty());
    Step {
        what: step.kind.clone(),
        file: branch.map(|spot| spot.file.clone()),
        line: branch.map_or(0, |spot| spot.line),
        text: branch.map(|spot| spot.text.clone()).unwrap_or_default(),
        command: Some(command_line(program, &step.scenario)),
    }
}

/// Why lines are not reached, for people who do not know how the search works.
fn why(entry: &Entry) -> Option<String> {
    if entry.status.is_covered() {
        return None;
    }
    let Some(obstacle) = &entry.obstacle else {
        return Some(
            match entry.status {
                Status::Missed => "nothing that was run comes near it",
                Status::Infeasible => "what leads there contradicts itself",
                _ => "not reached in the time given",
            }
            .to_owned(),
        );
    };
    let branch = &obstacle.branch;
    let condition = match branch.text.is_empty() {
        true => format!("the condition at {}:{}", branch.file, branch.line),
        false => format!("`{}` at {}:{}", branch.text, branch.file, branch.line),
    };
    let contradicts: Vec<String> = obstacle
        .contradicts
        .iter()
        .map(|spot| format!("{}:{}", spot.file, spot.line))
        .collect();
    Some(match (obstacle.is_concrete, contradicts.as_slice()) {
        (_, [_, ..]) => format!(
            "{condition} never came out the other way, because of what was decided at {}",
            contradicts.join(", ")
        ),
        (true, []) => {
            format!("{condition} never came out the other way, and no input was seen to decide it")
        }
        (false, []) => format!("{condition} never came out the other way"),
    })
}
