//! `parallax cc`: the compiler wrapper without installing it under its own name.

use std::ffi::OsString;
use std::process::ExitCode;

use parallax_capture::{Compiler, driver};

/// Compile and link as clang does, and capture the program
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax cc -- -O2 -o prog main.c
  make CC='parallax cc --'

The names parallax-cc and parallax-c++ (links to parallax) do the same with
arguments exactly as clang's:
  ./configure CC=parallax-cc && make")]
pub struct Arguments {
    /// Be a C++ compiler
    #[arg(long)]
    cplusplus: bool,

    /// What clang is to do
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    arguments: Vec<OsString>,
}

pub fn run(arguments: Arguments) -> ExitCode {
    let compiler = if arguments.cplusplus {
        Compiler::Cplusplus
    } else {
        Compiler::C
    };
    driver::run(compiler, arguments.arguments)
}
