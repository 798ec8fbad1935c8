//! Cases for formatted input: formats, and text that nearly fits them.

use super::numbers::{float_text, integer_text};
use crate::models::case::Case;
use crate::models::words::string;
use crate::rng::Rng;

/// Rooms for results.
const MOST: usize = 6;

/// A conversion and text for it. A stream has no end near by: there, strings need a width.
fn conversion(rng: &mut Rng, is_stream: bool) -> (Vec<u8>, Vec<u8>) {
    let mut format = vec![b'%'];
    if rng.one_in(5) {
        format.push(b'*');
    }
    if is_stream || rng.one_in(3) {
        let width = rng.between(is_stream.into(), 12);
        format.extend(width.to_string().bytes());
    }
    let text = match rng.below(10) {
        0 => {
            format.push(b'c');
            string(rng, b"ab \n", 6)
        }
        1 => {
            format.push(b's');
            string(rng, b"xyz\xff", 8)
        }
        2 => {
            let set = *rng.pick(&[
                "[a-c]", "[^,]", "[]x]", "[^]]", "[0-9a-f]", "[-+0-9]", "[a-]", "[c-a]", "[^-z]",
                "[+--]",
            ]);
            format.extend(set.bytes());
            string(rng, b"abc,]0-+x", 8)
        }
        3 => {
            let length = *rng.pick(&["", "l", "h", "hh", "ll", "j", "z", "t"]);
            format.extend(length.bytes());
            format.push(b'n');
            Vec::new()
        }
        4 => {
            format.push(b'%');
            rng.pick(&["%", "x", " %"]).as_bytes().to_vec()
        }
        5 | 6 => {
            format.extend(rng.pick(&["", "l", "L"]).bytes());
            format.push(*rng.pick(b"feEgGaAF"));
            float_text(rng)
        }
        7 if rng.one_in(3) => {
            format.push(b'p');
            rng.pick(&["(nil)", "(NiL)", "(ni)", "0x12", "ff", "(", "-(nil)"])
                .as_bytes()
                .to_vec()
        }
        8 if rng.one_in(8) => {
            format.push(*rng.pick(b"yQ"));
            Vec::new()
        }
        _ => {
            let length = *rng.pick(&["", "", "l", "h", "hh", "ll", "j", "z", "t", "q", "L"]);
            format.extend(length.bytes());
            format.push(*rng.pick(b"ddiuxXo"));
            integer_text(rng)
        }
    };
    (format, text)
}

pub fn scan(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "old_sscanf",
        "c99_sscanf",
        "c99_sscanf",
        "old_vsscanf",
        "c99_vsscanf",
        "old_fscanf",
        "c99_fscanf",
    ]);
    let (mut format, mut text) = (Vec::new(), Vec::new());
    for _ in 0..rng.between(1, MOST) {
        let literal = string(rng, b"a:, \n", 2);
        format.extend(&literal);
        // In the text a blank is as good as several or none.
        for byte in literal {
            match byte {
                b' ' | b'\n' => text.extend(string(rng, b" \t\n", 2)),
                _ if rng.one_in(12) => text.push(b'?'),
                _ => text.push(byte),
            }
        }
        let (directive, fitting) = conversion(rng, check.ends_with("fscanf"));
        format.extend(directive);
        text.extend(fitting);
    }
    format.extend(rng.pick(&["", "", " ", "%", "%["]).bytes());
    text.extend(rng.pick(&["", " ", "\n\n", "end"]).bytes());
    // The rooms have an end.
    text.truncate(90);
    let case = Case::new(check, rng);
    let case = if check.ends_with("fscanf") {
        case.never_all_concrete().symbolic(text)
    } else {
        case.text(text)
    };
    if rng.one_in(20) {
        case.text(format)
    } else {
        case.concrete_text(format)
    }
}
