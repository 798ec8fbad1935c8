//! Constants: characters, numbers, masks.

use crate::bits::signed;
use std::format;
use std::string::{String, ToString};

/// Decimal while it is easy to read, else hexadecimal.
pub(super) fn unsigned(value: u128) -> String {
    if value < 10_000 {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}

pub(super) fn signed_number(width: u32, value: u128) -> String {
    let number = signed(width, value);
    if number.unsigned_abs() < 10_000 {
        number.to_string()
    } else if number < 0 {
        format!("-{:#x}", number.unsigned_abs())
    } else {
        format!("{number:#x}")
    }
}

/// Masks are read bit by bit.
pub(super) fn mask_number(value: u128) -> String {
    if value < 10 {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}

/// A byte as C writes characters; others as numbers.
pub(super) fn character(value: u8) -> String {
    match value {
        0 => "'\\0'".to_string(),
        b'\n' => "'\\n'".to_string(),
        b'\t' => "'\\t'".to_string(),
        b'\r' => "'\\r'".to_string(),
        b'\'' => "'\\''".to_string(),
        b'\\' => "'\\\\'".to_string(),
        b' '..=b'~' => format!("'{}'", char::from(value)),
        _ => format!("{value:#04x}"),
    }
}

/// Bytes as a C string, if all of them are printable.
pub(super) fn string(bytes: &[u8]) -> Option<String> {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => return None,
        }
    }
    text.push('"');
    Some(text)
}
