//! The tools that must be on the machine, and how to get them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The LLVM version whose clang loads the plug-in: plug-ins fit one version only.
pub const LLVM_VERSION: &str = "19";

/// Which driver is stood in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    C,
    Cplusplus,
}

impl Compiler {
    /// The driver that a program called `name` stands in for: `parallax-cc` and `parallax-c++`.
    pub fn from_program_name(name: &Path) -> Option<Compiler> {
        match name.file_name()?.to_str()? {
            "parallax-cc" => Some(Compiler::C),
            "parallax-c++" => Some(Compiler::Cplusplus),
            _ => None,
        }
    }
}

/// A tool that is not there.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("{name} was not found on PATH")]
    Missing {
        name: String,
        package: &'static str,
        variable: &'static str,
    },
    #[error("{variable} names {}, which does not exist", path.display())]
    BadOverride {
        path: PathBuf,
        variable: &'static str,
    },
}

impl ToolError {
    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            ToolError::Missing {
                package, variable, ..
            } => format!("on Debian 12: apt-get install {package}; or name it with {variable}"),
            ToolError::BadOverride { variable, .. } => {
                format!("unset {variable}, or let it name clang {LLVM_VERSION}")
            }
        }
    }
}

/// Overrides which clang is used, for both languages.
pub const CLANG_VARIABLE: &str = "PARALLAX_CLANG";

/// The compiler driver, ready for arguments: `$PARALLAX_CLANG`, or `clang-19`
/// (`clang++-19`) on `PATH`.
pub fn clang(compiler: Compiler) -> Result<Command, ToolError> {
    if let Some(named) = env::var_os(CLANG_VARIABLE).filter(|value| !value.is_empty()) {
        let path = on_path(&named.to_string_lossy()).ok_or_else(|| ToolError::BadOverride {
            path: PathBuf::from(&named),
            variable: CLANG_VARIABLE,
        })?;
        let mut command = Command::new(path);
        if compiler == Compiler::Cplusplus {
            command.arg("--driver-mode=g++");
        }
        return Ok(command);
    }
    let name = match compiler {
        Compiler::C => format!("clang-{LLVM_VERSION}"),
        Compiler::Cplusplus => format!("clang++-{LLVM_VERSION}"),
    };
    let path = on_path(&name).ok_or(ToolError::Missing {
        name: name.clone(),
        package: "clang-19 llvm-19-dev libclang-rt-19-dev",
        variable: CLANG_VARIABLE,
    })?;
    // Called by its bare name: diagnostics begin with it.
    let mut command = Command::new(path);
    std::os::unix::process::CommandExt::arg0(&mut command, name);
    Ok(command)
}

/// The archiver, which comes with the linker.
pub fn archiver() -> Result<Command, ToolError> {
    let found = on_path("ar").or_else(|| on_path("llvm-ar-19"));
    found.map(Command::new).ok_or(ToolError::Missing {
        name: "ar".to_owned(),
        package: "binutils",
        variable: "PATH",
    })
}

/// Where `name` is: itself if it is a path, else the first of that name on `PATH`.
fn on_path(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let executable = |path: &Path| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| executable(path));
    }
    env::split_paths(&env::var_os("PATH")?)
        .map(|directory| directory.join(name))
        .find(|path| executable(path))
}
