//! How a command ends, for scripts and CI, and what the store keeps of that.

/// Exit codes of every subcommand. (`parallax-cc` ends as the compiler does.)
///
/// How the *program under test* ended does not decide: a crash, a timeout or too much memory is an answer, shown in the
/// report, and the exit code is still 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; nothing found.
    Clean = 0,
    /// Done; there are findings (`trace --self-check`: mismatches; `doctor`: something is missing).
    Findings = 1,
    /// Wrong use: unknown option, missing file, program not built with parallax-cc.
    Usage = 2,
    /// A revision does not build, or a program could not be derived: compiler missing or failing.
    BuildFailed = 3,
    /// `check`: nothing was found, but no input ran what the patch changes, so that says nothing.
    NotTested = 4,
    /// A defect of Parallax, or the machine is out of something.
    Internal = 70,
    /// `check`: a version does not build, so there is nothing to say about the patch; what `git bisect run` skips.
    CannotTest = 125,
    /// Ended by Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        (exit as u8).into()
    }
}
