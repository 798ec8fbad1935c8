//! `parallax completions`: what shells need to complete command lines.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::CommandLine;
use crate::console;
use crate::exit::Exit;
use parallax_campaign::Failure;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax completions bash > ~/.local/share/bash-completion/completions/parallax
  parallax completions zsh > ~/.zfunc/_parallax
  parallax completions fish > ~/.config/fish/completions/parallax.fish")]
pub struct Arguments {
    /// Which one
    shell: Shell,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let mut command = CommandLine::command();
    clap_complete::generate(arguments.shell, &mut command, "parallax", &mut script);
    console::print_data(&script)?;
    Ok(Exit::Clean)
}
