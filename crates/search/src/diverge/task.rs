//! The tasks of a comparison, and how a slot does them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_scenario::Scenario;

use super::comparer::{Comparer, Counts};
use super::director::TRACED;
use super::given::Given;
use super::interface::{DivergeError, Options, Phase};
use super::native::{Attempt, Met, Shared, Tried, judge, observe};
use super::walk::Place;
use super::{Prepared, SLOTS};

/// What one slot has.
#[derive(Default)]
pub(super) struct Slot<'d> {
    comparer: Option<Comparer<'d>>,
}

impl<'d> Slot<'d> {
    pub fn comparer(&self) -> Option<&Comparer<'d>> {
        self.comparer.as_ref()
    }
}

/// Work for a slot.
pub(super) struct Task<'d> {
    pub lane: usize,
    pub moment: u64,
    pub shared: &'d Shared,
    pub options: &'d Options,
    pub prepared: Option<&'d Prepared<'d>>,
    /// How long a native run of an input may take that a solver made.
    pub limit: Duration,
    pub what: What,
}

pub(super) enum What {
    Try(Vec<Attempt>),
    Judge(Box<Suspect>),
    Step { phase: Phase, feed: Vec<Given> },
}

/// An input that is to be looked at closer.
#[derive(Debug)]
pub(super) struct Suspect {
    pub scenario: Scenario,
    pub seed: Arc<Scenario>,
    pub phase: Phase,
    /// Whether the versions were seen to differ.
    pub differs: bool,
}

/// What came back.
pub(super) struct Done {
    pub lane: usize,
    pub slot: usize,
    pub seconds: f64,
    pub tried: Vec<Tried>,
    pub met: Vec<Met>,
    pub counts: Counts,
    pub state: Option<State>,
    pub error: Option<DivergeError>,
}

/// What is left to do in a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    pub has: [bool; TRACED.len()],
    pub open: u64,
}

/// Does a task.
pub(super) fn work<'d>(slot: &mut Slot<'d>, task: Task<'d>) -> Done {
    let started = Instant::now();
    let mut done = Done {
        lane: task.lane,
        slot: task.moment as usize % SLOTS,
        seconds: 0.0,
        tried: Vec::new(),
        met: Vec::new(),
        counts: Counts::default(),
        state: None,
        error: None,
    };
    let Task { shared, .. } = task;
    match task.what {
        What::Try(attempts) => {
            for attempt in attempts {
                if shared.budget.is_over() {
                    break;
                }
                done.tried.push(observe(shared, attempt));
            }
        }
        What::Judge(suspect) => {
            let comparer = comparer(slot, &task.prepared, task.options, shared);
            let result = judge_suspect(comparer, shared, task.moment, *suspect, &mut done);
            done.error = result.err();
        }
        What::Step { phase, feed } => match comparer(slot, &task.prepared, task.options, shared) {
            Ok(Some(comparer)) => {
                comparer.moment = task.moment;
                comparer.limit = task.limit;
                comparer.given.extend(feed);
                done.error = comparer.step(phase).err();
                done.take(comparer);
            }
            Ok(None) => {}
            Err(error) => done.error = Some(error),
        },
    }
    done.seconds = started.elapsed().as_secs_f64();
    done
}

impl Done {
    fn take(&mut self, comparer: &mut Comparer<'_>) {
        self.tried.append(&mut comparer.tried);
        self.met.append(&mut comparer.met);
        self.counts = std::mem::take(&mut comparer.counts);
        self.state = Some(State {
            has: TRACED.map(|phase| comparer.has(phase)),
            open: comparer.open(),
        });
    }
}

/// The slot's comparer, which is made when it is first needed.
fn comparer<'s, 'd>(
    slot: &'s mut Slot<'d>,
    prepared: &Option<&'d Prepared<'d>>,
    options: &'d Options,
    shared: &'d Shared,
) -> Result<Option<&'s mut Comparer<'d>>, DivergeError> {
    if slot.comparer.is_none()
        && let Some(prepared) = prepared
    {
        slot.comparer = Some(Comparer::new(prepared, options, shared)?);
    }
    Ok(slot.comparer.as_mut())
}

fn judge_suspect(
    comparer: Result<Option<&mut Comparer<'_>>, DivergeError>,
    shared: &Shared,
    moment: u64,
    suspect: Suspect,
    done: &mut Done,
) -> Result<(), DivergeError> {
    let Suspect {
        scenario,
        seed,
        phase,
        differs,
    } = suspect;
    let mut place: Option<(Place, bool)> = None;
    let mut origin = None;
    // Where the versions part tells differences apart that look the same.
    if differs && let Some(comparer) = comparer? {
        comparer.moment = moment;
        place = comparer.locate(&scenario);
        origin = place.map(|(place, _)| comparer.versions.origin(&place));
        done.take(comparer);
        // They find nothing, so they are not what a number of runs is asked for.
        done.counts.runs = 0;
    }
    let verdict = judge(shared, moment, &scenario, differs, origin)?;
    done.met.push(Met {
        scenario,
        seed,
        verdict,
        place: place.map(|(place, _)| place),
        parted: place.is_some_and(|(_, parted)| parted),
        phase,
    });
    Ok(())
}
