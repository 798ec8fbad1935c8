//! The trace region: mapped shared memory that this process appends to.
//!
//! Set up once, before the program has threads; afterwards only cursors and
//! fresh records change. All appends are lock-free on the shared side, because
//! several processes can write to one region.

use crate::global::Global;
use crate::{server, sys};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*};
use parallax_abi::VERSION;
use parallax_abi::layout::MAX_NODES;
use parallax_abi::trace::*;

/// Where the arrays of the attached region are.
#[derive(Clone, Copy)]
pub struct Region {
    header: *const Header,
    nodes: *mut Node,
    events: *mut Event,
    contexts: *mut Context,
    objects: *mut Object,
    tables: *mut Table,
    sources: *mut Source,
    losses: *mut Loss,
    mismatches: *mut Mismatch,
    blobs: *mut u8,
}

const NONE: Region = Region {
    header: core::ptr::null(),
    nodes: core::ptr::null_mut(),
    events: core::ptr::null_mut(),
    contexts: core::ptr::null_mut(),
    objects: core::ptr::null_mut(),
    tables: core::ptr::null_mut(),
    sources: core::ptr::null_mut(),
    losses: core::ptr::null_mut(),
    mismatches: core::ptr::null_mut(),
    blobs: core::ptr::null_mut(),
};

static REGION: Global<Region> = Global::new(NONE);
/// Whether labels may be created: a trace is attached and no limit was hit.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// Not 0 while accesses through concrete addresses are events: instrumented code looks here before it calls.
#[unsafe(export_name = "__plx_watching")]
static WATCHING: AtomicU32 = AtomicU32::new(0);
/// Number of this process in the trace.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Whether labels may be created and looked at.
#[inline(always)]
pub fn active() -> bool {
    ACTIVE.load(Relaxed)
}

/// Whether objects must be known: to this trace, or to those of the runs that this process will serve.
#[inline(always)]
pub fn keeps_books() -> bool {
    active() || server::is_waiting()
}

/// The attached region. Meaningful only if tracing is or was active.
#[inline(always)]
pub fn region() -> &'static Region {
    // SAFETY: written before there are threads, read-only afterwards.
    unsafe { &*REGION.get() }
}

/// The region's header, if one is attached.
pub fn header() -> Option<&'static Header> {
    // SAFETY: null or mapped for the life of the process.
    unsafe { region().header.as_ref() }
}

/// Ends tracing for good, for this reason.
#[cold]
pub fn stop(reason: Stop) {
    ACTIVE.store(false, Relaxed);
    WATCHING.store(0, Relaxed);
    if let Some(header) = header() {
        let _ = header
            .stop
            .compare_exchange(0, reason as u32, Relaxed, Relaxed);
    }
}

/// Whether a flag of the header is set.
pub fn has_flag(flag: u32) -> bool {
    header().is_some_and(|header| header.flags & flag != 0)
}

/// Why a region cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub enum AttachError {
    Unmappable,
    /// Not a region, or of another version.
    Foreign,
    /// An array lies outside the file.
    TooSmall,
}

/// Attaches to the region in the file behind `descriptor`.
pub fn attach(descriptor: i32) -> Result<(), AttachError> {
    let status = sys::fstat(descriptor).map_err(|_| AttachError::Unmappable)?;
    let size = status.size as usize;
    if size < size_of::<Header>() {
        return Err(AttachError::TooSmall);
    }
    // SAFETY: the kernel picks an address that is free.
    let base = unsafe { sys::mmap(0, size, sys::MAP_SHARED, descriptor) }
        .map_err(|_| AttachError::Unmappable)?;
    sys::advise(base, size, sys::MADV_DONTDUMP);
    let attached = use_region(base, size);
    if attached.is_err() {
        // SAFETY: nobody knows the mapping yet.
        unsafe { sys::unmap(base, size) };
    }
    attached
}

/// Starts tracing into a region that is mapped at `base`.
pub fn use_region(base: usize, size: usize) -> Result<(), AttachError> {
    let header = base as *const Header;
    // SAFETY: the region is at least as large as a header.
    let view = unsafe { &*header };
    if view.magic != MAGIC || view.version != VERSION {
        return Err(AttachError::Foreign);
    }
    let array = |offset: u64, capacity: u64, record: usize| {
        let end = capacity
            .checked_mul(record as u64)
            .and_then(|bytes| bytes.checked_add(offset));
        match end {
            Some(end) if end <= size as u64 && offset.is_multiple_of(8) => {
                Ok(base + offset as usize)
            }
            _ => Err(AttachError::TooSmall),
        }
    };
    fn of<T>(address: usize) -> *mut T {
        address as *mut T
    }
    if view.node_capacity > MAX_NODES {
        return Err(AttachError::Foreign);
    }
    let region = Region {
        header,
        nodes: of(array(
            view.node_offset,
            view.node_capacity.into(),
            size_of::<Node>(),
        )?),
        events: of(array(
            view.event_offset,
            view.event_capacity.into(),
            size_of::<Event>(),
        )?),
        contexts: of(array(
            view.context_offset,
            view.context_capacity.into(),
            size_of::<Context>(),
        )?),
        objects: of(array(
            view.object_offset,
            view.object_capacity.into(),
            size_of::<Object>(),
        )?),
        tables: of(array(
            view.table_offset,
            view.table_capacity.into(),
            size_of::<Table>(),
        )?),
        sources: of(array(
            view.source_offset,
            view.source_capacity.into(),
            size_of::<Source>(),
        )?),
        losses: of(array(
            view.loss_offset,
            view.loss_capacity.into(),
            size_of::<Loss>(),
        )?),
        mismatches: of(array(
            view.mismatch_offset,
            view.mismatch_capacity.into(),
            size_of::<Mismatch>(),
        )?),
        blobs: of(array(view.blob_offset, view.blob_capacity, 1)?),
    };
    // SAFETY: called before there are threads.
    unsafe { *REGION.get() = region };
    ACTIVE.store(view.stop.load(Relaxed) == 0, Relaxed);
    WATCHING.store(view.flags & flags::ACCESSES, Relaxed);
    Ok(())
}

/// Takes a number for this process and logs that it is there. True for the
/// first process of the trace.
pub fn announce_process(pid: u32, forked: bool) -> bool {
    let Some(header) = header() else {
        return false;
    };
    let number = header.processes.fetch_add(1, Relaxed) + 1;
    PROCESS.store(number, Relaxed);
    let first = header.attached.swap(1, Relaxed) == 0;
    event(Event {
        detail: u8::from(forked),
        context: ROOT_CONTEXT,
        y: pid.into(),
        ..new_event(EventKind::Process)
    });
    first
}

/// Context of whatever has no instrumented caller.
pub const ROOT_CONTEXT: u32 = 1;

/// An event of this process with all else zero.
pub fn new_event(kind: EventKind) -> Event {
    Event {
        kind: kind as u8,
        detail: 0,
        process: PROCESS.load(Relaxed) as u16,
        label: 0,
        site: 0,
        context: 0,
        x: 0,
        y: 0,
    }
}

/// Takes the next index of an array; stops tracing if there is none.
#[inline(always)]
fn reserve(cursor: &AtomicU32, capacity: u32, full: Stop) -> Option<u32> {
    let index = cursor.fetch_add(1, Relaxed);
    if index < capacity {
        return Some(index);
    }
    // Keep the cursor from wrapping round.
    cursor.store(capacity, Relaxed);
    stop(full);
    None
}

/// Appends an event. Its kind is written last: a reader that finds 0 there knows
/// that the writer died in between.
#[inline]
pub fn event(event: Event) {
    let Some(header) = header() else { return };
    if !active() {
        return;
    }
    if let Some(index) = reserve(&header.events, header.event_capacity, Stop::Events) {
        // SAFETY: the index is below the capacity and ours alone.
        unsafe {
            let slot = region().events.add(index as usize);
            slot.write(Event { kind: 0, ..event });
            core::sync::atomic::compiler_fence(Release);
            (&raw mut (*slot).kind).write_volatile(event.kind);
        }
    }
}

/// The node `label`; the label must have been given out.
#[inline(always)]
pub fn node(label: u32) -> &'static Node {
    // SAFETY: labels given out are below the capacity; nodes never change.
    unsafe { &*region().nodes.add(label as usize) }
}

/// Appends a node.
#[inline]
pub fn add_node(node: Node) -> Option<u32> {
    let header = header()?;
    let index = reserve(&header.nodes, header.node_capacity, Stop::Nodes)?;
    // SAFETY: the index is below the capacity and ours alone.
    unsafe { region().nodes.add(index as usize).write(node) };
    Some(index)
}

pub fn add_context(context: Context) -> Option<u32> {
    let header = header()?;
    let index = reserve(&header.contexts, header.context_capacity, Stop::Contexts)?;
    // SAFETY: as in `add_node`.
    unsafe { region().contexts.add(index as usize).write(context) };
    Some(index)
}

pub fn context(index: u32) -> &'static Context {
    // SAFETY: the index was given out.
    unsafe { &*region().contexts.add(index as usize) }
}

pub fn add_object(object: Object) -> Option<u32> {
    let header = header()?;
    let index = reserve(&header.objects, header.object_capacity, Stop::Objects)?;
    // SAFETY: as in `add_node`.
    unsafe { region().objects.add(index as usize).write(object) };
    Some(index)
}

pub fn object(index: u32) -> &'static Object {
    // SAFETY: the index was given out.
    unsafe { &*region().objects.add(index as usize) }
}

pub fn add_table(table: Table) -> Option<u32> {
    let header = header()?;
    let index = reserve(&header.tables, header.table_capacity, Stop::Tables)?;
    // SAFETY: as in `add_node`.
    unsafe { region().tables.add(index as usize).write(table) };
    Some(index)
}

pub fn table(index: u32) -> &'static Table {
    // SAFETY: the index was given out.
    unsafe { &*region().tables.add(index as usize) }
}

pub fn add_source(source: Source) -> Option<u32> {
    let header = header()?;
    let index = reserve(&header.sources, header.source_capacity, Stop::Sources)?;
    // SAFETY: as in `add_node`.
    unsafe { region().sources.add(index as usize).write(source) };
    Some(index)
}

/// All sources known so far, of all processes.
pub fn sources() -> &'static [Source] {
    let Some(header) = header() else { return &[] };
    let count = header.sources.load(Relaxed).min(header.source_capacity);
    // SAFETY: a source that another process is just writing is all zero or
    // complete enough: no kind matches before it is written.
    unsafe { core::slice::from_raw_parts(region().sources, count as usize) }
}

/// Counts bytes that were taken from a source without offset; how many were taken before.
pub fn take_from(source: u32, count: u64) -> u64 {
    // SAFETY: the index was given out; all processes change the field by this function only.
    unsafe {
        let taken = &raw mut (*region().sources.add(source as usize)).taken;
        AtomicU64::from_ptr(taken).fetch_add(count, Relaxed)
    }
}

/// Names of the environment variables whose values are symbolic.
pub fn environment_names() -> impl Iterator<Item = &'static [u8]> {
    let length = header().map_or(0, |header| header.environment_length);
    names_at(0, length.into())
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
}

/// Names of the files that the run was given: C strings, one after the other.
pub fn given_names() -> &'static [u8] {
    header().map_or(&[], |header| {
        names_at(header.environment_length.into(), header.given_length.into())
    })
}

/// Text that the region came with.
fn names_at(start: u64, length: u64) -> &'static [u8] {
    let capacity = header().map_or(0, |header| header.blob_capacity);
    if length == 0 || start + length > capacity {
        return &[];
    }
    blob_at(start, length as usize)
}

/// Appends a loss record. A full array loses the record, not the trace.
pub fn add_loss(kind: LossKind, site: u64, name: &[u8]) -> Option<u32> {
    let header = header()?;
    let (name, name_length) = match name {
        [] => (0, 0),
        name => (blob(name, 1)?, name.len() as u32),
    };
    let index = header.losses.fetch_add(1, Relaxed);
    if index >= header.loss_capacity {
        header.losses.store(header.loss_capacity, Relaxed);
        return None;
    }
    let kind = kind as u32;
    let record = Loss {
        kind,
        count: AtomicU32::new(0),
        site,
        name,
        name_length,
        padding: 0,
    };
    // SAFETY: as in `add_node`.
    unsafe { region().losses.add(index as usize).write(record) };
    Some(index)
}

/// Counts a loss that has a record.
pub fn count_loss(index: u32) {
    // SAFETY: the index was given out.
    let loss = unsafe { &*region().losses.add(index as usize) };
    loss.count.fetch_add(1, Relaxed);
}

/// Appends a mismatch; a full array keeps the first ones, the cursor counts on.
pub fn add_mismatch(mismatch: Mismatch) {
    let Some(header) = header() else { return };
    let index = header.mismatches.fetch_add(1, Relaxed);
    if index < header.mismatch_capacity {
        // SAFETY: as in `add_node`.
        unsafe { region().mismatches.add(index as usize).write(mismatch) };
    }
}

/// Room for `length` bytes of blob, aligned to `align` (a power of two): offset and address.
pub fn reserve_blob(length: usize, align: u64) -> Option<(u64, *mut u8)> {
    let header = header()?;
    let cursor: &AtomicU64 = &header.blob_bytes;
    let mut from = cursor.load(Relaxed);
    loop {
        let start = from.next_multiple_of(align);
        let end = start.checked_add(length as u64)?;
        if end > header.blob_capacity {
            stop(Stop::Blobs);
            return None;
        }
        match cursor.compare_exchange_weak(from, end, Relaxed, Relaxed) {
            // SAFETY: inside the blob array.
            Ok(_) => return Some((start, unsafe { region().blobs.add(start as usize) })),
            Err(now) => from = now,
        }
    }
}

/// Appends bytes to the blobs.
pub fn blob(bytes: &[u8], align: u64) -> Option<u64> {
    let (offset, address) = reserve_blob(bytes.len(), align)?;
    // SAFETY: the room was reserved for us.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), address, bytes.len()) };
    Some(offset)
}

/// Bytes of a blob that was written before.
pub fn blob_at(offset: u64, length: usize) -> &'static [u8] {
    // SAFETY: offsets given out lie inside the array.
    unsafe { core::slice::from_raw_parts(region().blobs.add(offset as usize), length) }
}

/// Whether a loss record is about this.
pub fn loss_is(index: u32, kind: LossKind, site: u64, name: &[u8]) -> bool {
    // SAFETY: the index was given out.
    let loss = unsafe { &*region().losses.add(index as usize) };
    loss.kind == kind as u32
        && loss.site == site
        && blob_at(loss.name, loss.name_length as usize) == name
}
