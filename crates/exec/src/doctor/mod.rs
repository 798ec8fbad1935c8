//! What the machine offers and lacks, as data: every check says what was found, whether that
//! is enough, and what to do otherwise.

mod kernel;
mod tools;

use std::path::Path;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Good,
    /// Works, with something slower, less precise or unavailable.
    Limited,
    /// Something that Parallax is for does not work.
    Missing,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    pub status: Status,
    /// What was found.
    pub found: String,
    /// What to do, unless all is good: a command where there is one.
    pub advice: Option<String>,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Check {
        Check {
            name,
            status: Status::Good,
            found: found.into(),
            advice: None,
        }
    }

    fn limited(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Check {
        Check {
            name,
            status: Status::Limited,
            found: found.into(),
            advice: Some(advice.into()),
        }
    }

    fn missing(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Check {
        Check {
            status: Status::Missing,
            ..Check::limited(name, found, advice)
        }
    }
}

/// Looks at the compiler (`clang` as it will be called), the plug-in inside it, and the kernel.
pub fn machine(clang: &Path, plugin: Option<&Path>) -> Vec<Check> {
    let mut checks = tools::checks(clang, plugin);
    checks.extend(kernel::checks());
    checks
}
