//! Writing to the terminal: colours, width, and bytes that must not reach it raw.
//!
//! Text is always made with styles; `anstream` takes them out where nobody can see them
//! (no terminal, `NO_COLOR`).

use std::io::{self, IsTerminal, Write as _};

pub use parallax_report::palette::Palette;
pub use parallax_report::words::{printable, shorten};

/// Writes text with styles to standard output.
pub fn print(text: &str) -> io::Result<()> {
    write(anstream::stdout().lock(), text)
}

/// Writes data to standard output as it is: taking out styles would take out bytes of a program's
/// output that look like parts of them.
pub fn print_data(text: &str) -> io::Result<()> {
    write(io::stdout().lock(), text)
}

/// A reader that went away (`| head`) is no error.
fn write(mut out: impl io::Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes to standard error; if that fails there is nobody left to tell.
pub fn print_error(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Columns to lay text out for: the terminal's, `COLUMNS`, or 100.
pub fn width() -> usize {
    const DEFAULT: usize = 100;
    const LEAST: usize = 40;
    let terminal = || {
        io::stdout()
            .is_terminal()
            .then(terminal_size::terminal_size)
            .flatten()
            .map(|(width, _)| usize::from(width.0))
    };
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal().or_else(variable).unwrap_or(DEFAULT).max(LEAST)
}
