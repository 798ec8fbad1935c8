//! Bytes and signals as people type and read them in a shell.
//!
//! Everything that Parallax writes for a shell (commands to be pasted, scripts, test files) takes its words from here, and a test has
//! them read by dash and by bash.

use std::fmt::Write as _;

/// The bytes as one word of a shell command that can be shown on a terminal, too: nothing in it is a control character, but for line
/// ends at the end, which no shell keeps otherwise.
pub fn shell_word(bytes: &[u8]) -> String {
    word(bytes, char::is_control)
}

/// The bytes as one word of a script, where lines and tabs stay readable.
pub fn script_word(bytes: &[u8]) -> String {
    word(bytes, |character| {
        character.is_control() && !matches!(character, '\n' | '\t')
    })
}

fn word(bytes: &[u8], is_hidden: fn(char) -> bool) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(is_hidden) => return quoted(text),
        _ => {}
    }
    // What a shell puts in place of a command has no line ends at its end.
    let end = bytes.iter().rposition(|byte| *byte != b'\n');
    let (kept, lines) = bytes.split_at(end.map_or(0, |end| end + 1));
    let mut word = match kept {
        [] => String::new(),
        kept => format!("\"$({})\"", printf_command(kept)),
    };
    if !lines.is_empty() {
        word.push_str(&quoted(&"\n".repeat(lines.len())));
    }
    word
}

fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// A command that prints the bytes, with escapes that every `printf` knows.
pub fn printf_command(bytes: &[u8]) -> String {
    let mut text = String::from(match bytes.first() {
        Some(b'-') => "printf -- '",
        _ => "printf '",
    });
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str("\\\\"),
                '%' => text.push_str("%%"),
                '\'' => text.push_str("'\\''"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                _ if character.is_control() => {
                    octal(&mut text, character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => text.push(character),
            }
        }
        octal(&mut text, chunk.invalid());
    }
    text.push('\'');
    text
}

fn octal(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(text, "\\{byte:03o}");
    }
}

/// `SIGSEGV` and the like, by the numbers of Linux on x86-64.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What the shells print that the script is for.
    fn printed(script: &str) -> Vec<Vec<u8>> {
        let shells = ["dash", "bash"].into_iter().map(|shell| {
            let mut process = Command::new(shell);
            let output = process.args(["-c", script]).output();
            output.unwrap().stdout
        });
        shells.collect()
    }

    /// Whatever could mean something to a shell, or to `printf`.
    fn samples() -> Vec<Vec<u8>> {
        let mut samples: Vec<Vec<u8>> = [
            "",
            "plain",
            "-n",
            "--",
            "two words",
            "it's",
            "$HOME `id` \"x\"",
            "100%d",
            "a\\nb",
            "\\",
            "tab\there",
            "\n",
            "a\n",
            "a\n\n",
            "\na",
            "\u{1}2",
            "\u{1b}[31m",
            "größe",
            "\u{85}",
            "!x",
            "~",
            "*",
        ]
        .map(|text| text.as_bytes().to_vec())
        .into();
        samples.push((1..=255).collect());
        samples.push(b"\xff\xfe'7".to_vec());
        samples
    }

    #[test]
    fn words_come_back_from_both_shells() {
        for sample in samples() {
            for word in [script_word(&sample), shell_word(&sample)] {
                let script = format!("printf %s {word}");
                for bytes in printed(&script) {
                    assert_eq!(
                        bytes.escape_ascii().to_string(),
                        sample.escape_ascii().to_string(),
                        "{script}"
                    );
                }
            }
        }
    }

    #[test]
    fn printed_bytes_come_back_from_both_shells() {
        let all = (0..=255).collect::<Vec<u8>>();
        for sample in samples().into_iter().chain([all]) {
            for bytes in printed(&printf_command(&sample)) {
                assert_eq!(
                    bytes.escape_ascii().to_string(),
                    sample.escape_ascii().to_string()
                );
            }
        }
    }
}
