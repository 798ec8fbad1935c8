//! A project under test: its configuration, the revisions of its source, and their builds.
//!
//! * [`Project::find`] finds and reads `parallax.toml` ([`config`]).
//! * [`detect`] looks at a source tree and proposes that file.
//! * [`Project::select`] turns what the user typed (`HEAD~1..HEAD`, `--cached`, nothing) into [`Revision`]s.
//! * [`Builds::ensure`] builds a revision with parallax-cc, outside of the user's checkout, or finds the build
//!   that was made before.
//! * [`Builds::trial`] is a build in which parts of a patch are left out, and [`delta`] finds the parts that are needed.
//!
//! Nothing here writes to the user's files: everything is made below `.parallax/` at the top of the project.

pub mod accepted;
pub mod build;
pub mod config;
pub mod delta;
pub mod detect;
pub mod idiom;
pub mod pattern;
pub mod programs;
mod project;
pub mod quantity;
pub mod revision;
pub mod tools;

pub use build::{Build, BuildError, Builds, Event, Toolchain, Trial, Tried};
pub use config::{Config, ConfigError};
pub use programs::Program;
pub use project::{Project, ProjectError};
pub use revision::{Hunk, Patch, Revision, RevisionError, Selected, Selection, Usual};
