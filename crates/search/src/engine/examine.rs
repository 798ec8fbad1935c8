//! A closer look at what a task traced and confirmed, for goals that need to know more: where it was run, and so in parallel.

use parallax_scenario::Scenario;

use super::native::Verdict;
use super::task::{Done, Task, Turned};
use crate::worker::Traced;

/// Lets the examiner look at everything that a task traced or judged, if there is one.
pub(super) fn examine(task: &Task<'_>, done: &mut Done) {
    let Some(examiner) = task.prepared.and_then(|prepared| prepared.examiner) else {
        return;
    };
    let until = task.shared.budget.deadline();
    let look = |scenario: &Scenario, traced: Option<&Traced>| {
        examiner.examine(scenario, traced, task.shared.limit(Some(task.usual)), until)
    };
    for one in &mut done.retraced {
        if let Ok((_, scenario, traced)) = &one.result {
            one.seen = look(scenario, Some(traced));
        }
    }
    for (_, turned) in &mut done.turned {
        if let Turned::Ran(child) = turned
            && let Some(path) = &mut child.path
        {
            path.seen = look(&path.scenario, Some(&path.traced));
        }
    }
    for judged in &mut done.judged {
        if !matches!(judged.verdict, Verdict::Unknown) {
            judged.seen = look(&judged.scenario, None);
        }
    }
}
