//! Reads `tests/coreutils-commands.txt`; the file's head describes the format.

use anyhow::{Result, bail};

/// All fixtures and commands of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFile {
    pub fixtures: Vec<Fixture>,
    pub commands: Vec<CommandLine>,
}

/// A file that every command finds in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    pub name: String,
    pub contents: Vec<u8>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// As written, for messages.
    pub text: String,
    pub environment: Vec<(String, String)>,
    pub program: String,
    pub arguments: Vec<Vec<u8>>,
    /// Fixture that is standard input.
    pub stdin: Option<String>,
}

/// Parses the file.
pub fn parse(text: &str) -> Result<CommandFile> {
    let mut file = CommandFile::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let number = index + 1;
        let words = match split(line) {
            Ok(words) => words,
            Err(problem) => bail!("line {number}: {problem}"),
        };
        if line.starts_with("= ") {
            let [_, name, contents] = &words[..] else {
                bail!("line {number}: a fixture is `= NAME \"text\"`");
            };
            file.fixtures.push(Fixture {
                name: plain(&name.bytes),
                contents: contents.bytes.clone(),
            });
        } else {
            match command(line, words) {
                Ok(command) => file.commands.push(command),
                Err(problem) => bail!("line {number}: {problem}"),
            }
        }
    }
    Ok(file)
}

/// A word and whether any of it was quoted (then it is never an operator).
struct Word {
    bytes: Vec<u8>,
    quoted: bool,
}

fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn command(text: &str, words: Vec<Word>) -> Result<CommandLine, &'static str> {
    let mut environment = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.peek() {
        let word = plain(&word.bytes);
        match word.split_once('=') {
            Some((name, value)) if name.chars().all(|c| c.is_ascii_uppercase()) => {
                environment.push((name.to_owned(), value.to_owned()));
                words.next();
            }
            _ => break,
        }
    }
    let program = plain(&words.next().ok_or("no program")?.bytes);
    let mut arguments = Vec::new();
    let mut stdin = None;
    while let Some(word) = words.next() {
        if word.bytes == b"<" && !word.quoted {
            let name = words.next().ok_or("`<` without a name")?;
            stdin = Some(plain(&name.bytes));
        } else {
            arguments.push(word.bytes);
        }
    }
    Ok(CommandLine {
        text: text.to_owned(),
        environment,
        program,
        arguments,
        stdin,
    })
}

/// Splits a line into words.
fn split(line: &str) -> Result<Vec<Word>, &'static str> {
    let mut words = Vec::new();
    let mut bytes = line.bytes();
    let mut word: Option<Word> = None;
    while let Some(byte) = bytes.next() {
        if byte == b' ' || byte == b'\t' {
            words.extend(word.take());
            continue;
        }
        let current = word.get_or_insert(Word {
            bytes: Vec::new(),
            quoted: false,
        });
        match byte {
            b'\'' => {
                current.quoted = true;
                loop {
                    match bytes.next().ok_or("' without end")? {
                        b'\'' => break,
                        other => current.bytes.push(other),
                    }
                }
            }
            b'"' => {
                current.quoted = true;
                loop {
                    match bytes.next().ok_or("\" without end")? {
                        b'"' => break,
                        b'\\' => current.bytes.push(escape(&mut bytes)?),
                        other => current.bytes.push(other),
                    }
                }
            }
            b'\\' => current.bytes.push(escape(&mut bytes)?),
            other => current.bytes.push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// What follows a backslash.
fn escape(bytes: &mut impl Iterator<Item = u8>) -> Result<u8, &'static str> {
    let mut next = || bytes.next().ok_or("the line ends in an escape");
    Ok(match next()? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'0' => 0,
        same @ (b'\\' | b'"' | b'\'') => same,
        b'x' => {
            let mut digit = || {
                let c = next()? as char;
                c.to_digit(16).ok_or("\\x wants two hexadecimal digits")
            };
            (digit()? * 16 + digit()?) as u8
        }
        _ => return Err("unknown escape"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_quotes_and_escapes_are_read() {
        let file = parse("= f \"a\\n\\x00b\"\nTZ=UTC0 cut -d ',' -f'1 2' \"\" < f\n").unwrap();
        assert_eq!(file.fixtures[0].contents, b"a\n\0b");
        let command = &file.commands[0];
        assert_eq!(command.environment, [("TZ".to_owned(), "UTC0".to_owned())]);
        assert_eq!(command.program, "cut");
        assert_eq!(
            command.arguments,
            [&b"-d"[..], b",", b"-f1 2", b""].map(<[u8]>::to_vec)
        );
        assert_eq!(command.stdin.as_deref(), Some("f"));
    }

    #[test]
    fn a_quoted_operator_is_an_argument() {
        let file = parse("expr 5 '<' 10").unwrap();
        assert_eq!(file.commands[0].arguments[1], b"<");
        assert_eq!(file.commands[0].stdin, None);
    }

    #[test]
    fn mistakes_name_their_line() {
        let error = parse("true\ncut 'x").unwrap_err();
        assert_eq!(error.to_string(), "line 2: ' without end");
    }

    #[test]
    fn the_real_file_is_read_and_holds_enough() {
        let path = crate::root().join("tests/coreutils-commands.txt");
        let file = parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(file.commands.len() >= 300, "{}", file.commands.len());
        for command in &file.commands {
            if let Some(stdin) = &command.stdin {
                assert!(
                    file.fixtures.iter().any(|fixture| fixture.name == *stdin),
                    "{}: no fixture {stdin}",
                    command.text
                );
            }
        }
    }
}
