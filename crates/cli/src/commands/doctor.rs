//! `parallax doctor`: what is missing on the machine, and how much of a program is captured.

use std::fmt::Write as _;
use std::path::PathBuf;

use parallax_bundle::Bundle;
use parallax_capture::{Compiler, Inventory, Program, clang, inventory};
use parallax_engine::doctor::{Check, Status, machine};

use super::shared;
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::size::counted;

/// Say what is missing on this machine, and how much of a program is captured
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax doctor
  parallax doctor ./prog

Ends with 1 if something is missing.")]
pub struct Arguments {
    /// A program built with parallax-cc
    program: Option<PathBuf>,
}

pub fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let program = arguments.program.as_deref().map(shared::read).transpose()?;
    let mut text = String::new();
    let missing = write_machine(&mut text);
    if let Some(program) = &program {
        write_program(&mut text, program, &inventory(program));
    }
    console::print(&text)?;
    Ok(if missing { Exit::Findings } else { Exit::Clean })
}

/// Also says whether something is missing.
fn write_machine(text: &mut String) -> bool {
    let (compiler, problem) = match clang(Compiler::C) {
        Ok(command) => (PathBuf::from(command.get_program()), None),
        Err(error) => (PathBuf::from("clang-19"), Some(error)),
    };
    let bundle = Bundle::unpack();
    let plugin = bundle.as_ref().ok().map(Bundle::plugin);
    let mut checks = machine(&compiler, plugin.as_deref());
    if let Some(problem) = problem {
        // What capture says is what will happen; it knows about overrides.
        let problem = problem.to_string();
        let mut lines = problem.lines().map(str::trim);
        checks[0].status = Status::Missing;
        checks[0].found = lines.next().unwrap_or_default().to_owned();
        checks[0].advice = checks[0]
            .advice
            .take()
            .or_else(|| Some(lines.collect::<Vec<_>>().join(" ")));
    }
    if let Err(error) = bundle {
        checks.push(Check {
            name: "own files",
            status: Status::Missing,
            found: error.to_string(),
            advice: Some("set XDG_CACHE_HOME to a directory that can be written".to_owned()),
        });
    }
    let _ = writeln!(text, "{}", Palette.heading("Machine"));
    let width = checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or(0);
    for check in &checks {
        write_check(text, check, width);
    }
    checks.iter().any(|check| check.status == Status::Missing)
}

fn write_check(text: &mut String, check: &Check, width: usize) {
    let mark = match check.status {
        Status::Good => Palette.good("ok     "),
        Status::Limited => Palette.warn("limited"),
        Status::Missing => Palette.bad("missing"),
    };
    let _ = writeln!(text, "  {mark}  {:width$}  {}", check.name, check.found);
    if let Some(advice) = &check.advice {
        let _ = writeln!(text, "           {:width$}  → {advice}", "");
    }
}

fn write_program(text: &mut String, program: &Program, inventory: &Inventory) {
    let heading = format!("Program {}", program.path.display());
    let _ = writeln!(text, "\n{}", Palette.heading(&heading));
    let modules = counted(inventory.modules as u64, "module");
    let functions = counted(inventory.functions, "function");
    let _ = writeln!(text, "  captured          {modules}, {functions}");
    if inventory.inline_assembly > 0 {
        let pieces = counted(inventory.inline_assembly, "piece");
        let _ = writeln!(
            text,
            "  inline assembly   {pieces}: run as they are, not traced"
        );
    }
    if !inventory.without_source.is_empty() {
        let modules = counted(inventory.without_source.len() as u64, "module");
        let _ = writeln!(
            text,
            "  without source    {modules}: checked for memory errors, not for undefined behaviour"
        );
    }
    for library in &inventory.captured_libraries {
        let _ = writeln!(text, "  captured library  {}", library.display());
    }
    for foreign in &inventory.foreign {
        let members = match foreign.members.len() {
            0 => String::new(),
            count => format!(" ({})", counted(count as u64, "member")),
        };
        let _ = writeln!(
            text,
            "  {}           {}{members}: not built with parallax-cc, run as it is",
            Palette.warn("foreign"),
            foreign.path.display()
        );
    }
    if inventory.foreign.is_empty() {
        let _ = writeln!(text, "  foreign objects   none");
    }
    let cached = shared::cached_variants(program);
    let list = if cached.is_empty() {
        "none yet".to_owned()
    } else {
        cached.join(", ")
    };
    let _ = writeln!(text, "  variants cached   {list}");
}
