//! Sizes and times on the command line and in reports.

pub use parallax_project::quantity::{parse_bytes, parse_seconds, parse_time};
pub use parallax_report::words::{counted, show_bytes, show_count, show_time};
