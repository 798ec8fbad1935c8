//! `parallax doctor`: what is missing on the machine, and how much of a program is captured.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use parallax_bundle::Bundle;
use parallax_capture::{Compiler, Inventory, Program, clang, inventory};
use parallax_exec::doctor::{Check, Status, machine};
use parallax_project::tools::find_on_path;

use crate::console::{self, Palette, wrap};
use crate::exit::Exit;
use crate::size::counted;
use parallax_campaign::Failure;
use parallax_campaign::record::ALLOW_TRACING;
use parallax_campaign::variants;

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
    let program = arguments
        .program
        .as_deref()
        .map(variants::read)
        .transpose()?;
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
        checks[0].status = Status::Missing;
        checks[0].found = problem.to_string();
        checks[0].advice = Some(problem.advice());
    }
    if let Err(error) = bundle {
        let advice = error.advice();
        checks.push(missing("own files", error.to_string(), advice));
    }
    checks.extend([
        cache(),
        tool("git", "patches are read with it", "git"),
        tool("sh", "builds and tests are run by it", "dash"),
        recording(),
    ]);
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

fn good(name: &'static str, found: &str) -> Check {
    Check {
        name,
        status: Status::Good,
        found: found.to_owned(),
        advice: None,
    }
}

fn missing(name: &'static str, found: String, advice: &str) -> Check {
    Check {
        name,
        status: Status::Missing,
        found,
        advice: Some(advice.to_owned()),
    }
}

/// A command that work on projects needs, what for, and what brings it.
fn tool(name: &'static str, what_for: &str, package: &str) -> Check {
    match find_on_path(name) {
        Some(path) => good(name, &path.display().to_string()),
        None => {
            let advice = format!("apt-get install {package}");
            missing(name, format!("not on PATH; {what_for}"), &advice)
        }
    }
}

/// Whether what is derived can be kept.
fn cache() -> Check {
    const NAME: &str = "cache";
    let path = variants::cache_directory();
    let tried = fs::create_dir_all(&path).and_then(|()| tempfile::tempfile_in(&path));
    match tried {
        Ok(_) => good(NAME, &path.display().to_string()),
        Err(error) => {
            let advice = format!("{} names another place", variants::CACHE_VARIABLE);
            missing(
                NAME,
                format!("cannot write {}: {error}", path.display()),
                &advice,
            )
        }
    }
}

fn recording() -> Check {
    const NAME: &str = "recording (ptrace)";
    match parallax_recorder::probe() {
        Ok(()) => good(NAME, "permitted"),
        Err(error) => missing(NAME, error.to_string(), ALLOW_TRACING),
    }
}

fn write_check(text: &mut String, check: &Check, width: usize) {
    let mark = match check.status {
        Status::Good => Palette.good("ok     "),
        Status::Limited => Palette.warn("limited"),
        Status::Missing => Palette.bad("missing"),
    };
    // Beside the name where there is room for it, else below.
    const BEFORE_NAME: usize = 11;
    const LEAST: usize = 30;
    let beside = BEFORE_NAME + width + 2;
    let is_beside = console::width() >= beside + LEAST;
    let indent = if is_beside { beside } else { BEFORE_NAME };
    let room = console::width().saturating_sub(indent);
    let mut lines = wrap(&check.found, room);
    if let Some(advice) = &check.advice {
        let advice = wrap(advice, room.saturating_sub(2)).into_iter().enumerate();
        lines.extend(advice.map(|(at, line)| match at {
            0 => format!("→ {line}"),
            _ => format!("  {line}"),
        }));
    }
    let first = match is_beside {
        true => format!("{:width$}  {}", check.name, lines.remove(0)),
        false => check.name.to_owned(),
    };
    let _ = writeln!(text, "  {mark}  {first}");
    for line in lines {
        let _ = writeln!(text, "{:indent$}{line}", "");
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
    let cached = variants::cached_variants(program);
    let list = if cached.is_empty() {
        "none yet".to_owned()
    } else {
        cached.join(", ")
    };
    let _ = writeln!(text, "  variants cached   {list}");
}
