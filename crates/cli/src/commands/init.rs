//! `parallax init`: proposes a `parallax.toml`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use parallax_project::config::FILE_NAME;
use parallax_project::detect::{Detected, System, detect};
use parallax_project::tools::is_on_path;

use crate::console::{self, Palette, printable, wrap};
use crate::exit::Exit;
use crate::size::counted;
use parallax_campaign::Failure;

/// Look at a project and write parallax.toml: how it is built, tested, and what is under test
///
/// Nothing is run. autotools, Meson, CMake and plain makefiles are known; where there are several, a configure script
/// that is there comes first, then Meson, then CMake.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax init && parallax build
  parallax init --system cmake
  parallax init --print")]
pub struct Arguments {
    /// Top of the project
    #[arg(default_value = ".", hide_default_value = true)]
    directory: PathBuf,

    /// Build system to use if there are several
    #[arg(long, value_enum)]
    system: Option<SystemName>,

    /// Replace a parallax.toml that is there
    #[arg(long)]
    force: bool,

    /// Print the file instead of writing it
    #[arg(long)]
    print: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SystemName {
    Autotools,
    Meson,
    Cmake,
    Make,
}

impl From<SystemName> for System {
    fn from(name: SystemName) -> System {
        match name {
            SystemName::Autotools => System::Autotools,
            SystemName::Meson => System::Meson,
            SystemName::Cmake => System::Cmake,
            SystemName::Make => System::Make,
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let root = arguments.directory.canonicalize().map_err(|error| {
        Failure::of_file(Exit::Usage, "cannot look at", &arguments.directory, &error)
    })?;
    let file = root.join(FILE_NAME);
    if file.exists() && !arguments.force && !arguments.print {
        let message = format!("{} is there already", file.display());
        return Err(Failure::new(Exit::Usage, message)
            .hint("--force replaces it, --print shows what would be written"));
    }
    let found = detect(&root, arguments.system.map(Into::into), &is_on_path)?;
    if arguments.print {
        console::print_data(&found.config_text())?;
        return Ok(Exit::Clean);
    }
    fs::write(&file, found.config_text())
        .map_err(|error| Failure::of_file(Exit::Usage, "cannot write", &file, &error))?;
    console::print(&summary(&root, &found))?;
    Ok(Exit::Clean)
}

fn summary(root: &Path, found: &Detected) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}",
        Palette.heading(&format!("Project {}", root.display()))
    );
    let programs = match found.programs.as_slice() {
        [] => "whatever the build captures".to_owned(),
        programs => format!(
            "{}, {}: {}",
            counted(programs.len() as u64, "program"),
            found.programs_from,
            programs.join(" ")
        ),
    };
    let or_nothing = |text: &str| match text {
        "" => "–".to_owned(),
        text => text.to_owned(),
    };
    let skip = match found.skip.as_slice() {
        [] => String::new(),
        skip => format!(" (not {})", skip.join(" ")),
    };
    let lines = [
        ("build system", found.system.to_string()),
        ("bootstrap", or_nothing(&found.commands.bootstrap)),
        ("configure", or_nothing(&found.commands.configure)),
        ("build", or_nothing(&found.commands.build)),
        ("tests", or_nothing(&found.commands.test)),
        ("programs", programs),
        ("source", format!("{}{skip}", found.folders.join(" "))),
        ("environment", or_nothing(&found.environment.join(" "))),
    ];
    const NAMES: usize = 14;
    let width = console::width().saturating_sub(NAMES + 2);
    for (name, value) in &lines {
        for (at, line) in wrap(&printable(value.as_bytes()), width).iter().enumerate() {
            let name = if at == 0 { *name } else { "" };
            let _ = writeln!(text, "  {name:NAMES$}{line}");
        }
    }
    if !found.notes.is_empty() {
        let _ = writeln!(text, "\n{}", Palette.heading("Please look at"));
        for note in &found.notes {
            for (at, line) in wrap(note, console::width().saturating_sub(4))
                .iter()
                .enumerate()
            {
                let mark = if at == 0 {
                    Palette.warn("·")
                } else {
                    " ".to_owned()
                };
                let _ = writeln!(text, "  {mark} {line}");
            }
        }
    }
    let _ = writeln!(
        text,
        "\n{} {FILE_NAME}; next: parallax check",
        Palette.good("wrote")
    );
    text
}
