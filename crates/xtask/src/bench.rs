//! CPU time of traced against plain programs, of exploration, amplification, replays and recording.
//!
//! Three tables about single runs: without symbolic data (the traced program, no trace attached),
//! with symbolic data (`parallax trace`, CPU time of the child), and what a run costs
//! before the program does anything. Ratios are taken within one run of this command, so that
//! they can be compared between machines; seconds cannot. The peers' figures were
//! measured once, on another day, and include solving, which tracing does not.

mod afl;
mod amplification;
mod covering;
mod diverging;
mod exploration;
mod frontier;
mod interacting;
mod mutation;
mod native;
mod parallel;

use crate::coreutils::Place;
use crate::{recording, throughput};
use anyhow::{Context, Result, ensure};
use parallax_torture::process::{self, End};
use parallax_torture::report::Report;
use parallax_torture::rng::Rng;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(300);
/// Scenarios that are replayed to measure how many a second there are.
const REPLAYS: u32 = 2000;
/// Every so many of coreutils' tests are recorded to measure what that costs.
const TESTS_RECORDED: usize = 12;

/// One row of a table.
struct Row {
    program: &'static str,
    /// `FILE` stands for the input.
    arguments: &'static [&'static str],
    input: Input,
    /// CPU seconds of SymCC (QSYM back end) and SymSan on the same job, where known.
    peers: (&'static str, &'static str),
}

#[derive(Clone, Copy)]
enum Input {
    /// Lines of text, this many bytes.
    Text(usize),
    /// Lines of fields separated by colons.
    Fields(usize),
    /// None but the arguments.
    Nothing,
}

const DIGITS: &str = "31415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679\
82148086513282306647093844609550582231725359408128481117450284102701938521105559644622948954930381964428810975665933446";

/// Without symbolic data: enough work to be measured.
const CONCRETE: &[Row] = &[
    Row {
        program: "cut",
        arguments: &["-c3-5,6-", "FILE"],
        input: Input::Text(10 << 20),
        peers: ("2.0", "2.9"),
    },
    Row {
        program: "cut",
        arguments: &["-d:", "-f1,3", "FILE"],
        input: Input::Fields(10 << 20),
        peers: ("", ""),
    },
    Row {
        program: "od",
        arguments: &["-An", "-tx1", "FILE"],
        input: Input::Text(10 << 20),
        peers: ("", ""),
    },
    Row {
        program: "wc",
        arguments: &["FILE"],
        input: Input::Text(10 << 20),
        peers: ("", ""),
    },
    Row {
        program: "sort",
        arguments: &["--parallel=1", "FILE"],
        input: Input::Text(10 << 20),
        peers: ("", ""),
    },
    Row {
        program: "sha256sum",
        arguments: &["FILE"],
        input: Input::Text(10 << 20),
        peers: ("", ""),
    },
    Row {
        program: "expr",
        arguments: &[DIGITS, "*", DIGITS],
        input: Input::Nothing,
        peers: ("", ""),
    },
];

/// With symbolic data.
const SYMBOLIC: &[Row] = &[
    Row {
        program: "cut",
        arguments: &["-c3-5,6-", "--output-d=:", "FILE"],
        input: Input::Text(38),
        peers: ("0.039", "0.02"),
    },
    Row {
        program: "cut",
        arguments: &["-d:", "-f1,3", "FILE"],
        input: Input::Fields(38),
        peers: ("0.084", "0.07"),
    },
    Row {
        program: "cut",
        arguments: &["-c3-5,6-", "FILE"],
        input: Input::Text(10 << 10),
        peers: ("0.21", "0.05"),
    },
    Row {
        program: "cut",
        arguments: &["-c3-5,6-", "FILE"],
        input: Input::Text(1 << 20),
        peers: ("15.0", ""),
    },
    Row {
        program: "od",
        arguments: &["-c", "FILE"],
        input: Input::Text(38),
        peers: ("0.49", "0.11"),
    },
    Row {
        program: "od",
        arguments: &["-An", "-tx1", "FILE"],
        input: Input::Text(10 << 10),
        peers: ("", ""),
    },
    Row {
        program: "wc",
        arguments: &["FILE"],
        input: Input::Text(100 << 10),
        peers: ("", ""),
    },
    Row {
        program: "sort",
        arguments: &["--parallel=1", "FILE"],
        input: Input::Text(10 << 10),
        peers: ("", ""),
    },
    Row {
        program: "sha256sum",
        arguments: &["FILE"],
        input: Input::Text(10 << 10),
        peers: ("", ""),
    },
    Row {
        program: "expr",
        arguments: &["12345678901234567890", "*", "(", "77", "+", "1", ")"],
        input: Input::Nothing,
        peers: ("", ""),
    },
];

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Single runs: without and with symbolic data, and their start
    Runs,
    Exploration,
    Amplification,
    /// Lines that the parts of `cover` reach, and what the static analyses cost
    Cover,
    /// What comparing two versions costs, in time and memory
    Diverge,
    /// What the change sequence graph is good for.
    Interact,
    Replays,
    /// Runs per second of every build, in fresh processes and served, beside AFL++
    Native,
    /// Executions per second of mutation alone, beside AFL++
    Mutation,
    /// Runs per second with `--jobs 2` against `--jobs 1`
    Jobs,
    /// What a choice costs when a million alternatives are open
    Frontier,
    /// What recording coreutils' tests costs
    Recording,
}

/// Runs everything, or only some parts, with the load of the machine before and after; the best of `repeat` counts.
pub fn run(place: &Place, repeat: usize, only: &[Part]) -> Result<String> {
    let bench = Bench {
        place,
        repeat: repeat.max(1),
        scratch: tempfile::tempdir()?,
    };
    let is_wanted = |part: Part| only.is_empty() || only.contains(&part);
    let mut text = format!("Load before: {}.\n\n", load());
    if is_wanted(Part::Runs) {
        bench.concrete(&mut text)?;
        bench.symbolic(&mut text)?;
        bench.start_up(&mut text)?;
    }
    if is_wanted(Part::Exploration) {
        bench.exploration(&mut text)?;
    }
    if is_wanted(Part::Amplification) {
        bench.amplification(&mut text)?;
    }
    if is_wanted(Part::Cover) {
        bench.covering(&mut text)?;
    }
    if is_wanted(Part::Diverge) {
        bench.diverging(&mut text)?;
    }
    if is_wanted(Part::Interact) {
        bench.interacting(&mut text)?;
    }
    if is_wanted(Part::Replays) {
        text.push('\n');
        text.push_str(&throughput::table(&place.program("expr"), REPLAYS)?);
    }
    if is_wanted(Part::Native) {
        bench.native(&mut text)?;
    }
    if is_wanted(Part::Mutation) {
        bench.mutation(&mut text)?;
    }
    if is_wanted(Part::Jobs) {
        bench.parallel(&mut text)?;
    }
    if is_wanted(Part::Frontier) {
        bench.frontier(&mut text)?;
    }
    if is_wanted(Part::Recording) {
        text.push('\n');
        text.push_str(&recording::table(place, TESTS_RECORDED)?);
    }
    let _ = writeln!(text, "\nLoad after: {}.", load());
    Ok(text)
}

/// Processes that wanted a processor, of late: measurements on a busy machine are slower throughout.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

struct Bench<'a> {
    place: &'a Place,
    repeat: usize,
    scratch: tempfile::TempDir,
}

impl Bench<'_> {
    fn concrete(&self, text: &mut String) -> Result<()> {
        text.push_str("### Without symbolic data (CPU seconds)\n\n");
        text.push_str("| command | input | plain | traced | ratio | SymCC | SymSan |\n");
        text.push_str("|---|---|---|---|---|---|---|\n");
        for row in CONCRETE {
            let arguments = self.arguments(row)?;
            let plain = self.best(&self.place.program(row.program), &arguments)?;
            let traced = self.best(&self.traced(row.program)?, &arguments)?;
            line(text, row, plain, traced);
        }
        Ok(())
    }

    fn symbolic(&self, text: &mut String) -> Result<()> {
        text.push_str("\n### With symbolic data (CPU seconds)\n\n");
        text.push_str("| command | input | plain | traced | ratio | SymCC | SymSan |\n");
        text.push_str("|---|---|---|---|---|---|---|\n");
        for row in SYMBOLIC {
            let arguments = self.arguments(row)?;
            let plain = self.best(&self.place.program(row.program), &arguments)?;
            let mut traced = Duration::MAX;
            for _ in 0..self.repeat.min(3) {
                traced = traced.min(self.trace(row.program, &arguments)?);
            }
            line(text, row, plain, traced);
        }
        Ok(())
    }

    fn start_up(&self, text: &mut String) -> Result<()> {
        text.push_str("\n### Start-up (CPU milliseconds a run, mean of many)\n\n");
        text.push_str(
            "| command | plain | traced, not attached | added | traced, attached | added |\n",
        );
        text.push_str("|---|---|---|---|---|---|\n");
        for (program, arguments) in [("true", &[][..]), ("expr", &["1", "+", "1"][..])] {
            let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
            let many = self.repeat * 20;
            let plain_program = self.place.program(program);
            let traced_program = self.traced(program)?;
            let plain = mean(many, || cpu(&plain_program, &arguments))?;
            let idle = mean(many, || cpu(&traced_program, &arguments))?;
            let attached = mean(self.repeat * 4, || self.trace(program, &arguments))?;
            let _ = writeln!(
                text,
                "| `{} {}` | {plain:.2} | {idle:.2} | {:+.2} | {attached:.2} | {:+.2} |",
                program,
                arguments.join(" "),
                idle - plain,
                attached - plain
            );
        }
        Ok(())
    }

    /// The row's arguments, its input made.
    fn arguments(&self, row: &Row) -> Result<Vec<String>> {
        let (name, contents) = match row.input {
            Input::Nothing => (String::new(), Vec::new()),
            Input::Text(size) => (format!("text-{size}"), text_lines(size, b' ')),
            Input::Fields(size) => (format!("fields-{size}"), text_lines(size, b':')),
        };
        let path = self.scratch.path().join(name);
        if !contents.is_empty() && !path.exists() {
            fs::write(&path, contents)?;
        }
        Ok(row
            .arguments
            .iter()
            .map(|word| match *word {
                "FILE" => path.to_string_lossy().into_owned(),
                other => other.to_owned(),
            })
            .collect())
    }

    fn best(&self, program: &Path, arguments: &[String]) -> Result<Duration> {
        let mut best = Duration::MAX;
        for _ in 0..self.repeat {
            best = best.min(cpu(program, arguments)?);
        }
        Ok(best)
    }

    /// Path of the traced variant.
    fn traced(&self, program: &str) -> Result<PathBuf> {
        self.variant(program, "traced")
    }

    /// Path of a program that is derived from one of coreutils.
    fn variant(&self, program: &str, kind: &str) -> Result<PathBuf> {
        let output = self
            .place
            .command(self.place.parallax())
            .arg("variant")
            .arg(self.place.program(program))
            .args(["--kind", kind])
            .output()?;
        ensure!(
            output.status.success(),
            "parallax variant: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim_end()))
    }

    /// CPU time of the program under `parallax trace`.
    fn trace(&self, program: &str, arguments: &[String]) -> Result<Duration> {
        let mut command = Command::new(self.place.parallax());
        command
            .args(["trace", "--json", "--timeout", "250"])
            .arg(self.place.program(program))
            .arg("--")
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        let finished = process::run(&mut command, TIMEOUT)?;
        ensure!(
            finished.success(),
            "parallax trace: {:?} {}",
            finished.end,
            String::from_utf8_lossy(&finished.stderr)
        );
        let report = Report::parse(&finished.stdout).context("the report is not understood")?;
        ensure!(
            report.end == End::Exit(0) && report.attached,
            "{program} was not traced to its end: {:?}",
            report.end
        );
        if report.stopped {
            eprintln!("{program}: a limit ended the trace early");
        }
        Ok(report.cpu)
    }
}

fn cpu(program: &Path, arguments: &[String]) -> Result<Duration> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LC_ALL", "C")
        .env_remove("PARALLAX_TRACE")
        .stdin(Stdio::null());
    let finished = process::run(&mut command, TIMEOUT)?;
    ensure!(
        finished.success(),
        "{}: {:?}",
        program.display(),
        finished.end
    );
    Ok(finished.cpu)
}

/// Milliseconds.
fn mean(times: usize, measure: impl Fn() -> Result<Duration>) -> Result<f64> {
    let mut total = Duration::ZERO;
    for _ in 0..times {
        total += measure()?;
    }
    Ok(total.as_secs_f64() * 1000.0 / times as f64)
}

fn line(text: &mut String, row: &Row, plain: Duration, traced: Duration) {
    let arguments: Vec<&str> = row
        .arguments
        .iter()
        .map(|word| if word.len() > 40 { "..." } else { word })
        .collect();
    let input = match row.input {
        Input::Nothing => "arguments".to_owned(),
        Input::Text(size) | Input::Fields(size) => size_text(size),
    };
    let ratio = traced.as_secs_f64() / plain.as_secs_f64().max(1e-6);
    let _ = writeln!(
        text,
        "| `{} {}` | {input} | {:.4} | {:.4} | {ratio:.1} | {} | {} |",
        row.program,
        arguments.join(" "),
        plain.as_secs_f64(),
        traced.as_secs_f64(),
        row.peers.0,
        row.peers.1
    );
}

/// The one in the middle; nothing is 0.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn size_text(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    }
}

/// Words of letters and digits with `separator` between them, the same every time.
fn text_lines(size: usize, separator: u8) -> Vec<u8> {
    let mut rng = Rng::new(size as u64);
    let mut bytes = Vec::with_capacity(size + 64);
    while bytes.len() < size {
        for word in 0..rng.between(3, 9) {
            if word > 0 {
                bytes.push(separator);
            }
            for _ in 0..rng.between(1, 9) {
                bytes.push(*rng.pick(b"abcdefghijklmnopqrstuvwxyz0123456789"));
            }
        }
        bytes.push(b'\n');
    }
    bytes.truncate(size);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_the_same_every_time_and_of_the_size_asked_for() {
        assert_eq!(text_lines(1000, b':').len(), 1000);
        assert_eq!(text_lines(1000, b':'), text_lines(1000, b':'));
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit_that_fits() {
        assert_eq!(size_text(38), "38 B");
        assert_eq!(size_text(10 << 10), "10 KB");
        assert_eq!(size_text(10 << 20), "10 MB");
    }
}
