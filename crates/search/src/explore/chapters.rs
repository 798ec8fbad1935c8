//! Going on with an exploration that was interrupted: see [`crate::journal`].
//!
//! An exploration has chapters: so many ways are tried, then solvers are replaced, and what was answered goes to the
//! journal. The first chapters are short, so that little is lost of short explorations.

use std::time::{Duration, Instant};

use parallax_solver::Statistics;
use serde::{Deserialize, Serialize};

use super::slot::Slot;
use super::{ExploreError, Explorer};
use crate::answers::Note;
use crate::journal::{pack, unpack};

/// Ways that are tried in the first chapter; each of the next has twice as many as the one before.
const FIRST: u64 = 64;
/// The longest chapter: what fresh solvers have to learn again must not weigh.
const LONGEST: u64 = 1024;

/// How far the exploration is.
#[derive(Debug, Default)]
pub struct Chapters {
    number: u64,
    /// Ways that were tried in this chapter.
    tried: u64,
    /// What an earlier process said when it ended this chapter.
    known: Option<Standing>,
    /// What earlier processes had come to at the end of the last chapter that is known.
    before: Standing,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Standing {
    time: Duration,
    solver: Statistics,
}

#[derive(Serialize, Deserialize)]
struct Chunk {
    standing: Standing,
    /// For each slot.
    notes: Vec<Vec<Note>>,
}

impl Chapters {
    /// Whether the answers of this chapter are known from an earlier process.
    pub fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// Counts ways that are being tried.
    pub fn count(&mut self, ways: usize) {
        self.tried += ways as u64;
    }

    fn is_over(&self) -> bool {
        self.tried >= LONGEST.min(FIRST << self.number.min(32))
    }

    /// What the solvers of all processes have done, given what those of this one have.
    pub fn statistics(&self, mut now: Statistics) -> Statistics {
        now.absorb(self.before.solver.clone());
        now
    }
}

impl Explorer<'_> {
    /// Time that was spent, by earlier processes too. Going through what they did does not count again.
    pub(super) fn elapsed(&self) -> Duration {
        match self.chapters.is_known() {
            true => self.chapters.before.time,
            false => self.chapters.before.time + self.started.elapsed(),
        }
    }

    /// Looks whether the chapter that begins is known.
    pub(super) fn open_chapter(&mut self, slots: &mut [Slot<'_>]) -> Result<(), ExploreError> {
        let was_known = self.chapters.known.take().is_some();
        if let Some(bytes) = self.journal.chunk(self.chapters.number)? {
            match unpack::<Chunk>(&bytes) {
                Ok(chunk) if chunk.notes.len() == slots.len() => {
                    for (slot, notes) in slots.iter_mut().zip(chunk.notes) {
                        slot.know(notes);
                    }
                    self.chapters.known = Some(chunk.standing);
                    return Ok(());
                }
                // Written by another version: from here on it is done again.
                _ => self.journal.truncate(self.chapters.number)?,
            }
        }
        self.started = Instant::now();
        if was_known {
            let progress = self.progress();
            self.observer.caught_up(&progress);
        }
        Ok(())
    }

    /// Ends the chapter if it is long enough.
    pub(super) fn close_chapter(&mut self, slots: &mut [Slot<'_>]) -> Result<(), ExploreError> {
        if !self.chapters.is_over() {
            return Ok(());
        }
        let settled: Vec<(Vec<Note>, bool)> = slots.iter_mut().map(Slot::settle).collect();
        let strayed = settled.iter().any(|(_, strayed)| *strayed);
        let number = self.chapters.number;
        self.chapters.tried = 0;
        self.chapters.number += 1;
        match self.chapters.known.clone() {
            Some(standing) if !strayed => {
                self.chapters.before = standing;
                return self.open_chapter(slots);
            }
            // The program does not do the same each time: what is known of later chapters is of no use.
            Some(_) => {
                self.journal.truncate(number)?;
                self.chapters.known = None;
                self.started = Instant::now();
                let progress = self.progress();
                self.observer.caught_up(&progress);
            }
            None => {}
        }
        let chunk = Chunk {
            standing: Standing {
                time: self.elapsed(),
                solver: self.statistics(slots),
            },
            notes: settled.into_iter().map(|(notes, _)| notes).collect(),
        };
        self.journal.append(&pack(&chunk)?)?;
        Ok(())
    }

    /// What all solvers have done.
    pub(super) fn statistics(&self, slots: &[Slot<'_>]) -> Statistics {
        let mut sum = Statistics::default();
        for slot in slots {
            sum.absorb(slot.statistics());
        }
        self.chapters.statistics(sum)
    }
}
