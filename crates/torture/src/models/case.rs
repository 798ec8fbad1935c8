//! One case of a differential test, and the two files that cases are written to.

use crate::rng::Rng;

/// A call of one check: its name and the bytes that it takes its arguments from.
#[derive(Clone, Debug)]
pub struct Case {
    pub check: &'static str,
    fields: Vec<Field>,
    /// All fields are concrete whatever they were added as: models have paths for that, too.
    all_concrete: bool,
}

#[derive(Clone, Debug)]
struct Field {
    is_symbolic: bool,
    bytes: Vec<u8>,
}

impl Case {
    /// An empty case; one in eight is without symbolic fields.
    pub fn new(check: &'static str, rng: &mut Rng) -> Case {
        Case {
            check,
            fields: Vec::new(),
            all_concrete: rng.one_in(8),
        }
    }

    /// Adds a symbolic field.
    pub fn symbolic(mut self, bytes: impl Into<Vec<u8>>) -> Case {
        self.fields.push(Field {
            is_symbolic: !self.all_concrete,
            bytes: bytes.into(),
        });
        self
    }

    /// Adds a concrete field.
    pub fn concrete(mut self, bytes: impl Into<Vec<u8>>) -> Case {
        self.fields.push(Field {
            is_symbolic: false,
            bytes: bytes.into(),
        });
        self
    }

    /// Adds a field that is symbolic in three of four cases.
    pub fn mixed(self, bytes: impl Into<Vec<u8>>, rng: &mut Rng) -> Case {
        if rng.one_in(4) {
            self.concrete(bytes)
        } else {
            self.symbolic(bytes)
        }
    }

    /// Adds symbolic text with its terminator.
    pub fn text(self, text: impl Into<Vec<u8>>) -> Case {
        let mut bytes = text.into();
        bytes.push(0);
        self.symbolic(bytes)
    }

    /// Adds concrete text with its terminator.
    pub fn concrete_text(self, text: impl Into<Vec<u8>>) -> Case {
        let mut bytes = text.into();
        bytes.push(0);
        self.concrete(bytes)
    }

    /// Makes even cases that would be all concrete symbolic: for checks that read their
    /// field as a stream.
    pub fn never_all_concrete(mut self) -> Case {
        self.all_concrete = false;
        self
    }
}

/// Cases in the form that `models/harness.h` reads.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// Names, sizes and concrete bytes.
    pub frames: Vec<u8>,
    /// Symbolic bytes.
    pub input: Vec<u8>,
}

impl Encoded {
    pub fn push(&mut self, case: &Case) {
        let name = case.check.as_bytes();
        self.frames.push(name.len() as u8);
        self.frames.extend(name);
        self.frames.push(case.fields.len() as u8);
        for field in &case.fields {
            self.frames.push(field.is_symbolic.into());
            self.frames.extend((field.bytes.len() as u32).to_le_bytes());
            let bytes = if field.is_symbolic {
                &mut self.input
            } else {
                &mut self.frames
            };
            bytes.extend(&field.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbolic_bytes_go_to_the_input_and_the_others_to_the_frames() {
        let mut encoded = Encoded::default();
        let case = Case {
            check: "ab",
            fields: Vec::new(),
            all_concrete: false,
        };
        encoded.push(&case.text("xy").concrete([7]));
        assert_eq!(encoded.input, b"xy\0");
        assert_eq!(
            encoded.frames,
            b"\x02ab\x02\x01\x03\0\0\0\x00\x01\0\0\0\x07"
        );
    }
}
