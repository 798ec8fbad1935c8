//! What a traced run left behind, read safely.
//!
//! The traced program can crash in the middle of an append, run into a limit, or
//! write over the region through a stray pointer. So nothing in the region is trusted: the
//! layout comes from the engine's own [`Region`], cursors are clamped, entries
//! are checked before they are handed out (nodes in [`validate`]), and what is
//! unwritten or damaged is skipped and counted.

mod memory;
mod validate;
mod view;

use std::mem::size_of;
use std::sync::atomic::Ordering;

use parallax_abi::trace::{
    self, Context, Event, EventKind, FIRST_CONTEXT, FIRST_NODE, FIRST_OBJECT, Header, Loss,
    Mismatch, Node, Object, Source, Stop, Table,
};
use parallax_abi::{Op, SiteId};
use parallax_expr::{Label, Store, TableView};

use crate::region::{Counts, Layout, Limits, Region};
use memory::Memory;
use validate::Bitmap;
pub use view::{InputSource, LossRecord, ObjectView};

/// The validated view of one run's trace.
#[derive(Debug)]
pub struct Trace {
    memory: Memory,
    limits: Limits,
    layout: Layout,
    counts: Counts,
    valid_nodes: Bitmap,
    damaged_nodes: u32,
    damaged_events: u32,
}

impl Trace {
    /// Reads the region of a run that has ended. All writers must be gone, as they are after
    /// [`run`](parallax_exec::run::run).
    pub fn read(region: Region) -> Trace {
        let counts = region.counts();
        let (map, limits, layout) = region.into_parts();
        Trace::new(Memory::Mapped(map), limits, layout, counts)
    }

    /// As [`Trace::read`], but leaves the region behind, empty, for another run. Only if the trace is small: `None` for
    /// one that is better left where it is.
    pub fn copy(region: &mut Region) -> Option<Trace> {
        let counts = region.counts();
        let layout = Layout::new(&counts, memory::ALIGNMENT);
        if layout.total > memory::MOST_COPIED {
            return None;
        }
        let memory = Memory::copy(region, &counts, &layout);
        let limits = *region.limits();
        region.reset(&counts);
        Some(Trace::new(memory, limits, layout, counts))
    }

    fn new(memory: Memory, limits: Limits, layout: Layout, counts: Counts) -> Trace {
        let mut trace = Trace {
            memory,
            limits,
            layout,
            counts,
            valid_nodes: Bitmap::default(),
            damaged_nodes: 0,
            damaged_events: 0,
        };
        (trace.valid_nodes, trace.damaged_nodes) = validate::nodes(&trace);
        trace.damaged_events = trace.counts.events - trace.events().count() as u32;
        trace
    }

    fn header(&self) -> &Header {
        // SAFETY: the memory starts with a header; all bit patterns are valid; what changes is atomic.
        unsafe { &*self.memory.start().cast::<Header>() }
    }

    /// The first `count` entries of the array at `offset`.
    ///
    /// # Safety
    /// `T` must be the array's element type, without invalid bit patterns, and `count` at most its
    /// capacity.
    unsafe fn array<T>(&self, offset: u64, count: u32) -> &[T] {
        debug_assert!(offset + u64::from(count) * size_of::<T>() as u64 <= self.layout.total);
        // SAFETY: inside the memory and aligned by `Layout`; nobody writes any more.
        unsafe {
            let start = self.memory.start().add(offset as usize).cast();
            std::slice::from_raw_parts(start, count as usize)
        }
    }

    fn raw_nodes(&self) -> &[Node] {
        // SAFETY: plain integers; clamped.
        unsafe { self.array(self.layout.nodes, self.counts.nodes) }
    }

    fn raw_events(&self) -> &[Event] {
        // SAFETY: plain integers; clamped.
        unsafe { self.array(self.layout.events, self.counts.events) }
    }

    fn raw_contexts(&self) -> &[Context] {
        // SAFETY: plain integers; clamped.
        unsafe { self.array(self.layout.contexts, self.counts.contexts) }
    }

    fn raw_objects(&self) -> &[Object] {
        // SAFETY: plain integers; clamped.
        unsafe { self.array(self.layout.objects, self.counts.objects) }
    }

    fn raw_tables(&self) -> &[Table] {
        // SAFETY: plain integers; clamped.
        unsafe { self.array(self.layout.tables, self.counts.tables) }
    }

    fn raw_sources(&self) -> &[Source] {
        // SAFETY: plain integers; clamped.
        unsafe { self.array(self.layout.sources, self.counts.sources) }
    }

    fn raw_losses(&self) -> &[Loss] {
        // SAFETY: plain integers; clamped.
        unsafe { self.array(self.layout.losses, self.counts.losses) }
    }

    fn blobs(&self) -> &[u8] {
        // SAFETY: bytes; clamped to the capacity.
        unsafe {
            let start = self.memory.start().add(self.layout.blobs as usize);
            std::slice::from_raw_parts(start, self.counts.blob_bytes as usize)
        }
    }

    /// `length` blob bytes from `offset`, if they are there.
    fn blob(&self, offset: u64, length: u64) -> Option<&[u8]> {
        let end = offset.checked_add(length)?;
        self.blobs()
            .get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
    }

    /// The node of a label, unless the label is 0 or the node is damaged.
    pub fn node(&self, label: u32) -> Option<&Node> {
        self.valid_nodes
            .contains(label)
            .then(|| &self.raw_nodes()[label as usize])
    }

    /// Number of undamaged nodes.
    pub fn node_count(&self) -> u32 {
        self.counts.nodes.saturating_sub(FIRST_NODE) - self.damaged_nodes
    }

    /// All undamaged nodes with their labels; operands come before what uses them.
    pub fn nodes(&self) -> impl Iterator<Item = (u32, &Node)> {
        (0..self.counts.nodes).filter_map(|label| Some((label, self.node(label)?)))
    }

    /// Nodes that were reserved but not written, or make no sense.
    pub fn damaged_nodes(&self) -> u32 {
        self.damaged_nodes
    }

    /// All undamaged events in the order in which they happened, with their kinds.
    pub fn events(&self) -> impl Iterator<Item = (EventKind, &Event)> {
        self.numbered_events().map(|(_, kind, event)| (kind, event))
    }

    /// The same with their numbers, in which those of damaged ones are left out.
    pub fn numbered_events(&self) -> impl Iterator<Item = (u32, EventKind, &Event)> {
        (0..).zip(self.raw_events()).filter_map(|(number, event)| {
            let kind = EventKind::from_byte(event.kind)?;
            let is_sound = self.event_is_sound(kind, event);
            is_sound.then_some((number, kind, event))
        })
    }

    /// The undamaged events of a kind, with their numbers.
    pub fn events_of(&self, kind: EventKind) -> impl Iterator<Item = (u32, &Event)> {
        (0..)
            .zip(self.raw_events())
            .filter(move |(_, event)| event.kind == kind as u8 && self.event_is_sound(kind, event))
    }

    /// Number of undamaged events.
    pub fn event_count(&self) -> u32 {
        self.counts.events - self.damaged_events
    }

    /// Events that were reserved but not written, or make no sense.
    pub fn damaged_events(&self) -> u32 {
        self.damaged_events
    }

    /// What the program said in an [`EventKind::Report`].
    pub fn report_message(&self, event: &Event) -> &[u8] {
        self.blob(event.y, event.label.into()).unwrap_or_default()
    }

    /// Whether everything that the event refers to exists.
    fn event_is_sound(&self, kind: EventKind, event: &Event) -> bool {
        let label = |label: u32| label == 0 || self.valid_nodes.contains(label);
        let object = |index: u32| index == 0 || index < self.counts.objects;
        let bit = |label: u32| self.node(label).is_some_and(|node| node.width == 1);
        match kind {
            EventKind::Branch | EventKind::Select | EventKind::Assume => {
                bit(event.label) && event.detail <= 1
            }
            EventKind::Switch | EventKind::Concretize | EventKind::Allocation => {
                self.valid_nodes.contains(event.label)
            }
            EventKind::Load | EventKind::Store => {
                self.valid_nodes.contains(event.label) && object(event.x)
            }
            EventKind::Length => label(event.label) && object(event.x),
            EventKind::Division | EventKind::Overflow => {
                label(event.label) && label(event.x) && Op::from_byte(event.detail).is_some()
            }
            EventKind::Format => {
                self.valid_nodes.contains(event.label) && self.valid_nodes.contains(event.x)
            }
            EventKind::Shift => label(event.label) && Op::from_byte(event.detail).is_some(),
            EventKind::IndirectCall | EventKind::Output => label(event.label),
            EventKind::Input | EventKind::EndOfInput => event.x < self.counts.sources,
            EventKind::Process | EventKind::Exit | EventKind::Report | EventKind::Access => true,
        }
    }

    /// Number of distinct calling contexts.
    pub fn context_count(&self) -> u32 {
        self.counts.contexts.saturating_sub(FIRST_CONTEXT - 1)
    }

    /// The call sites of a calling context, outermost first. Empty for the root; cut off at
    /// a damaged entry.
    pub fn call_stack(&self, context: u32) -> Vec<SiteId> {
        let mut sites: Vec<SiteId> = self.calls_outward(context).collect();
        sites.reverse();
        sites
    }

    /// The call sites of a calling context, innermost first. For those who need only some:
    /// recursion makes stacks of any depth.
    pub fn calls_outward(&self, context: u32) -> impl Iterator<Item = SiteId> {
        let mut at = context;
        std::iter::from_fn(move || {
            if at < FIRST_CONTEXT {
                return None;
            }
            let entry = self.raw_contexts().get(at as usize)?;
            // Parents come first; anything else is damage and could be a cycle.
            at = if entry.parent < at { entry.parent } else { 0 };
            Some(SiteId(entry.site))
        })
    }

    pub fn object_count(&self) -> u32 {
        self.counts.objects.saturating_sub(FIRST_OBJECT)
    }

    /// A memory object that a symbolic address was derived from.
    pub fn object(&self, index: u32) -> Option<ObjectView<'_>> {
        if index < FIRST_OBJECT {
            return None;
        }
        let object = self.raw_objects().get(index as usize)?;
        let name = self.blob(object.name, object.name_length.into());
        ObjectView::new(object, name.unwrap_or_default())
    }

    pub fn table_count(&self) -> u32 {
        self.counts.tables
    }

    /// Contents of an object that was read at a symbolic address.
    pub fn table(&self, index: u32) -> Option<TableView<'_>> {
        let table = self.raw_tables().get(index as usize)?;
        let bytes = self.blob(table.bytes, table.length.into())?;
        let labels = if table.labels == u64::MAX {
            None
        } else {
            let words = self.blob(table.labels, u64::from(table.length) * 4)?;
            // SAFETY: any bytes are valid words; misaligned ones end up outside the middle.
            let (before, words, after) = unsafe { words.align_to::<u32>() };
            if !before.is_empty() || !after.is_empty() {
                return None;
            }
            Some(words)
        };
        Some(TableView {
            base: table.base,
            bytes,
            labels,
        })
    }

    /// Index of the object that a table shows the contents of.
    pub fn table_object(&self, index: u32) -> Option<u32> {
        Some(self.raw_tables().get(index as usize)?.object)
    }

    pub fn source_count(&self) -> u32 {
        self.counts.sources
    }

    /// Where input came from; `None` if damaged.
    pub fn source(&self, index: u32) -> Option<InputSource<'_>> {
        let source = self.raw_sources().get(index as usize)?;
        let name = self.blob(source.name, source.name_length.into());
        InputSource::new(source, name.unwrap_or_default())
    }

    /// Precision that was given up, in order of first occurrence.
    pub fn losses(&self) -> impl Iterator<Item = LossRecord<'_>> {
        self.raw_losses().iter().filter_map(|loss| {
            let name = self.blob(loss.name, loss.name_length.into());
            LossRecord::new(loss, name.unwrap_or_default())
        })
    }

    /// More places lost precision than there was room to record.
    pub fn losses_are_cut(&self) -> bool {
        self.header().losses.load(Ordering::Relaxed) > self.limits.losses
    }

    /// What the runtime's own self-check found, as far as it was recorded.
    pub fn mismatches(&self) -> impl Iterator<Item = &Mismatch> {
        // SAFETY: plain integers; clamped.
        let all = unsafe { self.array::<Mismatch>(self.layout.mismatches, self.counts.mismatches) };
        // A mismatch always has a label: an entry without was reserved and not written.
        all.iter().filter(|mismatch| mismatch.label != 0)
    }

    /// How many mismatches the runtime found, recorded or not.
    pub fn mismatch_count(&self) -> u32 {
        self.header().mismatches.load(Ordering::Relaxed)
    }

    /// Why tracing ended before the program did.
    pub fn stop(&self) -> Option<Stop> {
        use Stop::*;
        let code = self.header().stop.load(Ordering::Relaxed);
        [
            Nodes, Events, Contexts, Objects, Tables, Blobs, Memory, Sources,
        ]
        .into_iter()
        .find(|stop| *stop as u32 == code)
    }

    /// Why the runtime did not trace although the program ran.
    pub fn refusal(&self) -> Option<trace::Refusal> {
        let code = self.header().refusal.load(Ordering::Relaxed);
        (code == trace::Refusal::AddressSpace as u32).then_some(trace::Refusal::AddressSpace)
    }

    /// Whether a runtime found the region at all: not so if the program is no traced one.
    pub fn attached(&self) -> bool {
        self.header().attached.load(Ordering::Relaxed) != 0
    }

    /// Number of processes that wrote to the trace.
    pub fn process_count(&self) -> u32 {
        self.header().processes.load(Ordering::Relaxed)
    }
}

/// A trace is a full store: it can be read, and takes nothing new.
impl Store for Trace {
    fn node(&self, label: Label) -> Node {
        self.raw_nodes()[label as usize]
    }

    fn intern(&mut self, _: Node) -> Label {
        0
    }

    fn table(&self, table: u32) -> TableView<'_> {
        // Valid nodes name valid tables only.
        Trace::table(self, table).unwrap_or(TableView {
            base: 0,
            bytes: &[],
            labels: None,
        })
    }
}
