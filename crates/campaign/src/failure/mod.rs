//! Errors as the user reads them: what, why, and what to do.
//!
//! What to do is not left to whoever remembers it: [`Failure::new`] gives something [`Wrong`], and only its
//! [`hint`](Wrong::hint) makes the failure that a command can end in.

mod engine;
mod project;
mod store;
#[cfg(test)]
mod table;

use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use parallax_report::palette::Palette;
use parallax_report::words::printable;

use crate::exit::Exit;

/// A command that could not do its work.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    wrong: Wrong,
    hint: String,
}

/// What is wrong, and why; what to do has to be said yet.
#[derive(Debug)]
#[must_use]
pub struct Wrong {
    exit: Exit,
    message: String,
    causes: Vec<String>,
    /// What another tool said, as it said it.
    detail: String,
}

impl Failure {
    #[expect(
        clippy::new_ret_no_self,
        reason = "a failure without a hint is none yet"
    )]
    pub fn new(exit: Exit, message: impl Into<String>) -> Wrong {
        Wrong {
            exit,
            message: message.into(),
            causes: Vec::new(),
            detail: String::new(),
        }
    }

    /// From an error and the errors behind it.
    pub fn from_error(exit: Exit, error: &dyn Error) -> Wrong {
        let mut wrong = Failure::new(exit, error.to_string());
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Some errors repeat their source in their own text.
            if !wrong.message.contains(&text) {
                wrong.causes.push(text);
            }
            source = cause.source();
        }
        wrong
    }

    /// What only a mistake in Parallax itself can lead to.
    pub fn defect(error: &dyn Error) -> Failure {
        Failure::from_error(Exit::Internal, error)
            .hint("this is a defect of Parallax: please report it")
    }

    /// Of something that Parallax made itself and cannot read.
    pub fn of_derived(error: &dyn Error) -> Failure {
        Failure::from_error(Exit::Internal, error)
            .hint("parallax clean removes what was derived, so that it is made again")
    }

    /// Of a file that something could not be done with: which, why, and what helps against that.
    pub fn of_file(exit: Exit, what: &str, path: &Path, error: &io::Error) -> Failure {
        Failure::new(exit, format!("{what} {}", path.display()))
            .cause(error.to_string())
            .hint(against(error))
    }

    /// The same for `map_err`, where it is no wrong use: what cannot be done with the file.
    pub fn cannot(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
        move |error| Failure::of_file(Exit::Internal, &format!("cannot {what}"), path, &error)
    }

    /// From a text whose first line says what is wrong and whose further lines are another tool's.
    pub fn with_detail_below(exit: Exit, text: &str) -> Wrong {
        let (message, detail) = text.split_once('\n').unwrap_or((text, ""));
        Failure::new(exit, message.trim_end_matches(':')).detail(detail)
    }

    /// One more reason.
    pub fn cause(mut self, cause: impl Into<String>) -> Failure {
        self.wrong = self.wrong.cause(cause);
        self
    }

    /// What is wrong and why, in one line.
    pub fn in_a_line(&self) -> String {
        let parts = std::iter::once(&self.wrong.message).chain(&self.wrong.causes);
        parts.map(String::as_str).collect::<Vec<_>>().join(": ")
    }

    /// For standard error.
    pub fn render(&self, palette: &Palette) -> String {
        let mut text = String::new();
        let wrong = &self.wrong;
        let _ = writeln!(text, "{} {}", palette.bad("error:"), wrong.message);
        for cause in &wrong.causes {
            let _ = writeln!(text, "  {} {cause}", palette.dim("cause:"));
        }
        for line in wrong.detail.lines() {
            let line = printable(line.as_bytes());
            let _ = writeln!(text, "  {} {line}", palette.dim("│"));
        }
        for (at, line) in self.hint.lines().enumerate() {
            let lead = if at == 0 { "hint:" } else { "     " };
            let _ = writeln!(text, "  {} {line}", palette.good(lead));
        }
        text
    }
}

impl Wrong {
    pub fn cause(mut self, cause: impl Into<String>) -> Wrong {
        self.causes.push(cause.into());
        self
    }

    /// Lines of another tool or of a file, shown as they are.
    pub fn detail(mut self, detail: &str) -> Wrong {
        self.detail = detail.to_owned();
        self
    }

    /// What to do, in one line or several.
    pub fn hint(self, hint: impl Into<String>) -> Failure {
        Failure {
            exit: self.exit,
            wrong: self,
            hint: hint.into(),
        }
    }
}

/// What helps where the system refused a file.
pub fn against(error: &io::Error) -> &'static str {
    use io::ErrorKind::*;
    match error.kind() {
        NotFound => "is the name right? ls shows what is there",
        PermissionDenied | ReadOnlyFilesystem => {
            "ls -ld shows who may; change that, or name another place"
        }
        StorageFull | QuotaExceeded => {
            "make room and run the command again; parallax clean shows what can be removed"
        }
        FileTooLarge => "files are limited here: ulimit -f unlimited",
        NotADirectory | AlreadyExists => {
            "a file is where a folder should be: move it away, or name another place"
        }
        IsADirectory => "a folder is where a file should be: move it away, or name another place",
        _ => {
            "is the folder still there, may it be written (ls -ld, ulimit -f), and is its disk in order?"
        }
    }
}
