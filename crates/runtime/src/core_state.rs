//! Everything that is guarded by the runtime's lock.

use crate::buffer::Buffer;
use crate::global::Global;
use crate::inputs::Inputs;
use crate::map::{Map, Seen};
use crate::memo::{BinaryKey, LoadKey, Memo};
use crate::models::Mapping;
use crate::nodes::Nodes;
use crate::objects::Objects;
use crate::settled::Settled;
use crate::tables::Tables;

/// The runtime's mutable state.
pub struct Core {
    pub nodes: Nodes,
    pub settled: Settled,
    pub operations: Memo<BinaryKey>,
    pub loads: Memo<LoadKey>,
    /// Contexts by (parent, site).
    pub contexts: Map,
    /// Loss records by (kind, site, name).
    pub losses: Map,
    /// Events that need no second log entry.
    pub seen: Seen,
    /// Branches and switches on input so far.
    pub decisions: u64,
    pub objects: Objects,
    pub tables: Tables,
    pub inputs: Inputs,
    /// Symbolic files that are mapped.
    pub mappings: Buffer<Mapping>,
}

/// Reached through [`crate::lock::enter`] only.
pub static CORE: Global<Core> = Global::new(Core {
    nodes: Nodes::new(),
    settled: Settled::new(),
    operations: Memo::new(),
    loads: Memo::new(),
    contexts: Map::new(),
    losses: Map::new(),
    seen: Seen::new(),
    decisions: 0,
    objects: Objects::new(),
    tables: Tables::new(),
    inputs: Inputs::new(),
    mappings: Buffer::new(),
});
