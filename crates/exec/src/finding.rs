//! Findings: what went wrong, on which input, seen natively.

use serde::{Deserialize, Serialize};

use crate::run::{End, Outcome};
use crate::sanitizer::{self, Report};
pub use parallax_scenario::signal_name;
use parallax_scenario::{Ending, Scenario};

/// What went wrong in one version of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    OutOfBounds,
    NullDereference,
    UseAfterFree,
    DivisionByZero,
    Overflow,
    Shift,
    Assertion,
    Abort,
    Crash,
    Timeout,
    ReachedError,
    /// Behaviour that C does not define, of any other kind.
    Undefined,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::OutOfBounds => "out-of-bounds",
            Kind::NullDereference => "null-dereference",
            Kind::UseAfterFree => "use-after-free",
            Kind::DivisionByZero => "division-by-zero",
            Kind::Overflow => "overflow",
            Kind::Shift => "shift",
            Kind::Assertion => "assertion",
            Kind::Abort => "abort",
            Kind::Crash => "crash",
            Kind::Timeout => "timeout",
            Kind::ReachedError => "reached-error",
            Kind::Undefined => "undefined",
        }
    }
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Location {
    pub file: String,
    pub line: u32,
}

/// An error that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub kind: Kind,
    pub message: String,
    pub location: Option<Location>,
    /// The innermost functions of the program's own that were under way, where that is known; recursion counts once.
    pub functions: Vec<String>,
}

/// What makes two problems the same: kind, place, and the functions that led there. Messages may contain values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub kind: Kind,
    pub location: Option<Location>,
    pub functions: Vec<String>,
}

/// Functions that tell problems apart: with more of them one defect would be many, with fewer a defect in what calls a
/// common helper would be that of another.
const FUNCTIONS: usize = 3;

impl Problem {
    /// Without a stack.
    pub fn new(kind: Kind, message: String, location: Option<Location>) -> Problem {
        Problem {
            kind,
            message,
            location,
            functions: Vec::new(),
        }
    }

    pub fn key(&self) -> Key {
        Key {
            kind: self.kind,
            location: self.location.clone(),
            functions: self.functions.clone(),
        }
    }
}

/// Whether two names of a file end alike: sanitizers and debug information write directories differently.
pub fn same_file(a: &str, b: &str) -> bool {
    fn name(path: &str) -> &str {
        path.rsplit('/').next().unwrap_or(path)
    }
    name(a) == name(b)
}

/// How a run ended, as all commands print it.
pub fn ending(outcome: &Outcome) -> Ending {
    let (exit, signal) = match outcome.end {
        End::Exit(status) => (Some(status), None),
        End::Signal(signal) => (None, Some(signal)),
        End::Timeout
        | End::OutOfMemory
        | End::TooManyProcesses
        | End::TooMuchOutput
        | End::Interrupted => (None, None),
    };
    Ending {
        exit,
        signal,
        stdout: outcome.stdout.bytes.clone().into(),
        stderr: outcome.stderr.bytes.clone().into(),
        sanitizer: None,
        answers: outcome
            .answers
            .iter()
            .map(|answer| answer.bytes.clone().into())
            .collect(),
    }
}

/// An input that shows an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub problem: Problem,
    pub scenario: Scenario,
    /// What the program did.
    pub ending: Ending,
    /// Decisions of the path that led there.
    pub depth: usize,
}

impl Finding {
    /// A name made of what makes two findings the same; fit for a file.
    pub fn id(&self) -> String {
        let mut id = self.problem.kind.name().to_owned();
        if let Some(Location { file, line }) = &self.problem.location {
            let name = file.rsplit('/').next().unwrap_or(file);
            let safe = |c: char| {
                if c.is_ascii_alphanumeric() || c == '.' {
                    c
                } else {
                    '_'
                }
            };
            let name: String = name.chars().map(safe).collect();
            id.push_str(&format!("-{name}-{line}"));
        }
        // The place says what the innermost function is, and everything comes from `main`.
        let callers = self.problem.functions.iter().skip(1);
        for function in callers.filter(|function| *function != "main") {
            id.push_str(&format!("-{function}"));
        }
        id
    }

    pub fn key(&self) -> Key {
        self.problem.key()
    }
}

/// What the program prints when it reaches a place that must not be reached.
const REACHED: &str = "parallax: reach_error() reached";

/// The errors that runs of the plain and of the checked program show.
pub fn problems(plain: Option<&Outcome>, checked: Option<&Outcome>) -> Vec<Problem> {
    let reports = checked.map_or_else(Vec::new, |outcome| {
        sanitizer::reports(&outcome.stderr.bytes)
    });
    explained(plain, &reports)
}

/// The errors that a run of the plain program and the reports of the checked one show.
pub fn explained(plain: Option<&Outcome>, reports: &[Report]) -> Vec<Problem> {
    let own = plain.and_then(own_error);
    let mut found: Vec<Problem> = Vec::new();
    for report in reports {
        // One defect is often reported at every iteration of a loop.
        let problem = Problem::from_report(report);
        if !found.iter().any(|known| known.key() == problem.key()) {
            found.push(problem);
        }
    }
    match own {
        // A crash of the plain program that the checked one explains is the same thing.
        Some(problem) if problem.kind == Kind::Crash && !found.is_empty() => {}
        // The plain program knows why it aborts, the checked one where.
        Some(problem) if is_abort(problem.kind) => {
            match found.iter_mut().find(|known| known.kind == Kind::Abort) {
                Some(known) => {
                    known.kind = problem.kind;
                    known.message = problem.message;
                    known.location = problem.location.or(known.location.take());
                }
                None => found.push(problem),
            }
        }
        Some(problem) if found.iter().any(|known| known.kind == problem.kind) => {}
        Some(problem) => found.push(problem),
        None => {}
    }
    found
}

fn is_abort(kind: Kind) -> bool {
    matches!(kind, Kind::Abort | Kind::Assertion | Kind::ReachedError)
}

impl Problem {
    fn from_report(report: &Report) -> Problem {
        let mut functions: Vec<String> = report.functions().map(str::to_owned).collect();
        functions.dedup();
        functions.truncate(FUNCTIONS);
        Problem {
            kind: report.kind,
            message: report.message.clone(),
            location: report.location().cloned(),
            functions,
        }
    }
}

/// What the way in which the plain program ended says.
fn own_error(outcome: &Outcome) -> Option<Problem> {
    let stderr = String::from_utf8_lossy(&outcome.stderr.bytes);
    let problem = |kind, message: String| Some(Problem::new(kind, message, None));
    match outcome.end {
        End::Exit(_)
        | End::OutOfMemory
        | End::TooManyProcesses
        | End::TooMuchOutput
        | End::Interrupted => None,
        End::Timeout => problem(Kind::Timeout, "does not come to an end".into()),
        End::Signal(libc::SIGABRT) => {
            if let Some(line) = stderr.lines().find(|line| line.starts_with(REACHED)) {
                return problem(Kind::ReachedError, line.to_owned());
            }
            match stderr.lines().find_map(assertion) {
                Some(found) => Some(found),
                None => problem(Kind::Abort, "calls abort()".into()),
            }
        }
        End::Signal(libc::SIGFPE) => problem(Kind::DivisionByZero, "division by zero".into()),
        // Ended on purpose: by itself, for a closed pipe, or as servers are ended; or because the machine is out
        // of memory.
        End::Signal(
            libc::SIGPIPE
            | libc::SIGTERM
            | libc::SIGINT
            | libc::SIGHUP
            | libc::SIGALRM
            | libc::SIGQUIT
            | libc::SIGKILL
            | libc::SIGUSR1
            | libc::SIGUSR2,
        ) => None,
        End::Signal(signal) => problem(Kind::Crash, format!("killed by {}", signal_name(signal))),
    }
}

/// `prog: file.c:12: function: Assertion `x > 0' failed.`
fn assertion(line: &str) -> Option<Problem> {
    let (before, after) = line.split_once(": Assertion `")?;
    let (condition, _) = after.rsplit_once("' failed")?;
    let mut words = before.split(": ");
    let location = words.find_map(|word| {
        let (file, number) = word.rsplit_once(':')?;
        Some(Location {
            file: file.to_owned(),
            line: number.parse().ok()?,
        })
    });
    let message = format!("assertion `{condition}` does not hold");
    Some(Problem::new(Kind::Assertion, message, location))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Captured;
    use std::time::Duration;

    fn outcome(end: End, stderr: &str) -> Outcome {
        Outcome {
            end,
            stdout: Captured::default(),
            stderr: Captured {
                bytes: stderr.as_bytes().to_vec(),
                ..Captured::default()
            },
            duration: Duration::ZERO,
            cpu: Duration::ZERO,
            leftover_processes: 0,
            answers: Vec::new(),
        }
    }

    #[test]
    fn a_failed_assertion_has_its_condition_and_place() {
        let stderr = "prog: src/a.c:12: main: Assertion `x > 0' failed.\n";
        let plain = outcome(End::Signal(libc::SIGABRT), stderr);
        let found = problems(Some(&plain), None);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, Kind::Assertion);
        let location = found[0].location.clone().unwrap();
        assert_eq!((location.file.as_str(), location.line), ("src/a.c", 12));
        assert!(found[0].message.contains("x > 0"));
    }

    #[test]
    fn a_crash_that_the_checked_program_explains_is_one_problem() {
        let plain = outcome(End::Signal(libc::SIGSEGV), "");
        let report = "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x1)\n    #0 0x1 in f a.c:3:1\n";
        let checked = outcome(End::Exit(1), report);
        let found = problems(Some(&plain), Some(&checked));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, Kind::NullDereference);
        assert_eq!(problems(Some(&plain), None)[0].kind, Kind::Crash);
    }

    #[test]
    fn an_abort_is_what_the_plain_program_says_where_the_checked_one_says() {
        let abort = "==1==ERROR: AddressSanitizer: ABRT on unknown address 0x1 (pc 0x1)\n\
            \x20   #0 0x1 in abort (/lib/libc.so.6+0x1)\n    #1 0x2 in give_up a.c:3:1\n    #2 0x3 in main a.c:9:1\n";
        let checked = outcome(End::Exit(1), abort);
        let plain = outcome(End::Signal(libc::SIGABRT), "");
        let found = problems(Some(&plain), Some(&checked));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, Kind::Abort);
        assert_eq!(found[0].functions, ["give_up", "main"]);
        let reached = outcome(End::Signal(libc::SIGABRT), &format!("{REACHED} at x\n"));
        let found = problems(Some(&reached), Some(&checked));
        assert_eq!((found.len(), found[0].kind), (1, Kind::ReachedError));
        assert_eq!(found[0].location.as_ref().unwrap().line, 3);
    }

    #[test]
    fn a_helper_that_fails_for_two_callers_is_two_findings() {
        let report = |caller: &str, depth: usize| {
            let recursion = "    #2 0x3 in walk a.c:7:1\n".repeat(depth);
            let text = format!(
                "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x1\n\
                 \x20   #0 0x1 in memcpy (/lib/libc.so.6+0x1)\n    #1 0x2 in copy a.c:3:1\n{recursion}\
                 \x20   #3 0x3 in {caller} a.c:9:1\n    #4 0x3 in main a.c:19:1\n"
            );
            let checked = outcome(End::Exit(1), &text);
            problems(None, Some(&checked)).remove(0)
        };
        let finding = |problem: Problem| Finding {
            problem,
            scenario: Scenario::default(),
            ending: Ending::default(),
            depth: 0,
        };
        let (one, other) = (finding(report("one", 0)), finding(report("other", 0)));
        assert_ne!(one.key(), other.key());
        assert_eq!(one.id(), "out-of-bounds-a.c-3-one");
        // However deep a recursion is, it is the same.
        assert_eq!(report("one", 1).key(), report("one", 5).key());
    }

    #[test]
    fn an_exit_status_is_no_problem() {
        let plain = outcome(End::Exit(1), "error\n");
        assert_eq!(problems(Some(&plain), None), []);
    }
}
