//! What inputs show that are not from a comparison: errors that were met on the way to a line or beside a test, and whatever showed
//! something before.
//!
//! Each is run on both versions, plain and checked, so that an error of both is not taken for one that the patch brings.

use std::collections::{BTreeMap, BTreeSet};

use parallax_report::model::Technique;
use parallax_scenario::Scenario;
use parallax_search::diverge::clusters::{Cluster, key};
use parallax_search::diverge::triage::{Class, Court};
use parallax_search::engine::Phase;
use parallax_store::scenario_id;

use crate::diverge::{Options, Ready, finding_id};
use crate::failure::Failure;
use crate::versions::Pair;

/// How often something must be seen, without a miss.
const TIMES: usize = 3;

/// Something that an input shows.
pub struct Judged {
    pub program: String,
    pub cluster: Cluster,
    pub technique: Technique,
    /// What it is called since an earlier run, if that is known.
    pub id: Option<String>,
}

/// An input to be judged.
pub struct Suspect<'s> {
    pub scenario: &'s Scenario,
    pub technique: Technique,
    /// What is known by this name showed in an earlier run.
    pub id: Option<&'s str>,
    /// When it was found.
    pub seconds: f64,
}

/// Judges inputs, each once.
pub struct Judge<'j> {
    options: &'j Options,
    pair: &'j Pair,
    courts: BTreeMap<String, Court>,
    seen: BTreeSet<String>,
    /// What inputs showed, each thing once for each program, on the smallest input.
    pub list: Vec<Judged>,
}

impl<'j> Judge<'j> {
    pub fn new(options: &'j Options, pair: &'j Pair) -> Judge<'j> {
        Judge {
            options,
            pair,
            courts: BTreeMap::new(),
            seen: BTreeSet::new(),
            list: Vec::new(),
        }
    }

    /// Judges an input of a program; whether it shows something that was not known.
    pub fn look(&mut self, ready: &Ready, suspect: &Suspect<'_>) -> Result<bool, Failure> {
        let scenario = suspect.scenario;
        let name = &ready.subject.name;
        if !self.seen.insert(scenario_id(name.as_bytes(), scenario)) {
            return Ok(false);
        }
        if !self.courts.contains_key(name) {
            let court = ready.court(self.options, self.pair)?;
            self.courts.insert(name.clone(), court);
        }
        let Some(court) = self.courts.get_mut(name) else {
            return Ok(false);
        };
        let shown = court.judge(scenario)?;
        if shown.class == Class::Silent {
            return Ok(false);
        }
        for _ in 1..TIMES {
            if court.judge(scenario)?.key() != shown.key() {
                return Ok(false);
            }
        }
        if shown.class == Class::Both && !self.is_in_patch(&shown.problems) {
            return Ok(false);
        }
        // Of other output nothing but where it comes from tells one difference from another, and that only a comparison knows: so the name
        // of an earlier run is kept.
        // What was kept without a place has no name of its own: a comparison may know it by a better one.
        let id = suspect.id.filter(|id| id.starts_with(shown.class.name()));
        let mut cluster = Cluster {
            key: key(&shown, None),
            scenario: scenario.clone(),
            shown,
            distance: 0,
            place: None,
            phase: Phase::Given,
            count: 1,
            seconds: suspect.seconds,
        };
        let id = id.filter(|id| *id != finding_id(name, &cluster));
        if let Some(id) = id {
            cluster.key = format!("{}|{id}", cluster.shown.key());
        }
        let mut list = self.list.iter_mut();
        let known = list.find(|one| one.program == *name && one.cluster.key == cluster.key);
        match known {
            Some(known) => {
                known.cluster.count += 1;
                if scenario.size() < known.cluster.scenario.size() {
                    let count = known.cluster.count;
                    known.cluster = Cluster { count, ..cluster };
                }
                Ok(false)
            }
            None => {
                self.list.push(Judged {
                    program: name.clone(),
                    cluster,
                    technique: suspect.technique,
                    id: id.map(str::to_owned),
                });
                Ok(true)
            }
        }
    }

    /// Whether an error is in a file that the patch changes: others were there before and will be there after it.
    fn is_in_patch(&self, problems: &[parallax_exec::finding::Problem]) -> bool {
        let source = &self.pair.builds.new.source;
        problems.iter().any(|problem| {
            let place = problem.location.as_ref();
            place.is_some_and(|place| {
                let hunks = self.pair.patch.hunks.iter();
                let mut paths = hunks.map(|hunk| source.join(&hunk.file));
                paths.any(|path| path == std::path::Path::new(&place.file))
            })
        })
    }
}
