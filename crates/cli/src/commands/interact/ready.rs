//! Both versions of a program, ready for a search along their change sequence graph.

use std::path::{Path, PathBuf};

use parallax_analysis::sequence::Interactions;
use parallax_exec::sites::{ModuleSites, read_tables};
use parallax_search::cover;
use parallax_search::diverge::triage::Builds;
use parallax_search::interact::{Code, Interactor, Observer, Subjects, Summary};

use super::Wish;
use crate::commands::changes::Comparison;
use crate::commands::explore::start::Start;
use crate::commands::means::Means;
use crate::commands::shared;
use crate::commands::versions::Version;
use crate::failure::Failure;

/// See the module's description.
pub struct Ready {
    pub comparison: Comparison,
    new: Version,
    /// Of the covered program.
    tables: Vec<ModuleSites>,
    subjects: Subjects,
}

impl Ready {
    pub fn new(
        old: &Path,
        new: &Path,
        golden: Option<&Path>,
        patch: Option<&Path>,
        means: &Means,
    ) -> Result<Ready, Failure> {
        let comparison = Comparison::new(old, new, patch, Interactions::Important)?;
        let builds = |path: &Path| -> Result<Builds, Failure> {
            let program = shared::read(path)?;
            let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
            Ok((absolute, means.checked(&program)))
        };
        let covered = &comparison.new.covered;
        let tables = read_tables(&covered.path, &covered.libraries)?;
        let version = Version::new(new, means)?;
        let subjects = Subjects {
            old: builds(old)?,
            new: version.programs.clone(),
            covered: covered.path.clone(),
            golden: golden.map(builds).transpose()?,
        };
        Ok(Ready {
            comparison,
            new: version,
            tables,
            subjects,
        })
    }

    /// Searches until the budget is used up or nothing is left to try. `readable`: folders that programs may look at.
    pub fn search(
        &self,
        program: &Path,
        mut start: Start,
        readable: Vec<PathBuf>,
        wish: &Wish<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Summary, Failure> {
        let Comparison { new, graph, .. } = &self.comparison;
        start.environment = cover::variables(&new.analysis, start.environment);
        let options = wish.options(program, start, readable);
        let code = Code {
            analysis: &new.analysis,
            dependences: &new.dependences,
            graph,
            sites: &self.new.sites,
            tables: &self.tables,
        };
        let interactor = Interactor::new(&self.subjects, code, &options)?;
        Ok(interactor.run(observer)?)
    }
}
