//! Which SMT-LIB program is asked, and what becomes of one that fails.
//!
//! A failure ends the program; the next question starts it anew. After several failures in a
//! row it is given up for the next program on the list, if there is one.

use super::allowance::Allowance;
use super::process::{Failure, Process};
use crate::config::{Config, Limits, SmtProgram};
use std::time::{Duration, Instant};

/// Questions after which a program is started anew, for the sake of its memory.
const QUESTIONS: u32 = 500;
/// Steps of z3 that are worth a conflict of a SAT solver.
const STEPS_PER_CONFLICT: u64 = 1_000;
/// How much longer than its own limit a program may take.
const GRACE: Duration = Duration::from_millis(1500);

/// What a program answers to `(check-sat)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// With the values of the asked constants, in their order.
    Sat(Vec<u8>),
    Unsat,
    /// It gave up by itself.
    Unknown,
}

/// The programs that are left, and the running one.
pub(crate) struct Backend {
    candidates: Vec<Candidate>,
    memory: u64,
    allowed_failures: u32,
    failures: u32,
    process: Option<Process>,
    allowance: Allowance,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    command: Vec<String>,
    dialect: Dialect,
}

/// How a program is told its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Z3,
    Cvc5,
    Other,
}

impl Dialect {
    fn of(program: &str) -> Dialect {
        match program.rsplit('/').next() {
            Some("z3") => Dialect::Z3,
            Some("cvc5") => Dialect::Cvc5,
            _ => Dialect::Other,
        }
    }

    /// The commands that limit a question. Z3 can also count its steps, so that its answers do not depend on
    /// how fast the machine is.
    fn limits(self, limits: &Limits) -> String {
        let milliseconds = limits.time.as_millis();
        match self {
            Dialect::Z3 => {
                let steps = u64::from(limits.conflicts).saturating_mul(STEPS_PER_CONFLICT);
                let steps = steps.min(u64::from(u32::MAX));
                format!("(set-option :timeout {milliseconds})\n(set-option :rlimit {steps})\n")
            }
            Dialect::Cvc5 => format!("(set-option :tlimit-per {milliseconds})\n"),
            Dialect::Other => String::new(),
        }
    }
}

impl Backend {
    pub fn new(config: &Config) -> Backend {
        let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let commands: Vec<Vec<String>> = match &config.smt {
            SmtProgram::Off => Vec::new(),
            SmtProgram::Command(words) => vec![words.clone()],
            SmtProgram::Find => [
                command(&["bitwuzla"]),
                command(&["cvc5", "--incremental", "--quiet"]),
                command(&["z3", "-in", "-smt2"]),
            ]
            .into_iter()
            .filter(|words: &Vec<String>| on_path(&words[0]))
            .collect(),
        };
        Backend {
            candidates: commands
                .into_iter()
                .map(|command| Candidate {
                    dialect: Dialect::of(command.first().map_or("", String::as_str)),
                    command,
                })
                .collect(),
            memory: config.smt_memory,
            allowed_failures: config.smt_failures.max(1),
            failures: 0,
            process: None,
            allowance: Allowance::new(config.smt_share),
        }
    }

    /// The limits of a query as far as there is time for it now.
    pub fn allowed(&self, limits: &Limits) -> Option<Limits> {
        let time = self.allowance.next(limits.time)?;
        Some(Limits { time, ..*limits })
    }

    /// Whether there is a program to ask.
    pub fn available(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// Asks for values of the constants under which the script's assertions hold.
    pub fn check(
        &mut self,
        script: &str,
        constants: &[String],
        limits: &Limits,
    ) -> Result<Said, Failure> {
        let start = Instant::now();
        let result = self.try_check(script, constants, limits);
        self.allowance.spend(start.elapsed());
        match &result {
            Ok(_) => self.failures = 0,
            Err(_) => self.process = None,
        }
        result
    }

    /// Counts a failure. Gives the program's name and the number of failures if it was given up for them.
    pub fn failed(&mut self) -> Option<(String, u32)> {
        self.process = None;
        self.failures += 1;
        if self.failures < self.allowed_failures || self.candidates.is_empty() {
            return None;
        }
        let given_up = self.candidates.remove(0);
        let name = given_up.command.first().cloned().unwrap_or_default();
        Some((name, std::mem::take(&mut self.failures)))
    }

    /// Which of the assertions `c0`, `c1`, … contradict each other.
    pub fn core(&mut self, script: &str, limits: &Limits) -> Result<Option<Vec<usize>>, Failure> {
        let start = Instant::now();
        let result = self.try_core(script, limits);
        self.allowance.spend(start.elapsed());
        if result.is_err() {
            self.process = None;
        }
        result
    }

    fn try_core(&mut self, script: &str, limits: &Limits) -> Result<Option<Vec<usize>>, Failure> {
        let time = limits.time;
        let (process, limit) = self.running(limits)?;
        let answer = process.ask(&format!("{limit}{script}(check-sat)\n"), time + GRACE)?;
        if answer.trim() != "unsat" {
            return Ok(None);
        }
        let answer = process.ask("(get-unsat-core)\n", time + GRACE)?;
        Ok(answer
            .trim()
            .trim_start_matches('(')
            .trim_end_matches(')')
            .split_whitespace()
            .map(|name| name.strip_prefix('c')?.parse().ok())
            .collect())
    }

    fn try_check(
        &mut self,
        script: &str,
        constants: &[String],
        limits: &Limits,
    ) -> Result<Said, Failure> {
        let time = limits.time;
        let (process, limit) = self.running(limits)?;
        let options = "(set-option :produce-models true)\n";
        let question = format!("{options}{limit}{script}(check-sat)\n");
        let answer = process.ask(&question, time + GRACE)?;
        match answer.trim() {
            "sat" => {}
            "unsat" => return Ok(Said::Unsat),
            "unknown" | "timeout" => return Ok(Said::Unknown),
            other => return Err(nonsense(other)),
        }
        if constants.is_empty() {
            return Ok(Said::Sat(Vec::new()));
        }
        let question = format!("(get-value ({}))\n", constants.join(" "));
        let answer = process.ask(&question, time + GRACE)?;
        match values(&answer, constants) {
            Some(values) => Ok(Said::Sat(values)),
            None => Err(nonsense(&answer)),
        }
    }

    /// A program that has forgotten all earlier questions, and how to tell it its limits.
    fn running(&mut self, limits: &Limits) -> Result<(&mut Process, String), Failure> {
        let Some(candidate) = self.candidates.first() else {
            return Err(Failure::Start("none left".to_owned()));
        };
        if self
            .process
            .as_ref()
            .is_some_and(|process| process.asked >= QUESTIONS)
        {
            self.process = None;
        }
        let mut limit = candidate.dialect.limits(limits);
        let process = match self.process.take() {
            Some(process) => {
                limit.insert_str(0, "(reset)\n");
                process
            }
            None => Process::start(&candidate.command, self.memory)?,
        };
        Ok((self.process.insert(process), limit))
    }
}

fn nonsense(answer: &str) -> Failure {
    Failure::Nonsense(answer.chars().take(80).collect())
}

/// Reads `((name #x41) …)`.
fn values(answer: &str, constants: &[String]) -> Option<Vec<u8>> {
    let spaced = answer.replace(['(', ')'], " ");
    let mut words = spaced.split_whitespace();
    let mut values = Vec::with_capacity(constants.len());
    for name in constants {
        if words.next()? != name {
            return None;
        }
        let word = words.next()?;
        values.push(if let Some(digits) = word.strip_prefix("#x") {
            u8::from_str_radix(digits, 16).ok()?
        } else {
            u8::from_str_radix(word.strip_prefix("#b")?, 2).ok()?
        });
    }
    words.next().is_none().then_some(values)
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_both_notations_and_nothing_else() {
        let names = ["in_0_1".to_owned(), "in_0_7".to_owned()];
        assert_eq!(
            values("((in_0_1 #x41)\n (in_0_7 #b00000101))\n", &names),
            Some(vec![0x41, 5])
        );
        assert_eq!(values("((in_0_1 #x41))", &names), None);
        assert_eq!(values("((in_0_1 #x41) (in_0_7 #x1ff))", &names), None);
        assert_eq!(values("(error \"no model\")", &names), None);
    }
}
