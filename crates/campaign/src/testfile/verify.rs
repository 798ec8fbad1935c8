//! Runs test files before anybody hears of them, in a sandbox: they run generated inputs.

use std::fs;
use std::path::{Path, PathBuf};

use parallax_exec::execute::{Executor, Settings};
use parallax_exec::run::End;
use parallax_project::tools::find_on_path;
use parallax_scenario::Scenario;

use super::{Format, Test};
use crate::failure::Failure;

/// Runs a test on a program, as `settings` say; what it says if it fails.
pub fn run(
    format: &Format,
    test: &Test<'_>,
    program: &Path,
    settings: &Settings,
) -> Result<Option<String>, Failure> {
    let bats = find_on_path("bats");
    // Without bats the commands are the same; what calls them is not here to be tried.
    let (text, is_bats) = match (format, &bats) {
        (Format::Bats, None) => (Format::Shell.write(test), false),
        (format, _) => (format.write(test), matches!(format, Format::Bats)),
    };
    let temporary = std::env::temp_dir();
    let folder = tempfile::tempdir().map_err(Failure::cannot("write below", &temporary))?;
    let script = folder.path().join(format!("test.{}", format.ending()));
    fs::write(&script, text.unwrap_or_default()).map_err(Failure::cannot("write", &script))?;
    let interpreter = match bats.filter(|_| is_bats) {
        Some(bats) => bats,
        None => interpreter(&script)?,
    };
    let mut settings = Settings {
        argv0: interpreter.clone().into(),
        server: false,
        ..settings.clone()
    };
    settings.timeout *= 2;
    settings.readable.push(program.to_owned());
    settings.readable.push(script.clone());
    let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().into();
    let mut argv = vec![bytes(&script)];
    if !is_bats {
        argv.push(bytes(program));
    }
    let scenario = Scenario {
        argv,
        env: [("PROGRAM".into(), bytes(program))].into(),
        ..Scenario::default()
    };
    let outcome = Executor::new(&interpreter, settings)?.run(&scenario, &[])?;
    if outcome.end == End::Exit(0) {
        return Ok(None);
    }
    let said = [outcome.stderr.bytes, outcome.stdout.bytes].concat();
    let said = String::from_utf8_lossy(&said);
    Ok(Some(said.lines().next().unwrap_or_default().to_owned()))
}

/// What a file says that it is run by.
fn interpreter(path: &Path) -> Result<PathBuf, Failure> {
    let text = fs::read(path).map_err(Failure::cannot("read", path))?;
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let named = first.strip_prefix(b"#!").map(String::from_utf8_lossy);
    let mut words = named.iter().flat_map(|line| line.split_whitespace());
    let last = words.rfind(|word| !word.starts_with('-'));
    let found = last.and_then(find_on_path);
    Ok(found.unwrap_or_else(|| "/bin/sh".into()))
}
