//! The sites of one module: what a site id stands for.

use serde::{Deserialize, Serialize};

/// Meta of a sites record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SitesMeta {
    /// Hash of the table, by which counters in shared memory find it.
    pub module: u64,
}

/// All sites of one module, in program order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTable {
    /// Source files, as in the debug information (directory joined, not made absolute twice).
    pub files: Vec<String>,
    pub functions: Vec<FunctionSites>,
}

/// The sites of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionSites {
    pub name: String,
    /// Index into [`SiteTable::files`].
    pub file: u32,
    pub line: u32,
    pub sites: Vec<Site>,
}

/// One site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// A `parallax_abi::SiteId`.
    pub id: u64,
    /// A `parallax_abi::SiteKind`.
    pub kind: u8,
    /// Index into [`SiteTable::files`]: differs from the function's for inlined code.
    pub file: u32,
    /// 0 if the compiler gave no line.
    pub line: u32,
    pub column: u32,
    /// Case values of a `switch`, in successor order (the default, 0, is not listed).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<u64>,
    /// Blocks: the first block site of each successor; branches: where each side leads
    /// (false side first).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub successors: Vec<u64>,
    /// Copies that were inlined before tracing: the id of the site that this is a copy of;
    /// 0 for the site itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub original: u64,
    /// Copies that were inlined before tracing: the calls through which, outermost first. A call
    /// stack at this site continues with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<u64>,
    /// Name of the directly called function, or kind of instruction for `Other`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
