//! Bytes in the words of a shell.

use parallax_scenario::{WORK, printf_command, shell_quoted};

/// Bytes of input and output that a test file may have.
pub const MOST: usize = 256 << 10;

/// Ends a text in a script.
const END: &[u8] = b"PARALLAX_END";

/// The bytes as one word; the place of the files becomes the test's own.
pub fn word(bytes: &[u8]) -> Vec<u8> {
    let work = WORK.as_bytes();
    let mut text = Vec::new();
    let mut rest = bytes;
    while let Some(at) = find(rest, work) {
        if at > 0 {
            text.extend(shell_quoted(&rest[..at]));
        }
        text.extend(b"\"$root\"");
        rest = &rest[at + work.len()..];
    }
    if !rest.is_empty() || text.is_empty() {
        text.extend(shell_quoted(rest));
    }
    text
}

/// Where a part begins.
pub fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// All places of a part replaced by something else.
pub fn replaced(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = find(rest, part).filter(|_| !part.is_empty()) {
        result.extend(&rest[..at]);
        result.extend(by);
        rest = &rest[at + part.len()..];
    }
    result.extend(rest);
    result
}

/// Commands that write a file with this contents. The name is a word already.
pub fn contents(name: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    if bytes.is_empty() {
        text.extend(b": >");
        text.extend(name);
        text.push(b'\n');
    } else if is_plain(bytes) {
        text.extend(b"cat >");
        text.extend(name);
        text.extend(b" <<'");
        text.extend(END);
        text.extend(b"'\n");
        text.extend(bytes);
        text.extend(END);
        text.push(b'\n');
    } else {
        text.extend(b"{\n");
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            text.extend(format!("  {}\n", printf_command(line)).into_bytes());
        }
        text.extend(b"} >");
        text.extend(name);
        text.push(b'\n');
    }
    text
}

/// Whether it can stand in a script as it is.
fn is_plain(bytes: &[u8]) -> bool {
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| {
        text.chars()
            .all(|c| c == '\n' || c == '\t' || !c.is_control())
    });
    let lines = || bytes.split(|byte| *byte == b'\n');
    is_text && bytes.ends_with(b"\n") && lines().all(|line| line != END)
}
