//! Errors as the user reads them: what, why, and what to do.

use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use parallax_engine::execute::ExecuteError;
use parallax_engine::region::RegionError;
use parallax_engine::run::RunError;
use parallax_engine::shared::SharedError;
use parallax_engine::sites::SitesError;
use parallax_store::StoreError;

use crate::console::{Palette, printable};
use crate::exit::Exit;

/// A command that could not do its work.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    message: String,
    causes: Vec<String>,
    /// What another tool said, as it said it.
    detail: String,
    hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure {
            exit,
            message: message.into(),
            causes: Vec::new(),
            detail: String::new(),
            hint: None,
        }
    }

    /// From an error and the errors behind it.
    pub fn from_error(exit: Exit, error: &dyn Error) -> Failure {
        let mut failure = Failure::new(exit, error.to_string());
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Some errors repeat their source in their own text.
            if !failure.message.contains(&text) {
                failure.causes.push(text);
            }
            source = cause.source();
        }
        failure
    }

    /// Of a file that something could not be done with: which, why, and what helps against that.
    pub fn of_file(exit: Exit, what: &str, path: &Path, error: &io::Error) -> Failure {
        use io::ErrorKind::*;
        let hint = match error.kind() {
            NotFound => "is the name right? ls shows what is there",
            PermissionDenied | ReadOnlyFilesystem => {
                "ls -ld shows who may; change that, or name another place"
            }
            StorageFull | QuotaExceeded => {
                "make room and run the command again; parallax clean shows what can be removed"
            }
            NotADirectory | AlreadyExists => {
                "a file is where a folder should be: move it away, or name another place"
            }
            IsADirectory => {
                "a folder is where a file should be: move it away, or name another place"
            }
            _ => "is the disk in order, and is the folder still there?",
        };
        Failure::new(exit, format!("{what} {}", path.display()))
            .cause(error.to_string())
            .hint(hint)
    }

    /// From a text whose first line says what is wrong and whose further lines say what to do.
    pub fn with_hint_below(exit: Exit, text: &str) -> Failure {
        match text.split_once('\n') {
            Some((message, hint)) => Failure::new(exit, message).hint(hint),
            None => Failure::new(exit, text),
        }
    }

    /// From a text whose first line says what is wrong and whose further lines are another tool's.
    pub fn with_detail_below(exit: Exit, text: &str) -> Failure {
        let (message, detail) = text.split_once('\n').unwrap_or((text, ""));
        Failure {
            detail: detail.to_owned(),
            ..Failure::new(exit, message.trim_end_matches(':'))
        }
    }

    /// What is wrong and why, in one line.
    pub fn in_a_line(&self) -> String {
        let parts = std::iter::once(&self.message).chain(&self.causes);
        parts.map(String::as_str).collect::<Vec<_>>().join(": ")
    }

    pub fn cause(mut self, cause: impl Into<String>) -> Failure {
        self.causes.push(cause.into());
        self
    }

    /// Lines of another tool or of a file, shown as they are.
    pub fn detail(mut self, detail: &str) -> Failure {
        self.detail = detail.to_owned();
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// For standard error.
    pub fn render(&self, palette: &Palette) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{} {}", palette.bad("error:"), self.message);
        for cause in &self.causes {
            let _ = writeln!(text, "  {} {cause}", palette.dim("cause:"));
        }
        for line in self.detail.lines() {
            let line = printable(line.as_bytes());
            let _ = writeln!(text, "  {} {line}", palette.dim("│"));
        }
        if let Some(hint) = &self.hint {
            for (at, line) in hint.lines().enumerate() {
                let lead = if at == 0 { "hint:" } else { "     " };
                let _ = writeln!(text, "  {} {line}", palette.good(lead));
            }
        }
        text
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        use RunError::*;
        let (exit, hint) = match &error {
            NotFound(_) => (
                Exit::Usage,
                Some("give the path of the program, as in ./prog"),
            ),
            IsDirectory(_) => (Exit::Usage, Some("give a program inside it")),
            Permission { .. } => (Exit::Usage, Some("chmod +x makes a file executable")),
            Format(_) | TooLong | Nul | Directory { .. } | Stdin { .. } => (Exit::Usage, None),
            Interpreter(_) => (
                Exit::Usage,
                Some("install the dynamic linker or interpreter that it names"),
            ),
            System { .. } => (Exit::Internal, None),
            KeeperLost => (
                Exit::Internal,
                Some("the program kills processes that are not its own; run it in a container"),
            ),
        };
        let failure = Failure::from_error(exit, &error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<ExecuteError> for Failure {
    fn from(error: ExecuteError) -> Failure {
        match error {
            ExecuteError::Run(error) => error.into(),
            _ => Failure::from_error(Exit::Internal, &error),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let (exit, hint) = match &error {
            StoreError::Damaged { .. } => (
                Exit::Internal,
                "parallax clean --store moves the store aside, whole, so that a new one can be begun",
            ),
            StoreError::Newer { .. } => (Exit::Usage, "use that version, or another directory"),
            StoreError::Full { .. } => (
                Exit::Internal,
                "make room and run the command again: it goes on where it was\n\
                 parallax clean shows what can be removed",
            ),
            StoreError::Io { .. } => (
                Exit::Internal,
                "is the directory there, may it be written, is its disk in order?",
            ),
            StoreError::Busy { .. } => (Exit::Internal, "look which parallax is stopped or hangs"),
            StoreError::Locked { .. } => (Exit::Usage, "wait until it has ended"),
            StoreError::NoScenario(_) => (Exit::Usage, "parallax scenarios lists them"),
            StoreError::Ambiguous { .. } => (Exit::Usage, "give more of its name"),
            StoreError::Database(_) => (
                Exit::Internal,
                "this is a defect of Parallax: please report it",
            ),
        };
        Failure::from_error(exit, &error).hint(hint)
    }
}

impl From<SharedError> for Failure {
    fn from(error: SharedError) -> Failure {
        let hint = match &error {
            SharedError::FileLimit { .. } => "ulimit -f unlimited",
            _ => "look at what `parallax doctor` says",
        };
        Failure::from_error(Exit::Internal, &error).hint(hint)
    }
}

impl From<RegionError> for Failure {
    fn from(error: RegionError) -> Failure {
        let hint = match &error {
            RegionError::Shared(SharedError::FileLimit { .. }) => {
                "ulimit -f unlimited, or lower --memory"
            }
            _ => "lower --memory, or look at what `parallax doctor` says",
        };
        Failure::from_error(Exit::Internal, &error).hint(hint)
    }
}

impl From<SitesError> for Failure {
    fn from(error: SitesError) -> Failure {
        Failure::from_error(Exit::Internal, &error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::from_error(Exit::Internal, &error)
    }
}
