//! Both versions of a program, ready for a search along their change sequence graph.

use std::path::{Path, PathBuf};

use parallax_analysis::sequence::Interactions;
use parallax_exec::sites::{ModuleSites, read_tables};
use parallax_search::cover;
use parallax_search::interact::{Code, Interactor, Observer, Subjects, Summary};

use super::Options;
use crate::Start;
use crate::changes::Comparison;
use crate::failure::Failure;
use crate::setup::Setup;
use crate::versions::Version;

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
        setup: &Setup,
    ) -> Result<Ready, Failure> {
        let comparison = Comparison::new(&setup.context, old, new, patch, Interactions::Important)?;
        let covered = &comparison.new.covered;
        let tables = read_tables(&covered.path, &covered.libraries)?;
        let version = Version::new(new, setup)?;
        let subjects = Subjects {
            old: setup.builds(old)?,
            new: version.programs.clone(),
            covered: covered.path.clone(),
            golden: golden.map(|path| setup.builds(path)).transpose()?,
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
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Summary, Failure> {
        let Comparison { new, graph, .. } = &self.comparison;
        start.environment = cover::variables(&new.analysis, start.environment);
        let searched = options.searched(program, start, readable);
        let code = Code {
            analysis: &new.analysis,
            dependences: &new.dependences,
            graph,
            sites: &self.new.sites,
            tables: &self.tables,
        };
        let interactor = Interactor::new(&self.subjects, code, &searched)?;
        Ok(interactor.run(observer)?)
    }
}
