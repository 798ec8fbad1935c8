//! How programs under trial are compiled.

use crate::process::{self, Finished};
use crate::rng::Rng;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A compile that takes longer is stuck.
const TIMEOUT: Duration = Duration::from_secs(900);

/// One way to compile: level and kind of executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flavour {
    pub flags: Vec<&'static str>,
}

impl Flavour {
    /// Draws optimisation level and kind of executable.
    pub fn draw(rng: &mut Rng) -> Flavour {
        let mut flags = vec![*rng.pick(&["-O0", "-O1", "-O2"])];
        match rng.below(8) {
            0 => flags.push("-static"),
            1..=3 => flags.extend(["-fno-pie", "-no-pie"]),
            _ => flags.extend(["-fPIE", "-pie"]),
        }
        Flavour { flags }
    }
}

/// Options that every program gets: no warnings (generated code is full of what
/// they are for), the libraries it needs, csmith's headers.
fn common(command: &mut Command) -> &mut Command {
    command.args(["-w", "-g", "-isystem", "/usr/include/csmith"])
}

/// Compiles with `compiler`.
pub fn compile(
    compiler: impl AsRef<OsStr>,
    flavour: &Flavour,
    source: &Path,
    program: &Path,
) -> io::Result<Finished> {
    let mut command = Command::new(compiler);
    common(&mut command)
        .args(&flavour.flags)
        .arg(source)
        .arg("-o")
        .arg(program)
        .args(["-lm", "-pthread"]);
    process::run(&mut command, TIMEOUT)
}

/// Compiles with the sanitizers, any report ending the program.
pub fn compile_checked(source: &Path, program: &Path) -> io::Result<Finished> {
    let flavour = Flavour {
        flags: vec![
            "-O1",
            "-fsanitize=undefined,address",
            "-fno-sanitize-recover=all",
        ],
    };
    compile("clang-19", &flavour, source, program)
}
