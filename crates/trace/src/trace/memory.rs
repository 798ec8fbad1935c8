//! Where the entries of a trace are kept.
//!
//! A region has room for millions of entries, and most traces have a few hundred. Keeping the region means that each
//! run needs another one, whose pages the kernel makes, clears, maps twice and takes back: several times what it
//! takes to copy the entries.

use memmap2::MmapRaw;
use parallax_abi::trace::{Context, Event, Header, Loss, Mismatch, Node, Object, Source, Table};

use crate::region::{Counts, Layout, Region};

/// Larger traces stay in their region.
pub(super) const MOST_COPIED: u64 = 2 << 20;
/// Of the arrays in a copy.
pub(super) const ALIGNMENT: u64 = size_of::<u64>() as u64;

const _: () = {
    const WORD: usize = size_of::<u64>();
    assert!(align_of::<Header>() <= WORD && size_of::<Header>().is_multiple_of(WORD));
    assert!(align_of::<Node>() <= WORD && align_of::<Event>() <= WORD);
    assert!(align_of::<Context>() <= WORD && align_of::<Object>() <= WORD);
    assert!(align_of::<Table>() <= WORD && align_of::<Source>() <= WORD);
    assert!(align_of::<Loss>() <= WORD && align_of::<Mismatch>() <= WORD);
};

#[derive(Debug)]
pub(super) enum Memory {
    /// The region itself.
    Mapped(MmapRaw),
    /// Header and arrays, one after the other.
    Copied(Box<[u64]>),
}

impl Memory {
    pub fn start(&self) -> *const u8 {
        match self {
            Memory::Mapped(map) => map.as_ptr(),
            Memory::Copied(words) => words.as_ptr().cast(),
        }
    }

    /// Copies what was written to a region: `counts` entries, laid out as `layout` says.
    pub fn copy(region: &Region, counts: &Counts, layout: &Layout) -> Memory {
        let mut words = vec![0; layout.total.div_ceil(ALIGNMENT) as usize].into_boxed_slice();
        let target = words.as_mut_ptr().cast::<u8>();
        let source = region.start();
        let header = (0, size_of::<Header>() as u64);
        let from = [header].into_iter().chain(region.layout().extents(counts));
        let to = [header].into_iter().chain(layout.extents(counts));
        for ((from, bytes), (to, _)) in from.zip(to) {
            // SAFETY: both have room for that many entries; nobody writes to the region any more.
            unsafe {
                let from = source.add(from as usize);
                std::ptr::copy_nonoverlapping(from, target.add(to as usize), bytes as usize);
            }
        }
        Memory::Copied(words)
    }
}

#[cfg(test)]
mod tests {
    use parallax_abi::Op;
    use parallax_abi::trace::{EventKind, SourceKind};

    use crate::sample::Sample;
    use crate::trace::Trace;

    /// Fills a region with a little of everything.
    fn fill(sample: &Sample, site: u64) {
        let source = sample.source(SourceKind::Stdin, 0);
        let byte = sample.node(Op::Input, 8, &[source], 65);
        let five = sample.node(Op::Const, 8, &[], 5);
        let is_less = sample.node(Op::Ult, 1, &[byte, five], 0);
        sample.table(0x1000, b"abc", &[0, byte << 4, 0]);
        sample.event(EventKind::Branch, is_less, 0, site, 0, 0);
    }

    fn contents(trace: &Trace) -> String {
        let nodes: Vec<_> = trace.nodes().collect();
        let events: Vec<_> = trace.events().collect();
        let sources: Vec<_> = (0..trace.source_count())
            .map(|at| trace.source(at))
            .collect();
        let table = trace
            .table(0)
            .map(|table| (table.base, table.bytes, table.labels));
        format!(
            "{nodes:?} {events:?} {sources:?} {table:?} {}",
            trace.damaged_nodes()
        )
    }

    #[test]
    fn a_copy_says_what_the_region_says() {
        let mut copied = Sample::new();
        fill(&copied, 7);
        let copy = copied.finish_again().unwrap();
        let kept = Sample::new();
        fill(&kept, 7);
        assert_eq!(contents(&copy), contents(&kept.finish()));
        assert_eq!(copy.event_count(), 1);
    }

    #[test]
    fn a_region_that_was_copied_is_as_good_as_new() {
        let mut sample = Sample::new();
        fill(&sample, 7);
        let first = sample.finish_again().unwrap();
        let before = contents(&first);
        assert_eq!(sample.finish_again().unwrap().event_count(), 0);
        // What is reserved but not written must not show what was there before.
        sample.reserve_event();
        assert_eq!(sample.finish_again().unwrap().damaged_events(), 1);
        fill(&sample, 8);
        let second = sample.finish();
        assert_eq!(second.events().next().unwrap().1.site, 8);
        assert_eq!(contents(&first), before);
    }

    #[test]
    fn a_large_trace_is_left_where_it_is() {
        let mut sample = Sample::of(1 << 30);
        let count = super::MOST_COPIED / size_of::<parallax_abi::trace::Event>() as u64;
        for _ in 0..count {
            sample.reserve_event();
        }
        assert!(sample.finish_again().is_none());
    }
}
