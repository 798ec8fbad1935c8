//! A project's patch: every program that it changes, from the recorded scenarios that run changed code.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use parallax_engine::diverge::Summary;
use parallax_engine::explore::Ended;
use parallax_store::{Store, hash};

use super::blame::{Accused, Blame, blame};
use super::compare::{Event, Ready, compare};
use super::journal::{Journal, Outcome};
use super::{Arguments, Format, keeper, progress_line};
use crate::commands::explore::watch::{self, Watcher};
use crate::commands::search::{Budget, End, say};
use crate::commands::versions::{Pair, Seed, Subject, Touching, touching};
use crate::commands::{cover, stored};
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::diverge::project as report;
use crate::size::counted;

/// Share of the time in which inputs are searched for that run changed code, where no scenario does.
const REACHING: u32 = 4;
/// Without a limit on time, at most this long.
const MOST_REACHING: Duration = Duration::from_secs(60);
/// Time for finding hunks where none was given.
const BLAMING: Duration = Duration::from_secs(300);

/// A program that is to be compared.
struct Part {
    subject: Subject,
    touching: Touching,
}

/// What became of it.
struct Done {
    ready: Ready,
    summary: Summary,
    touching: Touching,
}

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
    let mut journal = Journal::open(
        &store,
        first,
        &identity(arguments, &pair, &ready)?,
        &description,
        arguments.again,
    )?;
    let seeds = names_of_seeds(&ready);
    if let Some(outcome) = journal.finished(budget, &seeds, !arguments.no_blame) {
        watcher.finish(&[])?;
        say("this was done before, and is not repeated; --again compares once more");
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
    let mut campaign = Campaign {
        arguments,
        pair: &pair,
        store: &store,
        journal: &mut journal,
        watcher: &mut watcher,
        budget,
        left_out: 0,
    };
    let done = campaign.compare(ready)?;
    let left_out = campaign.left_out;
    let blames = blames(arguments, &pair, &done, budget, &mut watcher)?;
    watcher.finish(&[])?;
    let programs = kept(&store, &pair, &done, &blames)?;
    let shown = report::ProjectReport {
        pair: &pair,
        programs,
        unreached: &unreached,
        left_out,
        time: started.elapsed(),
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
    let is_clean = done.iter().all(|done| done.summary.clusters.is_empty());
    let exit = match (watch::interrupted(), is_clean) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Clean,
        (false, false) => Exit::Findings,
    };
    if exit != Exit::Interrupted
        && let Some(end) = ended(&done)
    {
        journal.finish(&Outcome {
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
    let has_words = !arguments.arguments.is_empty() || !arguments.seeds.is_empty();
    if has_words || !arguments.start.is_empty() {
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

/// Everything that decides what comes out but for the budget and the scenarios.
fn identity(arguments: &Arguments, pair: &Pair, parts: &[Part]) -> Result<String, Failure> {
    let golden = pair.golden.as_ref().map(|build| &build.revision.id);
    let mut text = format!(
        "{} {} {golden:?} {:?} {:?}",
        pair.builds.old.revision.id,
        pair.builds.new.revision.id,
        arguments.means.limits(),
        arguments.means.words(),
    );
    for part in parts {
        for path in [&part.subject.paths.old, &part.subject.paths.new] {
            let program = hash(&std::fs::read(path)?);
            text.push_str(&format!("\n{} {program}", part.subject.name));
        }
    }
    Ok(text)
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

/// How everything ended.
fn ended(done: &[Done]) -> Option<End> {
    let has = |end: Ended| done.iter().any(|done| done.summary.ended == end);
    End::of(if has(Ended::Stopped) {
        Ended::Stopped
    } else if has(Ended::Time) {
        Ended::Time
    } else if has(Ended::Runs) {
        Ended::Runs
    } else {
        Ended::Exhausted
    })
}

/// Comparisons, one program after the other.
struct Campaign<'c, 's> {
    arguments: &'c Arguments,
    pair: &'c Pair,
    store: &'s Store,
    journal: &'c mut Journal<'s>,
    watcher: &'c mut Watcher,
    budget: Budget,
    /// Scenarios that could not be run.
    left_out: u64,
}

impl Campaign<'_, '_> {
    fn compare(&mut self, parts: Vec<Part>) -> Result<Vec<Done>, Failure> {
        let mut done = Vec::new();
        let mut spent = Duration::ZERO;
        let goes_on = self.journal.has_ended();
        let mut settled = 0;
        let count = parts.len();
        for (number, part) in parts.into_iter().enumerate() {
            if watch::interrupted() {
                break;
            }
            // What is left is shared evenly by who is left.
            let left = (count - number) as u32;
            let time = self.budget.time;
            let budget = Budget {
                time: time.map(|time| time.saturating_sub(spent) / left),
                ..self.budget
            };
            let (open, before) = self.open(&part, goes_on)?;
            settled += before;
            let ready = match Ready::new(self.arguments, &part.subject) {
                Ok(ready) => ready,
                Err(failure) => {
                    console::print_error(&failure.render(&Palette));
                    say(&format!("{} is left out", part.subject.name));
                    continue;
                }
            };
            // To make variants is to build, and does not count.
            let began = Instant::now();
            if let Some(summary) = self.compare_one(&ready, &open, budget)? {
                done.push(Done {
                    ready,
                    summary,
                    touching: part.touching,
                });
            }
            spent += began.elapsed();
        }
        if settled > 0 && !goes_on {
            let scenarios = counted(settled, "scenario");
            say(&format!(
                "{scenarios} compared on before; --again does once more"
            ));
        }
        Ok(done)
    }

    /// The scenarios of a program that are to be compared on: inputs that are known to show something, and those that were not
    /// compared on before. When an earlier run used up a smaller budget, exploring goes on from the others, too. Also how many were
    /// done before.
    fn open(&self, part: &Part, goes_on: bool) -> Result<(Vec<Seed>, u64), Failure> {
        let mut seeds = Vec::new();
        for id in self.journal.found() {
            let Ok(kept) = self.store.get(id) else {
                continue;
            };
            if *kept.recorded.program == *part.subject.name.as_bytes() {
                seeds.push(Seed {
                    id: id.clone(),
                    scenario: kept.recorded.scenario,
                    is_given: false,
                });
            }
        }
        let is_known = |seed: &Seed| seeds.iter().any(|known| known.id == seed.id);
        let rest = part.touching.seeds.iter();
        let rest: Vec<&Seed> = rest.filter(|seed| !is_known(seed)).collect();
        let (settled, open): (Vec<&Seed>, Vec<&Seed>) = rest
            .into_iter()
            .partition(|seed| self.journal.is_settled(&seed.id));
        seeds.extend(open.into_iter().cloned());
        let before = settled.len() as u64;
        if goes_on || seeds.is_empty() {
            seeds.extend(settled.into_iter().cloned());
        }
        Ok((seeds, before))
    }

    fn compare_one(
        &mut self,
        ready: &Ready,
        seeds: &[Seed],
        budget: Budget,
    ) -> Result<Option<Summary>, Failure> {
        let name = ready.subject.name.clone();
        let mut known: Vec<String> = Vec::new();
        let (store, pair) = (self.store, self.pair);
        let (journal, watcher) = (&mut *self.journal, &mut *self.watcher);
        let left_out = &mut self.left_out;
        let summary = compare(self.arguments, pair, ready, seeds, budget, &mut |event| {
            match event {
                Event::Progress(progress) => {
                    let pace = watcher.pace(progress.runs);
                    watcher.tell(format!("{name}  {}", progress_line(&pace, &progress)));
                }
                Event::Found(cluster) => {
                    let scenario = keeper::keep(store, &name, &cluster, None)?;
                    journal.note_found(&scenario)?;
                    if !known.contains(&cluster.key) {
                        let line = report::headline(pair, &cluster);
                        watcher.announce(&format!("{name}: {line}"));
                        known.push(cluster.key.clone());
                    }
                }
                Event::Settled(scenario) => journal.note_settled(&scenario)?,
                Event::LeftOut(scenario, why) => {
                    *left_out += 1;
                    let short = &scenario[..8.min(scenario.len())];
                    watcher.announce(&format!(
                        "{} scenario {short} is left out: {why}",
                        Palette.warn("note:")
                    ));
                }
            }
            Ok(())
        })?;
        // The smallest inputs are what is gone on with.
        for cluster in summary.iter().flat_map(|summary| &summary.clusters) {
            let scenario = keeper::keep(store, &name, cluster, None)?;
            journal.note_found(&scenario)?;
        }
        Ok(summary)
    }
}

/// Of each difference of each program: the hunks that it comes from.
fn blames(
    arguments: &Arguments,
    pair: &Pair,
    done: &[Done],
    budget: Budget,
    watcher: &mut Watcher,
) -> Result<Vec<Option<Blame>>, Failure> {
    let accused: Vec<Accused<'_>> = done
        .iter()
        .flat_map(|done| {
            let clusters = done.summary.clusters.iter();
            clusters.map(|cluster| Accused {
                ready: &done.ready,
                cluster,
            })
        })
        .collect();
    let nobody = vec![None; accused.len()];
    if arguments.no_blame || watch::interrupted() {
        return Ok(nobody);
    }
    let time = budget.time.unwrap_or(BLAMING);
    // What was found is reported in any case.
    match blame(arguments, pair, &accused, time, watcher) {
        Ok(blames) => Ok(blames),
        Err(failure) => {
            console::print_error(&failure.render(&Palette));
            say("the hunks that differences come from are not known");
            Ok(nobody)
        }
    }
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
            touching: &done.touching,
            findings,
        });
    }
    Ok(programs)
}
