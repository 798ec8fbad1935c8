//! A run as it is asked for: strings in slots, descriptors with their numbers.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use parallax_abi::serve::{Kind, MAX_BODY, MAX_NUMBERS, Request, slot};

use crate::run::RunError;

/// The kernel executes no program with a longer string; a server must not either.
const MAX_STRING: usize = 128 << 10;

/// How strings lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    /// No two touch.
    Slots,
    /// One behind the other, as the kernel hands them to programs: who reads too far finds the same.
    Packed,
}

/// A request and its body.
pub(super) struct Message {
    pub request: Request,
    pub body: Vec<u8>,
}

impl Message {
    pub fn new(
        program: &Path,
        directory: &Path,
        arguments: &[&OsStr],
        environment: &[(OsString, OsString)],
        numbers: &[i32],
        spacing: Spacing,
    ) -> Result<Message, RunError> {
        let mut body = Body {
            bytes: Vec::with_capacity(1 << 10),
            spacing,
        };
        body.add(&[program.as_os_str().as_bytes()])?;
        body.add(&[directory.as_os_str().as_bytes()])?;
        for argument in arguments {
            body.add(&[argument.as_bytes()])?;
        }
        for (name, value) in environment {
            body.add(&[name.as_bytes(), b"=", value.as_bytes()])?;
        }
        let mut all = [-1; MAX_NUMBERS];
        for (place, number) in all.iter_mut().zip(numbers) {
            *place = *number;
        }
        let request = Request {
            body: u32::try_from(body.bytes.len()).map_err(|_| RunError::TooLong)?,
            arguments: arguments.len() as u32,
            variables: environment.len() as u32,
            numbers: all,
            packed: u32::from(spacing == Spacing::Packed),
            ..Request::new(Kind::Run)
        };
        Ok(Message {
            request,
            body: body.bytes,
        })
    }

    pub fn stop() -> Message {
        Message {
            request: Request::new(Kind::Stop),
            body: Vec::new(),
        }
    }
}

struct Body {
    bytes: Vec<u8>,
    spacing: Spacing,
}

impl Body {
    /// Adds a string made of parts.
    fn add(&mut self, parts: &[&[u8]]) -> Result<(), RunError> {
        let start = self.bytes.len();
        for part in parts {
            if part.contains(&0) {
                return Err(RunError::Nul);
            }
            self.bytes.extend_from_slice(part);
        }
        let length = self.bytes.len() - start + 1;
        let room = match self.spacing {
            Spacing::Slots => slot(length),
            Spacing::Packed => length,
        };
        self.bytes.resize(start + room, 0);
        if length > MAX_STRING || self.bytes.len() > MAX_BODY {
            return Err(RunError::TooLong);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(arguments: &[&str], spacing: Spacing) -> Result<Message, RunError> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let environment = [("A".into(), "b".into())];
        let (program, directory) = (Path::new("/bin/p"), Path::new("/"));
        Message::new(program, directory, &arguments, &environment, &[9], spacing)
    }

    #[test]
    fn no_string_ends_where_another_begins() {
        let message = message(
            &["p", "exactly fifteen", "sixteen letters!"],
            Spacing::Slots,
        )
        .unwrap();
        let starts: Vec<usize> = ["/bin/p", "p", "exactly fifteen", "sixteen letters!", "A=b"]
            .iter()
            .map(|text| {
                let ended = [b"\0", text.as_bytes(), b"\0\0"].concat();
                let with_zero_before = [b"\0", &*message.body].concat();
                let found = with_zero_before
                    .windows(ended.len())
                    .position(|window| window == ended);
                found.unwrap_or_else(|| panic!("{text}"))
            })
            .collect();
        assert!(starts.iter().all(|start| start % 16 == 0), "{starts:?}");
        assert!(starts.is_sorted());
        assert_eq!(message.request.arguments, 3);
        assert_eq!(message.request.numbers, [9, -1, -1, -1, -1]);
    }

    #[test]
    fn packed_strings_follow_each_other() {
        let message = message(&["p", "", "x"], Spacing::Packed).unwrap();
        assert_eq!(message.body, b"/bin/p\0/\0p\0\0x\0A=b\0");
    }

    #[test]
    fn strings_that_no_program_could_get_are_refused() {
        let message = |arguments: &[&str]| message(arguments, Spacing::Slots);
        assert!(matches!(message(&["p", "a\0b"]), Err(RunError::Nul)));
        let long = "x".repeat(MAX_STRING);
        assert!(matches!(message(&["p", &long]), Err(RunError::TooLong)));
    }
}
