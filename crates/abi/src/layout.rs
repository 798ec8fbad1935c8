//! Where the runtime's private tables live in a traced process.
//!
//! Three tables cover the whole user address space, each one reserved mapping
//! (`MAP_NORESERVE | MAP_FIXED_NOREPLACE`), touched only where used:
//!
//! * **labels**: one 32-bit word per byte of program memory, at
//!   [`label_address`]. A word is 0 (concrete) or `node << 4 | k`: byte `k` of
//!   node `node`'s value. Only the runtime reads or writes it.
//! * **presence**: one byte per 256-byte granule at [`presence_address`], nonzero
//!   if any byte of the granule *or one of the next 15 bytes* may carry a label.
//!   This is all that instrumented code looks at: an access of at most 16
//!   bytes is free of labels if the presence byte of its first byte is 0. The
//!   table is small enough to stay in the cache, and untouched memory costs
//!   no page of shadow.
//! * **sizes**: one 32-bit word per 16 bytes at [`size_address`]: the requested
//!   size (plus one) of the heap object that starts there, 0 elsewhere.

/// Addresses are folded to 44 bits for `labels` and `sizes`: text, heap, mappings and
/// stack of one process never collide in them (measured, with and without
/// address randomisation).
pub const ADDRESS_MASK: u64 = 0x0fff_ffff_ffff;

/// Start of the label table, 64 TiB.
pub const LABEL_BASE: u64 = 0x1000_0000_0000;
pub const LABEL_BYTES: u64 = 0x4000_0000_0000;

/// Start of the presence table, 512 GiB: indexed by the unfolded 47-bit address.
pub const PRESENCE_BASE: u64 = 0x0a00_0000_0000;
pub const PRESENCE_SHIFT: u32 = 8;
pub const PRESENCE_BYTES: u64 = 1 << (47 - PRESENCE_SHIFT);

/// Start of the heap size table, 4 TiB.
pub const SIZE_BASE: u64 = 0x0b00_0000_0000;
pub const SIZE_BYTES: u64 = 0x0400_0000_0000;

/// How far beyond a label its presence must be visible: the largest access
/// that instrumented code checks with one look.
pub const PRESENCE_REACH: u64 = 16;

/// Bits of a label word that say which byte of the node's value it is.
pub const LABEL_BYTE_BITS: u32 = 4;

/// Nodes must fit into a label word together with the byte index.
pub const MAX_NODES: u32 = 1 << (32 - LABEL_BYTE_BITS);

/// Address of the label word of the byte at `address`.
#[inline]
pub const fn label_address(address: u64) -> u64 {
    LABEL_BASE + ((address & ADDRESS_MASK) << 2)
}

/// Address of the presence byte that covers `address`.
#[inline]
pub const fn presence_address(address: u64) -> u64 {
    PRESENCE_BASE + (address >> PRESENCE_SHIFT)
}

/// Address of the size word of a heap object that starts at `address`.
#[inline]
pub const fn size_address(address: u64) -> u64 {
    SIZE_BASE + ((address & ADDRESS_MASK) >> 4 << 2)
}
