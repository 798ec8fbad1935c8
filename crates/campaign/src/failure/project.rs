//! Errors of a project, its builds, its tests and what is kept in it, as users read them.

use std::path::Path;

use parallax_project::accepted::AcceptedError;
use parallax_project::config::{ConfigError, Place};
use parallax_project::detect::DetectError;
use parallax_project::{BuildError, ProjectError, RevisionError};
use parallax_recorder::RecorderError;
use parallax_report::kept::KeptError;
use parallax_search::core::guide::NoTarget;
use parallax_store::StoreError;

use super::Failure;
use crate::exit::Exit;
use crate::record::ALLOW_TRACING;
use crate::testfile::{MARKS, TemplateError};

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        let line = error.place().and_then(Place::text).unwrap_or_default();
        let failure = Failure::new(Exit::Usage, error.to_string()).detail(line);
        match &error {
            ConfigError::Unknown {
                meant: Some(meant), ..
            } => failure.hint(format!("did you mean {meant}?")),
            ConfigError::Unknown { .. } => failure.hint("parallax schema --config lists all"),
            ConfigError::Read { path, error } => {
                Failure::of_file(Exit::Usage, "cannot read", path, error)
            }
            ConfigError::Syntax { .. } => {
                failure.hint("parallax init --print shows a whole file as it should be")
            }
            ConfigError::Type { .. } | ConfigError::Value { .. } => failure.hint(
                "parallax schema --config says what each setting takes, parallax init --print shows a whole file",
            ),
        }
    }
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Failure {
        match error {
            ProjectError::Config(error) => error.into(),
            ProjectError::NotFound(_) => Failure::new(Exit::Usage, error.to_string())
                .hint("parallax init writes one; run it at the top of the project"),
            ProjectError::Io { path, error } => {
                Failure::of_file(Exit::Usage, "cannot use", &path, &error)
            }
        }
    }
}

impl From<RevisionError> for Failure {
    fn from(error: RevisionError) -> Failure {
        let text = error.to_string();
        let failure = |exit| Failure::new(exit, text);
        match error {
            RevisionError::Unknown(_) | RevisionError::Form(_) => failure(Exit::Usage)
                .hint("give a range as git does: HEAD~1..HEAD, v1.0..main, main...topic"),
            RevisionError::NoRepository {
                root,
                complaint: Some(complaint),
            } => {
                let message = format!("git does not work in {}", root.display());
                Failure::new(Exit::Usage, message).detail(&complaint).hint(
                    "it has to be installed, and to accept the repository: what does git status say?",
                )
            }
            RevisionError::NoCommit { .. } => failure(Exit::Usage)
                .hint("git add -A && git commit makes one; without a range, parallax build builds the source as it is"),
            RevisionError::NoRepository { .. } => failure(Exit::Usage)
                .hint("git init && git add -A && git commit makes one; without a range, parallax build builds the source as it is"),
            RevisionError::NothingBefore => failure(Exit::Usage)
                .hint("commit the change, or give a range as git does: v1.0..main"),
            RevisionError::NoBase { .. } => {
                failure(Exit::Usage).hint("compare them as they are, with two dots: OLD..NEW")
            }
            RevisionError::Git { command, message } => {
                let name = command.split(' ').next().unwrap_or_default();
                Failure::new(Exit::Usage, format!("git {name} failed"))
                    .cause(format!("$ git {command}"))
                    .detail(&message)
                    .hint("does git status work here, and is there room on the disk? parallax clean shows what can be removed")
            }
            RevisionError::Io { path, error } => {
                Failure::of_file(Exit::Internal, "cannot use", &path, &error)
            }
            RevisionError::Project(error) => (*error).into(),
        }
    }
}

impl From<DetectError> for Failure {
    fn from(error: DetectError) -> Failure {
        match error {
            DetectError::Revision(error) => error.into(),
            DetectError::Nothing(_) => Failure::new(Exit::Usage, error.to_string())
                .hint("run parallax init at the top of the project's source"),
            DetectError::Missing { .. } => Failure::new(Exit::Usage, error.to_string())
                .hint("without --system, parallax init looks for every build system that it knows"),
        }
    }
}

/// Whether the source whose build left this log is a Debian source package.
fn is_debian_source(log: &Path) -> bool {
    let build = log.parent().and_then(Path::parent);
    build.is_some_and(|build| build.join("source/debian/control").is_file())
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        let text = error.to_string();
        let failure = |exit| Failure::new(exit, text);
        match error {
            BuildError::Step(step) => {
                let mut detail = step.errors.clone();
                if !detail.is_empty() {
                    detail.push("…".to_owned());
                }
                detail.extend_from_slice(&step.last_lines);
                let mut hint = format!(
                    "mend the source, or the commands in parallax.toml; the whole output is in {}",
                    step.log.display()
                );
                if is_debian_source(&step.log) {
                    hint.push_str("\nwhat Debian needs to build it: apt-get build-dep ./");
                }
                failure(Exit::BuildFailed)
                    .cause(format!("$ {}", step.command))
                    .detail(&detail.join("\n"))
                    .hint(hint)
            }
            BuildError::NoTree { .. } => failure(Exit::BuildFailed)
                .hint("build.tree in parallax.toml has to name the folder that the build puts its results into"),
            BuildError::NothingCaptured { said, log, .. } if !said.is_empty() => {
                failure(Exit::BuildFailed)
                    .detail(&said.join("\n"))
                    .hint(format!("mend what parallax-cc complains about; the whole output is in {}", log.display()))
            }
            BuildError::NothingCaptured { log, .. } => failure(Exit::BuildFailed).hint(format!(
                "the build must use the compiler that $CC names; a makefile that sets CC itself needs\n\
                 build = \"make CC=$CC\" in parallax.toml; what it did is in {}",
                log.display()
            )),
            BuildError::OnlyLibraries { .. } => failure(Exit::BuildFailed).hint(
                "Parallax runs programs: a program, test or example that uses the library is needed;\n\
                 add the command that builds one to build.build in parallax.toml",
            ),
            BuildError::Stopped { .. } => failure(Exit::Interrupted)
                .hint("run the same again to go on; versions that were built are kept"),
            BuildError::Shell { command, .. } => failure(Exit::BuildFailed)
                .cause(format!("$ {command}"))
                .hint("builds are run by sh: is it installed, and on PATH?"),
            BuildError::Io { path, error } => {
                Failure::of_file(Exit::Internal, "cannot use", &path, &error)
            }
            BuildError::Revision(error) => error.into(),
            BuildError::Project(error) => (*error).into(),
        }
    }
}

impl From<AcceptedError> for Failure {
    fn from(error: AcceptedError) -> Failure {
        let failure = Failure::from_error(Exit::Usage, &error);
        match error {
            AcceptedError::Io { path, error } => {
                Failure::of_file(Exit::Usage, "cannot use", &path, &error)
            }
            AcceptedError::Form { message, .. } => failure
                .detail(&message)
                .hint("each entry is [[accepted]] with finding = \"...\" and because = \"...\""),
        }
    }
}

impl From<KeptError> for Failure {
    fn from(error: KeptError) -> Failure {
        let failure = Failure::from_error(Exit::Usage, &error);
        match error {
            KeptError::Form { .. } => failure.hint("parallax check makes it anew"),
            KeptError::File { path, source } => {
                Failure::of_file(Exit::Usage, "cannot use", &path, &source)
            }
        }
    }
}

impl From<TemplateError> for Failure {
    fn from(error: TemplateError) -> Failure {
        let failure = Failure::from_error(Exit::Usage, &error);
        match error {
            TemplateError::Read { .. } => {
                failure.hint("test.template of parallax.toml names it, from the top of the project")
            }
            TemplateError::Unknown { .. } | TemplateError::Empty(_) => {
                let marks = MARKS.map(|(mark, _)| format!("{{{{{mark}}}}}"));
                failure.hint(format!("there are: {}", marks.join(" ")))
            }
        }
    }
}

impl From<NoTarget> for Failure {
    fn from(error: NoTarget) -> Failure {
        let failure = Failure::from_error(Exit::Usage, &error);
        match error {
            NoTarget::NoFile { .. } => {
                failure.hint("name a source file of the program as FILE:LINE")
            }
            NoTarget::Ambiguous { .. } => failure.hint("write more of the path"),
            NoTarget::NoCode { .. } => failure.hint("parallax targets shows which lines have code"),
        }
    }
}

impl From<RecorderError> for Failure {
    fn from(error: RecorderError) -> Failure {
        match error {
            RecorderError::Start { .. } => Failure::from_error(Exit::BuildFailed, &error)
                .hint("is it installed, and on PATH? the command that runs the tests is given behind --, or in test.command of parallax.toml"),
            RecorderError::Trace(_) => Failure::from_error(Exit::Internal, &error)
                .hint(ALLOW_TRACING),
            RecorderError::Wait(_) => Failure::from_error(Exit::Internal, &error)
                .hint("does something else trace or kill the tests? run the command alone"),
            RecorderError::Sink(error) => match error.downcast::<StoreError>() {
                Ok(error) => (*error).into(),
                Err(error) => Failure::defect(error.as_ref()),
            },
        }
    }
}
