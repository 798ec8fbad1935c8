//! The families, and how their cases are made.

mod formats;
mod numbers;
mod options;
mod regular;
mod scanning;
mod sorting;
mod streams;
mod strings;
mod wide;

use super::case::Case;
use crate::rng::Rng;

/// Functions that belong together, tested by one program.
pub struct Family {
    pub name: &'static str,
    /// Text of `models/<name>.c`.
    pub source: &'static str,
    /// Makes one case.
    pub generate: fn(&mut Rng) -> Case,
    /// Functions whose losses are known: what the model hands to the real function.
    pub known_losses: &'static [&'static str],
}

/// Everything that families include.
pub const HARNESS: &str = include_str!("../../../models/harness.h");

/// A family whose models lose nothing.
macro_rules! family {
    ($name:literal, $generate:path) => {
        family!($name, $generate, &[])
    };
    ($name:literal, $generate:path, $known_losses:expr) => {
        Family {
            name: $name,
            source: include_str!(concat!("../../../models/", $name, ".c")),
            generate: $generate,
            known_losses: $known_losses,
        }
    };
}

/// All families, in the order in which they are tried.
pub const ALL: &[Family] = &[
    family!("search", strings::search),
    family!("compare", strings::compare),
    family!("copy", strings::copy),
    family!("split", strings::split),
    family!("character", numbers::character),
    family!("number", numbers::number),
    // libc's are the results that take more than one rounding.
    family!("float", numbers::float, &["strtof", "strtod", "strtold"]),
    family!("stream", streams::stream),
    family!("getopt", options::getopt),
    family!("sort", sorting::sort),
    family!("multibyte", wide::multibyte),
    family!("wide_class", wide::class),
    family!("wide_string", wide::strings),
    family!("locale", wide::locale),
    family!("format", formats::format),
    family!("scan", scanning::scan, &["strtof", "strtod", "strtold"]),
    family!("wide_stream", wide::stream),
    family!("wildcard", wide::wildcard),
    family!("divide", numbers::divide),
    family!("regular", regular::regular),
];
