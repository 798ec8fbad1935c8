//! Inputs on the native builds of all versions: run as cheaply as can be, and judged thoroughly where that shows something.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parallax_exec::compare::{Difference, Window, compare, end_in_words};
use parallax_exec::coverage::{Counter, Coverage};
use parallax_exec::execute::Settings;
use parallax_exec::finding::Key;
use parallax_exec::run::End;
use parallax_exec::sites::ModuleSites;
use parallax_scenario::Scenario;

use super::interface::{Natives, Options, Phase, Prepared, SearchError};
use crate::core::budget::Budget;
use crate::core::corpus::{EntryId, InputId, Known};
use crate::core::executor::{Build, Observed};
use crate::core::goal::Examined;
use crate::core::hangs::Pace;
use crate::diverge::clusters::key;
use crate::diverge::triage::{Class, Courts, Shown, ends_of, words_of};
use crate::diverge::walk::{Both, Place, Version};
use crate::explore::{self, Programs};
use crate::runners::Runners;

/// Runs of a search that lasts longer are still near enough in time.
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// Where time does not count, a loaded machine must not make a difference: any run may take this long.
const LEAST_UNTIMED: Duration = Duration::from_secs(1);

/// The new version's, and the old one's if there is one.
#[derive(Debug)]
pub(crate) struct Sides<T> {
    pub new: T,
    pub old: Option<T>,
}

/// What all slots share.
pub(crate) struct Shared {
    /// Where there are two versions.
    pub courts: Option<Courts>,
    pub budget: Budget,
    plain: Sides<Build>,
    /// When they are there.
    covered: OnceLock<Sides<Build>>,
    runners: OnceLock<Sides<Arc<Runners>>>,
    settings: Settings,
    pace: Pace,
    /// Inputs that were run.
    pub inputs: Known<InputId>,
    /// Those of them that are entries, and so have been or will be traced. Others may still be made for an alternative: their paths
    /// are not known.
    pub entries: Known<InputId>,
    /// Paths that both versions took.
    pub paths: Known<(u64, u64)>,
    /// What findings are told apart by, where there are two versions and where there is one.
    pub findings: Known<String>,
    pub errors: Known<Key>,
}

impl Shared {
    pub fn new(natives: &Natives, options: &explore::Options, budget: Budget) -> Shared {
        let settings = &Settings {
            cancel: Some(budget.stop.flag()),
            ..options.settings.clone()
        };
        let plain = |program| Build::new(program, settings, false);
        Shared {
            courts: natives
                .old
                .is_some()
                .then(|| Courts::new(natives.clone(), settings.clone())),
            budget,
            plain: Sides {
                new: plain(&natives.new),
                old: natives.old.as_deref().map(plain),
            },
            covered: OnceLock::new(),
            runners: OnceLock::new(),
            settings: settings.clone(),
            pace: Pace::default(),
            inputs: Known::default(),
            entries: Known::default(),
            paths: Known::default(),
            findings: Known::default(),
            errors: Known::default(),
        }
    }

    /// From now on builds with counters and sanitizers are used, and there are traced ones.
    pub fn prepared(&self, prepared: &Prepared<'_>, options: &Options) -> Result<(), SearchError> {
        let Prepared { new, old, .. } = prepared;
        if let Some(courts) = &self.courts {
            let checked = Both {
                old: old.as_ref().and_then(|old| old.checked.clone()),
                new: new.checked.clone(),
            };
            courts.check_with(checked, prepared.golden_checked.clone());
        }
        let explore = &options.explore;
        let runners = |programs: &Programs| {
            let (limits, symbolic) = (explore.limits, &explore.symbolic);
            Runners::new(programs, &self.settings, limits, symbolic).map(Arc::new)
        };
        let _ = self.runners.set(Sides {
            new: runners(new)?,
            old: old.as_ref().map(runners).transpose()?,
        });
        let build = |program: &std::path::PathBuf| Build::new(program, &self.settings, true);
        let old_covered = old.as_ref().map(|old| old.covered.as_ref());
        if let Some(new) = &new.covered
            && old_covered != Some(None)
        {
            let _ = self.covered.set(Sides {
                new: build(new),
                old: old_covered.flatten().map(build),
            });
        }
        Ok(())
    }

    /// How long a run may take if the one that it was made from took this long.
    pub fn limit(&self, usual: Option<Duration>) -> Duration {
        let limit = match usual {
            None => return self.settings.timeout,
            Some(usual) if self.budget.is_timed() => self.pace.limit(usual),
            Some(_) => LEAST_UNTIMED,
        };
        limit.min(self.settings.timeout)
    }

    /// How programs are run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What runs the traced variant of a version.
    pub fn runners(&self, version: Version) -> Option<Arc<Runners>> {
        let runners = self.runners.get()?;
        match version {
            Version::New => Some(Arc::clone(&runners.new)),
            Version::Old => runners.old.as_ref().map(Arc::clone),
        }
    }

    /// Whether what inputs execute is counted.
    pub fn counts(&self) -> bool {
        self.covered.get().is_some()
    }

    /// What all runs of the new version have covered. Nobody may be running it.
    pub fn coverage(&self, tables: &[ModuleSites]) -> Coverage {
        match self.covered.get() {
            Some(covered) => covered.new.coverage(tables),
            None => Coverage::read_all(&[], tables),
        }
    }

    /// The builds that tell most for what a run costs. Even a single version that nothing is counted of tells whether it comes to an
    /// end.
    fn builds(&self) -> &Sides<Build> {
        self.covered.get().unwrap_or(&self.plain)
    }
}

/// An input that is to be run.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub scenario: Arc<Scenario>,
    /// The given input that it comes from, and in how many steps.
    pub seed: Arc<Scenario>,
    pub generation: u32,
    /// What it was made from.
    pub parent: Option<EntryId>,
    /// Its number, if it was given.
    pub given: Option<usize>,
    /// See [`crate::sources::Proposal::kind`].
    pub kind: u64,
    /// How long the run that it was made from took; others get all the time that there is.
    pub usual: Option<Duration>,
}

impl Attempt {
    pub fn new(scenario: Scenario, seed: &Arc<Scenario>, usual: Duration) -> Attempt {
        Attempt {
            scenario: Arc::new(scenario),
            seed: Arc::clone(seed),
            generation: 1,
            parent: None,
            given: None,
            kind: 0,
            usual: Some(usual),
        }
    }
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Tried {
    pub attempt: Attempt,
    pub differs: bool,
    /// Whether one of the versions had to be ended because of its time.
    pub hung: bool,
    /// Of the version that took longer, and of all together.
    pub time: Duration,
    pub spent: Duration,
    /// What each version executed.
    pub counters: Both<Vec<(Counter, u32)>>,
    /// How the new version ended.
    pub end: Option<End>,
    /// Names how the versions ended together.
    pub ends: u64,
    /// Names what differs, as far as that can be told without looking closer.
    pub difference: u64,
    /// Native runs that this took.
    pub runs: u64,
    /// It could not be run.
    pub error: Option<SearchError>,
}

/// Runs an input on all versions.
pub(crate) fn observe(shared: &Shared, attempt: Attempt) -> Tried {
    let started = Instant::now();
    let mut tried = Tried {
        attempt,
        differs: false,
        hung: false,
        time: Duration::ZERO,
        spent: Duration::ZERO,
        counters: Both::default(),
        end: None,
        ends: 0,
        difference: 0,
        runs: 0,
        error: None,
    };
    let builds = shared.builds();
    tried.runs = 1 + u64::from(builds.old.is_some());
    match run_all(builds, shared, &tried.attempt) {
        Ok(Sides { new, old }) => {
            let words = |run: &Observed| ends_of(&end_in_words(&run.ending), "");
            tried.hung = new.is_hung() || old.as_ref().is_some_and(Observed::is_hung);
            tried.time = new.outcome.duration;
            tried.spent = tried.time;
            tried.end = Some(new.outcome.end);
            tried.ends = hashed([Some(words(&new)), old.as_ref().map(words)]);
            if let Some(old) = old {
                tried.time = tried.time.max(old.outcome.duration);
                tried.spent += old.outcome.duration;
                let is_cut = old.is_interrupted() || new.is_interrupted();
                if !is_cut && !old.is_like(&new, Window::since(WINDOW)) {
                    tried.differs = true;
                    tried.difference = difference(&old, &new);
                }
                tried.counters.old = old.counters;
            }
            tried.counters.new = new.counters;
        }
        Err(error) => {
            tried.time = started.elapsed();
            tried.spent = tried.time;
            tried.error = Some(error);
        }
    }
    tried
}

fn run_all(
    builds: &Sides<Build>,
    shared: &Shared,
    attempt: &Attempt,
) -> Result<Sides<Observed>, SearchError> {
    let run = |build: &Build| {
        let limit = shared.limit(attempt.usual);
        let observed = build.run(&attempt.scenario, limit, shared.budget.deadline())?;
        shared
            .pace
            .note(observed.outcome.duration, observed.is_hung());
        Ok::<_, SearchError>(observed)
    };
    Ok(Sides {
        new: run(&builds.new)?,
        old: builds.old.as_ref().map(run).transpose()?,
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

/// What an input showed on all builds of both versions.
#[derive(Debug)]
pub(crate) struct Judged {
    /// What was looked at, and what shows it best.
    pub input: Arc<Scenario>,
    pub scenario: Arc<Scenario>,
    /// What it is in the corpus, if anything.
    pub entry: Option<EntryId>,
    /// The given input that it comes from.
    pub seed: Arc<Scenario>,
    pub verdict: Verdict,
    pub place: Option<Place>,
    pub parted: bool,
    pub phase: Phase,
    pub seen: Option<Examined>,
}

/// What looking closer came to.
#[derive(Debug)]
pub(crate) enum Verdict {
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
pub(crate) fn judge(
    shared: &Shared,
    moment: u64,
    scenario: &Scenario,
    differs: bool,
    origin: Option<u64>,
) -> Result<Verdict, SearchError> {
    let Some(courts) = &shared.courts else {
        return Ok(Verdict::Unknown);
    };
    let budget = &shared.budget;
    let verdict = courts.with(budget.deadline(), |court| {
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
