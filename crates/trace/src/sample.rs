//! Traces made by hand, for unit tests.

use std::sync::atomic::Ordering::Relaxed;

use parallax_abi::Op;
use parallax_abi::trace::{Event, EventKind, Header, Mismatch, Node, Source, SourceKind, Table};

use crate::region::{Limits, Region, Symbolic};
use crate::trace::Trace;

/// Writes entries as the runtime would.
pub struct Sample {
    region: Region,
}

impl Sample {
    pub fn new() -> Sample {
        Sample::of(1 << 20)
    }

    /// With more or less room.
    pub fn of(bytes: u64) -> Sample {
        let region = Region::create(Limits::within(bytes), &Symbolic::ALL, true).unwrap();
        Sample { region }
    }

    /// An event that somebody was about to write.
    pub fn reserve_event(&self) {
        self.header().events.fetch_add(1, Relaxed);
    }

    fn header(&self) -> &Header {
        unsafe { &*self.region.parts().0.cast() }
    }

    fn put<T>(&self, offset: u64, index: u32, value: T) {
        unsafe {
            let array = self.region.parts().0.add(offset as usize).cast::<T>();
            array.add(index as usize).write(value);
        }
    }

    pub fn node(&self, op: Op, width: u8, operands: &[u32], value: u64) -> u32 {
        let label = self.header().nodes.fetch_add(1, Relaxed);
        let operand = |at: usize| operands.get(at).copied().unwrap_or(0);
        let node = Node {
            op: op as u8,
            width,
            depth: 0,
            a: operand(0),
            b: operand(1),
            c: operand(2),
            lo: value,
            hi: 0,
        };
        self.put(self.region.parts().1.nodes, label, node);
        label
    }

    pub fn event(&self, kind: EventKind, label: u32, detail: u8, site: u64, x: u32, y: u64) {
        let index = self.header().events.fetch_add(1, Relaxed);
        let event = Event {
            kind: kind as u8,
            detail,
            process: 1,
            label,
            site,
            context: 1,
            x,
            y,
        };
        self.put(self.region.parts().1.events, index, event);
    }

    pub fn source(&self, kind: SourceKind, index: u32) -> u32 {
        let number = self.header().sources.fetch_add(1, Relaxed);
        let source = Source {
            kind: kind as u32,
            index,
            device: 0,
            inode: 0,
            name: 0,
            name_length: 0,
            padding: 0,
            taken: 0,
        };
        self.put(self.region.parts().1.sources, number, source);
        number
    }

    /// A table; a label word per byte.
    pub fn table(&self, base: u64, bytes: &[u8], labels: &[u32]) -> u32 {
        let blob = |bytes: &[u8]| {
            let start = self.header().blob_bytes.load(Relaxed).next_multiple_of(4);
            let end = start + bytes.len() as u64;
            self.header().blob_bytes.store(end, Relaxed);
            for (index, byte) in bytes.iter().enumerate() {
                self.put(self.region.parts().1.blobs + start, index as u32, *byte);
            }
            start
        };
        let words: Vec<u8> = labels.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let number = self.header().tables.fetch_add(1, Relaxed);
        let table = Table {
            base,
            length: bytes.len() as u32,
            object: 0,
            bytes: blob(bytes),
            labels: blob(&words),
        };
        self.put(self.region.parts().1.tables, number, table);
        number
    }

    pub fn mismatch(&self, mismatch: Mismatch) {
        let number = self.header().mismatches.fetch_add(1, Relaxed);
        self.put(self.region.parts().1.mismatches, number, mismatch);
    }

    /// As [`Sample::finish`], leaving an empty region behind.
    pub fn finish_again(&mut self) -> Option<Trace> {
        Trace::copy(&mut self.region)
    }

    pub fn finish(self) -> Trace {
        Trace::read(self.region)
    }
}
