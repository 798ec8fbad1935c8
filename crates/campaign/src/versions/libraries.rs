//! Libraries that a patch changes, and the programs that use them: code that no program runs cannot be tested, and is named.

use std::path::PathBuf;

use super::Pair;

/// A library of the new version with changed code in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Its path in the build tree.
    pub name: String,
    pub path: PathBuf,
    /// Names of the programs under test that load it. Nothing of a static library is loaded: what programs take of it is theirs.
    pub programs: Vec<String>,
}

impl Pair {
    /// Captured shared libraries and plug-ins that are made of changed files.
    pub fn changed_libraries(&self) -> Vec<Library> {
        let build = &self.builds.new;
        let loaded: Vec<(String, Vec<PathBuf>)> = build
            .programs
            .iter()
            .map(|program| {
                let needed = parallax_exec::libraries::needed(&program.path).into_iter();
                let real = needed.filter_map(|path| path.canonicalize().ok());
                (program.name.clone(), real.collect())
            })
            .collect();
        let mut changed = Vec::new();
        for library in parallax_project::programs::libraries(&build.tree) {
            let Ok(captured) = parallax_capture::read_program(&library.path) else {
                continue;
            };
            if !self.is_of_patch(&captured, build) {
                continue;
            }
            let real = library.path.canonicalize().unwrap_or(library.path.clone());
            let users = loaded.iter().filter(|(_, paths)| paths.contains(&real));
            changed.push(Library {
                programs: users.map(|(name, _)| name.clone()).collect(),
                name: library.name,
                path: library.path,
            });
        }
        changed
    }

    /// Says which libraries have changed code that no program under test loads when it starts.
    pub(super) fn name_untested_libraries(&self) {
        for library in self.changed_libraries() {
            if library.programs.is_empty() {
                self.context.note(&format!(
                    "{} has changed code, and no program under test is linked with it: what only it contains is not tested; \
                     name a program or test that uses it in programs of parallax.toml",
                    library.name
                ));
            }
        }
    }
}
