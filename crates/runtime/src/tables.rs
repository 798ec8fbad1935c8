//! Snapshots of memory objects that are read at symbolic addresses.
//!
//! A snapshot is the object's bytes with their labels. An object that does not
//! change between reads (a constant table, mostly) is stored once: the last
//! snapshot is compared first, then all of the object's earlier ones by hash.

use crate::buffer::Buffer;
use crate::core_state::Core;
use crate::map::Map;
use crate::{hash, objects, shadow, trace};
use parallax_abi::trace::{Stop, Table};

/// What all snapshots of one object may take; an object that keeps changing while it is read
/// would fill the trace with copies of itself.
const MAX_BYTES_PER_OBJECT: u64 = 4 << 20;

#[derive(Clone, Copy)]
struct PerObject {
    last: Option<u32>,
    bytes: u64,
}

pub struct Tables {
    /// Snapshots by (object, contents).
    records: Map,
    /// By object index.
    per_object: Buffer<PerObject>,
}

impl Tables {
    pub const fn new() -> Tables {
        Tables {
            records: Map::new(),
            per_object: Buffer::new(),
        }
    }

    fn of_object(&mut self, object: u32) -> Option<&mut PerObject> {
        while self.per_object.as_slice().len() <= object as usize {
            if !self.per_object.push(PerObject {
                last: None,
                bytes: 0,
            }) {
                return None;
            }
        }
        self.per_object.as_mut_slice().get_mut(object as usize)
    }
}

fn label_bytes(labels: &[u32]) -> &[u8] {
    // SAFETY: any bytes are valid `u8`s.
    unsafe { core::slice::from_raw_parts(labels.as_ptr().cast(), labels.len() * 4) }
}

/// Whether a stored table has this contents.
fn holds(table: u32, object: u32, bytes: &[u8], labels: Option<&[u32]>) -> bool {
    let table = trace::table(table);
    table.object == object
        && table.length as usize == bytes.len()
        && match labels {
            None => table.labels == u64::MAX,
            Some(labels) => {
                table.labels != u64::MAX
                    && trace::blob_at(table.labels, labels.len() * 4) == label_bytes(labels)
            }
        }
        && trace::blob_at(table.bytes, bytes.len()) == bytes
}

/// The table with the object's present contents; `None` if it cannot be had.
pub fn of_object(core: &mut Core, object: u32, site: u64) -> Option<u32> {
    let header = trace::header()?;
    let record = *trace::object(object);
    let fits = (1..=u64::from(header.max_table_bytes)).contains(&record.size);
    if !fits || !objects::is_alive(&record) {
        return None;
    }
    // SAFETY: a live object's memory can be read.
    let (bytes, labels) = unsafe {
        shadow::drop_stale(core, record.base, record.size, site);
        let bytes = core::slice::from_raw_parts(record.base as *const u8, record.size as usize);
        let labelled = shadow::peek(record.base, record.size);
        (
            bytes,
            labelled.then(|| shadow::label_words(record.base, record.size)),
        )
    };
    let PerObject { last, bytes: spent } = *core.tables.of_object(object)?;
    if let Some(last) = last.filter(|last| holds(*last, object, bytes, labels)) {
        return Some(last);
    }
    let label_hash = labels.map_or(0, |labels| hash::bytes(label_bytes(labels)));
    let key = hash::words(&[object.into(), hash::bytes(bytes), label_hash]);
    let known = core
        .tables
        .records
        .find(key, |table| holds(table, object, bytes, labels));
    let table = match known {
        Some(table) => table,
        None => {
            let cost = record.size * if labels.is_some() { 5 } else { 1 };
            if spent + cost > MAX_BYTES_PER_OBJECT {
                return None;
            }
            core.tables.of_object(object)?.bytes += cost;
            let table = trace::add_table(Table {
                base: record.base,
                length: record.size as u32,
                object,
                bytes: trace::blob(bytes, 8)?,
                labels: match labels {
                    Some(labels) => trace::blob(label_bytes(labels), 8)?,
                    None => u64::MAX,
                },
            })?;
            if !core.tables.records.insert(key, table) {
                trace::stop(Stop::Memory);
            }
            table
        }
    };
    core.tables.of_object(object)?.last = Some(table);
    Some(table)
}
