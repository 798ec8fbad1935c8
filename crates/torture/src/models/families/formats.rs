//! Cases for formatted output: formats with arguments that fit them.

use crate::models::case::Case;
use crate::models::words::{ALPHABETS, any_long, long, string};
use crate::rng::Rng;

/// Arguments of either sort that a case can have.
const MOST_WORDS: usize = 8;
const MOST_DOUBLES: usize = 3;
/// More than the results need.
const ROOM: usize = 600;

/// A format as it grows, with the arguments that it asks for.
#[derive(Default)]
struct Draft {
    format: Vec<u8>,
    arguments: Vec<(u8, Vec<u8>)>,
    words: usize,
    doubles: usize,
}

impl Draft {
    fn word(&mut self, kind: u8, bytes: Vec<u8>) {
        self.arguments.push((kind, bytes));
        self.words += 1;
    }

    /// Width or precision: nothing, a number, or an argument.
    fn size(&mut self, rng: &mut Rng, most: usize) {
        match rng.below(4) {
            0 if self.words + 1 < MOST_WORDS => {
                self.format.push(b'*');
                let size = rng.between(0, 2 * most) as i64 - most as i64;
                self.word(b'n', long(size).to_vec());
            }
            1 => self.format.extend(rng.between(1, most).to_string().bytes()),
            _ => {}
        }
    }

    fn conversion(&mut self, rng: &mut Rng, with_length: bool) {
        self.format.push(b'%');
        self.format.extend(string(rng, b"-+ #0", 2));
        self.size(rng, 30);
        if rng.one_in(3) {
            self.format.push(b'.');
            self.size(rng, 25);
        }
        match rng.below(12) {
            0 | 1 => {
                self.format.push(b's');
                if rng.one_in(12) {
                    self.word(b'z', Vec::new());
                } else {
                    let alphabet = *rng.pick(ALPHABETS);
                    self.word(b's', [string(rng, alphabet, 20), vec![0]].concat());
                }
            }
            2 => {
                self.format.push(b'c');
                self.word(b'n', long(any_long(rng)).to_vec());
            }
            3 => self.format.push(b'%'),
            4 if self.doubles < MOST_DOUBLES => {
                self.format.push(*rng.pick(b"feEgGaAF"));
                let number = any_long(rng) as f64 / 64.0;
                self.arguments.push((b'd', number.to_le_bytes().to_vec()));
                self.doubles += 1;
            }
            5 if with_length => {
                let length = *rng.pick(&["", "l", "h", "hh", "ll", "z"]);
                self.format.extend(length.bytes());
                self.format.push(b'n');
                self.word(b'p', Vec::new());
            }
            6 if rng.one_in(3) => {
                self.format.push(*rng.pick(b"pm"));
                if self.format.ends_with(b"p") {
                    self.word(b'a', long(any_long(rng)).to_vec());
                }
            }
            _ => {
                let length =
                    *rng.pick(&["", "", "l", "h", "hh", "ll", "j", "z", "t", "q", "L", "Z"]);
                self.format.extend(length.bytes());
                self.format.push(*rng.pick(b"diuxXo"));
                self.word(b'n', long(any_long(rng)).to_vec());
            }
        }
    }
}

pub fn format(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "sprintf",
        "snprintf",
        "__sprintf_chk",
        "__snprintf_chk",
        "asprintf",
        "__asprintf_chk",
        "vsprintf",
        "vsnprintf",
        "__vsprintf_chk",
        "__vsnprintf_chk",
        "vasprintf",
        "__vasprintf_chk",
    ]);
    // With %n in memory that can be written to, fortified functions end the program.
    let is_fortified = check.starts_with("__") && !check.starts_with("__v");
    let mut draft = Draft::default();
    for _ in 0..rng.between(1, 4) {
        draft.format.extend(string(rng, b"ab: \xc3\xa4", 3));
        if draft.words + 3 <= MOST_WORDS {
            draft.conversion(rng, !is_fortified);
        }
    }
    draft.format.extend(string(rng, b"yz\n", 2));
    draft.format.push(0);
    let kinds: Vec<u8> = draft.arguments.iter().map(|(kind, _)| *kind).collect();
    let size = match rng.below(3) {
        0 => rng.between(0, 20),
        1 => rng.between(0, 80),
        _ => ROOM,
    };
    let symbolic_format = rng.one_in(20);
    let case = Case::new(check, rng);
    let case = if symbolic_format {
        case.symbolic(draft.format)
    } else {
        case.concrete(draft.format)
    };
    let mut case = case.concrete(long(size as i64)).concrete_text(kinds);
    for (kind, bytes) in draft.arguments {
        case = match kind {
            b'z' | b'p' => case,
            // libc writes floating-point numbers and pointers.
            b'd' | b'a' => case.concrete(bytes),
            _ => case.mixed(bytes, rng),
        };
    }
    case
}
