//! `parallax-cc` and `parallax-c++` where builds find them.
//!
//! They are names of `parallax` itself, kept as links below `.parallax/bin`: always the version that runs now, wherever it
//! was installed, and a path that stays the same for makefiles that remember their compiler.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::BuildError;

/// The program that stands in for the compilers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    executable: PathBuf,
}

impl Toolchain {
    /// With the path of `parallax`.
    pub fn new(executable: &Path) -> Toolchain {
        Toolchain {
            executable: executable.to_owned(),
        }
    }

    /// The `parallax` that is running.
    pub fn current() -> io::Result<Toolchain> {
        Ok(Toolchain::new(&std::env::current_exe()?))
    }

    /// `CC` and `CXX`; and `PATH`, if only names without a path will do.
    pub(super) fn environment(&self, state: &Path) -> Result<Vec<(String, String)>, BuildError> {
        let bin = state.join("bin");
        fs::create_dir_all(&bin).map_err(BuildError::io(&bin))?;
        for name in ["parallax-cc", "parallax-c++"] {
            let link = bin.join(name);
            if fs::read_link(&link).ok().as_deref() != Some(&self.executable) {
                replace_link(&self.executable, &link).map_err(BuildError::io(&link))?;
            }
        }
        let plain = |path: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
            path.chars().all(allowed)
        };
        let variable = |name: &str, value: String| (name.to_owned(), value);
        if let Some(bin) = bin.to_str().filter(|path| plain(path)) {
            return Ok(vec![
                variable("CC", format!("{bin}/parallax-cc")),
                variable("CXX", format!("{bin}/parallax-c++")),
            ]);
        }
        // Makefiles and configure scripts split CC at spaces.
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        Ok(vec![
            variable("CC", "parallax-cc".to_owned()),
            variable("CXX", "parallax-c++".to_owned()),
            variable("PATH", format!("{}:{path}", bin.display())),
        ])
    }
}

/// Never missing in between: another build may be starting its compiler.
fn replace_link(target: &Path, link: &Path) -> io::Result<()> {
    parallax_files::replace(link, |scratch| symlink(target, scratch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_absolute_paths_unless_spaces_forbid() {
        let folder = tempfile::tempdir().unwrap();
        let toolchain = Toolchain::new(Path::new("/opt/parallax"));
        let state = folder.path().join("state");
        let variables = toolchain.environment(&state).unwrap();
        assert_eq!(
            variables[0].1,
            format!("{}/bin/parallax-cc", state.display())
        );
        let target = fs::read_link(state.join("bin/parallax-c++")).unwrap();
        assert_eq!(target, Path::new("/opt/parallax"));

        let state = folder.path().join("with space");
        let variables = toolchain.environment(&state).unwrap();
        assert_eq!(variables[0], ("CC".to_owned(), "parallax-cc".to_owned()));
        assert!(
            variables[2]
                .1
                .starts_with(&format!("{}/bin:", state.display()))
        );
    }

    #[test]
    fn the_link_follows_the_program_that_runs() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["/opt/old/parallax", "/opt/new/parallax"] {
            Toolchain::new(Path::new(version))
                .environment(folder.path())
                .unwrap();
            let target = fs::read_link(folder.path().join("bin/parallax-cc")).unwrap();
            assert_eq!(target, Path::new(version));
        }
    }
}
