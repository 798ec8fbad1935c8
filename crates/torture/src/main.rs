//! The `torture` command: generate programs, and try the tracer on them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's command; its console is its only reader"
)]

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use parallax_torture::campaign::{self, Origin, Plan, Progress};
use parallax_torture::models::families::{self, Family};
use parallax_torture::models::run as models;
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
    /// Compare the models of libc functions with the real ones.
    Models {
        /// Only this family.
        #[arg(long)]
        family: Option<String>,
        /// Cases of each family.
        #[arg(long, default_value_t = 10_000)]
        cases: u64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The tool under test; parallax-cc is expected beside it.
        #[arg(long, env = "PARALLAX", default_value = "target/release/parallax")]
        parallax: PathBuf,
        /// Where programs and cases are left.
        #[arg(long, default_value = "target/torture-models")]
        keep: PathBuf,
        /// Show what was seen of each function.
        #[arg(long)]
        verbose: bool,
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
        Command::Models {
            family,
            cases,
            seed,
            parallax,
            keep,
            verbose,
        } => {
            let parallax = fs::canonicalize(&parallax)
                .with_context(|| format!("{}: build it with `make build`", parallax.display()))?;
            let tool = Tool::new(parallax);
            let wanted =
                |candidate: &&Family| family.as_deref().is_none_or(|name| name == candidate.name);
            let chosen: Vec<&Family> = families::ALL.iter().filter(wanted).collect();
            if chosen.is_empty() {
                let names: Vec<&str> = families::ALL.iter().map(|family| family.name).collect();
                bail!("no such family; there are {}", names.join(", "));
            }
            fs::create_dir_all(&keep)?;
            let keep = fs::canonicalize(keep)?;
            run_models(&tool, &chosen, cases, seed, &keep, verbose)
        }
    }
}

/// Tries families of models one after the other, all of them even if one fails.
fn run_models(
    tool: &Tool,
    chosen: &[&Family],
    cases: u64,
    seed: u64,
    keep: &Path,
    verbose: bool,
) -> Result<ExitCode> {
    let mut failed = 0;
    for family in chosen {
        let plan = models::Plan {
            tool,
            family,
            cases,
            seed,
            folder: &keep.join(family.name),
        };
        match models::run(&plan) {
            Ok(tallies) => {
                let branches: u64 = tallies.values().map(|tally| tally.branches).sum();
                println!(
                    "{}: {} functions, {cases} cases, {branches} branches in models",
                    family.name,
                    tallies.len()
                );
                if verbose {
                    for (check, tally) in &tallies {
                        println!(
                            "  {check}: {} cases, {} with symbolic result, {} branches",
                            tally.cases, tally.labelled, tally.branches
                        );
                    }
                }
            }
            Err(failure) => {
                failed += 1;
                eprintln!("{}: {failure}", family.name);
            }
        }
    }
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
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
