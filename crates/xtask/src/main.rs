//! Developer commands: the checks that need more than `cargo test`, and the
//! measurements.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "developers' commands; their console is their only reader"
)]

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use xtask::coreutils::Place;
use xtask::{bench, evaluate, flips, recording, selfcheck, served, suite, throughput, tidy};

#[derive(Parser)]
#[command(about = "Developer commands of Parallax")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the rules that the code keeps to: module docs, file sizes, dependency arrows.
    Tidy,
    /// Run coreutils' own test suite with plain and with traced programs and compare.
    CoreutilsCheck {
        #[command(flatten)]
        place: PlaceArgs,
        /// Continue where an interrupted run stopped.
        #[arg(long)]
        resume: bool,
        /// Only these tests (tests/misc/cut.pl ...); default: all.
        tests: Vec<String>,
    },
    /// Trace the command lines of tests/coreutils-commands.txt with the self-check on.
    SelfcheckCoreutils {
        #[command(flatten)]
        place: PlaceArgs,
        /// Only command lines that contain this text.
        #[arg(long)]
        only: Option<String>,
        /// Where the table of losses goes.
        #[arg(long, default_value = "target/coreutils-losses.md")]
        losses: PathBuf,
    },
    /// Explore coreutils from nothing; prints a Markdown table.
    Evaluate {
        #[command(flatten)]
        place: PlaceArgs,
        /// For each program.
        #[arg(long, default_value_t = 300)]
        seconds: u64,
        /// Only these programs.
        programs: Vec<String>,
    },
    /// Count the inputs that take the branch they were made for, over generated programs and coreutils.
    Flips {
        /// The tool under test; parallax-cc is expected beside it.
        #[arg(long, env = "PARALLAX", default_value = "target/release/parallax")]
        parallax: PathBuf,
        /// A folder with coreutils' programs, built with parallax-cc.
        #[arg(long, default_value = "/var/tmp/parallax-coreutils/plain")]
        programs: PathBuf,
        /// Programs of our generator.
        #[arg(long, default_value_t = 100)]
        generated: u64,
        /// Command lines of tests/coreutils-commands.txt, of as many programs as there are.
        #[arg(long, default_value_t = 50)]
        commands: usize,
        /// Only command lines that contain this text.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Compare runs of a run server with runs of fresh processes, and measure both.
    Served {
        /// The tool under test.
        #[arg(long, env = "PARALLAX", default_value = "target/release/parallax")]
        parallax: PathBuf,
        /// A folder with coreutils' programs, built with parallax-cc.
        #[arg(long, default_value = "/var/tmp/parallax-coreutils/plain")]
        programs: PathBuf,
        /// Only command lines that contain this text.
        #[arg(long, default_value = "")]
        only: String,
        /// Only every so many of them.
        #[arg(long, default_value_t = 10)]
        step: usize,
        /// Runs to measure.
        #[arg(long, default_value_t = 1000)]
        runs: u32,
    },
    /// Measure how many scenarios a second are replayed.
    Throughput {
        /// coreutils' `expr`.
        #[arg(long, default_value = "/usr/bin/expr")]
        expr: PathBuf,
        #[arg(long, default_value_t = 2000)]
        runs: u32,
    },
    /// Measure what recording coreutils' test suite costs.
    Recording {
        #[command(flatten)]
        place: PlaceArgs,
        /// Only every so many of the tests.
        #[arg(long, default_value_t = 12)]
        every: usize,
    },
    /// Measure traced against plain programs; prints a Markdown table.
    Bench {
        #[command(flatten)]
        place: PlaceArgs,
        /// Repetitions of which the best counts.
        #[arg(long, default_value_t = 5)]
        repeat: usize,
        /// Only this (may be repeated).
        #[arg(long, value_enum)]
        only: Vec<bench::Part>,
    },
}

#[derive(clap::Args)]
struct PlaceArgs {
    /// The tool under test; parallax-cc is expected beside it.
    #[arg(long, env = "PARALLAX", default_value = "target/release/parallax")]
    parallax: PathBuf,
    /// Where coreutils is built; must be reachable for ordinary users.
    #[arg(long, default_value = "/var/tmp/parallax-coreutils")]
    work: PathBuf,
    /// Keep using a build made with an older parallax.
    #[arg(long)]
    keep_build: bool,
}

impl PlaceArgs {
    fn open(self) -> Result<Place> {
        Place::open(&self.parallax, &self.work, self.keep_build)
    }
}

fn main() -> Result<ExitCode> {
    let good = match Cli::parse().command {
        Command::Tidy => {
            let problems = tidy::check(&xtask::root())?;
            for problem in &problems {
                eprintln!("{problem}");
            }
            problems.is_empty()
        }
        Command::CoreutilsCheck {
            place,
            resume,
            tests,
        } => suite::run(&place.open()?, resume, &tests)?,
        Command::SelfcheckCoreutils {
            place,
            only,
            losses,
        } => selfcheck::run(&place.open()?, only.as_deref(), &losses)?,
        Command::Evaluate {
            place,
            seconds,
            programs,
        } => {
            let programs = match programs.as_slice() {
                [] => evaluate::PROGRAMS.map(str::to_owned).to_vec(),
                named => named.to_vec(),
            };
            println!("{}", evaluate::run(&place.open()?, &programs, seconds)?);
            true
        }
        Command::Flips {
            parallax,
            programs,
            generated,
            commands,
            only,
        } => flips::run(&flips::Plan {
            parallax: &parallax,
            programs: &programs,
            generated,
            commands,
            only: &only,
        })?,
        Command::Served {
            parallax,
            programs,
            only,
            step,
            runs,
        } => {
            served::measure(&parallax, &programs, runs)?;
            served::compare(&parallax, &programs, &only, step)?
        }
        Command::Throughput { expr, runs } => {
            println!("{}", throughput::table(&expr, runs)?);
            true
        }
        Command::Recording { place, every } => {
            println!("{}", recording::table(&place.open()?, every)?);
            true
        }
        Command::Bench {
            place,
            repeat,
            only,
        } => {
            println!("{}", bench::run(&place.open()?, repeat, &only)?);
            true
        }
    };
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
