//! Changes that do something only together: the search of `parallax interact`, for a slice of time.

use std::time::{Duration, Instant};

use parallax_report::model::{Interaction, Technique};
use parallax_search::diverge::clusters::Cluster;
use parallax_search::engine::{Ended, Progress};
use parallax_search::goals::orders::Finding;

use super::schedule::Gain;
use super::work::Work;
use crate::budget::Budget;
use crate::failure::Failure;
use crate::interact::Options;
use crate::interact::project::{Listener, Part, Searched, search};
use crate::watch::Watcher;

/// A patch with fewer hunks has nothing that could meet.
const LEAST_HUNKS: usize = 2;

/// Who watches ends the search in time, whatever it is at.
struct Until {
    watcher: Watcher,
    end: Instant,
}

impl Listener for Until {
    fn progress(&mut self, program: &str, progress: &Progress) {
        Listener::progress(&mut self.watcher, program, progress);
    }

    // It is run on both versions once more, and told then.
    fn found(&mut self, _program: &str, _cluster: &Cluster) {}

    fn note(&mut self, note: &str) {
        self.watcher.tell(note);
    }

    fn stop(&self) -> bool {
        Instant::now() >= self.end || self.watcher.is_over()
    }
}

impl Work<'_> {
    /// Searches along the orders in which changes can run for inputs on which they do something only together.
    pub fn interact(&mut self, time: Duration) -> Result<Gain, Failure> {
        let started = Instant::now();
        let nothing = Gain {
            is_done: true,
            ..Gain::default()
        };
        if self.pair.patch.hunks.len() < LEAST_HUNKS {
            return Ok(nothing);
        }
        let mut until = Until {
            watcher: Watcher::new(&self.orders.diverge.setup.context, Vec::new(), Some(time)),
            end: started + time,
        };
        let options = Options {
            setup: self.orders.diverge.setup.clone(),
            budget: Budget::of(time),
            // A search begins anew each time: what is left to chance comes out otherwise.
            seed: self.interact_turns,
            isolated: false,
            without: Vec::new(),
        };
        self.interact_turns += 1;
        self.find_touching()?;
        let subjects = self.subjects.iter();
        let parts = subjects.filter_map(|subject| {
            let touching = self.touching.get(&subject.name)?.clone();
            let subject = subject.clone();
            (!touching.seeds.is_empty()).then_some(Part { subject, touching })
        });
        let parts: Vec<Part> = parts.collect();
        let cache = &mut self.together;
        let outcome = search(self.pair, self.store, parts, cache, &options, &mut until)?;
        until.watcher.finish(&[])?;
        let mut found = 0;
        let mut is_done = true;
        for searched in &outcome {
            is_done &= searched.summary.search.ended == Ended::Exhausted;
            let name = &searched.subject.name;
            for finding in &searched.summary.findings {
                let key = (name.clone(), finding.shown.key());
                self.interactions
                    .insert(key, interaction(searched, finding));
                let scenario = &finding.scenario;
                found += u64::from(self.look_at(name, scenario, Technique::Interact)?);
            }
        }
        Ok(Gain {
            spent: started.elapsed(),
            found,
            inputs: 0,
            is_done,
        })
    }
}

fn interaction(searched: &Searched, finding: &Finding) -> Interaction {
    let place = |node: &usize| {
        let place = searched.ready.comparison.place(*node);
        (place.file, place.line, place.text)
    };
    Interaction {
        sequence: finding.critical.sequence.iter().map(place).collect(),
        critical: finding.is_interaction(),
        inputs: finding.critical.skipping,
        judgement: finding
            .shown
            .golden
            .map(|_| finding.kind.name().replace('-', " ")),
    }
}
