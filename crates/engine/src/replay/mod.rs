//! Runs scenarios again, natively: what is reported was seen here.

mod native;

pub use native::{Confirmed, Look, Native};
