//! New inputs: seen natively once more, kept as scenarios, written as test files that are run before anybody hears of them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use parallax_exec::coverage::Counter as Counted;
use parallax_exec::execute::Settings;
use parallax_exec::replay::{Build, Replayer, Subject};
use parallax_scenario::{Bytes, Recorded, Scenario};
use parallax_store::{Origin, Store, hash};

use crate::failure::Failure;
use crate::measure::Counter;
use crate::patch::Target;
use crate::setup::Setup;
use crate::testfile::{Format, Test, verify};

/// An input that was kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its name in the store.
    pub id: String,
    /// What it runs when nothing but counters is added to the program.
    pub ran: BTreeSet<Counted>,
    /// What there is to say about it.
    pub notes: Vec<String>,
}

/// Keeps inputs of one program.
pub struct Keeper<'k> {
    store: &'k Store,
    /// The program's name in the store.
    program: Bytes,
    path: PathBuf,
    identity: String,
    counter: Counter,
    plain: Replayer,
    settings: Settings,
    /// What test files are, and where.
    tests: Option<(&'k Format, &'k Path)>,
    /// Inputs that have been looked at: one can reach several targets.
    known: HashMap<Scenario, Kept>,
}

impl<'k> Keeper<'k> {
    pub fn new(
        store: &'k Store,
        name: &str,
        path: &Path,
        folders: &[PathBuf],
        setup: &Setup,
        tests: Option<(&'k Format, &'k Path)>,
    ) -> Result<Keeper<'k>, Failure> {
        let mut settings = setup.settings(path);
        settings.readable.extend(folders.iter().cloned());
        let subject = Subject {
            label: "plain".to_owned(),
            build: Build::Plain,
            program: path.canonicalize().map_err(Failure::cannot("find", path))?,
        };
        Ok(Keeper {
            store,
            program: name.as_bytes().into(),
            identity: hash(&fs::read(path).map_err(Failure::cannot("read", path))?),
            counter: Counter::new(&setup.context, path, folders)?,
            plain: Replayer::new(subject, &settings)?,
            path: path.to_owned(),
            settings,
            tests,
            known: HashMap::new(),
        })
    }

    /// Sees what an input does and keeps it, if it runs one of these.
    pub fn keep(
        &mut self,
        scenario: &Scenario,
        target: &Target,
        wanted: &BTreeSet<Counted>,
    ) -> Result<Option<Kept>, Failure> {
        if let Some(kept) = self.known.get(scenario) {
            return Ok((!kept.ran.is_disjoint(wanted)).then(|| kept.clone()));
        }
        let covered = self.counter.run(scenario)?;
        let ran: BTreeSet<Counted> = covered
            .counters
            .iter()
            .map(|counter| Counted {
                module: counter.module,
                index: counter.index,
            })
            .collect();
        if ran.is_disjoint(wanted) {
            return Ok(None);
        }
        let seen = self.plain.run(scenario)?;
        let recorded = Recorded {
            program: self.program.clone(),
            scenario: scenario.clone(),
            result: seen.ending,
            seconds: seen.duration.as_secs_f64(),
            ..Recorded::default()
        };
        let id = self.store.add(&recorded, Origin::Covering)?.id;
        self.store
            .put_coverage(&id, &self.program, &self.identity, &covered)?;
        let notes = match self.tests {
            Some((format, folder)) => vec![self.write_test(format, folder, target, &recorded)?],
            None => Vec::new(),
        };
        let kept = Kept { id, ran, notes };
        self.known.insert(scenario.clone(), kept.clone());
        Ok(Some(kept))
    }

    /// Writes a test file and runs it; what is to be told about it.
    fn write_test(
        &self,
        format: &Format,
        folder: &Path,
        target: &Target,
        recorded: &Recorded,
    ) -> Result<String, Failure> {
        let name = test_name(&self.program, target);
        let title = format!(
            "{} reaches {}",
            String::from_utf8_lossy(last(&self.program)),
            target.name()
        );
        let test = Test {
            name: &name,
            title: &title,
            program: &self
                .path
                .canonicalize()
                .map_err(Failure::cannot("find", &self.path))?,
            built_as: None,
            scenario: &recorded.scenario,
            ending: &recorded.result,
            has_stderr: false,
        };
        let text = match format.write(&test) {
            Ok(text) => text,
            Err(why) => return Ok(format!("no test file: {why}")),
        };
        fs::create_dir_all(folder).map_err(Failure::cannot("write below", folder))?;
        let path = folder.join(format!("{name}.{}", format.ending()));
        fs::write(&path, text)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
            .map_err(Failure::cannot("write", &path))?;
        match verify::run(format, &test, test.program, &self.settings)? {
            None => Ok(format!("test file: {}", path.display())),
            Some(said) => {
                fs::remove_file(&path).map_err(Failure::cannot("remove", &path))?;
                Ok(format!(
                    "no test file: run as a script, it did not do the same again: {said}"
                ))
            }
        }
    }
}

fn last(program: &[u8]) -> &[u8] {
    program
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or(program)
}

/// `diff-io.c-235`.
pub fn test_name(program: &[u8], target: &Target) -> String {
    let file = target.file.rsplit('/').next().unwrap_or(&target.file);
    let line = target.lines.first().copied().unwrap_or(0);
    let name = format!("{}-{file}-{line}", String::from_utf8_lossy(last(program)));
    let safe = |c: char| match c {
        '.' | '-' | '_' => c,
        _ if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    name.chars().map(safe).collect()
}
