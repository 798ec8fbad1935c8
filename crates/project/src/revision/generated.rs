//! Generated files that came with a source package, on a machine without what generates them.
//!
//! Distributions patch `configure.ac`, `m4/*`, `Makefile.am` or the manual and leave the files that are generated from them
//! older than their sources. `make` then wants autoconf, automake or makeinfo before it does anything else. Where these are
//! missing, the generated files are made as new as the newest file of the tree.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{RevisionError, set_time};

/// What autotools packages are generated with.
const GENERATORS: &[&str] = &["autoconf", "automake", "makeinfo"];

/// Files that these make. (Manual pages come from help2man, in packages that have it.)
fn is_generated(path: &Path) -> bool {
    let (name, ending) = name_and_ending(path);
    let info = |ending: &str| ending == "info" || ending.starts_with("info-");
    let manual =
        |ending: &str| ending.len() == 1 && ending.starts_with(|c: char| ('1'..='8').contains(&c));
    matches!(
        name,
        "configure"
            | "aclocal.m4"
            | "Makefile.in"
            | "config.h.in"
            | "config.hin"
            | "stamp-h.in"
            | "stamp-vti"
            | "version.texi"
    ) || info(ending)
        || manual(ending)
}

/// Makes generated files newer than their sources if they could not be made anew. Says so if that mattered.
pub(super) fn trust(
    tree: &Path,
    has_tool: &dyn Fn(&str) -> bool,
) -> Result<Vec<String>, RevisionError> {
    let missing: Vec<&str> = GENERATORS
        .iter()
        .copied()
        .filter(|tool| !has_tool(tool))
        .collect();
    if missing.is_empty() || !tree.join("configure").is_file() {
        return Ok(Vec::new());
    }
    let files = files_with_times(tree).map_err(RevisionError::io(tree))?;
    let Some(newest) = files.iter().map(|(_, time)| *time).max() else {
        return Ok(Vec::new());
    };
    let mut sources = Vec::new();
    let configured = files
        .iter()
        .find(|(path, _)| path == &tree.join("configure"));
    for (path, time) in &files {
        if is_generated(path) {
            set_time(path, newest).map_err(RevisionError::io(path))?;
        } else if is_source(path) && configured.is_some_and(|(_, configure)| time > configure) {
            sources.push(
                path.strip_prefix(tree)
                    .unwrap_or(path)
                    .display()
                    .to_string(),
            );
        }
    }
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    sources.sort();
    Ok(vec![format!(
        "configure and Makefile.in are used as they came, though {} changed since: {} not installed",
        few(&sources),
        missing.join(", ") + if missing.len() == 1 { " is" } else { " are" }
    )])
}

/// Empty where they are no text: nothing that is generated is called so.
fn name_and_ending(path: &Path) -> (&str, &str) {
    let [name, ending] = [path.file_name(), path.extension()]
        .map(|part| part.and_then(OsStr::to_str).unwrap_or_default());
    (name, ending)
}

fn is_source(path: &Path) -> bool {
    let (name, ending) = name_and_ending(path);
    name == "configure.ac" || matches!(ending, "m4" | "am" | "mk")
}

fn few(names: &[String]) -> String {
    const MOST: usize = 3;
    match names.len() {
        0..=MOST => names.join(", "),
        count => format!("{} and {} others", names[..MOST].join(", "), count - MOST),
    }
}

fn files_with_times(tree: &Path) -> io::Result<Vec<(PathBuf, SystemTime)>> {
    let mut files = Vec::new();
    let mut open = vec![tree.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                open.push(entry.path());
            } else if metadata.is_file() {
                files.push((entry.path(), metadata.modified()?));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("configure", 100),
            ("Makefile.in", 90),
            ("m4", 0),
            ("m4/a.m4", 500),
            ("prog.c", 700),
            ("prog.o", 50),
        ];
        for (name, second) in files {
            let path = folder.path().join(name);
            if name == "m4" {
                fs::create_dir(&path).unwrap();
            } else {
                fs::write(&path, "").unwrap();
                set_time(&path, SystemTime::UNIX_EPOCH + Duration::from_secs(second)).unwrap();
            }
        }
        folder
    }

    fn second(tree: &Path, name: &str) -> u64 {
        let time = fs::metadata(tree.join(name)).unwrap().modified().unwrap();
        time.duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs()
    }

    #[test]
    fn without_autotools_generated_files_become_the_newest_and_others_stay() {
        let folder = tree();
        let notes = trust(folder.path(), &|tool| tool != "automake").unwrap();
        assert_eq!(second(folder.path(), "configure"), 700);
        assert_eq!(second(folder.path(), "Makefile.in"), 700);
        assert_eq!(second(folder.path(), "m4/a.m4"), 500);
        assert_eq!(second(folder.path(), "prog.o"), 50);
        assert_eq!(
            notes,
            [
                "configure and Makefile.in are used as they came, though m4/a.m4 changed since: automake is not installed"
            ]
        );
    }

    #[test]
    fn with_autotools_times_stay_as_they_are() {
        let folder = tree();
        assert!(trust(folder.path(), &|_| true).unwrap().is_empty());
        assert_eq!(second(folder.path(), "configure"), 100);
    }
}
