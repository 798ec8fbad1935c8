//! The project's own idiom: a file with marks where the pieces of a test go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::shell::Pieces;

/// The marks, and what each stands for.
pub const MARKS: [(&str, &str); 8] = [
    ("name", "name of the test, fit for a file"),
    ("title", "what it covers"),
    ("program", "path of the program, as a word of the shell"),
    (
        "setup",
        "commands that lay out the files below $root, in a new directory $work",
    ),
    ("run", "commands that run $program and set $status"),
    (
        "check",
        "commands that end with 1 if something is not as expected",
    ),
    ("exit", "the exit code that is expected"),
    ("stdout", "the output that is expected"),
];

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("cannot read the template {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{}:{line}: there is no mark {{{{{mark}}}}}", path.display())]
    Unknown {
        path: PathBuf,
        line: usize,
        mark: String,
    },
    #[error("the template {} has none of the marks", .0.display())]
    Empty(PathBuf),
}

/// A template that was read.
#[derive(Clone, Debug)]
pub struct Template {
    ending: String,
    /// Text, and the mark behind it.
    parts: Vec<(String, Option<&'static str>)>,
}

impl Template {
    pub fn read(path: &Path) -> Result<Template, TemplateError> {
        let text = fs::read_to_string(path).map_err(|source| TemplateError::Read {
            path: path.to_owned(),
            source,
        })?;
        // As of generated files: x.sh.in makes x.sh.
        let name = match path.extension() {
            Some(ending) if ending == "in" || ending == "template" => path.with_extension(""),
            _ => path.to_owned(),
        };
        let ending = name.extension().unwrap_or("sh".as_ref());
        Template::parse(&text, path, &ending.to_string_lossy())
    }

    fn parse(text: &str, path: &Path, ending: &str) -> Result<Template, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{")
            && let Some((mark, after)) = behind.split_once("}}")
        {
            let known = MARKS.iter().find(|(name, _)| *name == mark.trim());
            let Some((known, _)) = known else {
                let read = text.len() - behind.len();
                return Err(TemplateError::Unknown {
                    path: path.to_owned(),
                    line: text[..read].lines().count(),
                    mark: mark.to_owned(),
                });
            };
            parts.push((before.to_owned(), Some(*known)));
            rest = after;
        }
        if parts.is_empty() {
            return Err(TemplateError::Empty(path.to_owned()));
        }
        parts.push((rest.to_owned(), None));
        Ok(Template {
            ending: ending.to_owned(),
            parts,
        })
    }

    pub fn ending(&self) -> &str {
        &self.ending
    }

    pub fn fill(&self, pieces: &Pieces) -> Vec<u8> {
        let exit = pieces.exit.to_string();
        let mut text = Vec::new();
        for (before, mark) in &self.parts {
            text.extend(before.as_bytes());
            text.extend(match mark {
                Some("name") => pieces.name.as_bytes(),
                Some("title") => pieces.title.as_bytes(),
                Some("program") => pieces.program.as_bytes(),
                Some("setup") => without_end(&pieces.setup),
                Some("run") => without_end(&pieces.run),
                Some("check") => without_end(&pieces.check),
                Some("exit") => exit.as_bytes(),
                Some("stdout") => &pieces.stdout,
                _ => b"",
            });
        }
        text
    }
}

/// The line ends where the template says.
fn without_end(text: &str) -> &[u8] {
    text.strip_suffix('\n').unwrap_or(text).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_does_not_exist_is_named_with_its_line() {
        let error = Template::parse("a\n{{setup}}\n{{set}}\n", Path::new("t"), "sh").unwrap_err();
        assert_eq!(error.to_string(), "t:3: there is no mark {{set}}");
        let error = Template::parse("nothing", Path::new("t"), "sh").unwrap_err();
        assert!(matches!(error, TemplateError::Empty(_)));
    }
}
