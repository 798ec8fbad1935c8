//! How a run ended and what the program printed, as every report says it.

use std::fmt;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use parallax_exec::run::{Captured, End, Outcome};
use serde_json::{Value, json};

use super::trace::words;
use crate::palette::Palette;
use crate::words::{counted, printable, shorten, show_bytes, show_time};

/// The end of a run and the limits that it may have met.
pub struct Ended<'a> {
    /// The program as the user named it.
    pub program: &'a Path,
    pub outcome: &'a Outcome,
    pub timeout: Duration,
    pub memory: u64,
}

impl fmt::Display for Ended<'_> {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = self.outcome;
        let time = show_time(outcome.duration);
        let ending = match outcome.end {
            End::Exit(0) => format!("ended with exit code {} after {time}", Palette.good("0")),
            End::Exit(code) => {
                let code = Palette.warn(&code.to_string());
                format!("ended with exit code {code} after {time}")
            }
            End::Signal(number) => {
                let name = Palette.bad(&words::signal(number));
                format!("was killed by {name} after {time}")
            }
            End::Timeout => {
                let limit = Palette.bad(&show_time(self.timeout));
                format!("did not end within {limit} and was stopped (--timeout)")
            }
            End::OutOfMemory => {
                let limit = Palette.bad(&show_bytes(self.memory));
                format!("used more than {limit} of memory and was stopped (--memory)")
            }
            End::TooManyProcesses => {
                let many = Palette.bad("too many processes");
                format!("had {many} and was stopped")
            }
            End::TooMuchOutput => {
                let much = Palette.bad("too much");
                format!("wrote {much} and was stopped")
            }
            End::Interrupted => "was stopped because its time was up".to_owned(),
        };
        let program = Palette.heading(&self.program.display().to_string());
        writeln!(text, "{program} {ending}")?;
        if outcome.leftover_processes > 0 {
            let left = counted(u64::from(outcome.leftover_processes), "process/processes");
            writeln!(text, "  {left} that it left behind were stopped too")?;
        }
        Ok(())
    }
}

/// A stream of the program: its first `most` lines, at most `width` columns wide. Nothing if it is
/// empty.
pub fn output(name: &str, captured: &Captured, most: usize, width: Option<usize>) -> String {
    let mut text = String::new();
    if captured.total == 0 {
        return text;
    }
    let size = Palette.dim(&show_bytes(captured.total));
    let _ = writeln!(text, "\n{} {size}", Palette.heading(name));
    let mut lines = captured.bytes.split(|byte| *byte == b'\n').peekable();
    let mut shown = 0;
    while let Some(line) = lines.next() {
        if line.is_empty() && lines.peek().is_none() {
            break;
        }
        if shown == most {
            let rest = lines.filter(|line| !line.is_empty()).count() + 1;
            let more = format!("  … {} more", counted(rest as u64, "line"));
            let _ = writeln!(text, "{}", Palette.dim(&more));
            return text;
        }
        let line = printable(line);
        let line = match width {
            Some(width) => shorten(&line, width.saturating_sub(4)),
            None => line,
        };
        let _ = writeln!(text, "  {} {line}", Palette.dim("│"));
        shown += 1;
    }
    if captured.truncated() {
        let kept = show_bytes(captured.bytes.len() as u64);
        let note = format!("  … only the first {kept} were kept");
        let _ = writeln!(text, "{}", Palette.dim(&note));
    }
    text
}

/// The object `result` of JSON reports.
pub fn json(outcome: &Outcome) -> Value {
    let (end, exit, signal) = match outcome.end {
        End::Exit(code) => ("exit", Some(code), None),
        End::Signal(number) => ("signal", None, Some(number)),
        End::Timeout => ("timeout", None, None),
        End::OutOfMemory => ("out-of-memory", None, None),
        End::TooManyProcesses => ("too-many-processes", None, None),
        End::TooMuchOutput => ("too-much-output", None, None),
        End::Interrupted => ("interrupted", None, None),
    };
    json!({
        "end": end,
        "exit": exit,
        "signal": signal,
        "signal_name": signal.map(words::signal),
        "stdout": captured(&outcome.stdout),
        "stderr": captured(&outcome.stderr),
        "stdout_truncated": outcome.stdout.truncated(),
        "stderr_truncated": outcome.stderr.truncated(),
        "sanitizer": null,
    })
}

fn captured(captured: &Captured) -> Value {
    match std::str::from_utf8(&captured.bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({ "base64": base64(&captured.bytes) }),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            if digit <= group.len() {
                let index = bits >> (18 - 6 * digit) & 63;
                text.push(char::from(DIGITS[index as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded_as_the_standard_says() {
        let examples = [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foobar", "Zm9vYmFy"),
            (b"\xff\xfe\xfd", "//79"),
        ];
        for (bytes, text) in examples {
            assert_eq!(base64(bytes), text);
        }
    }

    #[test]
    fn only_what_is_not_text_is_encoded() {
        let of = |bytes: &[u8]| {
            captured(&Captured {
                bytes: bytes.to_vec(),
                total: bytes.len() as u64,
            })
        };
        assert_eq!(of("größe\n".as_bytes()), json!("größe\n"));
        assert_eq!(of(b"\xff"), json!({"base64": "/w=="}));
    }
}
