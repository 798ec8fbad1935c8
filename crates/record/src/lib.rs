//! Records in the section [`SECTION`] of objects, archives, libraries and programs.
//!
//! The linker concatenates the sections of all objects that it really took, so a
//! linked program carries one module record per captured object in it, in link order, plus
//! one link record: the program describes itself, even when its objects are gone.
//!
//! A record is self-delimiting and padded to 16 bytes, so that concatenation
//! with any alignment padding (zero bytes) can be read back:
//!
//! ```text
//! magic 8 bytes │ kind u32 │ meta length u32 │ data length u64 │ meta (JSON) │ data (zstd) │ zero padding
//! ```
//!
//! Meta is small and readable; data is bulk (bitcode, nothing, ...), compressed.

pub mod code;
mod frame;
mod module;
pub mod request;
mod sites;

pub use frame::{Frame, Kind, RecordError, encode, frames};
pub use module::{InputKind, Invocation, LinkInput, LinkRecord, ModuleRecord};
pub use sites::{FunctionSites, Site, SiteTable, SitesMeta};

/// Name of the section; not allocated, so it is never loaded.
pub const SECTION: &str = ".parallax";
