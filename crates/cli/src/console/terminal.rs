//! What moves is drawn here: standard error, less a few columns.
//!
//! The library that draws fills its last line up to the edge of the terminal. There the `^C` that terminals show would begin a
//! line of its own, and what is cleared then is that line, while what moved stays behind.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressDrawTarget, TermLike};

/// Columns that stay free: `^C` twice, for who is impatient.
pub const FREE: usize = 5;

/// Where something that moves is drawn at most so often in a second.
pub fn target(hertz: u8) -> ProgressDrawTarget {
    let terminal = Terminal {
        out: Mutex::new(BufWriter::new(io::stderr())),
    };
    ProgressDrawTarget::term_like_with_hz(Box::new(terminal), hertz)
}

struct Terminal<W> {
    out: Mutex<W>,
}

impl<W: Write> Terminal<W> {
    fn out(&self) -> MutexGuard<'_, W> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the cursor, in the direction that a letter names.
    fn step(&self, count: usize, direction: char) -> io::Result<()> {
        match count {
            0 => Ok(()),
            count => write!(self.out(), "\x1b[{count}{direction}"),
        }
    }
}

impl<W> fmt::Debug for Terminal<W> {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("Terminal")
    }
}

impl<W: Write + Send> TermLike for Terminal<W> {
    fn width(&self) -> u16 {
        u16::try_from(super::live_width()).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        const DEFAULT: u16 = 24;
        let size = terminal_size::terminal_size_of(io::stderr());
        size.map_or(DEFAULT, |(_, height)| height.0)
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.step(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.step(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.step(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.step(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        writeln!(self.out(), "{text}")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        write!(self.out(), "{text}")
    }

    fn clear_line(&self) -> io::Result<()> {
        write!(self.out(), "\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        self.out().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::{ProgressBar, ProgressStyle};
    use std::sync::Arc;

    /// What was drawn, once it is flushed.
    #[derive(Clone, Default)]
    struct Drawn(Arc<Mutex<Vec<u8>>>);

    impl Write for Drawn {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_the_terminal_echoes_is_on_the_line_that_is_cleared() {
        let drawn = Drawn::default();
        let terminal = Terminal {
            out: Mutex::new(drawn.clone()),
        };
        let target = ProgressDrawTarget::term_like(Box::new(terminal));
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::with_template("{msg}").unwrap());
        bar.set_message("at work");
        bar.tick();
        let taken = || std::mem::take(&mut *drawn.0.lock().unwrap());
        let line = String::from_utf8(taken()).unwrap();
        let line = line.rsplit(['\r', 'K']).next().unwrap();
        assert!(line.starts_with("at work"), "{line:?}");
        let echo = "^C^C".len();
        assert!(line.len() + echo < super::super::columns(), "{line:?}");
        bar.finish_and_clear();
        assert!(taken().starts_with(b"\r\x1b[2K"));
    }
}
