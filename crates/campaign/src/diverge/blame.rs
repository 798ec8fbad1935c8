//! Which hunks of the patch a difference comes from.
//!
//! Parts of the patch are left out, the program is built without them as the project builds it, and the input is run natively: delta
//! debugging ([`parallax_project::delta`]). Each part that is built is looked at for all differences at once, since
//! building takes far longer than running. Where versions put out something else, hunks are guilty that make the old version do
//! exactly what the new one does; where an error came or went, hunks that make it come or go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_exec::compare::Window;
use parallax_exec::execute::Settings;
use parallax_exec::replay::{Build, Replayer, Seen, Subject};
use parallax_project::delta::{self, Parts, Verdict};
use parallax_project::{Hunk, Program, Trial, Tried};
use parallax_report::model::Role;
use parallax_report::results::diverge::project::Blame;
use parallax_report::words::counted;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::triage::Subjects;
use parallax_search::diverge::triage::{Class, Court, Shown};
use parallax_search::diverge::walk::Both;
use parallax_search::explore::Programs;

use super::Options;
use super::compare::Ready;
use crate::context::Cancel;
use crate::failure::Failure;
use crate::project::toolchain;
use crate::variants;
use crate::versions::Pair;
use crate::watch::Watcher;

/// A difference in a program.
pub struct Accused<'a> {
    pub ready: &'a Ready,
    pub cluster: &'a Cluster,
}

/// Runs of a comparison that lasts longer are still near enough in time.
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes the build in which parts of the patch are left out, unless it is there or is not needed.
pub fn prepare(pair: &Pair) -> Result<(), Failure> {
    if pair.patch.hunks.len() > 1 {
        let builds = pair.project.builds(toolchain()?);
        builds.trial(&pair.builds.new.revision, &pair.patch, &mut |_| {})?;
    }
    Ok(())
}

/// Finds the hunks of each difference, within the time; `None` of what is no difference between the versions.
pub fn blame(
    options: &Options,
    pair: &Pair,
    accused: &[Accused<'_>],
    time: Duration,
    watcher: &mut Watcher,
) -> Result<Vec<Option<Blame>>, Failure> {
    let hunks = &pair.patch.hunks;
    let is_between = |one: &Accused<'_>| one.cluster.class() != Class::Both;
    if hunks.is_empty() || !accused.iter().any(is_between) {
        return Ok(vec![None; accused.len()]);
    }
    if hunks.len() == 1 {
        let only = Blame {
            hunks: vec![(0, Role::Guilty)],
            is_minimal: true,
        };
        let of = |one: &Accused<'_>| is_between(one).then(|| only.clone());
        return Ok(accused.iter().map(of).collect());
    }
    watcher.tell("building the patch in parts");
    let builds = pair.project.builds(toolchain()?);
    let trial = builds.trial(&pair.builds.new.revision, &pair.patch, &mut |_| {})?;
    let mut settings = options.setup.settings(Path::new(""));
    settings.readable.extend(pair.folders());
    settings.readable.extend(trial.folders());
    let mut blamer = Blamer {
        options,
        trial,
        settings,
        cases: Vec::new(),
        known: BTreeMap::new(),
        end: Instant::now() + time,
        watcher,
    };
    for one in accused {
        let case = blamer.open(one)?;
        blamer.cases.push(case);
    }
    let mut all = Vec::new();
    for (number, one) in accused.iter().enumerate() {
        if !is_between(one) {
            all.push(None);
            continue;
        }
        let guesses = guesses(pair, one);
        let found = delta::minimal(hunks.len(), &guesses, &mut |parts| {
            blamer.verdict(parts, number)
        })?;
        all.push(Some(Blame {
            is_minimal: found.is_minimal(),
            hunks: found
                .parts
                .iter()
                .map(|part| {
                    let role = match found.without.get(part) {
                        Some(Verdict::Vanishes) => Role::Guilty,
                        Some(Verdict::Unclear) => Role::Needed,
                        Some(Verdict::Shows) | None => Role::Open,
                    };
                    (*part, role)
                })
                .collect(),
        }));
    }
    Ok(all)
}

/// What is known about a difference before parts are tried.
struct Case<'a> {
    ready: &'a Ready,
    cluster: &'a Cluster,
    /// What the plain programs do.
    seen: Both<Seen>,
    /// What the difference is, whatever a golden version says.
    key: String,
}

struct Blamer<'i> {
    options: &'i Options,
    trial: Trial<'i>,
    settings: Settings,
    cases: Vec<Case<'i>>,
    /// Of parts that were tried: what each case comes to; nothing if they do not build.
    known: BTreeMap<Parts, Option<Vec<Verdict>>>,
    end: Instant,
    watcher: &'i mut Watcher,
}

impl<'i> Blamer<'i> {
    fn open(&self, accused: &Accused<'i>) -> Result<Case<'i>, Failure> {
        let paths = &accused.ready.subject.paths;
        let scenario = &accused.cluster.scenario;
        let see = |path: &Path| -> Result<Seen, Failure> {
            Ok(plain(path, &self.settings_of(accused.ready))?.run(scenario)?)
        };
        let shown = Shown {
            golden: None,
            ..accused.cluster.shown.clone()
        };
        Ok(Case {
            ready: accused.ready,
            cluster: accused.cluster,
            seen: Both {
                old: see(&paths.old)?,
                new: see(&paths.new)?,
            },
            key: shown.key(),
        })
    }

    /// Programs print what they are called: all are called the same.
    fn settings_of(&self, ready: &Ready) -> Settings {
        Settings {
            argv0: ready.subject.paths.new.clone().into_os_string(),
            ..self.settings.clone()
        }
    }

    fn verdict(&mut self, parts: &Parts, case: usize) -> Result<Option<Verdict>, Failure> {
        if !self.known.contains_key(parts) {
            let end = self.end;
            let cancel: Cancel = self.options.setup.context.cancel.clone();
            let is_over = move || cancel.is_set() || Instant::now() >= end;
            if is_over() {
                return Ok(None);
            }
            self.watcher.tell(&format!(
                "which hunks: {} of the patch, {} tried",
                counted(parts.len() as u64, "hunk"),
                counted(self.known.len() as u64, "part"),
            ));
            let looked = match self.trial.build(parts, &is_over, &mut |_| {})? {
                Tried::Stopped => return Ok(None),
                Tried::Broken => None,
                Tried::Built(programs) => Some(self.look(&programs)?),
            };
            self.known.insert(parts.clone(), looked);
        }
        let verdicts = self.known.get(parts).and_then(Option::as_ref);
        Ok(Some(verdicts.map_or(Verdict::Unclear, |list| list[case])))
    }

    /// What each case comes to in programs that were just built.
    fn look(&self, programs: &[Program]) -> Result<Vec<Verdict>, Failure> {
        let mut courts: BTreeMap<&str, Court> = BTreeMap::new();
        let mut verdicts = Vec::new();
        for case in &self.cases {
            let name = case.ready.subject.name.as_str();
            let Some(program) = programs.iter().find(|program| program.name == name) else {
                verdicts.push(Verdict::Unclear);
                continue;
            };
            let settings = self.settings_of(case.ready);
            let scenario = &case.cluster.scenario;
            if case.cluster.class() == Class::Difference {
                let seen = plain(&program.path, &settings)?.run(scenario)?;
                verdicts.push(of_difference(&seen, &case.seen));
                continue;
            }
            let court = match courts.remove(name) {
                Some(court) => court,
                None => self.court(case.ready, &program.path, &settings)?,
            };
            let court = courts.entry(name).or_insert(court);
            verdicts.push(of_error(&court.judge(scenario)?, case));
        }
        Ok(verdicts)
    }

    /// The old version and a part of the patch, plain and checked.
    fn court(&self, ready: &Ready, path: &Path, settings: &Settings) -> Result<Court, Failure> {
        let program = variants::read(path)?;
        let part = Programs {
            plain: path.to_owned(),
            checked: self.options.setup.checked(&program),
            ..ready.versions.new.programs.clone()
        };
        let subjects = Subjects {
            programs: Both {
                old: ready.versions.old.programs.clone(),
                new: part,
            },
            golden: None,
        };
        Ok(Court::new(&subjects, settings)?)
    }
}

fn plain(path: &Path, settings: &Settings) -> Result<Replayer, Failure> {
    let subject = Subject {
        label: "plain".to_owned(),
        build: Build::Plain,
        program: path.to_owned(),
    };
    Ok(Replayer::new(subject, settings)?)
}

fn of_difference(part: &Seen, seen: &Both<Seen>) -> Verdict {
    let window = Window::since(WINDOW);
    match (
        part.is_like(&seen.new, window),
        part.is_like(&seen.old, window),
    ) {
        (true, false) => Verdict::Shows,
        (false, true) => Verdict::Vanishes,
        _ => Verdict::Unclear,
    }
}

fn of_error(shown: &Shown, case: &Case<'_>) -> Verdict {
    if shown.key() == case.key {
        return Verdict::Shows;
    }
    match (case.cluster.class(), shown.class) {
        // The new error is not there, whatever else is.
        (Class::Regression, Class::Silent | Class::Difference | Class::Both) => Verdict::Vanishes,
        // The old error is still there.
        (Class::Fixed, Class::Both) => Verdict::Vanishes,
        _ => Verdict::Unclear,
    }
}

/// Sets of hunks that are likely to be enough: the one at the place where the versions part or where the error is, those of that
/// file, those of the program's files.
fn guesses(pair: &Pair, accused: &Accused<'_>) -> Vec<Parts> {
    let hunks = &pair.patch.hunks;
    let mut guesses: Vec<Parts> = Vec::new();
    let mut add = |parts: Parts| {
        if !parts.is_empty() && !guesses.contains(&parts) {
            guesses.push(parts);
        }
    };
    let places = places(pair, accused);
    for (is_new, file, line) in &places {
        let here = |hunk: &Hunk| match is_new {
            true => hunk.file == *file && hunk.new.lines().contains(line),
            false => hunk.old_file == *file && hunk.old.lines().contains(line),
        };
        add(numbers(hunks, here));
    }
    let files: BTreeSet<&String> = places.iter().map(|(_, file, _)| file).collect();
    add(numbers(hunks, |hunk| {
        files.contains(&hunk.file) || files.contains(&hunk.old_file)
    }));
    let own = accused.ready.versions.new.files(&pair.builds.new.source);
    add(numbers(hunks, |hunk| own.contains(&hunk.file)));
    guesses
}

fn numbers(hunks: &[Hunk], is_it: impl Fn(&Hunk) -> bool) -> Parts {
    let numbered = hunks.iter().enumerate();
    let chosen = numbered.filter(|(_, hunk)| is_it(hunk));
    chosen.map(|(number, _)| number).collect()
}

/// Where a difference shows in the source: whether in the new version, file and line.
fn places(pair: &Pair, accused: &Accused<'_>) -> Vec<(bool, String, u32)> {
    let mut places = Vec::new();
    let inside = |top: &PathBuf, file: &str| {
        let inside = Path::new(file).strip_prefix(top).ok()?;
        Some(inside.to_string_lossy().into_owned())
    };
    let sources = Both {
        old: &pair.builds.old.source,
        new: &pair.builds.new.source,
    };
    if let Some(place) = &accused.cluster.place {
        let versions = &accused.ready.versions;
        let sides = [
            (true, place.sites.new, &versions.new.sites, sources.new),
            (false, place.sites.old, &versions.old.sites, sources.old),
        ];
        for (is_new, site, sites, source) in sides {
            let view = site.and_then(|site| sites.get(site));
            if let Some(view) = view
                && let Some(file) = inside(source, view.file)
            {
                places.push((is_new, file, view.line));
            }
        }
    }
    for problem in &accused.cluster.shown.problems {
        if let Some(place) = &problem.location {
            let in_new = inside(sources.new, &place.file).map(|file| (true, file));
            let in_old = || inside(sources.old, &place.file).map(|file| (false, file));
            let found = in_new.or_else(in_old);
            places.extend(found.map(|(is_new, file)| (is_new, file, place.line)));
        }
    }
    places
}
