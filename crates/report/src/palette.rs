//! The few styles of text on a terminal, by meaning.
//!
//! Text is always made with styles; whoever prints takes them out where nobody can see them (no terminal, `NO_COLOR`).

use anstyle::{AnsiColor, Style};

/// Paints text.
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
