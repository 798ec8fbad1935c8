//! What an input shows when both versions run it natively: the plain builds say what can be seen, the checked ones what is wrong.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use super::walk::{Both, Version};
use crate::engine::Natives;
use crate::explore::Programs;
use parallax_exec::compare::{Diff, Difference, Line, Window, compare};
use parallax_exec::execute::{Later, Settings};
use parallax_exec::finding::{Kind, Problem};
use parallax_exec::replay::{Build, ReplayError, Replayer, Seen, Subject};
use parallax_exec::run::End;
use parallax_exec::sanitizer::{self, Signature};
use parallax_scenario::{Ending, Golden, Scenario};

/// What is compared.
#[derive(Clone, Debug)]
pub struct Subjects {
    pub programs: Both<Programs>,
    /// A version that is known to be right: plain and checked.
    pub golden: Option<(PathBuf, Option<PathBuf>)>,
}

/// What a difference between versions is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// An error that only the new version has.
    Regression,
    /// Output or end differ.
    Difference,
    /// Both have the error.
    Both,
    /// An error that only the old version has.
    Fixed,
    /// Nothing that can be seen.
    Silent,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Class::Regression => "regression",
            Class::Difference => "difference",
            Class::Both => "both",
            Class::Fixed => "fixed",
            Class::Silent => "silent",
        }
    }
}

/// What an input shows.
#[derive(Clone, Debug)]
pub struct Shown {
    pub class: Class,
    pub golden: Option<Golden>,
    pub differences: Vec<Difference>,
    /// The errors that are in this version only, or in both, as the class says.
    pub problems: Vec<Problem>,
    pub endings: Both<Ending>,
}

impl Shown {
    /// Whether a run of either version had to be ended: it took its full time already, and is not repeated.
    pub fn has_limit(&self) -> bool {
        let is_ended = |ending: &Ending| ending.exit.is_none() && ending.signal.is_none();
        is_ended(&self.endings.old) || is_ended(&self.endings.new)
    }
}

/// What makes two errors of different versions the same: lines move.
type Identity = (Kind, Option<String>);

impl Shown {
    /// The same for inputs that show the same.
    pub fn key(&self) -> String {
        let mut parts: Vec<String> = vec![self.class.name().into()];
        let problems: BTreeSet<Identity> = self.problems.iter().map(identity).collect();
        for (kind, function) in problems {
            parts.push(format!("{} {}", kind.name(), function.unwrap_or_default()));
        }
        if self.class == Class::Difference {
            for difference in &self.differences {
                parts.push(match difference {
                    Difference::End { one, other } => ends_of(one, other),
                    Difference::Stderr(diff) => format!("stderr {}", words_of(diff)),
                    other => other.part(),
                });
            }
        }
        parts.extend(self.golden.map(|golden| golden.name().to_owned()));
        parts.join("|")
    }
}

/// What a message says otherwise, whatever it quotes and however often it is said: the words of lines that differ, without those
/// that both versions have.
pub(crate) fn words_of(diff: &Diff) -> String {
    let mut sides: [BTreeSet<String>; 2] = Default::default();
    for line in &diff.lines {
        let (side, bytes) = match line {
            Line::Same(_) => continue,
            Line::One(bytes) => (0, bytes),
            Line::Other(bytes) => (1, bytes),
        };
        let text = String::from_utf8_lossy(bytes);
        sides[side].extend(text.split_whitespace().map(plain));
    }
    let [one, other] = &sides;
    let gone = one.difference(other).map(|word| format!("-{word}"));
    let come = other.difference(one).map(|word| format!("+{word}"));
    Vec::from_iter(gone.chain(come)).join(" ")
}

/// How versions end, in words. Statuses that programs compute are many, and are not told apart.
pub(crate) fn ends_of(one: &str, other: &str) -> String {
    let plain = |end: &str| match end.strip_prefix("exit ").map(str::parse::<u8>) {
        Some(Ok(status)) if !matches!(status, 0..=2 | 124..) => "exit many".to_owned(),
        _ => end.to_owned(),
    };
    format!("{} > {}", plain(one), plain(other))
}

/// A word as it is, if it is one; of anything else, which may be the input's, only what stands between letters and digits.
fn plain(word: &str) -> String {
    let is_word = word.len() > 2 && word.chars().all(|c| c.is_ascii_lowercase());
    match is_word {
        true => word.to_owned(),
        false => word.chars().filter(char::is_ascii_punctuation).collect(),
    }
}

fn identity(problem: &Problem) -> Identity {
    let place = problem.location.as_ref().map(|location| &location.file);
    let base = place.map(|file| file.rsplit('/').next().unwrap_or(file).to_owned());
    (problem.kind, problem.functions.first().cloned().or(base))
}

/// One version's builds.
struct Side {
    plain: Replayer,
    checked: Option<Checked>,
}

/// The checked build. Names of functions take longer than most runs, so they are asked for once for each stack.
struct Checked {
    full: Replayer,
    quick: Later,
    known: HashMap<(Vec<Signature>, End), Report>,
}

/// Errors, and what the sanitizers say about them.
type Report = (Vec<Problem>, Option<String>);

impl Checked {
    fn new(subject: Subject, settings: &Settings) -> Result<Checked, ReplayError> {
        let mut quick = settings.clone();
        let options = sanitizer::quick_environment().into_iter();
        let options = options.map(|(name, value)| (name.into(), value.into()));
        quick.environment.extend(options);
        Ok(Checked {
            quick: Later::new(&subject.program, quick),
            full: Replayer::new(subject, settings)?,
            known: HashMap::new(),
        })
    }

    fn look(&mut self, scenario: &Scenario) -> Result<Report, ReplayError> {
        let outcome = self.quick.run(scenario, &[])?;
        let signatures = sanitizer::signatures(&outcome.stderr.bytes);
        if signatures.is_empty() && matches!(outcome.end, End::Exit(_)) {
            return Ok((Vec::new(), None));
        }
        let key = (signatures, outcome.end);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let seen = self.full.run(scenario)?;
        let found = (seen.problems, seen.ending.sanitizer);
        self.known.insert(key, found.clone());
        Ok(found)
    }
}

/// One version's runs of an input.
struct Looked {
    plain: Seen,
    problems: Vec<Problem>,
    ending: Ending,
}

impl Side {
    fn new(
        label: &str,
        plain: &Path,
        checked: Option<&Path>,
        settings: &Settings,
    ) -> Result<Side, ReplayError> {
        let subject = |build: Build, program: &Path| Subject {
            label: label.to_owned(),
            build,
            program: program.to_owned(),
        };
        let checked =
            checked.map(|program| Checked::new(subject(Build::Checked, program), settings));
        Ok(Side {
            plain: Replayer::new(subject(Build::Plain, plain), settings)?,
            checked: checked.transpose()?,
        })
    }

    fn end_by(&mut self, until: Option<Instant>) {
        self.plain.end_by(until);
        if let Some(checked) = &mut self.checked {
            checked.full.end_by(until);
            checked.quick.end_by(until);
        }
    }

    fn look(&mut self, scenario: &Scenario) -> Result<Looked, ReplayError> {
        let plain = self.plain.run(scenario)?;
        let mut ending = plain.ending.clone();
        let mut problems = plain.problems.clone();
        // What does not end does not end with sanitizers either, and would take its full time once more.
        let hangs = plain.end == End::Timeout;
        if let Some(checked) = self.checked.as_mut().filter(|_| !hangs) {
            let (found, said) = checked.look(scenario)?;
            ending.sanitizer = said;
            // What the checked build says of an error is more than what the plain one does.
            if !found.is_empty() {
                problems.retain(|problem| !matches!(problem.kind, Kind::Crash | Kind::Abort));
            }
            for problem in found {
                if !problems
                    .iter()
                    .any(|known| identity(known) == identity(&problem))
                {
                    problems.push(problem);
                }
            }
        }
        Ok(Looked {
            plain,
            problems,
            ending,
        })
    }
}

/// Runs inputs on all builds.
pub struct Court {
    sides: Both<Side>,
    golden: Option<Side>,
    window: Window,
    /// Whether it was made when there were builds with sanitizers, if there are any to come.
    is_late: bool,
    /// Runs of any build.
    pub runs: u64,
}

/// Runs of a comparison that lasts longer are still near enough in time.
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// What a version is run natively as: plain and checked.
pub type Builds = (PathBuf, Option<PathBuf>);

impl Court {
    pub fn new(subjects: &Subjects, settings: &Settings) -> Result<Court, ReplayError> {
        let builds = |version: Version| {
            let programs = subjects.programs.get(version);
            (programs.plain.clone(), programs.checked.clone())
        };
        let versions = Both {
            old: builds(Version::Old),
            new: builds(Version::New),
        };
        Court::of(&versions, subjects.golden.as_ref(), settings)
    }

    pub fn of(
        versions: &Both<Builds>,
        golden: Option<&Builds>,
        settings: &Settings,
    ) -> Result<Court, ReplayError> {
        let side = |label: &str, (plain, checked): &Builds| {
            Side::new(label, plain, checked.as_deref(), settings)
        };
        Ok(Court {
            sides: Both {
                old: side("old", &versions.old)?,
                new: side("new", &versions.new)?,
            },
            golden: golden.map(|golden| side("golden", golden)).transpose()?,
            window: Window::since(WINDOW),
            is_late: true,
            runs: 0,
        })
    }

    /// From now on no run goes on after that. What is judged afterwards may rest on runs that were cut short.
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.sides.old.end_by(until);
        self.sides.new.end_by(until);
        if let Some(golden) = &mut self.golden {
            golden.end_by(until);
        }
    }

    /// Whether the plain builds differ, or one of them has an error, as far as runs by a server tell.
    pub fn differ(&mut self, scenario: &Scenario) -> Result<bool, ReplayError> {
        let old = self.sides.old.plain.glance(scenario)?;
        let new = self.sides.new.plain.glance(scenario)?;
        self.runs += 2;
        let has_error = !old.problems.is_empty() || !new.problems.is_empty();
        Ok(has_error || !old.is_like(&new, self.window))
    }

    /// Whether either version may have an error that the plain builds do not show, as far as one run of each can tell.
    pub fn glance(&mut self, scenario: &Scenario) -> Result<bool, ReplayError> {
        let mut has_problems = false;
        for side in [&mut self.sides.new, &mut self.sides.old] {
            if let Some(checked) = &mut side.checked {
                self.runs += 1;
                has_problems |= !checked.look(scenario)?.0.is_empty();
            }
        }
        Ok(has_problems)
    }

    /// Whether an input that was judged shows the same each time.
    pub fn is_steady(&mut self, scenario: &Scenario, shown: &Shown) -> Result<bool, ReplayError> {
        /// How often something must be seen, without a miss.
        const TIMES: usize = 3;
        for _ in 1..TIMES {
            if self.judge(scenario)?.key() != shown.key() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What an input shows.
    pub fn judge(&mut self, scenario: &Scenario) -> Result<Shown, ReplayError> {
        let old = self.sides.old.look(scenario)?;
        let new = self.sides.new.look(scenario)?;
        let builds = |side: &Side| 1 + u64::from(side.checked.is_some());
        self.runs += builds(&self.sides.old) + builds(&self.sides.new);
        let differences = compare(old.plain.side(), new.plain.side(), self.window);
        let only = |own: &[Problem], other: &[Problem]| -> Vec<Problem> {
            let known: BTreeSet<Identity> = other.iter().map(identity).collect();
            let new = own
                .iter()
                .filter(|problem| !known.contains(&identity(problem)));
            new.cloned().collect()
        };
        let (in_new, in_old) = (
            only(&new.problems, &old.problems),
            only(&old.problems, &new.problems),
        );
        let (mut class, mut problems) = if !in_new.is_empty() {
            (Class::Regression, in_new)
        } else if !in_old.is_empty() {
            (Class::Fixed, in_old)
        } else if !differences.is_empty() {
            (Class::Difference, Vec::new())
        } else if !new.problems.is_empty() {
            (Class::Both, new.problems.clone())
        } else {
            (Class::Silent, Vec::new())
        };
        let golden = match (&mut self.golden, class) {
            // What only the old version does wrong, unseen, does not make right what the new one does.
            (Some(golden), Class::Fixed) if !differences.is_empty() => {
                let seen = golden.plain.run(scenario)?;
                self.runs += 1;
                let is_like = |other: &Looked| seen.is_like(&other.plain, self.window);
                let is_worse = is_like(&old) && !is_like(&new);
                if is_worse {
                    (class, problems) = (Class::Difference, Vec::new());
                }
                is_worse.then_some(Golden::Regression)
            }
            (Some(golden), Class::Regression | Class::Difference) => {
                let seen = golden.look(scenario)?;
                self.runs += builds(golden);
                let same = |other: &Looked| {
                    let set = |list: &[Problem]| list.iter().map(identity).collect::<BTreeSet<_>>();
                    set(&seen.problems) == set(&other.problems)
                };
                let is_like =
                    |other: &Looked| same(other) && seen.plain.is_like(&other.plain, self.window);
                // Messages are worded anew all the time.
                let ends_like = |other: &Looked| {
                    let all = compare(seen.plain.side(), other.plain.side(), self.window);
                    let is_message = |one: &Difference| matches!(one, Difference::Stderr(_));
                    same(other) && all.iter().all(is_message)
                };
                Some(match (is_like(&new), is_like(&old)) {
                    (true, _) => Golden::Intended,
                    (false, true) => Golden::Regression,
                    (false, false) => match (ends_like(&new), ends_like(&old)) {
                        (true, false) => Golden::Intended,
                        (false, true) => Golden::Regression,
                        _ => Golden::Unclear,
                    },
                })
            }
            _ => None,
        };
        Ok(Shown {
            class,
            golden,
            differences,
            problems,
            endings: Both {
                old: old.ending,
                new: new.ending,
            },
        })
    }
}

/// Courts for as many threads as judge at a time: each has sandboxes of its own.
pub struct Courts {
    natives: Natives,
    /// Builds with sanitizers, once they are there.
    checked: OnceLock<(Both<Option<PathBuf>>, Option<PathBuf>)>,
    settings: Settings,
    free: Mutex<Vec<Court>>,
}

impl Courts {
    pub fn new(natives: Natives, settings: Settings) -> Courts {
        Courts {
            natives,
            checked: OnceLock::new(),
            settings,
            free: Mutex::default(),
        }
    }

    /// From now on these builds with sanitizers are used, too.
    pub fn check_with(&self, versions: Both<Option<PathBuf>>, golden: Option<PathBuf>) {
        let _ = self.checked.set((versions, golden));
        self.free().clear();
    }

    fn free(&self) -> MutexGuard<'_, Vec<Court>> {
        self.free.lock().unwrap_or_else(|error| error.into_inner())
    }

    fn another(&self) -> Result<Court, ReplayError> {
        let nothing = Default::default();
        let (checked, golden) = self.checked.get().unwrap_or(&nothing);
        // Where there is no old version, there is nothing to compare with.
        let old = self.natives.old.as_ref().unwrap_or(&self.natives.new);
        let old = old.clone();
        let versions = Both {
            old: (old, checked.old.clone()),
            new: (self.natives.new.clone(), checked.new.clone()),
        };
        let plain = self.natives.golden.as_ref();
        let golden = plain.map(|plain| (plain.clone(), golden.clone()));
        let mut court = Court::of(&versions, golden.as_ref(), &self.settings)?;
        court.is_late = self.checked.get().is_some();
        Ok(court)
    }

    /// Lends out a court whose runs end by then.
    pub fn with<R>(
        &self,
        until: Option<Instant>,
        action: impl FnOnce(&mut Court) -> Result<R, ReplayError>,
    ) -> Result<R, ReplayError> {
        let lent = self.free().pop();
        let mut court = match lent {
            Some(court) => court,
            None => self.another()?,
        };
        court.end_by(until);
        let result = action(&mut court);
        // One that was made before there were builds with sanitizers is not used again.
        if court.is_late == self.checked.get().is_some() {
            self.free().push(court);
        }
        result
    }

    /// Runs of any build, of courts that nobody uses at the moment.
    pub fn runs(&self) -> u64 {
        self.free().iter().map(|court| court.runs).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_exec::compare::diff;

    #[test]
    fn a_message_is_the_same_however_often_it_comes_and_whatever_numbers_it_has() {
        let added = |text: &str| words_of(&diff(b"", text.as_bytes()));
        let once = added("field: no 2nd value here\n");
        assert_eq!(added("field: no 3rd value here\n"), once);
        assert_eq!(
            added("field: no 2nd value here\nfield: no 7th value here\n"),
            once
        );
        assert_ne!(added("field: no 2nd line here\n"), once);
        let quoted = |message: &str| {
            let [one, other] = ["`", "'"].map(|quote| format!("{message} {quote}x'\n"));
            words_of(&diff(one.as_bytes(), other.as_bytes()))
        };
        assert_eq!(quoted("invalid option"), quoted("missing operand after"));
        let removed = words_of(&diff(b"field: no 2nd value here\n", b""));
        assert_ne!(removed, once);
    }
}
