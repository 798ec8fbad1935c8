//! Sites: the places in a program that events speak of.
//!
//! A site's id is a hash of what stays the same when unrelated code changes:
//! source file, function, the structure of its basic block and the ordinal
//! among equal ones. Never of a line number or an address. The same id is used by the traced
//! program, the covered program and the static analyses.

/// Stable 64-bit identity of a site; 0 is "no site".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct SiteId(pub u64);

/// What stands at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SiteKind {
    /// Start of a basic block.
    Block = 0,
    /// Two-way conditional branch.
    Branch = 1,
    /// `switch`.
    Switch = 2,
    /// Conditional expression without control flow.
    Select = 3,
    /// Direct or indirect call.
    Call = 4,
    /// Memory read.
    Load = 5,
    /// Memory write.
    Store = 6,
    /// Arithmetic that can fail or is worth naming: division, shift, signed overflow.
    Arithmetic = 7,
    /// Anything else that an event or a loss can point to.
    Other = 8,
}

impl SiteKind {
    /// Decodes the byte used in trace and site tables.
    pub fn from_byte(byte: u8) -> Option<SiteKind> {
        use SiteKind::*;
        [
            Block, Branch, Switch, Select, Call, Load, Store, Arithmetic, Other,
        ]
        .get(usize::from(byte))
        .copied()
    }
}
