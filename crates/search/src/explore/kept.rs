//! Traces of runs, as many as there is room for. Others are made again when they are needed.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Run;
use super::frontier::RunId;
use crate::worker::Traced;

/// So many are kept however large they are: what is worked on at a time.
const LEAST: usize = 4;

/// Which runs have their traces, the oldest first, and what these hold.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    order: VecDeque<(RunId, u64)>,
    bytes: u64,
}

impl Kept {
    /// Gives a run its trace, and takes those of the oldest until all of them fit into so many bytes.
    pub fn keep(&mut self, runs: &mut [Run], run: RunId, traced: Arc<Traced>, room: u64) {
        let bytes = traced.bytes();
        self.order.push_back((run, bytes));
        self.bytes += bytes;
        runs[run as usize].traced = Some(traced);
        while self.bytes > room
            && self.order.len() > LEAST
            && let Some((oldest, bytes)) = self.order.pop_front()
        {
            runs[oldest as usize].traced = None;
            self.bytes -= bytes;
        }
    }
}
