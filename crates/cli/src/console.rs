//! Writing to the terminal: colours, width, and bytes that must not reach it raw.
//!
//! Text is always made with styles; `anstream` takes them out where nobody can see them
//! (no terminal, `NO_COLOR`).

pub mod terminal;

use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::exit::Exit;
use parallax_campaign::Failure;

pub use parallax_report::palette::Palette;
pub use parallax_report::words::{printable, shorten};

/// Writes text with styles to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    write(anstream::stdout().lock(), text.as_bytes())
}

/// Writes data to standard output as it is: taking out styles would take out bytes of a program's
/// output that look like parts of them.
pub fn print_data(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Failure> {
    write(io::stdout().lock(), text.as_ref())
}

/// A reader that went away (`| head`) is no error.
fn write(mut out: impl io::Write, text: &[u8]) -> Result<(), Failure> {
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = "cannot write to standard output";
            Err(Failure::new(Exit::Internal, message)
                .cause(error.to_string())
                .hint("is there room where it goes, and is it still there?"))
        }
        _ => Ok(()),
    }
}

/// Writes to standard error, above what moves there; if that fails there is nobody left to tell.
pub fn print_error(text: &str) {
    let write = || {
        let _ = anstream::stderr().lock().write_all(text.as_bytes());
    };
    let line = moving().clone();
    match (live(), line) {
        (Some(live), _) => live.above(&write),
        (None, Some(bar)) => bar.suspend(write),
        (None, None) => write(),
    }
}

/// Tells the user what is worth knowing and is no error.
pub fn note(note: &str) {
    print_error(&format!("{} {note}\n", Palette.warn("note:")));
}

/// A screen that shows what a command does while several searches take turns: what these would show themselves goes there.
pub trait Live: Send + Sync {
    /// Writes to the terminal while the screen is out of the way.
    fn above(&self, write: &dyn Fn());
    /// Something was found; of lines alike one is enough.
    fn found(&self, line: &str);
    /// What a search is at.
    fn tell(&self, line: &str);
}

/// How often what moves is drawn.
const TICK: Duration = Duration::from_millis(200);
/// And at most.
const HERTZ: u8 = 20;

/// Whether a line moves on the terminal at the moment: of two of them one would stay behind.
static IS_MOVING: AtomicBool = AtomicBool::new(false);
/// That line.
static MOVING: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A line that moves, as long as it lives; nothing to be seen where nobody looks, or where another one or a screen is.
pub struct Line {
    pub bar: ProgressBar,
    pub is_shown: bool,
}

impl Line {
    pub fn new(template: &str, total: Option<u64>) -> Line {
        let is_terminal = io::stderr().is_terminal() && live().is_none();
        let is_shown = is_terminal && !IS_MOVING.swap(true, Ordering::Relaxed);
        let bar = match is_shown {
            true => ProgressBar::with_draw_target(total, terminal::target(HERTZ)),
            false => ProgressBar::hidden(),
        };
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        if is_shown {
            bar.enable_steady_tick(TICK);
            *moving() = Some(bar.clone());
        }
        Line { bar, is_shown }
    }

    pub fn hidden() -> Line {
        Line {
            bar: ProgressBar::hidden(),
            is_shown: false,
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.is_shown {
            clear();
        }
    }
}

fn moving() -> MutexGuard<'static, Option<ProgressBar>> {
    MOVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the line that moves off the terminal; who ends the process drops nothing.
pub fn clear() {
    if let Some(bar) = moving().take() {
        bar.finish_and_clear();
        IS_MOVING.store(false, Ordering::Relaxed);
    }
}

/// Likewise in a signal handler, where no lock may be taken, by who ends the process right after it.
pub fn clear_at_once() {
    const CLEARED: &[u8] = b"\r\x1b[2K";
    if IS_MOVING.load(Ordering::Relaxed) {
        // SAFETY: one of the few functions that a signal handler may call, on bytes that live forever.
        unsafe { libc::write(libc::STDERR_FILENO, CLEARED.as_ptr().cast(), CLEARED.len()) };
    }
}

static LIVE: RwLock<Option<Arc<dyn Live>>> = RwLock::new(None);

/// Shows everything on this screen from now on; on none without one.
pub fn share(live: Option<Arc<dyn Live>>) {
    *LIVE.write().unwrap_or_else(PoisonError::into_inner) = live;
}

/// The screen, if there is one.
pub fn live() -> Option<Arc<dyn Live>> {
    LIVE.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Columns of what moves on standard error.
pub fn live_width() -> usize {
    columns().saturating_sub(terminal::FREE).max(1)
}

/// Columns of standard error, which may be a terminal where standard output is none.
fn columns() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stderr());
    terminal.map_or_else(width, |(width, _)| usize::from(width.0))
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

/// Lines of at most `width` columns, broken between words.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width
        });
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible a", 4), ["incomprehensible", "a"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
