//! `parallax-cc` on its own, as the tests of this crate use it. Called by a name that ends in
//! `c++` it is the C++ driver.

use parallax_capture::{Compiler, driver};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = PathBuf::from(arguments.next().unwrap_or_default());
    let compiler = Compiler::from_program_name(&name).unwrap_or(Compiler::C);
    driver::run(compiler, arguments.collect())
}
