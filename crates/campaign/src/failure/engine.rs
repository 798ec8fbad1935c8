//! Errors of running programs and of reading what runs leave behind, as the user reads them.

use std::io::ErrorKind;

use parallax_exec::execute::ExecuteError;
use parallax_exec::replay::ReplayError;
use parallax_exec::run::RunError;
use parallax_exec::sandbox::SandboxError;
use parallax_exec::shared::SharedError;
use parallax_exec::sites::SitesError;
use parallax_search::archive::ArchiveError;
use parallax_search::engine::SearchError;
use parallax_search::explore::ExploreError;
use parallax_store::StoreError;
use parallax_trace::region::RegionError;

use super::Failure;
use crate::exit::Exit;

/// What helps against most of what a machine can lack.
const DOCTOR: &str = "parallax doctor says what this machine lacks";

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        use RunError::*;
        let (exit, hint) = match &error {
            NotFound(_) => (Exit::Usage, "give the path of the program, as in ./prog"),
            IsDirectory(_) => (Exit::Usage, "give a program inside it"),
            Permission { .. } => (Exit::Usage, "chmod +x makes a file executable"),
            Format(_) => (
                Exit::Usage,
                "the command file says what it is; give a program of this machine",
            ),
            TooLong => (
                Exit::Usage,
                "give it less, or ulimit -s unlimited: the limit comes from that",
            ),
            Nul => (Exit::Usage, "no program can be given that; leave it out"),
            Directory { .. } => (Exit::Usage, "is the folder there, and may it be entered?"),
            Stdin { .. } => (Exit::Usage, "is the name right, and may the file be read?"),
            Interpreter(_) => (
                Exit::Usage,
                "install the dynamic linker or interpreter that it names",
            ),
            System { .. } => (
                Exit::Internal,
                "is the machine out of processes, files or memory? ulimit -a shows the limits",
            ),
            KeeperLost => (
                Exit::Internal,
                "the program kills processes that are not its own; run it in a container",
            ),
        };
        Failure::from_error(exit, &error).hint(hint)
    }
}

impl From<ExecuteError> for Failure {
    fn from(error: ExecuteError) -> Failure {
        use ExecuteError::*;
        let hint = match error {
            Run(error) => return error.into(),
            Sandbox(error) => return error.into(),
            Scratch(error) => {
                return Failure::of_file(
                    Exit::Internal,
                    "cannot use the scratch folder below",
                    &std::env::temp_dir(),
                    &error,
                );
            }
            File { path, source } => {
                let what = "cannot lay out the scenario's file";
                return Failure::of_file(Exit::Internal, what, &path, &source);
            }
            Outside(_) => "a run is given files of its own folder only; leave this one out",
            Lost(_) => {
                "the program kills processes that are not its own, or the machine is out of memory"
            }
            NoNetwork => "permit namespaces; parallax doctor says how",
            Address(_) => {
                "correct it in the scenario: parallax schema describes what scenarios look like"
            }
            TooMuchShared(_) => "this is a defect of Parallax: please report it",
        };
        Failure::from_error(Exit::Internal, &error).hint(hint)
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Failure {
        let hint = match &error {
            SandboxError::Unavailable { .. } => {
                "parallax doctor says how to permit one; --no-sandbox does without, where it does not matter"
            }
            SandboxError::SetUp { .. } => DOCTOR,
            SandboxError::Path(_) => {
                "put the program where its path has fewer or plainer characters"
            }
        };
        Failure::from_error(Exit::Internal, &error).hint(hint)
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Failure {
        match error {
            ReplayError::Shared(error) => error.into(),
            ReplayError::Execute(error) => error.into(),
        }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Failure {
        match error {
            SearchError::Explore(error) => error.into(),
            SearchError::Replay(error) => error.into(),
            SearchError::Journal(error) => ExploreError::from(error).into(),
        }
    }
}

impl From<ExploreError> for Failure {
    fn from(error: ExploreError) -> Failure {
        match error {
            ExploreError::Region(error) => error.into(),
            ExploreError::Shared(error) => error.into(),
            ExploreError::Sites(error) => error.into(),
            ExploreError::Execute(error) => error.into(),
            ExploreError::Journal(error) => match error.0.downcast::<StoreError>() {
                Ok(error) => (*error).into(),
                Err(error) => Failure::defect(error.as_ref()),
            },
            ExploreError::Untraced => Failure::from_error(Exit::Usage, &error)
                .hint("parallax doctor PROGRAM says what of it was captured; parallax trace shows a single run"),
        }
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Failure {
        let (exit, hint) = match error.source.kind() {
            ErrorKind::StorageFull => (
                Exit::Internal,
                "make room and run the command again: it goes on where it was",
            ),
            _ => (Exit::Usage, "--output names another directory"),
        };
        Failure::from_error(exit, &error).hint(hint)
    }
}

impl From<SharedError> for Failure {
    fn from(error: SharedError) -> Failure {
        let hint = match &error {
            SharedError::FileLimit { .. } => "ulimit -f unlimited",
            SharedError::Create { .. } | SharedError::Size { .. } | SharedError::Map { .. } => {
                DOCTOR
            }
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
            RegionError::Shared(_) => {
                "lower --memory; parallax doctor says what this machine lacks"
            }
            RegionError::TooManyNodes(_) => "lower --memory",
            RegionError::TooManyNames(_) => "name fewer environment variables",
        };
        Failure::from_error(Exit::Internal, &error).hint(hint)
    }
}

impl From<SitesError> for Failure {
    fn from(error: SitesError) -> Failure {
        Failure::of_derived(&error)
    }
}
