//! The recorded tests of the new version: recorded once for each content of its files.

use parallax_project::Build;
use parallax_store::{Filter, Listed, Plan, Store, hash};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::record;
use crate::stored::SEEDS;
use crate::versions::{Pair, Seed};

/// Recordings of other versions are made again.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " suite 1");

/// Whether the tests were recorded now, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    Now,
    Before,
    /// The project names no test command.
    NoTests,
    Interrupted,
}

/// Records the tests of the new version, unless its files are those of a version that they were recorded of.
pub fn ensure(store: &Store, pair: &Pair) -> Result<Recorded, Failure> {
    let command = pair.project.config.test.command.trim();
    if command.is_empty() {
        pair.context.note(
            "no test command: searches start from nothing; set test.command in parallax.toml",
        );
        return Ok(Recorded::NoTests);
    }
    let build = &pair.builds.new;
    let key = key(pair, build, command)?;
    let plan = Plan {
        key: &key,
        strategy: "record",
        program: b"",
        description: "parallax check: recording the tests",
    };
    let mut work = store.work(&plan, &mut |holder| {
        pair.context
            .note(&format!("waiting for {holder}, which records the tests"));
    })?;
    if work.outcome().is_some() {
        return Ok(Recorded::Before);
    }
    let told = record::keep_build(&pair.context, &pair.project, build)?;
    if told.exit == Exit::Interrupted {
        return Ok(Recorded::Interrupted);
    }
    // How they came out; what there is to say about scenarios is for who records.
    let first = told.text.lines().next().unwrap_or_default();
    pair.context.say(first);
    work.finish("recorded")?;
    Ok(Recorded::Now)
}

/// Everything that decides what is recorded.
fn key(pair: &Pair, build: &Build, command: &str) -> Result<String, Failure> {
    let project = &pair.project;
    let content = match &project.repository {
        Some(repository) => repository.content(&build.revision)?,
        None => build.revision.id.clone(),
    };
    let config = &project.config;
    let settings = (
        &config.build,
        &config.inputs,
        &config.record,
        &config.programs,
    );
    let text = format!("{VERSION}\n{content}\n{command}\n{settings:?}");
    Ok(hash(text.as_bytes()))
}

/// All recorded scenarios of a program.
pub fn tests(store: &Store, program: &str) -> Result<Vec<Seed>, Failure> {
    let listed = store.list(&Filter {
        program: Some(program.as_bytes().into()),
        origins: SEEDS.to_vec(),
        ..Filter::default()
    })?;
    let seed = |one: Listed| {
        Ok(Seed {
            scenario: store.get(&one.id)?.recorded.scenario,
            id: one.id,
            is_given: true,
        })
    };
    listed.into_iter().map(seed).collect()
}
