//! Layout of coverage counters: the shared memory that covered programs count in.
//!
//! One region serves any number of processes and programs: a [`Header`], a hash table of
//! [`Module`]s, then 32-bit counters, then a log. A module's counters follow the order of its
//! site table: one for each block, two for each branch (false side, true side). The
//! runtime side is `crates/runtime/coverage/coverage.c`, which mirrors this layout.
//!
//! Counters say what ran, not in which order. A counter whose highest bit is set is *watched*: each time that it
//! counts, its index among all counters goes into the log.

/// First word of a region.
pub const MAGIC: u64 = 0x7265_766f_6378_6c70; // "plxcover", little endian

/// Environment variable that carries the region's descriptor number.
pub const ENVIRONMENT: &str = "PARALLAX_COVER";

/// Slots of the module table; a power of two.
pub const MODULES: usize = 1 << 14;

/// Start of the module table in the region.
pub const MODULE_OFFSET: usize = 4096;

/// Start of the counters in the region.
pub const COUNTER_OFFSET: usize = MODULE_OFFSET + MODULES * core::mem::size_of::<Module>();

/// Set in counters whose counting is logged.
pub const WATCHED: u32 = 1 << 31;

/// Version of the layout.
pub const VERSION: u32 = 2;

/// [`Module::first`] of a module that asked for counters when too few were left.
pub const NO_ROOM: u32 = u32::MAX;

#[repr(C)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    /// Number of counters that fit.
    pub capacity: u32,
    /// Counters given out; past the capacity for the moment in which a module is refused.
    pub used: u32,
    /// How often a module found no room; once for each process that tried.
    pub refused: u32,
    /// Number of entries that fit into the log, which lies behind the counters.
    pub log: u32,
    /// Entries that were written; past `log` if some did not fit.
    pub logged: u32,
}

/// Where a module's counters are. Slot = the first free one from `id % MODULES` on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// Hash of the module's site table; 0 = free.
    pub id: u64,
    /// Index of the first counter plus one; 0 = being set up; [`NO_ROOM`].
    pub first: u32,
    pub count: u32,
}
