//! Brings the inputs of findings as near to their tests as they can be.
//!
//! A path that left a test's path several times was made by several changes, and not all of them are needed for the
//! error. Lengths stay as they are, or as the test has them: what is reported should still look like the test.

use std::time::Instant;

use super::{Amplified, Options, Target};
use crate::explore::ExploreError;
use crate::parallel::each_with;
use crate::worker::Worker;
use parallax_scenario::{Bytes, Scenario};

/// Inputs that are thought of for each finding; few of them are run.
const ATTEMPTS: u32 = 1000;

/// Gives each finding the input nearest to its test that shows it, as far as that can be found until the given time.
pub fn reduce(
    findings: &mut [Amplified],
    workers: &mut [Worker<'_>],
    target: &Target,
    options: &Options,
    until: Option<Instant>,
) -> Result<(), ExploreError> {
    each_with(options.jobs, workers, findings, |worker, found| {
        let seed = &target.seeds[found.seed].scenario;
        reduce_one(found, worker, seed, until, options.halt)
    })
}

fn reduce_one(
    found: &mut Amplified,
    worker: &mut Worker<'_>,
    seed: &Scenario,
    until: Option<Instant>,
    halt: Option<fn() -> bool>,
) -> Result<(), ExploreError> {
    let finding = &mut found.finding;
    if finding.scenario == *seed {
        return Ok(());
    }
    let before = finding.scenario.clone();
    let may = |scenario: &Scenario| {
        scenario != seed
            && looks_like(scenario, &before, seed)
            && until.is_none_or(|until| Instant::now() < until)
            && !halt.is_some_and(|halt| halt())
    };
    let seeds = [seed.clone()];
    Ok(worker.native.minimise(finding, &seeds, ATTEMPTS, &may)?)
}

/// Whether all parts are there and have the lengths that they have in one of two others.
fn looks_like(scenario: &Scenario, one: &Scenario, other: &Scenario) -> bool {
    let is_length = |now: &Bytes, one: Option<&Bytes>, other: Option<&Bytes>| {
        [one, other]
            .iter()
            .flatten()
            .any(|known| known.len() == now.len())
    };
    let arguments = scenario.argv.iter().enumerate();
    let mut files = scenario.files.iter();
    scenario.argv.len() == one.argv.len()
        && arguments.into_iter().all(|(index, argument)| {
            is_length(argument, one.argv.get(index), other.argv.get(index))
        })
        && is_length(&scenario.stdin, Some(&one.stdin), Some(&other.stdin))
        && scenario.files.len() == one.files.len()
        && files.all(|(name, now)| is_length(now, one.files.get(name), other.files.get(name)))
        && scenario.env.len() == one.env.len()
        && scenario.streams.len() == one.streams.len()
        && scenario.objects.len() == one.objects.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_arguments(arguments: &[&str]) -> Scenario {
        let argv = arguments.iter().map(|text| text.as_bytes().into());
        Scenario {
            argv: argv.collect(),
            ..Scenario::default()
        }
    }

    #[test]
    fn lengths_are_those_of_the_finding_or_of_the_test() {
        let (found, test) = (with_arguments(&["-xyz", "a"]), with_arguments(&["-x", "b"]));
        assert!(looks_like(&with_arguments(&["-x", "c"]), &found, &test));
        assert!(looks_like(&with_arguments(&["-abc", "c"]), &found, &test));
        assert!(!looks_like(&with_arguments(&["-xy", "a"]), &found, &test));
        assert!(!looks_like(&with_arguments(&["-x"]), &found, &test));
    }
}
