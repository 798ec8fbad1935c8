//! Runs scenarios again, natively: what is reported was seen here.

mod native;
mod subject;

pub use native::{Confirmed, Native};
pub use subject::{Build, ReplayError, Replayer, Seen, Subject};
