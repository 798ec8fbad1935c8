//! A trace region of the process's own, which nobody reads: the machinery at
//! full work under a foreign test suite.

use crate::{sys, trace};
use parallax_abi::VERSION;
use parallax_abi::trace::*;

const PAGE: u64 = 4096;
const MANY: u32 = 4 << 20;
const FEW: u32 = 64 << 10;
const BLOB_BYTES: u64 = 256 << 20;

/// Creates and attaches a region in which everything is symbolic.
pub fn create() -> Option<()> {
    let (base, size) = allocate()?;
    trace::use_region(base, size).ok()
}

/// Memory with a header that describes it.
fn allocate() -> Option<(usize, usize)> {
    let mut end = PAGE;
    let mut place = |capacity: u64, record: usize| {
        let offset = end;
        end = (end + capacity * record as u64).next_multiple_of(PAGE);
        offset
    };
    let node_offset = place(MANY.into(), size_of::<Node>());
    let event_offset = place(MANY.into(), size_of::<Event>());
    let context_offset = place(MANY.into(), size_of::<Context>());
    let object_offset = place(MANY.into(), size_of::<Object>());
    let table_offset = place(FEW.into(), size_of::<Table>());
    let source_offset = place(FEW.into(), size_of::<Source>());
    let loss_offset = place(FEW.into(), size_of::<Loss>());
    let mismatch_offset = place(FEW.into(), size_of::<Mismatch>());
    let blob_offset = place(BLOB_BYTES, 1);
    let base = sys::allocate(end as usize)?;
    let header = Header {
        magic: MAGIC,
        version: VERSION,
        flags: flags::ARGV | flags::STDIN | flags::FILES,
        node_capacity: MANY,
        event_capacity: MANY,
        context_capacity: MANY,
        object_capacity: MANY,
        table_capacity: FEW,
        source_capacity: FEW,
        loss_capacity: FEW,
        mismatch_capacity: FEW,
        blob_capacity: BLOB_BYTES,
        node_offset,
        event_offset,
        context_offset,
        object_offset,
        table_offset,
        source_offset,
        loss_offset,
        mismatch_offset,
        blob_offset,
        max_table_bytes: 64 << 10,
        max_depth: 1000,
        nodes: FIRST_NODE.into(),
        contexts: FIRST_CONTEXT.into(),
        objects: FIRST_OBJECT.into(),
        ..Header::default()
    };
    // SAFETY: fresh memory, larger than a header.
    unsafe { (base as *mut Header).write(header) };
    Some((base, end as usize))
}
