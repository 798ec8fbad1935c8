//! What was done, so that a later process need not do it again: see [`crate::journal`].
//!
//! Work is dealt out in rounds, and what comes next depends only on what came back. So the journal holds what came back, round by
//! round, in chapters: who goes on from there traces nothing and asks nothing until the last chapter is over. At the
//! end of each chapter solvers are replaced by fresh ones, because what they have learned is not in the journal.
//! A chapter is about one program; which one comes next may be a matter of time, and is therefore in the journal, too.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parallax_solver::Statistics;
use serde::{Deserialize, Serialize};

use super::run::Report;
use crate::explore::ExploreError;
use crate::journal::{Journal, JournalError, pack, unpack};

/// Things done in a chapter: what is lost of an interrupted amplification must not weigh, nor what fresh solvers have
/// to learn again.
const LONGEST: usize = 256;

/// What a chapter cost.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cost {
    pub time: Duration,
    pub solver: Statistics,
    /// Runs of all builds.
    pub executions: u64,
}

#[derive(Serialize, Deserialize)]
struct Chunk {
    target: usize,
    cost: Cost,
    rounds: Vec<Round>,
}

/// Fingerprints of what was to be done, and what came back.
#[derive(Serialize, Deserialize)]
struct Round(Vec<(u64, Vec<u8>)>);

/// A chapter that an earlier process wrote.
struct Known {
    target: usize,
    cost: Cost,
    rounds: VecDeque<Round>,
}

pub struct Tape<'j> {
    journal: &'j mut dyn Journal,
    /// Of the chapter.
    number: u64,
    known: Option<Known>,
    /// Rounds of this chapter.
    done: Vec<Round>,
    /// A round could not be finished: what comes after it is not kept.
    is_cut: bool,
    /// When this process began to work.
    started: Instant,
    /// What earlier chapters took, but for this process's own since it started.
    before: Duration,
}

impl<'j> Tape<'j> {
    pub fn new(journal: &'j mut dyn Journal) -> Result<Tape<'j>, ExploreError> {
        let mut tape = Tape {
            journal,
            number: 0,
            known: None,
            done: Vec::new(),
            is_cut: false,
            started: Instant::now(),
            before: Duration::ZERO,
        };
        tape.open()?;
        Ok(tape)
    }

    /// Looks whether the chapter that begins is known.
    fn open(&mut self) -> Result<(), ExploreError> {
        self.known = None;
        if let Some(bytes) = self.journal.chunk(self.number)? {
            match unpack::<Chunk>(&bytes) {
                Ok(chunk) => {
                    self.known = Some(Known {
                        target: chunk.target,
                        cost: chunk.cost,
                        rounds: chunk.rounds.into(),
                    });
                    return Ok(());
                }
                // Written by another version: from here on it is done again.
                Err(_) => self.journal.truncate(self.number)?,
            }
        }
        self.started = Instant::now();
        Ok(())
    }

    /// The program that the chapter is about, if an earlier process wrote it.
    pub fn target(&self) -> Option<usize> {
        self.known.as_ref().map(|known| known.target)
    }

    pub fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// Time that was spent, by earlier processes too.
    pub fn elapsed(&self) -> Duration {
        match self.is_known() {
            true => self.before,
            false => self.before + self.started.elapsed(),
        }
    }

    /// What came back when the same was done before.
    pub fn recall(&mut self, prints: &[u64]) -> Result<Option<Vec<Report>>, ExploreError> {
        let Some(known) = &mut self.known else {
            return Ok(None);
        };
        let round = known.rounds.pop_front();
        let reports = round.as_ref().and_then(|round| round.reports(prints));
        match round {
            Some(round) if reports.is_some() => self.done.push(round),
            // The program does not do the same each time: the rest is of no use.
            _ => {
                self.known = None;
                self.journal.truncate(self.number)?;
                self.started = Instant::now();
            }
        }
        Ok(reports)
    }

    /// Notes what came back.
    pub fn note(&mut self, prints: &[u64], reports: &[Report]) -> Result<(), ExploreError> {
        // What was not finished would be taken for finished.
        self.is_cut |= reports.iter().any(|report| report.is_cut);
        if self.is_cut {
            return Ok(());
        }
        let bytes = reports.iter().map(postcard::to_stdvec);
        let bytes: Result<Vec<Vec<u8>>, postcard::Error> = bytes.collect();
        let bytes = bytes.map_err(|error| JournalError(error.into()))?;
        let round = prints.iter().copied().zip(bytes);
        self.done.push(Round(round.collect()));
        Ok(())
    }

    /// Whether the chapter should end here.
    pub fn is_full(&self) -> bool {
        match &self.known {
            Some(known) => known.rounds.is_empty(),
            None => self.done.iter().map(|round| round.0.len()).sum::<usize>() >= LONGEST,
        }
    }

    /// Ends the chapter; `cost` is what this process did in it. What it cost whoever did it.
    pub fn close(&mut self, target: usize, cost: Cost) -> Result<Cost, ExploreError> {
        if let Some(known) = self.known.take() {
            self.before += known.cost.time;
            self.done.clear();
            self.number += 1;
            self.open()?;
            return Ok(known.cost);
        }
        let cost = Cost {
            time: self.started.elapsed(),
            ..cost
        };
        self.before += cost.time;
        self.started = Instant::now();
        let rounds = std::mem::take(&mut self.done);
        if !rounds.is_empty() {
            let chunk = Chunk {
                target,
                cost: cost.clone(),
                rounds,
            };
            self.journal.append(&pack(&chunk)?)?;
            self.number += 1;
        }
        Ok(cost)
    }
}

impl Round {
    /// What came back, if just this was to be done.
    fn reports(&self, prints: &[u64]) -> Option<Vec<Report>> {
        let same = self.0.iter().map(|(print, _)| print).eq(prints);
        let reports = self.0.iter().map(|(_, bytes)| postcard::from_bytes(bytes));
        same.then(|| reports.collect::<Result<_, _>>().ok())?
    }
}
