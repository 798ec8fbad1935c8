//! Which inputs become tests, and whether each test does what it should.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_exec::coverage::Counter;
use parallax_exec::execute::Settings;
use parallax_exec::replay::{Build, Replayer, Subject as Replayed};
use parallax_scenario::{Ending, Scenario};
use parallax_search::diverge::triage::Class;
use parallax_store::ledger::Status;

use crate::check::{Finding, Work};
use crate::cover::test_name;
use crate::failure::Failure;
use crate::measure::Counter as Ran;
use crate::patch;
use crate::testfile::{Format, Test, verify};
use crate::versions::Subject;
use parallax_report::results::diverge::project::message;

/// Time for running again what showed something before: long enough for all of it.
const RECALL: Duration = Duration::from_secs(24 * 60 * 60);

/// A test that was written and run.
pub struct Made {
    /// Fit for a file, without its ending.
    pub name: String,
    /// What it is for, and what came of running it.
    pub about: String,
    /// In the build tree.
    pub program: String,
    pub text: Vec<u8>,
}

/// All tests, and what there is none for, with the reason.
pub struct Collected {
    pub made: Vec<Made>,
    pub left_out: Vec<(String, String)>,
}

/// Which version's behaviour a test states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    Old,
    New,
}

/// Makes tests of everything that is known about a patch.
pub fn all(work: &mut Work<'_>, format: &Format) -> Result<Collected, Failure> {
    work.is_quiet = true;
    work.recall(RECALL)?;
    let work: &Work<'_> = work;
    let mut maker = Maker {
        work,
        format,
        collected: Collected {
            made: Vec::new(),
            left_out: Vec::new(),
        },
        used: BTreeSet::new(),
    };
    for (subject, findings) in work.shown() {
        for finding in &findings {
            maker.of_finding(subject, finding)?;
        }
    }
    let campaign = &work.covering.campaign;
    for (target, entry) in campaign.found.targets.iter().zip(&campaign.entries) {
        let Some(entry) = entry
            .as_ref()
            .filter(|entry| entry.status == Status::Covered)
        else {
            continue;
        };
        let kept = entry
            .scenario
            .as_ref()
            .and_then(|id| work.store.get(id).ok());
        let subjects = work.subjects.iter();
        let mut own = subjects.filter(|one| Some(&one.name) == entry.program.as_ref());
        if let (Some(kept), Some(subject)) = (kept, own.next()) {
            maker.of_target(subject, target, &kept.recorded.scenario)?;
        }
    }
    Ok(maker.collected)
}

struct Maker<'m, 'w> {
    work: &'m Work<'w>,
    format: &'m Format,
    collected: Collected,
    /// Inputs that a test was made of: one is enough.
    used: BTreeSet<(String, Scenario)>,
}

/// A test before it was run.
struct Draft<'d> {
    subject: &'d Subject,
    /// The new version's program.
    seen: PathBuf,
    name: String,
    title: String,
    scenario: &'d Scenario,
    ending: &'d Ending,
    has_stderr: bool,
}

impl Draft<'_> {
    fn test(&self) -> Test<'_> {
        Test {
            name: &self.name,
            title: &self.title,
            program: &self.seen,
            built_as: Some(&self.subject.name),
            scenario: self.scenario,
            ending: self.ending,
            has_stderr: self.has_stderr,
        }
    }
}

/// What a test says on each version, if it fails there.
struct Tried {
    right: Option<String>,
    other: Option<String>,
}

impl Maker<'_, '_> {
    /// A test of an input on which the versions differ.
    fn of_finding(&mut self, subject: &Subject, finding: &Finding) -> Result<(), Failure> {
        let cluster = &finding.cluster;
        let right = match cluster.class() {
            Class::Regression => Right::Old,
            Class::Difference | Class::Fixed => Right::New,
            // There is nothing right to state.
            Class::Both | Class::Silent => return Ok(()),
        };
        let id = &finding.id;
        let what = message(self.work.pair.tops(), cluster);
        let endings = &cluster.shown.endings;
        let (ending, version) = match right {
            Right::Old => (&endings.old, "old"),
            Right::New => (&endings.new, "new"),
        };
        let mut draft = Draft {
            subject,
            seen: found(&subject.paths.new)?,
            name: safe(&format!("{}-{id}", last(&subject.name))),
            title: format!("{what}; this is what the {version} version does ({id})"),
            scenario: &cluster.scenario,
            ending,
            has_stderr: false,
        };
        let mut tried = self.run(&draft, id, right)?;
        let is_same = |tried: &Option<Tried>| tried.as_ref().is_some_and(|one| one.other.is_none());
        if is_same(&tried) && endings.old.stderr != endings.new.stderr {
            draft.has_stderr = true;
            tried = self.run(&draft, id, right)?;
        }
        match tried {
            None => {}
            Some(Tried { other: None, .. }) => {
                let why =
                    "exit code and output are the same in both versions when it is run as a script";
                self.leave_out(id, why.to_owned());
            }
            Some(_) => {
                let about = match right {
                    Right::Old => "fails until the new version does what the old one does",
                    Right::New => "fails on the old version",
                };
                self.keep(draft, format!("{what}; {about}"));
            }
        }
        Ok(())
    }

    /// A test of an input that runs a changed line.
    fn of_target(
        &mut self,
        subject: &Subject,
        target: &patch::Target,
        scenario: &Scenario,
    ) -> Result<(), Failure> {
        if self
            .used
            .contains(&(subject.name.clone(), scenario.clone()))
        {
            return Ok(());
        }
        let place = target.name();
        if !self.reaches(subject, target, scenario)? {
            self.leave_out(&place, "its input does not reach it any more".to_owned());
            return Ok(());
        }
        let seen = found(&subject.paths.new)?;
        let replayed = Replayed {
            label: "plain".to_owned(),
            build: Build::Plain,
            program: seen.clone(),
        };
        let shown = Replayer::new(replayed, &self.settings(subject))?.run(scenario)?;
        let draft = Draft {
            subject,
            seen,
            name: test_name(subject.name.as_bytes(), target),
            title: format!("{} runs {place}", last(&subject.name)),
            scenario,
            ending: &shown.ending,
            has_stderr: false,
        };
        if let Some(tried) = self.run(&draft, &place, Right::New)? {
            let on_old = match tried.other {
                Some(_) => "fails on the old version",
                None => "passes on both versions",
            };
            self.keep(draft, format!("runs {place}; {on_old}"));
        }
        Ok(())
    }

    /// Whether an input runs a target in the program with counters.
    fn reaches(
        &self,
        subject: &Subject,
        target: &patch::Target,
        scenario: &Scenario,
    ) -> Result<bool, Failure> {
        let pair = self.work.pair;
        let path = &subject.paths.new;
        let lines = target.lines.iter().map(|line| (target.file.clone(), *line));
        let wanted = patch::counters(
            &pair.context,
            path,
            &pair.builds.new.source,
            lines.collect(),
        )?;
        let ran = Ran::new(&pair.context, path, &pair.folders())?.run(scenario)?;
        Ok(ran.counters.iter().any(|one| {
            wanted.contains(&Counter {
                module: one.module,
                index: one.index,
            })
        }))
    }

    fn settings(&self, subject: &Subject) -> Settings {
        let mut settings = self.work.orders.diverge.setup.settings(&subject.paths.new);
        settings.readable.extend(self.work.pair.folders());
        settings
    }

    /// Runs a test on both versions. One that cannot be written, or that fails on the version that it states, is left out.
    fn run(
        &mut self,
        draft: &Draft<'_>,
        what: &str,
        right: Right,
    ) -> Result<Option<Tried>, Failure> {
        let test = draft.test();
        if let Err(why) = self.format.write(&test) {
            self.leave_out(what, why.to_string());
            return Ok(None);
        }
        let (old, new) = (found(&draft.subject.paths.old)?, &draft.seen);
        let (right, other) = match right {
            Right::Old => (&old, new),
            Right::New => (new, &old),
        };
        let settings = self.settings(draft.subject);
        let run = |program| verify::run(self.format, &test, program, &settings);
        let tried = Tried {
            right: run(right)?,
            other: run(other)?,
        };
        if let Some(said) = tried.right {
            let why = format!("run as a script, it did not do the same again: {said}");
            self.leave_out(what, why);
            return Ok(None);
        }
        Ok(Some(tried))
    }

    fn keep(&mut self, draft: Draft<'_>, about: String) {
        let name = &draft.subject.name;
        let is_new = self.used.insert((name.clone(), draft.scenario.clone()));
        if let (true, Ok(text)) = (is_new, self.format.write(&draft.test())) {
            self.collected.made.push(Made {
                about,
                program: name.clone(),
                text,
                name: draft.name,
            });
        }
    }

    fn leave_out(&mut self, what: &str, why: String) {
        self.collected.left_out.push((what.to_owned(), why));
    }
}

fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn safe(name: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars()
        .map(|c| if is_safe(c) { c } else { '_' })
        .collect()
}

/// Where a program is, whatever links lead there.
fn found(program: &Path) -> Result<PathBuf, Failure> {
    program
        .canonicalize()
        .map_err(Failure::cannot("find", program))
}
