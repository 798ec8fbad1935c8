//! Options of every search besides its seeds and its budget: threads, limits of a single run, where results go.

use std::path::PathBuf;
use std::time::Duration;

use parallax_campaign::{Running, Setup};

use crate::events::context;
use crate::size::{parse_bytes, parse_seconds};

/// How inputs are run.
#[derive(Debug, clap::Args)]
pub struct RunningArguments {
    /// Do not run inputs on the build with sanitizers
    #[arg(long)]
    no_sanitizers: bool,

    /// Work on so many things at once (default: one per processor)
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,

    /// End a single run after this many seconds; hanging is an error
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    timeout: Duration,

    /// Memory for a single run and its trace
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_bytes)]
    memory: u64,

    /// Run generated inputs without a sandbox: they can do whatever you can
    #[arg(long)]
    no_sandbox: bool,
}

/// The same, with what else a search is given.
#[derive(Debug, clap::Args)]
pub struct SetupArguments {
    #[command(flatten)]
    running: RunningArguments,

    /// Where results are kept
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,

    /// Write every query to a file, with its answer and time
    #[arg(long, value_name = "FILE")]
    log_queries: Option<PathBuf>,
}

impl RunningArguments {
    pub fn plain(&self) -> Running {
        let processors = || std::thread::available_parallelism().map_or(1, |count| count.get());
        Running {
            sanitizers: !self.no_sanitizers,
            jobs: self.jobs.unwrap_or_else(processors),
            timeout: self.timeout,
            memory: self.memory,
            sandbox: !self.no_sandbox,
        }
    }
}

impl SetupArguments {
    pub fn plain(&self) -> Setup {
        Setup {
            context: context(),
            running: self.running.plain(),
            output: self.output.clone(),
            log_queries: self.log_queries.clone(),
        }
    }
}
