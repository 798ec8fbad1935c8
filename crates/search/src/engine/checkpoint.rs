//! Going on with a search that was interrupted.
//!
//! A search is deterministic but for what is slow and for time: given the same answers of the solver and of native runs that confirm
//! something, and the same costs, it makes the same choices. So its journal holds, for each task, what the task's slot was told and
//! what the task cost. A search that is gone on with begins at the beginning and runs programs as before, but asks nothing that
//! has been answered. Where the program does not do the same again, the rest of the journal is not believed.
//!
//! Solvers learn from query to query. Therefore they are replaced by fresh ones at the end of each chapter, in every search: one
//! that goes on is in the same state as one that was never interrupted.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::answers::Note;
use crate::journal::{Journal, JournalError, pack, unpack};

/// Tasks of the first chapter; each of the next has twice as many as the one before, so that little is lost of short searches.
const FIRST: u64 = 8;
/// Chapters that grow; later ones are as long as the last of these. What fresh solvers have to learn again must not weigh.
const GROWING: u64 = 5;

/// The chapter of a task, and whether it is the chapter's last.
fn chapter_of(task: u64) -> (u64, bool) {
    let (mut chapter, mut first, mut length) = (0, 0, FIRST);
    while chapter < GROWING && task >= first + length {
        first += length;
        length *= 2;
        chapter += 1;
    }
    let beyond = (task - first) / length;
    (chapter + beyond, (task - first) % length == length - 1)
}

/// One task, as an earlier process did it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Known {
    pub lane: usize,
    /// Its cost, as the schedule was told.
    pub cost: f64,
    pub notes: Vec<Note>,
}

#[derive(Serialize, Deserialize)]
struct Chunk {
    /// What all processes together have spent.
    time: Duration,
    tasks: Vec<Known>,
}

/// How far a search is, and what is known of it.
pub(super) struct Chapters<'j> {
    journal: &'j mut dyn Journal,
    /// Tasks that were planned and are known, still to be taken in, and those that are still to be planned.
    known: VecDeque<Known>,
    /// Costs of tasks that are under way.
    costs: VecDeque<f64>,
    /// Chunks that were read.
    chunks: u64,
    /// Tasks of the chapter that is under way.
    noted: Vec<Known>,
    /// What earlier processes have spent, as far as it is known.
    before: Duration,
    started: Instant,
    taken: u64,
    /// See [`Chapters::close`].
    closed: Option<u64>,
}

impl<'j> Chapters<'j> {
    pub fn open(journal: &'j mut dyn Journal) -> Result<Chapters<'j>, JournalError> {
        let mut chapters = Chapters {
            journal,
            known: VecDeque::new(),
            costs: VecDeque::new(),
            chunks: 0,
            noted: Vec::new(),
            before: Duration::ZERO,
            started: Instant::now(),
            taken: 0,
            closed: None,
        };
        while let Some(bytes) = chapters.journal.chunk(chapters.chunks)? {
            match unpack::<Chunk>(&bytes) {
                Ok(chunk) => {
                    chapters.before = chunk.time;
                    chapters.known.extend(chunk.tasks);
                    chapters.chunks += 1;
                }
                // Written by another version: from here on it is done again.
                Err(_) => {
                    chapters.journal.truncate(chapters.chunks)?;
                    break;
                }
            }
        }
        Ok(chapters)
    }

    /// What is left of the time.
    pub fn left(&self, time: Duration) -> Duration {
        time.saturating_sub(self.before)
    }

    /// Whether the next task is known from an earlier process.
    pub fn is_known(&self) -> bool {
        !self.known.is_empty()
    }

    /// The kind of work that the next task is, if that is known.
    pub fn lane(&self) -> Option<usize> {
        self.known.front().map(|known| known.lane)
    }

    /// A task is planned as it is known; what its slot was told.
    pub fn begin(&mut self) -> Option<Vec<Note>> {
        let known = self.known.pop_front()?;
        if self.known.is_empty() {
            self.started = Instant::now();
        }
        self.costs.push_back(known.cost);
        Some(known.notes)
    }

    /// The chapter that a task is in.
    pub fn chapter(task: u64) -> u64 {
        chapter_of(task).0
    }

    /// The next task is another one than the one that is known: what is known is of no use any more.
    pub fn stray(&mut self) -> Result<(), JournalError> {
        if !self.known.is_empty() {
            self.known.clear();
            self.started = Instant::now();
        }
        let chapter = Chapters::chapter(self.taken);
        if chapter < self.chunks {
            self.chunks = chapter;
            self.journal.truncate(chapter)?;
        }
        Ok(())
    }

    /// From this task on, what is planned depends on how much was asked for: a search that is asked for more would plan otherwise.
    pub fn close(&mut self, task: u64) {
        self.closed.get_or_insert(task);
    }

    /// A task was taken in; what it cost.
    pub fn took(
        &mut self,
        lane: usize,
        cost: f64,
        notes: Vec<Note>,
        strayed: bool,
        is_timed: bool,
    ) -> Result<f64, JournalError> {
        let mut known = self.costs.pop_front();
        if strayed && known.is_some() {
            known = None;
            self.costs.clear();
            self.stray()?;
        }
        // Without a clock costs are counts, and the same each time.
        let cost = known.filter(|_| is_timed).unwrap_or(cost);
        self.noted.push(Known { lane, cost, notes });
        let (chapter, is_last) = chapter_of(self.taken);
        let is_open = self.closed.is_none_or(|closed| self.taken < closed);
        self.taken += 1;
        if is_last {
            let tasks = std::mem::take(&mut self.noted);
            if chapter >= self.chunks && is_open {
                let time = self.elapsed();
                self.journal.append(&pack(&Chunk { time, tasks })?)?;
                self.chunks += 1;
            }
        }
        Ok(cost)
    }

    /// Time that was spent, by earlier processes too. Going through what they did does not count again.
    pub fn elapsed(&self) -> Duration {
        match self.is_known() {
            true => self.before,
            false => self.before + self.started.elapsed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Nowhere;

    #[test]
    fn chapters_grow_and_then_stay_as_long_as_they_are() {
        let lasts: Vec<u64> = (0..1000).filter(|task| chapter_of(*task).1).collect();
        assert_eq!(lasts, [7, 23, 55, 119, 247, 503, 759]);
        assert_eq!(
            [0, 7, 8, 247, 248, 504].map(Chapters::chapter),
            [0, 0, 1, 4, 5, 6]
        );
    }

    /// Keeps chunks in memory.
    #[derive(Default)]
    struct Memory(Vec<Vec<u8>>);

    impl Journal for Memory {
        fn chunk(&mut self, number: u64) -> Result<Option<Vec<u8>>, JournalError> {
            Ok(self.0.get(number as usize).cloned())
        }

        fn append(&mut self, chunk: &[u8]) -> Result<(), JournalError> {
            self.0.push(chunk.to_vec());
            Ok(())
        }

        fn truncate(&mut self, chunks: u64) -> Result<(), JournalError> {
            self.0.truncate(chunks as usize);
            Ok(())
        }
    }

    #[test]
    fn what_whole_chapters_cost_is_known_to_the_next_process() {
        let mut memory = Memory::default();
        let mut first = Chapters::open(&mut memory).unwrap();
        assert!(!first.is_known());
        for task in 0..10 {
            first
                .took(task % 3, task as f64, Vec::new(), false, true)
                .unwrap();
        }
        let mut second = Chapters::open(&mut memory).unwrap();
        for task in 0..8 {
            assert_eq!(second.lane(), Some(task % 3));
            second.begin();
        }
        assert!(!second.is_known());
        assert_eq!(second.took(0, 77.0, Vec::new(), false, true).unwrap(), 0.0);
        assert_eq!(second.took(1, 77.0, Vec::new(), false, true).unwrap(), 1.0);
    }

    #[test]
    fn after_another_answer_nothing_known_is_believed() {
        let mut memory = Memory::default();
        let mut first = Chapters::open(&mut memory).unwrap();
        for _ in 0..24 {
            first.took(0, 1.0, Vec::new(), false, true).unwrap();
        }
        let mut second = Chapters::open(&mut memory).unwrap();
        for _ in 0..4 {
            second.begin();
        }
        second.took(0, 1.0, Vec::new(), true, true).unwrap();
        assert!(!second.is_known());
        drop(second);
        assert!(memory.0.is_empty());
        assert!(!Chapters::open(&mut Nowhere).unwrap().is_known());
    }
}
