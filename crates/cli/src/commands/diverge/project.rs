//! A project's patch: every program that it changes, from the recorded scenarios that run changed code.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use parallax_store::{Store, hash};

use super::Blame;
use super::campaign::{Campaign, Done, Part, identity};
use super::journal::{Journal, Outcome};
use super::{Arguments, Format, keeper};
use crate::commands::budget::Budget;
use crate::commands::explore::watch::{self, Watcher};
use crate::commands::search::End;
use crate::commands::versions::{Pair, Subject, revision, touching};
use crate::commands::{cover, stored};
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use parallax_report::results::diverge::project as report;

/// Share of the time in which inputs are searched for that run changed code, where no scenario does.
const REACHING: u32 = 4;
/// Without a limit on time, at most this long.
const MOST_REACHING: Duration = Duration::from_secs(60);
/// Time for finding hunks where none was given.
const BLAMING: Duration = Duration::from_secs(300);

pub fn run(arguments: &Arguments, range: Option<&str>) -> Result<Exit, Failure> {
    let started = Instant::now();
    check(arguments)?;
    let budget = arguments.budget()?;
    let golden = arguments.golden.as_ref().map(|word| word.to_string_lossy());
    let pair = Pair::of_project(arguments.project.find()?, range, golden.as_deref())?;
    let store = stored::open()?;
    let in_use = store.begin("parallax diverge")?;
    let mut watcher = Watcher::new(Vec::new(), budget.time);
    let parts = parts(arguments, &pair, &store, range, budget, &mut watcher)?;
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
    let journal = Journal::open(
        &store,
        first,
        &identity(arguments, &pair, subjects)?,
        &description,
        arguments.again,
    )?;
    let seeds = names_of_seeds(&ready);
    if let Some(outcome) = journal.finished(budget, &seeds, !arguments.no_blame) {
        watcher.finish(&[])?;
        console::note("this was done before, and is not repeated; --again compares once more");
        let text = match arguments.format() {
            Format::Human => outcome.text,
            Format::Json => outcome.json,
            Format::Sarif => outcome.sarif,
        };
        print(arguments, &text)?;
        in_use.end(outcome.exit)?;
        return Ok(match outcome.exit {
            0 => Exit::Clean,
            _ => Exit::Findings,
        });
    }
    let mut campaign = Campaign::new(arguments, &pair, &store, journal);
    let ended = campaign.compare(ready, budget, &mut watcher)?;
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
        width: console::width(),
    };
    let (text, json, sarif) = (
        report::render_text(&shown),
        report::render_json(&shown),
        report::render_sarif(&shown),
    );
    print(
        arguments,
        match arguments.format() {
            Format::Human => &text,
            Format::Json => &json,
            Format::Sarif => &sarif,
        },
    )?;
    let mut done = campaign.done.iter();
    let is_clean = done.all(|done| done.summary.clusters.is_empty());
    let exit = watch::exit(is_clean);
    if exit != Exit::Interrupted
        && let Some(end) = End::of(ended)
    {
        campaign.journal.finish(&Outcome {
            budget,
            end,
            // Inputs that were just found are scenarios from now on.
            seeds,
            blamed: !arguments.no_blame,
            exit: exit as u8,
            text,
            json,
            sarif,
        })?;
    }
    in_use.end(exit as u8)?;
    Ok(exit)
}

/// Options of the other mode are a misunderstanding.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.start.is_empty() {
        let message = "recorded scenarios have their own arguments and input";
        return Err(Failure::new(Exit::Usage, message)
            .hint("parallax diverge OLD_PROGRAM NEW_PROGRAM -- ARGS compares two programs"));
    }
    Ok(())
}

fn print(arguments: &Arguments, text: &str) -> Result<(), Failure> {
    match arguments.format() {
        Format::Human => console::print(text)?,
        Format::Json | Format::Sarif => console::print_data(text)?,
    }
    Ok(())
}

/// The programs that the patch changes, with the scenarios that run changed code. Where none does, some are searched for.
fn parts(
    arguments: &Arguments,
    pair: &Pair,
    store: &Store,
    range: Option<&str>,
    budget: Budget,
    watcher: &mut Watcher,
) -> Result<Vec<Part>, Failure> {
    let mut parts = Vec::new();
    for subject in pair.changed(&arguments.only)? {
        watcher.tell(format!(
            "{}: which scenarios run changed code?",
            subject.name
        ));
        let mut found = touching(store, pair, &subject)?;
        if found.seeds.is_empty() && found.has_code && !watch::interrupted() {
            watcher.announce(&format!(
                "{} no scenario of {} runs changed code; inputs that do are searched for",
                Palette.warn("note:"),
                subject.name
            ));
            reach(arguments, pair, store, range, &subject, budget, watcher)?;
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
    arguments: &Arguments,
    pair: &Pair,
    store: &Store,
    range: Option<&str>,
    subject: &Subject,
    budget: Budget,
    watcher: &mut Watcher,
) -> Result<(), Failure> {
    let total = budget.time.map_or(MOST_REACHING, |time| time / REACHING);
    let total = total.max(Duration::from_secs(1));
    let seconds = format!("{}s", total.as_secs());
    let mut words: Vec<OsString> = arguments.means.words();
    for word in ["--budget", &seconds, "--time", &seconds, "--tests", "none"] {
        words.push(word.into());
    }
    words.extend(["--program".into(), subject.name.clone().into()]);
    let asked = cover::Arguments::parse(&words)?;
    cover::reach(&asked, &pair.project, range, store, watcher)
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
