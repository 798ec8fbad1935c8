//! Inputs on the native builds of both versions: run as cheaply as can be, and judged thoroughly where that shows something.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parallax_exec::compare::{Difference, Window, compare, end_in_words};
use parallax_exec::coverage::Counter;
use parallax_exec::execute::Settings;
use parallax_scenario::Scenario;

use super::Prepared;
use super::clusters::key;
use super::interface::{DivergeError, Natives, Options, Phase};
use super::triage::{Class, Courts, Shown, ends_of, words_of};
use super::walk::{Both, Place, Version};
use crate::core::budget::Budget;
use crate::core::corpus::{InputId, Known};
use crate::core::executor::{Build, Observed};
use crate::explore::{self, Programs};
use crate::runners::Runners;

/// A run may take so many times as long as the one that it was made from.
const SLOWER: u32 = 20;
/// Whatever that is, it may take this long.
const LEAST: Duration = Duration::from_millis(100);
/// Runs of a comparison that lasts longer are still near enough in time.
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// What all slots share.
pub(super) struct Shared {
    pub courts: Courts,
    pub budget: Budget,
    plain: Both<Build>,
    /// When they are there.
    covered: OnceLock<Both<Build>>,
    runners: OnceLock<Both<Arc<Runners>>>,
    settings: Settings,
    /// Inputs that were run.
    pub inputs: Known<InputId>,
    /// Paths that both versions took.
    pub paths: Known<(u64, u64)>,
    /// What findings are told apart by.
    pub findings: Known<String>,
}

impl Shared {
    pub fn new(natives: &Natives, options: &explore::Options, budget: Budget) -> Shared {
        let settings = &Settings {
            cancel: Some(budget.stop.flag()),
            ..options.settings.clone()
        };
        Shared {
            courts: Courts::new(natives.clone(), settings.clone()),
            budget,
            plain: Both {
                old: Build::new(&natives.old, settings, false),
                new: Build::new(&natives.new, settings, false),
            },
            covered: OnceLock::new(),
            runners: OnceLock::new(),
            settings: settings.clone(),
            inputs: Known::default(),
            paths: Known::default(),
            findings: Known::default(),
        }
    }

    /// From now on builds with counters and sanitizers are used, and there are traced ones.
    pub fn prepared(&self, prepared: &Prepared<'_>, options: &Options) -> Result<(), DivergeError> {
        let Both { old, new } = &prepared.programs;
        let checked = Both {
            old: old.checked.clone(),
            new: new.checked.clone(),
        };
        let golden = prepared.golden_checked.clone();
        self.courts.check_with(checked, golden);
        let explore = &options.explore;
        let runners = |programs: &Programs| {
            let (limits, symbolic) = (explore.limits, &explore.symbolic);
            Runners::new(programs, &self.settings, limits, symbolic).map(Arc::new)
        };
        let _ = self.runners.set(Both {
            old: runners(old)?,
            new: runners(new)?,
        });
        if let (Some(old), Some(new)) = (&old.covered, &new.covered) {
            let build = |program| Build::new(program, &self.settings, true);
            let _ = self.covered.set(Both {
                old: build(old),
                new: build(new),
            });
        }
        Ok(())
    }

    /// What runs the traced variant of a version.
    pub fn runners(&self, version: Version) -> Option<Arc<Runners>> {
        let runners = self.runners.get()?;
        Some(Arc::clone(runners.get(version)))
    }

    /// The builds that tell most for what a run costs.
    fn builds(&self) -> &Both<Build> {
        self.covered.get().unwrap_or(&self.plain)
    }
}

/// An input that is to be run.
#[derive(Debug)]
pub(super) struct Attempt {
    pub scenario: Scenario,
    /// The given input that it comes from, and in how many steps.
    pub seed: Arc<Scenario>,
    pub generation: u32,
    /// What it was made from.
    pub parent: Option<usize>,
    /// See [`crate::sources::Proposal::kind`].
    pub kind: u64,
    /// How long each version may take.
    pub limit: Duration,
}

impl Attempt {
    pub fn new(scenario: Scenario, seed: &Arc<Scenario>, limit: Duration) -> Attempt {
        Attempt {
            scenario,
            seed: Arc::clone(seed),
            generation: 1,
            parent: None,
            kind: 0,
            limit,
        }
    }

    /// How long a run may take if that of its parent took this long.
    pub fn limit(parent: Duration, most: Duration) -> Duration {
        (parent * SLOWER).max(LEAST).min(most)
    }
}

/// What became of it.
#[derive(Debug)]
pub(super) struct Tried {
    pub attempt: Attempt,
    pub differs: bool,
    /// Whether one of the versions had to be ended because of its time.
    pub hung: bool,
    /// Of the version that took longer.
    pub time: Duration,
    pub counters: Both<Vec<(Counter, u32)>>,
    /// Names how both versions ended.
    pub ends: u64,
    /// Names what differs, as far as that can be told without looking closer.
    pub difference: u64,
    /// It could not be run.
    pub error: Option<DivergeError>,
}

/// Runs an input on both versions.
pub(super) fn observe(shared: &Shared, attempt: Attempt) -> Tried {
    let started = Instant::now();
    let mut tried = Tried {
        attempt,
        differs: false,
        hung: false,
        time: Duration::ZERO,
        counters: Both::default(),
        ends: 0,
        difference: 0,
        error: None,
    };
    match run_both(shared, &tried.attempt) {
        Ok(Both { old, new }) => {
            tried.hung = old.is_hung() || new.is_hung();
            tried.time = old.outcome.duration.max(new.outcome.duration);
            tried.ends = hashed(
                [&old, &new]
                    .map(|run| end_in_words(&run.ending))
                    .map(|end| ends_of(&end, "")),
            );
            let is_cut = old.is_interrupted() || new.is_interrupted();
            if !is_cut && !old.is_like(&new, Window::since(WINDOW)) {
                tried.differs = true;
                tried.difference = difference(&old, &new);
            }
            tried.counters = Both {
                old: old.counters,
                new: new.counters,
            };
        }
        Err(error) => {
            tried.time = started.elapsed();
            tried.error = Some(error);
        }
    }
    tried
}

fn run_both(shared: &Shared, attempt: &Attempt) -> Result<Both<Observed>, DivergeError> {
    let builds = shared.builds();
    let run = |build: &Build| build.run(&attempt.scenario, attempt.limit, shared.budget.deadline());
    Ok(Both {
        new: run(&builds.new)?,
        old: run(&builds.old)?,
    })
}

fn difference(old: &Observed, new: &Observed) -> u64 {
    let differences = compare(old.side(), new.side(), Window::since(WINDOW));
    let parts = differences.iter().map(|difference| match difference {
        Difference::End { one, other } => ends_of(one, other),
        Difference::Stderr(diff) => format!("stderr {}", words_of(diff)),
        other => other.part(),
    });
    hashed(parts.collect::<Vec<_>>())
}

fn hashed(thing: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

/// What an input showed on all builds.
#[derive(Debug)]
pub(super) struct Met {
    pub scenario: Scenario,
    /// The given input that it comes from.
    pub seed: Arc<Scenario>,
    pub verdict: Verdict,
    pub place: Option<Place>,
    pub parted: bool,
    pub phase: Phase,
}

/// What looking closer came to.
#[derive(Debug)]
pub(super) enum Verdict {
    /// There was no time.
    Unknown,
    Silent,
    Shown {
        shown: Box<Shown>,
        /// Whether it was seen each time that it was looked for.
        is_steady: bool,
    },
}

/// What an input shows natively on all builds. If the plain builds did not differ, one run with sanitizers tells whether there is
/// anything to be seen. `origin` names where the versions part.
pub(super) fn judge(
    shared: &Shared,
    moment: u64,
    scenario: &Scenario,
    differs: bool,
    origin: Option<u64>,
) -> Result<Verdict, DivergeError> {
    let budget = &shared.budget;
    let verdict = shared.courts.with(budget.deadline(), |court| {
        if !differs && !court.glance(scenario)? {
            return Ok(Verdict::Silent);
        }
        let shown = court.judge(scenario)?;
        if shown.class == Class::Silent {
            return Ok(Verdict::Silent);
        }
        // What had to be ended took its full time already, and what is known was confirmed.
        let is_done = shown.has_limit() || shared.findings.at(moment, &key(&shown, origin));
        let is_steady = is_done || court.is_steady(scenario, &shown)?;
        Ok(Verdict::Shown {
            shown: Box::new(shown),
            is_steady,
        })
    })?;
    // What was cut short says nothing.
    Ok(match budget.is_over() {
        true => Verdict::Unknown,
        false => verdict,
    })
}
