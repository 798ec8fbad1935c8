//! How long a search may take: as its options say, else as the project says, else the usual.

use std::path::Path;
use std::time::Duration;

use parallax_campaign::{Budget, Failure};
use parallax_project::{Project, ProjectError, config};

use crate::size::parse_time;

/// Options of every search. Commands for which they mean something more say so in their help.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct BudgetArguments {
    /// End after this time (default: as parallax.toml says, else 60 s, unless --runs is given)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,

    /// End after this many traced runs
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
}

impl BudgetArguments {
    /// What was asked for, and nothing else.
    pub fn asked(self) -> Budget {
        Budget {
            runs: self.runs,
            time: self.time,
        }
    }

    /// What was asked for; if nothing was, as the project around the current directory says, else the usual.
    pub fn or_of_project(self) -> Result<Budget, Failure> {
        let usual = match Project::find(Path::new(".")) {
            Ok(project) => project.config.budget,
            Err(ProjectError::NotFound(_)) => config::Budget::default(),
            // Who says how long it may take needs no project.
            Err(_) if self.time.is_some() || self.runs.is_some() => config::Budget::default(),
            Err(error) => return Err(error.into()),
        };
        Ok(self.or(&usual))
    }

    /// What was asked for; if nothing was, the usual.
    pub fn or(self, usual: &config::Budget) -> Budget {
        match (self.time, self.runs) {
            (None, None) => Budget {
                runs: (usual.runs > 0).then_some(usual.runs),
                time: Some(usual.time),
            },
            _ => self.asked(),
        }
    }
}
