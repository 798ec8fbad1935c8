//! A project's patch: every program that it changes, from the recorded scenarios that run changed code.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use parallax_project::Project;
use parallax_report::results::interact::{self as report, InteractReport};
use parallax_search::diverge::clusters::Cluster;
use parallax_search::engine::{Observer, Progress};
use parallax_search::explore::{Bounds, Shape};
use parallax_search::goals::orders::Summary;
use parallax_store::Store;

use super::{Options, Ready, progress_line};
use crate::budget::Budget;
use crate::context::Event;
use crate::failure::Failure;
use crate::project::variables;
use crate::versions::{Pair, Subject, Touching, touching};
use crate::watch::Watcher;
use crate::{Answer, Start, keeper, stored};

/// Scenarios that a search starts from at most: the best are first, and all are run before anything is searched.
const MOST_SEEDS: usize = 64;

/// What a program came to.
pub struct Searched {
    pub subject: Subject,
    pub ready: Rc<Ready>,
    pub summary: Summary,
    /// Of each finding, the name of its scenario in the store.
    pub kept: Vec<String>,
}

/// A program with the scenarios that run its changed code.
pub struct Part {
    pub subject: Subject,
    pub touching: Touching,
}

/// Programs that are ready for searches, each prepared once however many searches there are: its graphs take seconds. One that cannot be
/// prepared is not tried again.
pub struct Cache<T = Ready>(BTreeMap<String, Option<Rc<T>>>);

impl<T> Default for Cache<T> {
    fn default() -> Cache<T> {
        Cache(BTreeMap::new())
    }
}

impl<T> Cache<T> {
    /// What was made for a program, or is made now; `complain` is told why it cannot be.
    fn get(
        &mut self,
        name: &str,
        make: impl FnOnce() -> Result<T, Failure>,
        complain: impl FnOnce(&Failure),
    ) -> Option<Rc<T>> {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }
        let made = match make() {
            Ok(made) => Some(Rc::new(made)),
            Err(failure) => {
                complain(&failure);
                None
            }
        };
        self.0.insert(name.to_owned(), made.clone());
        made
    }
}

/// Who watches a search in several programs.
pub trait Listener {
    fn progress(&mut self, program: &str, progress: &Progress);
    /// Something that no input before has shown.
    fn found(&mut self, program: &str, cluster: &Cluster);
    fn note(&mut self, note: &str);
    /// Whether to end now.
    fn stop(&self) -> bool;
}

/// The programs that a patch changes, or those of them that are wanted, and the names of those whose changed code no scenario runs.
fn parts(
    pair: &Pair,
    store: &Store,
    only: &[PathBuf],
) -> Result<(Vec<Part>, Vec<String>), Failure> {
    let (mut parts, mut unreached) = (Vec::new(), Vec::new());
    for subject in pair.changed(only)? {
        let touching = touching(store, pair, &subject)?;
        match touching.seeds.is_empty() {
            true => unreached.push(subject.name),
            false => parts.push(Part { subject, touching }),
        }
    }
    Ok((parts, unreached))
}

/// Searches programs until the budget is used up, and keeps what is found. To make variants of programs is to build, and does not count.
pub fn search(
    pair: &Pair,
    store: &Store,
    parts: Vec<Part>,
    cache: &mut Cache,
    options: &Options,
    listener: &mut dyn Listener,
) -> Result<Vec<Searched>, Failure> {
    let mut outcome = Vec::new();
    let mut spent = Duration::ZERO;
    let count = parts.len();
    for (number, part) in parts.into_iter().enumerate() {
        let Part { subject, touching } = part;
        if listener.stop() {
            break;
        }
        let paths = &subject.paths;
        let golden = subject.golden.as_deref();
        let ready = cache.get(
            &subject.name,
            || Ready::new(&paths.old, &paths.new, golden, None, &options.setup),
            |failure| {
                pair.context.events.tell(Event::Trouble(failure));
                listener.note(&format!("{} is left out", subject.name));
            },
        );
        let Some(ready) = ready else {
            continue;
        };
        if ready.comparison.graph.nodes.is_empty() {
            continue;
        }
        // What is left is shared evenly by who is left.
        let left = (count - number) as u32;
        let time = options.budget.time;
        let options = Options {
            budget: Budget {
                time: time.map(|time| time.saturating_sub(spent) / left),
                ..options.budget
            },
            ..options.clone()
        };
        let began = Instant::now();
        let mut seeds: Vec<_> = touching
            .seeds
            .into_iter()
            .map(|seed| seed.scenario)
            .collect();
        let shape = Shape::Bounded(Bounds::around(&seeds));
        seeds.truncate(MOST_SEEDS);
        let start = Start {
            seeds,
            shape,
            environment: variables(&pair.project),
            notes: Vec::new(),
        };
        let mut teller = Teller {
            name: &subject.name,
            listener,
        };
        let summary = ready.search(&paths.new, start, pair.folders(), &options, &mut teller)?;
        spent += began.elapsed();
        let mut kept = Vec::new();
        for finding in &summary.findings {
            let kind = finding.kind.name();
            let seen = keeper::Seen {
                id: keeper::finding_id(&subject.name, kind, &finding.key),
                command: "interact",
                kind,
                message: report::message(&finding.shown),
                location: None,
                distance: None,
                scenario: &finding.scenario,
                shown: &finding.shown,
            };
            kept.push(keeper::keep(store, &subject.name, seen)?);
        }
        outcome.push(Searched {
            subject,
            ready,
            summary,
            kept,
        });
    }
    Ok(outcome)
}

/// Tells what is seen in one program.
struct Teller<'t> {
    name: &'t str,
    listener: &'t mut dyn Listener,
}

impl Observer for Teller<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.listener.progress(self.name, progress);
    }

    fn found(&mut self, cluster: &Cluster) {
        self.listener.found(self.name, cluster);
    }

    fn left_out(&mut self, seed: usize, why: &dyn std::fmt::Display) {
        let name = self.name;
        let number = seed + 1;
        self.listener
            .note(&format!("{name}: scenario {number} is left out: {why}"));
    }

    fn stop(&self) -> bool {
        self.listener.stop()
    }
}

impl Listener for Watcher {
    fn progress(&mut self, program: &str, progress: &Progress) {
        let line = progress_line(&self.pace(progress.runs), progress);
        self.tell(&format!("{program}  {line}"));
    }

    fn found(&mut self, program: &str, cluster: &Cluster) {
        self.announce(&format!("{program}: {}", report::headline(&cluster.shown)));
    }

    fn note(&mut self, note: &str) {
        Watcher::note(self, note);
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}

/// What a search in a project is about.
pub struct Asked<'a> {
    pub range: Option<&'a str>,
    /// A revision that is known to be right.
    pub golden: Option<&'a str>,
    /// Only these programs, if any are named.
    pub only: &'a [PathBuf],
    pub is_verbose: bool,
}

/// Searches in each program that a range changes.
pub fn run(options: &Options, project: Project, asked: &Asked<'_>) -> Result<Answer, Failure> {
    let context = &options.setup.context;
    let pair = Pair::of_project(context, project, asked.range, asked.golden)?;
    let store = stored::open()?;
    let in_use = store.begin("parallax interact")?;
    let mut watcher = Watcher::new(context, Vec::new(), options.budget.time);
    let (parts, unreached) = parts(&pair, &store, asked.only)?;
    let mut cache = Cache::default();
    let outcome = search(&pair, &store, parts, &mut cache, options, &mut watcher)?;
    watcher.finish(&[])?;
    if outcome.is_empty() && unreached.is_empty() {
        context.note("no program of the project has code that differs");
    }
    let programs: Vec<report::Program<'_>> = outcome
        .iter()
        .map(|one| report::Program {
            title: format!("{} {}", one.subject.name, pair.range()),
            name: one.subject.name.clone(),
            graph: one.ready.comparison.shown(),
            summary: &one.summary,
            kept: one.kept.clone(),
        })
        .collect();
    let shown = InteractReport {
        isolated: options.isolated,
        is_verbose: asked.is_verbose,
        programs: &programs,
        unreached: &unreached,
        width: context.width,
        kept: "inputs are kept as scenarios: parallax scenarios, parallax replay ID --on both"
            .to_owned(),
    };
    let is_clean = programs.iter().all(|one| one.summary.findings.is_empty());
    let exit = context.exit(is_clean);
    in_use.end(exit as u8)?;
    Ok(Answer::new(
        exit,
        report::render_text(&shown),
        report::render_json(&shown),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn a_program_is_prepared_once_also_if_that_fails() {
        let mut cache: Cache<u32> = Cache::default();
        let (mut made, mut complaints) = (0, 0);
        for _ in 0..3 {
            let mut make = || {
                made += 1;
                Ok(made)
            };
            let good = cache.get("good", &mut make, |_| complaints += 1);
            assert_eq!(good.as_deref(), Some(&1));
            let mut fail = || {
                made += 1;
                Err(Failure::new(Exit::BuildFailed, "no").hint("none"))
            };
            let bad = cache.get("bad", &mut fail, |_| complaints += 1);
            assert_eq!(bad, None);
        }
        assert_eq!((made, complaints), (2, 1));
    }
}
