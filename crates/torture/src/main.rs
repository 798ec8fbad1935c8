//! The `torture` command: generate programs, and try the tracer on them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's command; its console is its only reader"
)]

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use parallax_torture::campaign::{self, Origin, Plan, Progress};
use parallax_torture::trial::Tool;
use parallax_torture::{generator, inputs};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Tries the tracer on generated programs.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write one program and its inputs.
    Generate {
        #[arg(long)]
        seed: u64,
        /// Folder, made if need be.
        #[arg(long)]
        out: PathBuf,
    },
    /// Compare plain and traced runs of many programs.
    Run {
        #[arg(long, default_value_t = 100)]
        count: u64,
        /// Seed of the first program; the others follow.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Take the programs from csmith.
        #[arg(long)]
        csmith: bool,
        /// The tool under test; parallax-cc is expected beside it.
        #[arg(long, env = "PARALLAX", default_value = "target/release/parallax")]
        parallax: PathBuf,
        /// Programs tried at a time; default: one per processor.
        #[arg(long)]
        jobs: Option<usize>,
        /// Where failed programs are kept.
        #[arg(long, default_value = "target/torture-failures")]
        keep: PathBuf,
    },
}

fn main() -> Result<ExitCode> {
    match Cli::parse().command {
        Command::Generate { seed, out } => generate(seed, &out),
        Command::Run {
            count,
            seed,
            csmith,
            parallax,
            jobs,
            keep,
        } => {
            let parallax = fs::canonicalize(&parallax)
                .with_context(|| format!("{}: build it with `make build`", parallax.display()))?;
            let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
            run(&Plan {
                tool: Tool::new(parallax),
                origin: if csmith { Origin::Csmith } else { Origin::Own },
                seed,
                count,
                jobs: jobs.unwrap_or(processors),
                keep,
            })
        }
    }
}

fn generate(seed: u64, out: &Path) -> Result<ExitCode> {
    let program = generator::generate(seed);
    fs::create_dir_all(out)?;
    fs::write(out.join("program.c"), &program.source)?;
    for (number, set) in program.inputs.iter().enumerate() {
        let folder = out.join(format!("run-{number}"));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(inputs::FILE_NAME), &set.file)?;
        fs::write(folder.join("stdin"), &set.stdin)?;
        fs::write(folder.join("arguments"), set.arguments.join(&b'\n'))?;
    }
    println!("{}", out.join("program.c").display());
    Ok(ExitCode::SUCCESS)
}

fn run(plan: &Plan) -> Result<ExitCode> {
    if !plan.tool.compiler.exists() {
        bail!(
            "{} is missing: build it with `make build`",
            plan.tool.compiler.display()
        );
    }
    let flag = match plan.origin {
        Origin::Own => "",
        Origin::Csmith => " --csmith",
    };
    let summary = campaign::run(plan, &|progress| {
        if let Progress::Failed(failed) = progress {
            eprintln!(
                "seed {}: {}\n  kept in {}\n  repeat: torture run --count 1 --seed {}{flag}",
                failed.seed,
                failed.failure,
                failed.folder.display(),
                failed.seed,
            );
        }
    })?;
    println!(
        "{} branches, {} nodes, {} losses; {} seeds without a program",
        summary.seen.branches, summary.seen.nodes, summary.seen.losses, summary.skipped
    );
    println!("{} passed, {} failed", summary.passed, summary.failed.len());
    Ok(if summary.failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
