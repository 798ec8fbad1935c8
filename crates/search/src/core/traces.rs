//! Traces of entries, as many as there is memory for. Others are made again when they are needed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::corpus::EntryId;
use crate::worker::Traced;

/// So many are kept however large they are: what is worked on at a time.
const LEAST: usize = 8;

/// See the module's description.
#[derive(Debug, Default)]
pub struct Traces {
    room: u64,
    held: HashMap<EntryId, (Arc<Traced>, u64)>,
    /// The oldest first.
    order: VecDeque<EntryId>,
    bytes: u64,
}

impl Traces {
    /// For so many bytes.
    pub fn new(room: u64) -> Traces {
        Traces {
            room,
            held: HashMap::new(),
            order: VecDeque::new(),
            bytes: 0,
        }
    }

    pub fn get(&self, entry: EntryId) -> Option<Arc<Traced>> {
        self.held.get(&entry).map(|(traced, _)| Arc::clone(traced))
    }

    /// Keeps a trace, and lets the oldest ones go until all of them fit.
    pub fn keep(&mut self, entry: EntryId, traced: Arc<Traced>) {
        let bytes = traced.bytes();
        if self.held.insert(entry, (traced, bytes)).is_none() {
            self.order.push_back(entry);
            self.bytes += bytes;
        }
        while self.bytes > self.room
            && self.order.len() > LEAST
            && let Some(oldest) = self.order.pop_front()
        {
            if let Some((_, bytes)) = self.held.remove(&oldest) {
                self.bytes -= bytes;
            }
        }
    }
}
