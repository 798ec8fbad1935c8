//! Results of single tests, kept as files so that a run can be resumed.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the tests of one round gave.
pub struct Results {
    folder: PathBuf,
    /// Test to `PASS`, `FAIL`, `SKIP`, `XFAIL`, `XPASS`, `ERROR`.
    by_test: BTreeMap<String, String>,
}

/// What a test without result file has.
const NOTHING: &str = "NO RESULT";

impl Results {
    /// Reads what is there already.
    pub fn open(folder: &Path) -> Result<Results> {
        fs::create_dir_all(folder)?;
        let mut by_test = BTreeMap::new();
        let list = folder.join("results");
        if list.exists() {
            for line in fs::read_to_string(list)?.lines() {
                let (test, result) = line.split_once(' ').context("a line of results")?;
                by_test.insert(test.to_owned(), result.to_owned());
            }
        }
        Ok(Results {
            folder: folder.to_owned(),
            by_test,
        })
    }

    pub fn has(&self, test: &str) -> bool {
        self.by_test.contains_key(test)
    }

    pub fn len(&self) -> usize {
        self.by_test.len()
    }

    pub fn of(&self, test: &str) -> &str {
        self.by_test.get(test).map_or(NOTHING, String::as_str)
    }

    /// How many tests have which result.
    pub fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for result in self.by_test.values() {
            *counts.entry(result.as_str()).or_default() += 1;
        }
        counts
    }

    /// Takes the results of `tests` out of the build tree, with their logs.
    pub fn collect(&mut self, build: &Path, tests: &[&String]) -> Result<()> {
        for test in tests {
            let stem = stem(test);
            let result = fs::read_to_string(build.join(format!("{stem}.trs")))
                .ok()
                .and_then(|text| result_of(&text))
                .unwrap_or_else(|| NOTHING.to_owned());
            let log = build.join(format!("{stem}.log"));
            if log.exists() {
                fs::copy(
                    &log,
                    self.folder.join(format!("{}.log", stem.replace('/', "-"))),
                )?;
            }
            self.by_test.insert((*test).clone(), result);
        }
        let lines: Vec<String> = self
            .by_test
            .iter()
            .map(|(test, result)| format!("{test} {result}\n"))
            .collect();
        fs::write(self.folder.join("results"), lines.concat())?;
        Ok(())
    }
}

/// Automake drops the extensions that it knows.
fn stem(test: &str) -> &str {
    [".sh", ".pl", ".xpl"]
        .iter()
        .find_map(|extension| test.strip_suffix(extension))
        .unwrap_or(test)
}

/// The verdict in a `.trs` file.
fn result_of(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(":global-test-result:"))?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_survive_being_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let build = folder.path().join("build");
        fs::create_dir_all(build.join("tests/misc")).unwrap();
        fs::write(
            build.join("tests/misc/cut.trs"),
            ":test-result: PASS\n:global-test-result: PASS\n:recheck: no\n",
        )
        .unwrap();
        let kept = folder.path().join("kept");
        let names = [
            "tests/misc/cut.pl".to_owned(),
            "tests/misc/gone.sh".to_owned(),
        ];
        let mut results = Results::open(&kept).unwrap();
        results
            .collect(&build, &names.iter().collect::<Vec<_>>())
            .unwrap();
        let results = Results::open(&kept).unwrap();
        assert_eq!(results.of("tests/misc/cut.pl"), "PASS");
        assert_eq!(results.of("tests/misc/gone.sh"), NOTHING);
        assert_eq!(results.counts()["PASS"], 1);
    }
}
