//! Programs with a line that is hard to reach, each for one reason: what the parts of `parallax cover` are compared on.
//!
//! They lie in `tests/cover`. Comments at the begin of each say what the search starts from, how many runs
//! it may take, and which part of it the line cannot be reached without; the line has the comment `target`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// Of the file, without its ending.
    pub name: String,
    pub source: String,
    /// The part of the search that it needs; `None` if the greedy step will do.
    pub needs: Option<String>,
    /// Parts that would do as well, and are left out.
    pub beside: Vec<String>,
    pub arguments: Vec<String>,
    pub stdin: Option<String>,
    /// Name and contents.
    pub files: Vec<(String, String)>,
    pub runs: u32,
    /// Number of the target's line.
    pub line: usize,
}

/// All programs below a checkout of the project, by name.
pub fn all(checkout: &Path) -> io::Result<Vec<Case>> {
    let folder = checkout.join("tests/cover");
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        cases.push(Case::parse(&name, &fs::read_to_string(&path)?));
    }
    Ok(cases)
}

impl Case {
    fn parse(name: &str, source: &str) -> Case {
        let mut case = Case {
            name: name.to_owned(),
            source: source.to_owned(),
            ..Case::default()
        };
        for (number, line) in (1..).zip(source.lines()) {
            if line.ends_with("// target") {
                case.line = number;
            }
            let Some((key, value)) = line
                .strip_prefix("// ")
                .and_then(|line| line.split_once(": "))
            else {
                continue;
            };
            match key {
                "needs" if value != "nothing" => case.needs = Some(value.to_owned()),
                "beside" => case.beside = value.split(' ').map(str::to_owned).collect(),
                "arguments" => case.arguments = value.split(' ').map(str::to_owned).collect(),
                "stdin" => case.stdin = Some(unescaped(value)),
                "runs" => case.runs = value.parse().unwrap_or(0),
                "file" => {
                    if let Some((name, contents)) = value.split_once('=') {
                        case.files.push((name.to_owned(), unescaped(contents)));
                    }
                }
                _ => {}
            }
        }
        case
    }

    /// Writes what the search starts from to a folder; the command line of `parallax cover` there, for a program called
    /// `prog` made of `prog.c`.
    pub fn prepare(&self, folder: &Path, without: &[&str]) -> io::Result<Vec<String>> {
        let mut words: Vec<String> = ["cover", "./prog", "--json", "--runs"]
            .map(str::to_owned)
            .to_vec();
        words.push(self.runs.to_string());
        words.push(format!("--at=prog.c:{}", self.line));
        for (name, contents) in &self.files {
            fs::write(folder.join(name), contents)?;
        }
        if let Some(stdin) = &self.stdin {
            fs::write(folder.join("stdin"), stdin)?;
            words.push("--stdin=stdin".into());
        }
        let beside = self.beside.iter().map(String::as_str);
        // Inputs that are made without looking at a path reach most of them by trying what there is.
        let without = without
            .iter()
            .copied()
            .chain(beside)
            .chain(["survey", "splice"]);
        let without: Vec<&str> = without.collect();
        words.push(format!("--without={}", without.join(",")));
        words.push("--".into());
        words.extend(self.arguments.iter().cloned());
        Ok(words)
    }
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_what_a_search_starts_from() {
        let case = Case::parse(
            "name",
            "// Why.\n// needs: switch\n// arguments: a b\n// stdin: x\\n\n// file: f=1\n// runs: 7\nf(); // target\n",
        );
        assert_eq!(case.needs.as_deref(), Some("switch"));
        assert_eq!(case.arguments, ["a", "b"]);
        assert_eq!(case.stdin.as_deref(), Some("x\n"));
        assert_eq!(case.files, [("f".to_owned(), "1".to_owned())]);
        assert_eq!((case.runs, case.line), (7, 7));
    }
}
