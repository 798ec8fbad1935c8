//! Looking closer at an input: on all builds, in fresh processes, several times.

use std::sync::Arc;

use parallax_exec::finding::{Kind, Problem, same_file};
use parallax_exec::replay::Confirmed;
use parallax_exec::sites::SiteMap;
use parallax_scenario::{Scenario, Sink};

use super::interface::SearchError;
use super::native::{Judged, Verdict, judge};
use super::task::{Done, Seen, Slot, Suspect, Task};
use crate::diverge::walk::Place;

/// What an input shows on all builds of the versions that there are.
pub(super) fn look<'d>(
    slot: &mut Slot<'d>,
    task: &Task<'d>,
    suspect: Suspect,
    done: &mut Done,
) -> Result<(), SearchError> {
    let (shared, moment) = (task.shared, task.number);
    if shared.courts.is_none() {
        let hangs = task.options.explore.hangs;
        let is_known = |problem: &Problem| {
            let is_meant = hangs || problem.kind != Kind::Timeout;
            !is_meant || shared.errors.at(moment, &problem.key())
        };
        let worker = slot.work(task)?;
        // What the program says of an error tells errors apart, if it can be read.
        let whole = Arc::new(with_messages(&suspect.scenario));
        let mut confirmed = None;
        let mut suspect = suspect;
        if whole != suspect.scenario {
            confirmed = worker.confirm(&whole, &is_known)?;
        }
        match confirmed {
            Some(_) => suspect.scenario = whole,
            None => confirmed = worker.confirm(&suspect.scenario, &is_known)?,
        }
        if let (Some(confirmed), Some(prepared)) = (&mut confirmed, task.prepared) {
            leave_out_consequences(confirmed, prepared.sites);
        }
        // What was cut short says nothing.
        if !shared.budget.is_over() {
            done.seen = Some(Seen { suspect, confirmed });
        }
        return Ok(());
    }
    let Suspect {
        scenario,
        seed,
        phase,
        differs,
        entry,
        ..
    } = suspect;
    let mut place: Option<(Place, bool)> = None;
    let mut origin = None;
    // Where the versions part tells differences apart that look the same.
    if differs && let Some(comparer) = slot.compare(task)? {
        comparer.moment = moment;
        place = comparer.locate(&scenario);
        origin = place.map(|(place, _)| comparer.versions.origin(&place));
        done.take(comparer);
        // They find nothing, so they are not what a number of runs is asked for.
        done.counts.runs = 0;
    }
    let whole = Arc::new(with_messages(&scenario));
    let mut verdict = Verdict::Silent;
    let (input, mut scenario) = (Arc::clone(&scenario), scenario);
    if whole != scenario {
        verdict = judge(shared, moment, &whole, differs, origin)?;
    }
    match verdict {
        Verdict::Shown { .. } => scenario = whole,
        _ => verdict = judge(shared, moment, &scenario, differs, origin)?,
    }
    done.judged.push(Judged {
        input,
        scenario,
        entry,
        seed,
        verdict,
        place: place.map(|(place, _)| place),
        parted: place.is_some_and(|(_, parted)| parted),
        phase,
        seen: None,
    });
    Ok(())
}

/// What goes wrong inside libraries, or nobody knows where, after something went wrong in the program itself comes of that.
fn leave_out_consequences(confirmed: &mut Confirmed, sites: &SiteMap) {
    let is_own = |problem: &Problem| {
        let location = problem.location.as_ref();
        location.is_some_and(|place| sites.files().any(|file| same_file(file, &place.file)))
    };
    let mut all = confirmed.problems.iter().chain(&confirmed.known);
    if all.any(is_own) {
        confirmed.problems.retain(is_own);
        confirmed.known.retain(is_own);
    }
}

/// An input whose messages can be read.
fn with_messages(scenario: &Scenario) -> Scenario {
    Scenario {
        stderr: Sink::Read,
        ..scenario.clone()
    }
}
