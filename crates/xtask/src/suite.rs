//! coreutils' own test suite, with plain and with traced programs.
//!
//! Traced programs run with `PARALLAX_TRACE=private`: each makes a trace of its own with everything
//! symbolic, so that the machinery is at full work in every single program that a
//! test starts. The result of each test must be what it is with the plain programs.
//! Differences with a known cause are listed in `docs/coreutils-check.md`.

mod known;
mod results;

use crate::coreutils::{Place, processors, step};
use anyhow::{Context, Result, ensure};
use known::Known;
use results::Results;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The two rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Plain,
    Traced,
}

impl Round {
    fn name(self) -> &'static str {
        match self {
            Round::Plain => "plain",
            Round::Traced => "traced",
        }
    }
}

/// A test whose results are not the same.
struct Difference {
    test: String,
    plain: String,
    traced: String,
}

/// Runs the suite, or just `tests`; true if no unexplained difference is left.
pub fn run(place: &Place, resume: bool, tests: &[String]) -> Result<bool> {
    let wanted = if tests.is_empty() {
        all_tests(place)?
    } else {
        tests.to_vec()
    };
    derive_traced(place)?;
    let folder = place.folder("results")?;
    let mut rounds = Vec::new();
    for round in [Round::Plain, Round::Traced] {
        rounds.push(run_round(place, round, &folder, &wanted, resume)?);
    }
    // Leave a plain build tree behind.
    put_in_place(place, Round::Plain)?;
    let (plain, traced) = (&rounds[0], &rounds[1]);
    let differences = find_differences(&wanted, plain, traced);
    let known = Known::read(&crate::root().join("docs/coreutils-check.md"))?;
    Ok(report(&wanted, plain, &differences, &known, &folder))
}

fn report(
    wanted: &[String],
    plain: &Results,
    differences: &[Difference],
    known: &Known,
    folder: &Path,
) -> bool {
    let mut unexplained = 0;
    for difference in differences {
        let Difference {
            test,
            plain,
            traced,
        } = difference;
        match known.cause(test, plain, traced) {
            Some(cause) => println!("{test}: plain {plain}, traced {traced}: known: {cause}"),
            None => {
                unexplained += 1;
                println!("{test}: plain {plain}, traced {traced}: UNEXPLAINED");
            }
        }
    }
    for (result, count) in plain.counts() {
        println!("plain {result}: {count}");
    }
    println!("logs and results: {}", folder.display());
    println!(
        "{} tests, {} the same, {} different with known cause, {unexplained} unexplained",
        wanted.len(),
        wanted.len() - differences.len(),
        differences.len() - unexplained
    );
    unexplained == 0
}

fn find_differences(wanted: &[String], plain: &Results, traced: &Results) -> Vec<Difference> {
    let mut differences = Vec::new();
    for test in wanted {
        let (plain, traced) = (plain.of(test), traced.of(test));
        if plain != traced {
            differences.push(Difference {
                test: test.clone(),
                plain: plain.to_owned(),
                traced: traced.to_owned(),
            });
        }
    }
    differences
}

/// The tests that coreutils' Makefile lists.
pub(crate) fn all_tests(place: &Place) -> Result<Vec<String>> {
    let output = place
        .command("make")
        .args(["-s", "--no-print-directory", "-f", "Makefile"])
        .args([
            "--eval",
            "parallax-tests: ; @echo $(TESTS)",
            "parallax-tests",
        ])
        .current_dir(place.build_tree())
        .output()?;
    ensure!(output.status.success(), "cannot list coreutils' tests");
    let text = String::from_utf8(output.stdout)?;
    let tests: BTreeSet<String> = text.split_whitespace().map(str::to_owned).collect();
    ensure!(tests.len() > 400, "only {} tests found", tests.len());
    Ok(tests.into_iter().collect())
}

/// Makes the traced variants. They are made from the copies that were set aside: a traced program that
/// cannot trace executes the plain one, and in the build tree it would find itself.
fn derive_traced(place: &Place) -> Result<()> {
    let traced = place.folder("traced")?;
    let names = place.programs()?;
    eprintln!("deriving {} traced programs", names.len());
    for name in names {
        let to = traced.join(&name);
        let from = place.program(&name);
        let current = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
        if current(&to) > current(&from) {
            continue;
        }
        step(
            place
                .command(place.parallax())
                .arg("variant")
                .arg(&from)
                .args(["--kind", "traced", "-o"])
                .arg(&to),
            "deriving a traced program",
        )?;
    }
    Ok(())
}

/// Puts one kind of programs into the build tree.
fn put_in_place(place: &Place, round: Round) -> Result<()> {
    let from = place.folder(round.name())?;
    for name in place.programs()? {
        let to = place.build_tree().join("src").join(&name);
        // By renaming: the old program may still be running. New times keep make from linking anew.
        let fresh = place.build_tree().join("src").join(format!("{name}.new"));
        step(
            Command::new("cp")
                .arg("--")
                .arg(from.join(&name))
                .arg(&fresh),
            "cp",
        )?;
        fs::rename(&fresh, &to)?;
    }
    place.folder("build/src")?;
    Ok(())
}

/// Runs the tests that have no result yet.
fn run_round(
    place: &Place,
    round: Round,
    folder: &Path,
    wanted: &[String],
    resume: bool,
) -> Result<Results> {
    let kept = folder.join(round.name());
    if !resume && kept.exists() {
        fs::remove_dir_all(&kept)?;
    }
    let mut results = Results::open(&kept)?;
    let missing: Vec<&String> = wanted.iter().filter(|test| !results.has(test)).collect();
    if missing.is_empty() {
        return Ok(results);
    }
    put_in_place(place, round)?;
    eprintln!("{}: {} tests", round.name(), missing.len());
    // In portions, so that an interrupted run loses little.
    for portion in missing.chunks(40) {
        run_tests(place, round, portion, processors())?;
        results.collect(&place.build_tree(), portion)?;
        eprintln!("{}: {} done", round.name(), results.len());
    }
    if round == Round::Traced {
        again_if_different(place, folder, &missing, &mut results)?;
    }
    Ok(results)
}

/// A test that differs gets a second chance, alone on the machine: some tests
/// depend on how long things take.
fn again_if_different(
    place: &Place,
    folder: &Path,
    tests: &[&String],
    results: &mut Results,
) -> Result<()> {
    let plain = Results::open(&folder.join(Round::Plain.name()))?;
    for test in tests {
        if plain.of(test) != results.of(test) {
            let alone = [*test];
            run_tests(place, Round::Traced, &alone, 1)?;
            results.collect(&place.build_tree(), &alone)?;
        }
    }
    Ok(())
}

fn run_tests(place: &Place, round: Round, tests: &[&String], jobs: usize) -> Result<()> {
    let list: Vec<&str> = tests.iter().map(|test| test.as_str()).collect();
    let log = place
        .folder("results")?
        .join(format!("{}.make", round.name()));
    let output = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&log)?;
    // A failing test makes make fail; what counts is in the result files. The
    // variable is set in both rounds, because some tests look at the environment.
    place
        .command("make")
        .args(["-k", &format!("-j{jobs}"), "check-TESTS"])
        .arg(format!("TESTS={}", list.join(" ")))
        .arg("VERBOSE=no")
        .env("PARALLAX_TRACE", "private")
        .current_dir(place.build_tree())
        .stdin(std::process::Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .status()
        .context("make check-TESTS")?;
    Ok(())
}
