//! What a generated program is run on: arguments, standard input and one file.

use crate::rng::Rng;

/// Name of the file, relative to the working directory; the program's first argument.
pub const FILE_NAME: &str = "data.bin";

/// One set of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// The arguments after the file name.
    pub arguments: Vec<Vec<u8>>,
    pub stdin: Vec<u8>,
    pub file: Vec<u8>,
}

/// Words that string and number parsers take different paths on.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "42",
    "0x7f",
    "-2147483648",
    "99999999999",
    "3.25",
    "-0.5e3",
    "1e",
    "+7",
    "abc",
    "Zebra",
    "key=value",
    "a,b,,c",
    "x",
    "--long",
    "-n5",
    "((1+2)*3)",
    "foo bar",
    "%d",
    "end.",
];

impl Inputs {
    /// Draws a set. All of it is short: each byte is a symbolic variable.
    pub fn generate(rng: &mut Rng) -> Inputs {
        let arguments = (0..rng.between(0, 3))
            .map(|_| argument(rng))
            .collect::<Vec<_>>();
        let stdin_length = *rng.pick(&[0, 1, 7, 24, 60]);
        let file_length = *rng.pick(&[0, 3, 16, 50, 100]);
        Inputs {
            arguments,
            stdin: text(rng, stdin_length),
            file: if rng.one_in(2) {
                text(rng, file_length)
            } else {
                (0..file_length).map(|_| rng.next_u64() as u8).collect()
            },
        }
    }
}

/// No NUL, no newline: fit for a command line and for a shell script that repeats it.
fn argument(rng: &mut Rng) -> Vec<u8> {
    if rng.one_in(2) {
        return rng.pick(WORDS).as_bytes().to_vec();
    }
    (0..rng.between(0, 12))
        .map(|_| b' ' + rng.below(95) as u8)
        .collect()
}

/// Lines of words and numbers with an occasional odd byte, at most `length` bytes.
fn text(rng: &mut Rng, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < length {
        match rng.below(12) {
            0 => bytes.push(rng.next_u64() as u8),
            1..=3 => bytes.extend(rng.below(100_000).to_string().bytes()),
            _ => bytes.extend(rng.pick(WORDS).bytes()),
        }
        bytes.push(*rng.pick(b" \n\n,;:\t"));
    }
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_hold_no_nul_and_no_newline() {
        let mut rng = Rng::new(3);
        for _ in 0..200 {
            let inputs = Inputs::generate(&mut rng);
            for argument in inputs.arguments {
                assert!(argument.iter().all(|byte| (b' '..=b'~').contains(byte)));
            }
        }
    }
}
