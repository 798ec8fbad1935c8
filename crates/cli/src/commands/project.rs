//! The project that a command works on.

use std::ffi::OsStr;
use std::path::Path;

use parallax_campaign::Failure;
use parallax_project::Project;

/// Options of every command that works on a project.
#[derive(Debug, clap::Args)]
pub struct ProjectArguments {
    /// Override a setting of parallax.toml, as in build.jobs=4
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

impl ProjectArguments {
    /// The project around the current directory.
    pub fn find(&self) -> Result<Project, Failure> {
        Ok(Project::find_with(Path::new("."), &self.settings)?)
    }
}

/// `FILE:LINE`.
pub fn parse_place(text: &str) -> Result<(String, u32), String> {
    let parsed = text
        .rsplit_once(':')
        .and_then(|(file, line)| Some((file.to_owned(), line.parse().ok()?)));
    parsed
        .filter(|(file, line)| !file.is_empty() && *line > 0)
        .ok_or_else(|| "write it as FILE:LINE".to_owned())
}

/// Whether a word means revisions, and no program.
pub fn is_range(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    !Path::new(word).exists() && text.contains("..") && !text.starts_with(['/', '.'])
}

#[cfg(test)]
mod tests {
    use super::is_range;

    #[test]
    fn a_word_is_a_range_unless_it_looks_like_a_path() {
        assert!(is_range("HEAD~1..HEAD".as_ref()));
        assert!(is_range("main...topic/x".as_ref()));
        assert!(is_range("HEAD..".as_ref()));
        assert!(!is_range("../prog".as_ref()));
        assert!(!is_range("./prog".as_ref()));
        assert!(!is_range("prog".as_ref()));
    }
}
