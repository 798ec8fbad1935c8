//! Both versions of a program, ready for a search along their change sequence graph.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use parallax_analysis::sequence::Interactions;
use parallax_exec::sites::{ModuleSites, read_tables};
use parallax_search::cover;
use parallax_search::diverge::triage::Builds;
use parallax_search::engine::{Natives, Observer, Prepared, search};
use parallax_search::goals::orders::{Code, Following, Orders, Summary};
use parallax_search::journal::Nowhere;

use super::Options;
use crate::Start;
use crate::changes::Comparison;
use crate::failure::Failure;
use crate::setup::Setup;
use crate::versions::Version;

/// See the module's description.
pub struct Ready {
    pub comparison: Comparison,
    old: Version,
    new: Version,
    /// Of the covered program.
    tables: Vec<ModuleSites>,
    /// A version that is known to be right.
    golden: Option<Builds>,
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
        Ok(Ready {
            comparison,
            old: Version::new(old, setup)?,
            new: Version::new(new, setup)?,
            tables,
            golden: golden.map(|path| setup.builds(path)).transpose()?,
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
        let Ready {
            old,
            golden,
            tables,
            ..
        } = self;
        let sites = &self.new.sites;
        let Comparison { new, graph, .. } = &self.comparison;
        start.environment = cover::variables(&new.analysis, start.environment);
        let searched = options.searched(program, start, readable);
        let code = Code {
            analysis: &new.analysis,
            dependences: &new.dependences,
            graph,
            sites,
            tables,
        };
        let following = Following::new(code, &new.covered.path, &searched.explore.settings);
        let natives = Natives {
            old: Some(old.programs.plain.clone()),
            new: self.new.programs.plain.clone(),
            golden: golden.as_ref().map(|(plain, _)| plain.clone()),
        };
        let preparation = OnceLock::from(Some(Prepared {
            new: self.new.programs.clone(),
            old: Some(old.programs.clone()),
            golden_checked: golden.as_ref().and_then(|(_, checked)| checked.clone()),
            sites,
            tables,
            // Both versions are compared natively: that is what says what changes do together.
            versions: None,
            vocabulary: self.new.vocabulary(searched.seeds.iter()),
            examiner: Some(&following),
        }));
        let mut orders = Orders::new(&following, options.isolated, options.seed);
        let summary = search(
            &natives,
            &searched,
            &preparation,
            &mut [&mut orders],
            &mut Nowhere,
            observer,
        )?;
        Ok(orders.summary(summary))
    }
}
