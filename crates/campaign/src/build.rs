//! Builds of revisions, made unless they are there.

use parallax_project::{Build, Builds, Revision};

use crate::context::{Context, Step, Task};
use crate::failure::Failure;

/// Builds a revision unless it is built, and tells how far that is.
pub fn ensure(context: &Context, builds: &Builds, revision: &Revision) -> Result<Build, Failure> {
    let progress = context.events.begin(Task::Build(&revision.label));
    let builds = builds.clone().until(context.cancel.flag().clone());
    Ok(builds.ensure(revision, &mut |event| progress.step(Step::Build(event)))?)
}
