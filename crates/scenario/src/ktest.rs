//! Memory objects in a file, in the format of KLEE's test cases (`.ktest`).
//!
//! All numbers are 32 bits, big endian: `KTEST`, version, arguments (number, then length and bytes of each),
//! two numbers about symbolic arguments (from version 2 on), then the objects: number, then name and
//! contents of each, with their lengths. What arguments and objects mean together is in [`klee`](crate::klee).

use std::path::Path;

use super::{Bytes, Object, Scenario};

/// Environment variable that names the file to programs.
pub const VARIABLE: &str = "KTEST_FILE";
/// The file's name in the working directory of a run.
pub const FILE_NAME: &str = "objects.ktest";

const MAGIC: &[u8] = b"KTEST";
const VERSION: u32 = 3;
/// An object that KLEE's environment model adds, and no program asks for.
pub(crate) const NOT_FOR_PROGRAMS: &[u8] = b"model_version";
/// What the program is called in files that are written here.
pub(crate) const PROGRAM: &[u8] = b"program";

/// Why a file is no test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KtestError {
    #[error("not a .ktest file")]
    Foreign,
    #[error("a .ktest file of version {0}, which is not known")]
    Version(u32),
    #[error("the .ktest file is cut off")]
    Short,
}

/// A test case as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Test {
    /// Of KLEE's program, its name first.
    pub arguments: Vec<Bytes>,
    /// All of them.
    pub objects: Vec<Object>,
}

/// The objects as a file.
pub fn encode(objects: &[Object]) -> Vec<u8> {
    write(&Test {
        arguments: vec![PROGRAM.into()],
        objects: objects.to_vec(),
    })
}

/// The test case as a file.
pub fn write(test: &Test) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    put_number(&mut file, VERSION);
    put_number(&mut file, test.arguments.len() as u32);
    for argument in &test.arguments {
        put_bytes(&mut file, argument);
    }
    // Symbolic arguments, in a way that KLEE itself does not use any more.
    put_number(&mut file, 0);
    put_number(&mut file, 0);
    put_number(&mut file, test.objects.len() as u32);
    for object in &test.objects {
        put_bytes(&mut file, &object.name);
        put_bytes(&mut file, &object.bytes);
    }
    file
}

fn put_number(file: &mut Vec<u8>, number: u32) {
    file.extend(number.to_be_bytes());
}

fn put_bytes(file: &mut Vec<u8>, bytes: &[u8]) {
    put_number(file, bytes.len() as u32);
    file.extend(bytes);
}

/// The objects of a file, as a program that is run on it gets them.
pub fn decode(file: &[u8]) -> Result<Vec<Object>, KtestError> {
    let mut objects = read(file)?.objects;
    objects.retain(|object| object.name.0 != NOT_FOR_PROGRAMS);
    Ok(objects)
}

/// Everything that a file has.
pub fn read(file: &[u8]) -> Result<Test, KtestError> {
    let rest = file.strip_prefix(MAGIC).ok_or(KtestError::Foreign)?;
    let mut reader = Reader { rest };
    let version = reader.number()?;
    if !(1..=VERSION).contains(&version) {
        return Err(KtestError::Version(version));
    }
    let mut test = Test::default();
    for _ in 0..reader.number()? {
        test.arguments.push(reader.bytes()?.into());
    }
    if version >= 2 {
        reader.number()?;
        reader.number()?;
    }
    for _ in 0..reader.number()? {
        let (name, bytes) = (reader.bytes()?, reader.bytes()?);
        test.objects.push(Object {
            name: name.into(),
            bytes: bytes.into(),
        });
    }
    Ok(test)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], KtestError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(KtestError::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, KtestError> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes(bytes.try_into().expect("four bytes")))
    }

    fn bytes(&mut self) -> Result<&'a [u8], KtestError> {
        let length = self.number()?;
        self.take(length as usize)
    }
}

/// What a scenario needs besides its own files and variables: the file with its objects and the variable
/// that names it to the program. Nothing if it has no objects.
pub fn layout(scenario: &Scenario) -> Option<(&'static Path, Vec<u8>)> {
    (!scenario.objects.is_empty()).then(|| (Path::new(FILE_NAME), encode(&scenario.objects)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, bytes: &[u8]) -> Object {
        Object {
            name: name.as_bytes().into(),
            bytes: bytes.into(),
        }
    }

    #[test]
    fn objects_come_back_from_the_file() {
        let objects = vec![
            object("x", &[1, 0, 255]),
            object("", &[]),
            object("y", b"ab"),
        ];
        assert_eq!(decode(&encode(&objects)), Ok(objects));
    }

    #[test]
    fn a_file_that_klee_wrote_is_understood() {
        let mut file =
            b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x04a.bc\0\0\0\0\0\0\0\0\0\0\0\x02".to_vec();
        file.extend(b"\0\0\0\x01n\0\0\0\x04\x2a\0\0\0\0\0\0\x0dmodel_version\0\0\0\x04\x01\0\0\0");
        assert_eq!(decode(&file), Ok(vec![object("n", &[42, 0, 0, 0])]));
    }

    #[test]
    fn what_is_no_test_case_is_refused() {
        assert_eq!(decode(b"PK"), Err(KtestError::Foreign));
        assert_eq!(decode(b"KTEST\0\0\0\x09"), Err(KtestError::Version(9)));
        let mut file = encode(&[object("x", b"abc")]);
        file.pop();
        assert_eq!(decode(&file), Err(KtestError::Short));
        // A number of objects that the file has no room for.
        let many = b"KTEST\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff";
        assert_eq!(decode(many), Err(KtestError::Short));
    }
}
