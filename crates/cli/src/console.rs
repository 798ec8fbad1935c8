//! Writing to the terminal: colours, width, and bytes that must not reach it raw.
//!
//! Text is always made with styles; `anstream` takes them out where nobody can see them
//! (no terminal, `NO_COLOR`).

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use anstyle::{AnsiColor, Style};

/// The few styles that are used, by meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette;

impl Palette {
    fn paint(style: Style, text: &str) -> String {
        format!("{style}{text}{style:#}")
    }

    pub fn heading(&self, text: &str) -> String {
        Palette::paint(Style::new().bold(), text)
    }

    pub fn place(&self, text: &str) -> String {
        Palette::paint(AnsiColor::Cyan.on_default(), text)
    }

    pub fn dim(&self, text: &str) -> String {
        Palette::paint(Style::new().dimmed(), text)
    }

    pub fn good(&self, text: &str) -> String {
        Palette::paint(AnsiColor::Green.on_default(), text)
    }

    pub fn warn(&self, text: &str) -> String {
        Palette::paint(AnsiColor::Yellow.on_default(), text)
    }

    pub fn bad(&self, text: &str) -> String {
        Palette::paint(AnsiColor::Red.on_default().bold(), text)
    }
}

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

/// Text of arbitrary bytes that is safe on a terminal: what is not printable is escaped.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\t' => text.push_str("    "),
                _ if character.is_control() => text.extend(character.escape_default()),
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Shortens to at most `width` columns, with an ellipsis in the middle: both ends of an expression say
/// more than its inside.
pub fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(3);
    let head = kept - kept / 3;
    let tail = length - kept / 3;
    let mut short: String = text.chars().take(head).collect();
    short.push_str(" … ");
    short.extend(text.chars().skip(tail));
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_of_a_program_do_not_reach_the_terminal() {
        assert_eq!(printable(b"a\x1b[31mb\xff\tc"), "a\\u{1b}[31mb\\xff    c");
        assert_eq!(printable("größe".as_bytes()), "größe");
    }

    #[test]
    fn shortened_text_keeps_both_ends_and_fits() {
        assert_eq!(shorten("short", 10), "short");
        let short = shorten("abcdefghijklmnopqrstuvwxyz", 12);
        assert_eq!(short, "abcdef … xyz");
        assert_eq!(short.chars().count(), 12);
    }
}
