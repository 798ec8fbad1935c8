//! A project's patch: every program that it changes, from the recorded scenarios that run changed code.

use std::time::{Duration, Instant};

use parallax_project::Project;
use parallax_report::results::diverge::project as report;
use parallax_store::{Store, hash};

use super::campaign::{Campaign, Done, Part, identity};
use super::checkpoint::{Checkpoint, Outcome};
use super::{Blame, Options, keeper};
use crate::budget::Budget;
use crate::checkpoint::End;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::setup::Setup;
use crate::versions::{Pair, Subject, revision, touching};
use crate::watch::Watcher;
use crate::{Answer, cover, stored};

/// Share of the time in which inputs are searched for that run changed code, where no scenario does.
const REACHING: u32 = 4;
/// Without a limit on time, at most this long.
const MOST_REACHING: Duration = Duration::from_secs(60);
/// Time for finding hunks where none was given.
const BLAMING: Duration = Duration::from_secs(300);

/// Compares the versions that a range names, against a golden one if there is one; or says what came of it before.
pub fn run(
    options: &Options,
    project: Project,
    range: Option<&str>,
    golden: Option<&str>,
) -> Result<Answer, Failure> {
    let started = Instant::now();
    let (context, budget) = (&options.setup.context, options.budget);
    let pair = Pair::of_project(context, project, range, golden)?;
    let store = stored::open()?;
    let in_use = store.begin("parallax diverge")?;
    let mut watcher = Watcher::new(context, Vec::new(), budget.time);
    let parts = parts(options, &pair, &store, range, budget, &mut watcher)?;
    let (ready, unreached): (Vec<Part>, Vec<Part>) = parts
        .into_iter()
        .partition(|part| !part.touching.seeds.is_empty());
    let unreached: Vec<String> = unreached
        .into_iter()
        .map(|part| part.subject.name)
        .collect();
    let first = pair.builds.new.programs.first();
    let first = first.map_or("", |program| program.name.as_str());
    let description = format!("parallax diverge {}", pair.range());
    let subjects = ready.iter().map(|part| &part.subject);
    let checkpoint = Checkpoint::open(
        context,
        &store,
        first,
        &identity(options, &pair, subjects)?,
        &description,
        options.again,
    )?;
    let seeds = names_of_seeds(&ready);
    if let Some(outcome) = checkpoint.finished(budget, &seeds, options.blame) {
        watcher.finish(&[])?;
        context.note("this was done before, and is not repeated; --again compares once more");
        in_use.end(outcome.exit)?;
        return Ok(Answer {
            exit: match outcome.exit {
                0 => Exit::Clean,
                _ => Exit::Findings,
            },
            text: outcome.text,
            json: outcome.json,
            sarif: outcome.sarif,
        });
    }
    let mut campaign = Campaign::new(options, &pair, &store, checkpoint);
    let ended = campaign.compare(ready, budget, &mut crate::diverge::Nothing, &mut watcher)?;
    let time = budget.time.unwrap_or(BLAMING);
    let blames = campaign.blames(time, &mut watcher)?;
    watcher.finish(&[])?;
    let programs = kept(&store, &pair, &campaign.done, &blames)?;
    let golden = pair.golden.as_ref().map(|build| revision(&build.revision));
    let shown = report::ProjectReport {
        patch: &pair.shown(),
        tops: pair.tops(),
        golden: golden.as_ref(),
        programs,
        unreached: &unreached,
        left_out: campaign.left_out,
        time: started.elapsed(),
        width: context.width,
    };
    let (text, json, sarif) = (
        report::render_text(&shown),
        report::render_json(&shown),
        report::render_sarif(&shown),
    );
    let mut done = campaign.done.iter();
    let is_clean = done.all(|done| done.summary.clusters.is_empty());
    let exit = context.exit(is_clean);
    if exit != Exit::Interrupted
        && let Some(end) = End::of(ended)
    {
        campaign.checkpoint.finish(&Outcome {
            budget,
            end,
            // Inputs that were just found are scenarios from now on.
            seeds,
            blamed: options.blame,
            exit: exit as u8,
            text: text.clone(),
            json: json.clone(),
            sarif: sarif.clone(),
        })?;
    }
    in_use.end(exit as u8)?;
    Ok(Answer {
        exit,
        text,
        json,
        sarif,
    })
}

/// The programs that the patch changes, with the scenarios that run changed code. Where none does, some are searched for.
fn parts(
    options: &Options,
    pair: &Pair,
    store: &Store,
    range: Option<&str>,
    budget: Budget,
    watcher: &mut Watcher,
) -> Result<Vec<Part>, Failure> {
    let mut parts = Vec::new();
    for subject in pair.changed(&options.only)? {
        watcher.tell(&format!(
            "{}: which scenarios run changed code?",
            subject.name
        ));
        let mut found = touching(store, pair, &subject)?;
        if found.seeds.is_empty() && found.has_code && !pair.context.is_cancelled() {
            pair.context.note(&format!(
                "no scenario of {} runs changed code; inputs that do are searched for",
                subject.name
            ));
            reach(options, pair, store, range, &subject, budget, watcher)?;
            found = touching(store, pair, &subject)?;
        }
        parts.push(Part {
            touching: found,
            subject,
        });
    }
    Ok(parts)
}

/// Has `cover` make scenarios that run changed code of a program.
fn reach(
    options: &Options,
    pair: &Pair,
    store: &Store,
    range: Option<&str>,
    subject: &Subject,
    budget: Budget,
    watcher: &mut Watcher,
) -> Result<(), Failure> {
    let total = budget.time.map_or(MOST_REACHING, |time| time / REACHING);
    let total = total.max(Duration::from_secs(1));
    let total = Duration::from_secs(total.as_secs());
    let setup = Setup::new(pair.context.clone(), options.setup.running.clone());
    let asked = cover::Options {
        total: Some(total),
        only: vec![subject.name.clone().into()],
        ..cover::Options::new(setup, Budget::of(total))
    };
    cover::project::reach(&asked, &pair.project, range, store, watcher)
}

/// Names the scenarios that are given.
fn names_of_seeds(parts: &[Part]) -> String {
    let mut names: Vec<&str> = parts
        .iter()
        .flat_map(|part| part.touching.seeds.iter())
        .filter(|seed| seed.is_given)
        .map(|seed| seed.id.as_str())
        .collect();
    names.sort_unstable();
    hash(names.join("\n").as_bytes())
}

/// Keeps all differences as they are in the end, for the report.
fn kept<'d>(
    store: &Store,
    pair: &Pair,
    done: &'d [Done],
    blames: &'d [Option<Blame>],
) -> Result<Vec<report::Program<'d>>, Failure> {
    let mut blames = blames.iter();
    let mut programs = Vec::new();
    for done in done {
        let name = &done.ready.subject.name;
        let mut findings = Vec::new();
        for cluster in &done.summary.clusters {
            let blame = blames.next().and_then(Option::as_ref);
            let guilty = blame.map(|blame| (blame, pair.patch.hunks.as_slice()));
            findings.push(report::Finding {
                scenario: keeper::keep(store, name, cluster, guilty)?,
                id: keeper::finding_id(name, cluster),
                cluster,
                blame,
            });
        }
        programs.push(report::Program {
            name,
            versions: done.ready.places(),
            summary: &done.summary,
            touching: done.touching.counted(),
            findings,
        });
    }
    Ok(programs)
}
