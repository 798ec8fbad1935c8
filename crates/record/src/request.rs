//! What a parent process asks of the plug-in inside clang.
//!
//! The plug-in has no command line of its own that would be safe to use (driver
//! flags leak into `-v`, into debug information, into other tools), so the request
//! travels beside it: one environment variable that either names a mode or says which
//! inherited descriptor holds a [`Capture`] request as JSON. A descriptor
//! because command lines may be longer than one environment variable can be.

use crate::Invocation;
use serde::{Deserialize, Serialize};

/// Environment variable that holds the request.
pub const ENVIRONMENT: &str = "PARALLAX_PLUGIN";

/// What the plug-in is to do with each module that clang compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Embed the module's bitcode; the [`Capture`] is in this descriptor.
    Capture { descriptor: i32 },
    /// Put labels into the module.
    Traced,
    /// Count blocks and branches.
    Covered,
    /// Mark every function for AddressSanitizer: bitcode that the front end did not
    /// make for it lacks the mark, and the sanitizer skips what is not marked.
    Checked,
}

impl Request {
    /// The value of [`ENVIRONMENT`].
    pub fn to_value(self) -> String {
        match self {
            Request::Capture { descriptor } => format!("capture:{descriptor}"),
            Request::Traced => "traced".to_owned(),
            Request::Covered => "covered".to_owned(),
            Request::Checked => "checked".to_owned(),
        }
    }

    /// Reads the value of [`ENVIRONMENT`].
    pub fn from_value(value: &str) -> Option<Request> {
        match value {
            "traced" => Some(Request::Traced),
            "covered" => Some(Request::Covered),
            "checked" => Some(Request::Checked),
            _ => {
                let descriptor = value.strip_prefix("capture:")?.parse().ok()?;
                Some(Request::Capture { descriptor })
            }
        }
    }
}

/// One run of the compiler driver whose modules are to be captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    pub compile: Invocation,
    pub units: Vec<Unit>,
    /// Where to report the key of each module whose source can be kept, as a line
    /// `<index of the unit> <key>`. Whoever asked keeps the sources once the compile is done.
    pub key_descriptor: i32,
    /// The user asked for no debug information: it is captured, then taken out of what
    /// clang goes on to compile.
    pub strip_debug: bool,
}

/// One source of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// As named on the command line; `-` for standard input.
    pub source: String,
    pub language: String,
    /// The source can be kept: the module's record is to have a key for it.
    pub keep_source: bool,
}

impl Capture {
    /// The unit that a module with this source file name was made from, by index.
    pub fn unit_of(&self, source_file_name: &str) -> Option<usize> {
        let stem = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.rsplit_once('.')
                .map_or(name, |(stem, _)| stem)
                .to_owned()
        };
        let position = |matches: &dyn Fn(&Unit) -> bool| self.units.iter().position(matches);
        position(&|unit| unit.source == source_file_name)
            // `-save-temps` gives the compiler an intermediate file of the same stem.
            .or_else(|| position(&|unit| stem(&unit.source) == stem(source_file_name)))
            .or((self.units.len() == 1).then_some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(sources: &[&str]) -> Capture {
        let unit = |source: &&str| Unit {
            source: (*source).to_owned(),
            language: "c".to_owned(),
            keep_source: false,
        };
        Capture {
            compile: Invocation {
                directory: "/".to_owned(),
                arguments: Vec::new(),
            },
            units: sources.iter().map(unit).collect(),
            key_descriptor: 0,
            strip_debug: false,
        }
    }

    #[test]
    fn requests_survive_the_environment() {
        for request in [
            Request::Capture { descriptor: 7 },
            Request::Traced,
            Request::Covered,
            Request::Checked,
        ] {
            assert_eq!(Request::from_value(&request.to_value()), Some(request));
        }
        assert_eq!(Request::from_value("capture:x"), None);
    }

    #[test]
    fn a_module_finds_its_source_exactly_then_by_stem_then_if_there_is_only_one() {
        let two = capture(&["dir/a.c", "b.c"]);
        assert_eq!(two.unit_of("b.c"), Some(1));
        assert_eq!(two.unit_of("a.i"), Some(0));
        assert_eq!(two.unit_of("x.c"), None);
        assert_eq!(capture(&["a.c"]).unit_of("<stdin>"), Some(0));
    }
}
