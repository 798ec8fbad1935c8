//! Creating the shared memory that a traced program writes its trace to.
//!
//! Capacities are generous: the memory is sparse (see [`parallax_exec::shared`]).

use std::mem::size_of;
use std::sync::atomic::Ordering;

use memmap2::MmapRaw;
use parallax_abi::layout::MAX_NODES;
use parallax_abi::trace::{self, Header, flags};

use parallax_exec::shared::{Shared, SharedError, SharedMemory};

const PAGE: u64 = 4096;
/// Bytes of names of given files at most: each is compared with every name that the program makes of input.
const MOST_NAMES: u64 = 16 << 10;

/// How much a trace can hold. When something is full, tracing ends and the program goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub nodes: u32,
    pub events: u32,
    pub contexts: u32,
    pub objects: u32,
    pub tables: u32,
    pub sources: u32,
    pub losses: u32,
    pub mismatches: u32,
    pub blob_bytes: u64,
    /// Objects larger than this are not read as tables.
    pub max_table_bytes: u32,
    /// Deeper expressions are made concrete.
    pub max_depth: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            nodes: 64 << 20,
            events: 16 << 20,
            contexts: 1 << 20,
            objects: 256 << 10,
            tables: 64 << 10,
            sources: 4 << 10,
            losses: 4 << 10,
            mismatches: 4 << 10,
            blob_bytes: 1 << 30,
            max_table_bytes: 4096,
            max_depth: 4096,
        }
    }
}

impl Limits {
    /// The default limits, lowered so that a full trace leaves at least half of `bytes` to the
    /// program itself and to the runtime's own tables.
    pub fn within(bytes: u64) -> Limits {
        let default = Limits::default();
        let clamp = |share: u64, default: u32| {
            let fits = u32::try_from(share).unwrap_or(u32::MAX);
            fits.clamp(1024, default)
        };
        Limits {
            nodes: clamp(bytes / 4 / size_of::<trace::Node>() as u64, default.nodes),
            events: clamp(bytes / 8 / size_of::<trace::Event>() as u64, default.events),
            contexts: clamp(
                bytes / 64 / size_of::<trace::Context>() as u64,
                default.contexts,
            ),
            blob_bytes: (bytes / 16).clamp(1 << 20, default.blob_bytes),
            ..default
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            nodes: self.nodes,
            events: self.events,
            contexts: self.contexts,
            objects: self.objects,
            tables: self.tables,
            sources: self.sources,
            losses: self.losses,
            mismatches: self.mismatches,
            blob_bytes: self.blob_bytes,
        }
    }
}

/// Which input is symbolic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbolic {
    /// Bytes of the arguments.
    pub argv: bool,
    /// How many arguments there are.
    pub argument_count: bool,
    pub stdin: bool,
    pub files: bool,
    /// Sockets and pipes other than standard input.
    pub streams: bool,
    /// Values of these environment variables.
    pub environment: Vec<Vec<u8>>,
    /// Nothing that is input, but to be told with it: accesses through addresses that are concrete.
    pub accesses: bool,
    /// The same of branches that follow from what was decided before: they tell what a search may give up.
    pub following: bool,
}

impl Symbolic {
    /// Everything but the environment.
    pub const ALL: Symbolic = Symbolic {
        argv: true,
        argument_count: true,
        stdin: true,
        files: true,
        streams: true,
        environment: Vec::new(),
        accesses: false,
        following: false,
    };

    fn flags(&self) -> u32 {
        let bit = |on: bool, flag: u32| if on { flag } else { 0 };
        bit(self.argv, flags::ARGV)
            | bit(self.argument_count, flags::ARGUMENT_COUNT)
            | bit(self.stdin, flags::STDIN)
            | bit(self.files, flags::FILES)
            | bit(self.streams, flags::STREAMS)
            | bit(self.accesses, flags::ACCESSES)
            | bit(self.following, flags::FOLLOWING)
    }

    /// The variables' names as the header announces them.
    fn environment_names(&self) -> Vec<u8> {
        let ended = |name: &Vec<u8>| name.iter().copied().chain([0]).collect::<Vec<u8>>();
        self.environment.iter().flat_map(ended).collect()
    }
}

/// Why there is no region.
#[derive(Debug, thiserror::Error)]
pub enum RegionError {
    #[error(transparent)]
    Shared(#[from] SharedError),
    /// A label word must hold the node's index.
    #[error("{0} nodes asked for, but at most {MAX_NODES} can be named by labels")]
    TooManyNodes(u32),
    /// The names of symbolic variables do not fit.
    #[error("{0} bytes of names of environment variables are too many")]
    TooManyNames(usize),
}

/// How many entries each array has, unused first ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub nodes: u32,
    pub events: u32,
    pub contexts: u32,
    pub objects: u32,
    pub tables: u32,
    pub sources: u32,
    pub losses: u32,
    pub mismatches: u32,
    pub blob_bytes: u64,
}

/// Where each array lies. Kept by the engine and not read back from the
/// header, which the traced program can damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub nodes: u64,
    pub events: u64,
    pub contexts: u64,
    pub objects: u64,
    pub tables: u64,
    pub sources: u64,
    pub losses: u64,
    pub mismatches: u64,
    pub blobs: u64,
    pub total: u64,
}

impl Layout {
    /// Arrays of this many entries, each at a multiple of `alignment`.
    pub fn new(counts: &Counts, alignment: u64) -> Layout {
        let mut at = (size_of::<Header>() as u64).next_multiple_of(alignment);
        let mut place = |count: u64, size: usize| {
            let start = at;
            at = (at + count * size as u64).next_multiple_of(alignment);
            start
        };
        let nodes = place(counts.nodes.into(), size_of::<trace::Node>());
        let events = place(counts.events.into(), size_of::<trace::Event>());
        let contexts = place(counts.contexts.into(), size_of::<trace::Context>());
        let objects = place(counts.objects.into(), size_of::<trace::Object>());
        let tables = place(counts.tables.into(), size_of::<trace::Table>());
        let sources = place(counts.sources.into(), size_of::<trace::Source>());
        let losses = place(counts.losses.into(), size_of::<trace::Loss>());
        let mismatches = place(counts.mismatches.into(), size_of::<trace::Mismatch>());
        let blobs = place(counts.blob_bytes, 1);
        Layout {
            nodes,
            events,
            contexts,
            objects,
            tables,
            sources,
            losses,
            mismatches,
            blobs,
            total: at,
        }
    }

    /// Where the first entries of each array are, and how many bytes.
    pub fn extents(&self, counts: &Counts) -> [(u64, u64); 9] {
        fn of<T>(offset: u64, count: u32) -> (u64, u64) {
            (offset, u64::from(count) * size_of::<T>() as u64)
        }
        [
            of::<trace::Node>(self.nodes, counts.nodes),
            of::<trace::Event>(self.events, counts.events),
            of::<trace::Context>(self.contexts, counts.contexts),
            of::<trace::Object>(self.objects, counts.objects),
            of::<trace::Table>(self.tables, counts.tables),
            of::<trace::Source>(self.sources, counts.sources),
            of::<trace::Loss>(self.losses, counts.losses),
            of::<trace::Mismatch>(self.mismatches, counts.mismatches),
            (self.blobs, counts.blob_bytes),
        ]
    }
}

/// A trace that a program can be given to write to.
#[derive(Debug)]
pub struct Region {
    memory: SharedMemory,
    limits: Limits,
    layout: Layout,
    flags: u32,
    /// Of symbolic environment variables, as the header announces them.
    names: Vec<u8>,
}

impl Region {
    /// Creates an empty region.
    pub fn create(
        limits: Limits,
        symbolic: &Symbolic,
        self_check: bool,
    ) -> Result<Region, RegionError> {
        if limits.nodes > MAX_NODES {
            return Err(RegionError::TooManyNodes(limits.nodes));
        }
        let layout = Layout::new(&limits.counts(), PAGE);
        let memory = SharedMemory::create(c"parallax-trace", "trace", layout.total)?;
        let mut flags = symbolic.flags();
        if self_check {
            flags |= flags::SELF_CHECK;
        }
        let names = symbolic.environment_names();
        if names.len() as u64 > limits.blob_bytes {
            return Err(RegionError::TooManyNames(names.len()));
        }
        let mut region = Region {
            memory,
            limits,
            layout,
            flags,
            names,
        };
        region.write_header();
        Ok(region)
    }

    fn write_header(&mut self) {
        let (limits, layout) = (&self.limits, &self.layout);
        let (flags, names) = (self.flags, &self.names);
        let header = Header {
            magic: trace::MAGIC,
            version: parallax_abi::VERSION,
            flags,
            node_capacity: limits.nodes,
            event_capacity: limits.events,
            context_capacity: limits.contexts,
            object_capacity: limits.objects,
            table_capacity: limits.tables,
            source_capacity: limits.sources,
            loss_capacity: limits.losses,
            mismatch_capacity: limits.mismatches,
            blob_capacity: limits.blob_bytes,
            node_offset: layout.nodes,
            event_offset: layout.events,
            context_offset: layout.contexts,
            object_offset: layout.objects,
            table_offset: layout.tables,
            source_offset: layout.sources,
            loss_offset: layout.losses,
            mismatch_offset: layout.mismatches,
            blob_offset: layout.blobs,
            max_table_bytes: limits.max_table_bytes,
            max_depth: limits.max_depth,
            environment_length: names.len() as u32,
            nodes: trace::FIRST_NODE.into(),
            contexts: trace::FIRST_CONTEXT.into(),
            objects: trace::FIRST_OBJECT.into(),
            blob_bytes: (names.len() as u64).into(),
            ..Header::default()
        };
        // SAFETY: the mapping is at least a page long, page aligned, writable, and nobody
        // else writes: no program has the descriptor yet, or any more.
        unsafe {
            let start = self.memory.map.as_mut_ptr();
            start.cast::<Header>().write(header);
            let blobs = start.add(layout.blobs as usize);
            std::ptr::copy_nonoverlapping(names.as_ptr(), blobs, names.len());
        }
    }

    /// Tells the next run the names of what it is given, so that names made of input can be compared with
    /// them. Too many are not told at all: then every name that exists is one that nothing is known about.
    pub fn give(&mut self, names: impl IntoIterator<Item = Vec<u8>>) {
        let names = names.into_iter().filter(|name| !name.contains(&0));
        let text: Vec<u8> = names
            .flat_map(|name| [&name, &b"\0"[..]].concat())
            .collect();
        // SAFETY: the mapping begins with a header of ours, and no program has the descriptor yet, or any more.
        unsafe {
            let start = self.memory.map.as_mut_ptr();
            let header = start.cast::<Header>();
            let used = u64::from((*header).environment_length);
            if used + text.len() as u64 <= self.limits.blob_bytes.min(MOST_NAMES) {
                (*header).given_length = text.len() as u32;
                (*header).blob_bytes = (used + text.len() as u64).into();
                let blobs = start.add((self.layout.blobs + used) as usize);
                std::ptr::copy_nonoverlapping(text.as_ptr(), blobs, text.len());
            }
        }
    }

    /// For handing it to a program.
    pub fn shared(&self) -> Shared<'_> {
        self.memory.shared(trace::ENVIRONMENT)
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What has been written: cursors, clamped.
    pub(crate) fn counts(&self) -> Counts {
        // SAFETY: the mapping starts with a page that holds a header; all bit patterns are valid; what changes is
        // atomic.
        let header = unsafe { &*self.memory.map.as_ptr().cast::<Header>() };
        let limits = &self.limits;
        let order = Ordering::Acquire;
        Counts {
            nodes: header.nodes.load(order).min(limits.nodes),
            events: header.events.load(order).min(limits.events),
            contexts: header.contexts.load(order).min(limits.contexts),
            objects: header.objects.load(order).min(limits.objects),
            tables: header.tables.load(order).min(limits.tables),
            sources: header.sources.load(order).min(limits.sources),
            losses: header.losses.load(order).min(limits.losses),
            mismatches: header.mismatches.load(order).min(limits.mismatches),
            blob_bytes: header.blob_bytes.load(order).min(limits.blob_bytes),
        }
    }

    /// Empties a region whose trace has been copied, so that another run can be traced into it: its pages need not
    /// be made, mapped and given back again. `used` are the entries that were written; all writers must be gone.
    pub(crate) fn reset(&mut self, used: &Counts) {
        let start = self.memory.map.as_mut_ptr();
        for (offset, bytes) in self.layout.extents(used) {
            // SAFETY: inside of the mapping, because no count is larger than its limit.
            unsafe { start.add(offset as usize).write_bytes(0, bytes as usize) };
        }
        self.write_header();
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn start(&self) -> *const u8 {
        self.memory.map.as_ptr()
    }

    #[cfg(test)]
    pub(crate) fn parts(&self) -> (*mut u8, &Layout) {
        (self.memory.map.as_mut_ptr(), &self.layout)
    }

    pub(crate) fn into_parts(self) -> (MmapRaw, Limits, Layout) {
        (self.memory.map, self.limits, self.layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_page_aligned_and_do_not_overlap() {
        let limits = Limits::within(64 << 20);
        let layout = Layout::new(&limits.counts(), PAGE);
        let starts = [
            layout.nodes,
            layout.events,
            layout.contexts,
            layout.objects,
            layout.tables,
            layout.sources,
            layout.losses,
            layout.mismatches,
            layout.blobs,
            layout.total,
        ];
        assert!(starts.iter().all(|start| start % PAGE == 0));
        assert!(starts.is_sorted_by(|a, b| a < b));
        assert!(layout.events - layout.nodes >= u64::from(limits.nodes) * 32);
        assert!(layout.total - layout.blobs >= limits.blob_bytes);
    }

    #[test]
    fn a_smaller_memory_budget_gives_a_smaller_trace() {
        let small = Layout::new(&Limits::within(256 << 20).counts(), PAGE).total;
        assert!(small < 128 << 20, "{small}");
        assert_eq!(Limits::within(u64::MAX), Limits::default());
    }

    #[test]
    fn an_empty_region_of_default_size_costs_almost_no_memory() {
        let region = Region::create(Limits::default(), &Symbolic::ALL, false).unwrap();
        let bytes = region.memory.resident_bytes();
        assert!(bytes <= 64 << 10, "{bytes} bytes");
    }

    #[test]
    fn more_nodes_than_labels_can_name_are_refused() {
        let limits = Limits {
            nodes: MAX_NODES + 1,
            ..Limits::within(1 << 20)
        };
        assert!(matches!(
            Region::create(limits, &Symbolic::ALL, false),
            Err(RegionError::TooManyNodes(_))
        ));
    }
}
