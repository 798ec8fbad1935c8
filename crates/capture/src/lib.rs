//! Capturing C programs while they are built, and making other programs from what was captured.
//!
//! Two halves that meet only in the records that captured programs carry
//! (see [`parallax_record`]):
//!
//! * [`driver::run`] is `parallax-cc`: it runs clang with the plug-in loaded, so that each
//!   object carries its own bitcode, and adds one record to each link.
//! * [`read_program`] reads a captured program back, and [`derive()`] makes its variants: the traced,
//!   the checked and the covered program, by linking the same line again with
//!   other objects.
//!
//! No LLVM is linked into this crate: all work on bitcode happens in clang processes.

mod arguments;
mod derive;
pub mod driver;
mod elf;
mod inputs;
mod inventory;
mod program;
mod store;
mod tools;

pub use derive::{DeriveError, Derived, Options, Progress, Variant, cached_modules, derive, side};
pub use inventory::{Foreign, Inventory, inventory};
pub use program::{Module, Program, ReadError, read_code, read_program, read_sites};
pub use store::Store;
pub use tools::{Compiler, ToolError, clang};
