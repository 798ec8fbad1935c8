//! What is to be run again: found by path, by the name of a finding, or by the id of a scenario.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use parallax_exec::compare::Names;
use parallax_report::results::replay::What;
use parallax_scenario::{Bytes, Recorded, Scenario};
use parallax_search::archive::{ABOUT, About};
use parallax_store::Store;
use serde::Deserialize;

use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::stored;

/// What a file with a scenario can hold.
#[derive(Deserialize)]
#[serde(untagged)]
enum Contents {
    Recorded(Box<Recorded>),
    Scenario(Box<Scenario>),
}

/// What a name means: a directory of a finding, a file with a scenario, or the id of either.
pub fn find(name: &OsStr) -> Result<What, Failure> {
    let path = Path::new(name);
    if path.is_dir() {
        return of_directory(path);
    }
    if path.is_file() {
        return of_file(path);
    }
    let text = name.to_string_lossy();
    if let Some(directory) = finding_directory(&text) {
        return of_directory(&directory);
    }
    if let Some(store) = stored::open_existing()? {
        if let Some(what) = of_stored_finding(&store, &text)? {
            return Ok(what);
        }
        let id = store.find(&text)?;
        let scenario = store.get(&id)?;
        return Ok(What::recorded(id, scenario.recorded));
    }
    let message = format!("{text} is neither a finding nor a scenario");
    Err(Failure::new(Exit::Usage, message).hint(
        "give the directory of a finding, a file with a scenario, or an id that `parallax scenarios` lists",
    ))
}

fn of_directory(directory: &Path) -> Result<What, Failure> {
    let scenario = directory.join("scenario.json");
    let about = directory.join(ABOUT);
    let scenario: Scenario = read(&scenario)?;
    let title = directory.file_name().unwrap_or(directory.as_os_str());
    let title = title.to_string_lossy().into_owned();
    // Findings of older versions have no description.
    let about: Option<About> = match about.exists() {
        true => Some(read(&about)?),
        false => None,
    };
    let program = about.as_ref().map(|about| about.program.clone());
    let program = program.unwrap_or_default();
    Ok(What {
        names: Names {
            program: PathBuf::from(program.to_os_string()),
            name: scenario.name.clone().unwrap_or_else(|| program.clone()).0,
        },
        title,
        scenario,
        program,
        result: about.map(|about| about.result),
        is_finding: true,
    })
}

fn of_file(path: &Path) -> Result<What, Failure> {
    let title = path.display().to_string();
    Ok(match read(path)? {
        Contents::Recorded(recorded) => What::recorded(title, *recorded),
        Contents::Scenario(scenario) => What {
            title,
            scenario: *scenario,
            program: Bytes::default(),
            result: None,
            names: Names::default(),
            is_finding: false,
        },
    })
}

fn of_stored_finding(store: &Store, id: &str) -> Result<Option<What>, Failure> {
    let findings = store.findings(None)?;
    let found = findings.into_iter().find(|finding| finding.id == id);
    Ok(found.map(|finding| {
        let recorded = Recorded {
            program: finding.program,
            scenario: finding.scenario,
            result: finding.new.unwrap_or_default(),
            ..Recorded::default()
        };
        What {
            is_finding: true,
            ..What::recorded(finding.id, recorded)
        }
    }))
}

/// Findings of explorations lie below a directory for each program.
fn finding_directory(id: &str) -> Option<PathBuf> {
    let root = stored::directory();
    let direct = root.join("findings").join(id);
    if direct.is_dir() {
        return Some(direct);
    }
    let programs = fs::read_dir(root.join("explore")).ok()?;
    let mut found: Vec<PathBuf> = programs
        .flatten()
        .map(|program| program.path().join("findings").join(id))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found.into_iter().next()
}

fn read<T: for<'d> Deserialize<'d>>(path: &Path) -> Result<T, Failure> {
    let text = fs::read(path)
        .map_err(|error| Failure::of_file(Exit::Usage, "cannot read", path, &error))?;
    serde_json::from_slice(&text).map_err(|error| {
        let message = format!("{} holds no scenario: {error}", path.display());
        Failure::new(Exit::Usage, message)
            .hint("parallax schema describes what scenarios look like")
    })
}
