//! Scenarios from KLEE's test cases and the other way round.
//!
//! With KLEE's model of the environment, options among the program's arguments (`--sym-arg N` and the like) say which
//! of a test's objects are arguments, files (`A`, `B`, …) or standard input. Without such options the objects are what
//! the program itself declared.

use crate::ktest::{NOT_FOR_PROGRAMS, PROGRAM, Test};
use crate::{Bytes, Object, Scenario};

/// The scenario that a test case stands for.
pub fn to_scenario(test: &Test) -> Scenario {
    let mut scenario = Scenario::default();
    let mut objects: Vec<&Object> = test.objects.iter().collect();
    objects.retain(|object| object.name.0 != NOT_FOR_PROGRAMS);
    let mut is_modelled = false;
    let mut words = test.arguments.iter().skip(1);
    while let Some(word) = words.next() {
        let Some(option) = option(word) else {
            scenario.argv.push(word.clone());
            continue;
        };
        is_modelled = true;
        words.by_ref().take(option.values()).for_each(drop);
        match option {
            Model::Argument => scenario.argv.extend(next_argument(&mut objects)),
            Model::Arguments => {
                let number = take(&mut objects, |name| name == b"n_args");
                for _ in 0..number.map_or(0, |object| small_number(&object.bytes)) {
                    scenario.argv.extend(next_argument(&mut objects));
                }
            }
            Model::Files => {
                let names = |name: &[u8]| matches!(name, [b'A'..=b'Z', b'-' | b'_', rest @ ..] if rest == b"data");
                while let Some(object) = take(&mut objects, names) {
                    scenario
                        .files
                        .insert(object.name[..1].into(), object.bytes.clone());
                }
            }
            Model::Stdin => {
                if let Some(object) = take(&mut objects, |name| name == b"stdin") {
                    scenario.stdin = object.bytes.clone();
                }
            }
            Model::Stdout | Model::Failures | Model::Writes => {}
        }
    }
    if !is_modelled {
        scenario.objects = objects.into_iter().cloned().collect();
    }
    scenario
}

/// Options that KLEE's model of the environment understands.
#[derive(Clone, Copy)]
enum Model {
    Argument,
    Arguments,
    Files,
    Stdin,
    Stdout,
    Failures,
    Writes,
}

impl Model {
    /// How many words come after it.
    fn values(self) -> usize {
        match self {
            Model::Argument | Model::Stdin | Model::Failures => 1,
            Model::Files => 2,
            Model::Arguments => 3,
            Model::Stdout | Model::Writes => 0,
        }
    }
}

fn option(word: &[u8]) -> Option<Model> {
    let name = word
        .strip_prefix(b"--")
        .or_else(|| word.strip_prefix(b"-"))?;
    Some(match name {
        b"sym-arg" => Model::Argument,
        b"sym-args" => Model::Arguments,
        b"sym-files" => Model::Files,
        b"sym-stdin" => Model::Stdin,
        b"sym-stdout" => Model::Stdout,
        b"max-fail" => Model::Failures,
        b"save-all-writes" | b"fd-fail" => Model::Writes,
        _ => return None,
    })
}

/// The first object whose name is wanted; it is taken out.
fn take<'o>(
    objects: &mut Vec<&'o Object>,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Option<&'o Object> {
    let at = objects.iter().position(|object| is_wanted(&object.name))?;
    Some(objects.remove(at))
}

/// An argument is a C string in an object that may be longer.
fn next_argument(objects: &mut Vec<&Object>) -> Option<Bytes> {
    let object = take(objects, |name| name.starts_with(b"arg"))?;
    let end = object.bytes.iter().position(|byte| *byte == 0);
    Some(object.bytes[..end.unwrap_or(object.bytes.len())].into())
}

/// A number that is surely not meant to be larger than a command line can be.
fn small_number(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    let length = bytes.len().min(4);
    word[..length].copy_from_slice(&bytes[..length]);
    u32::from_le_bytes(word).min(1024)
}

/// The test case of a scenario, and what of the scenario it cannot express, in words.
pub fn from_scenario(scenario: &Scenario) -> (Test, Vec<&'static str>) {
    let mut lost = Vec::new();
    let mut test = Test {
        arguments: vec![PROGRAM.into()],
        objects: Vec::new(),
    };
    let unknown = [
        (!scenario.env.is_empty(), "environment variables"),
        (!scenario.streams.is_empty(), "streams"),
        (!scenario.links.is_empty(), "symbolic links"),
        (!scenario.directories.is_empty(), "directories"),
        (!scenario.directory.is_empty(), "the working directory"),
    ];
    lost.extend(
        unknown
            .iter()
            .filter(|(is_lost, _)| *is_lost)
            .map(|(_, what)| *what),
    );
    if !scenario.objects.is_empty() {
        let has_more = !scenario.stdin.is_empty() || !scenario.files.is_empty();
        if has_more {
            lost.push("files and standard input beside objects");
        }
        test.arguments.extend(scenario.argv.iter().cloned());
        test.objects = scenario.objects.clone();
        return (test, lost);
    }
    let letters: Vec<(&Bytes, u8)> = scenario.files.keys().zip(b'A'..=b'Z').collect();
    for (number, argument) in scenario.argv.iter().enumerate() {
        let letter = letters.iter().find(|(name, _)| *name == argument);
        let mut bytes = letter.map_or_else(|| argument.0.clone(), |(_, letter)| vec![*letter]);
        option_with(&mut test, "--sym-arg", &[bytes.len()]);
        bytes.push(0);
        add(&mut test, format!("arg{number:02}"), bytes);
    }
    let length = scenario.files.values().map(|file| file.len()).max();
    if let Some(length) = length.filter(|length| *length > 0) {
        option_with(&mut test, "--sym-files", &[letters.len(), length]);
        for (name, letter) in &letters {
            let contents = &scenario.files[*name];
            if contents.len() < length {
                lost.push("different lengths of files (they are filled with zeros)");
            }
            add_file(
                &mut test,
                &format!("{}-data", char::from(*letter)),
                contents,
                length,
            );
        }
    }
    if letters.len() < scenario.files.len() {
        lost.push("more than 26 files");
    }
    if !scenario.stdin.is_empty() {
        option_with(&mut test, "--sym-stdin", &[scenario.stdin.len()]);
        add_file(&mut test, "stdin", &scenario.stdin, scenario.stdin.len());
    }
    add(
        &mut test,
        String::from_utf8_lossy(NOT_FOR_PROGRAMS).into_owned(),
        vec![1, 0, 0, 0],
    );
    lost.dedup();
    (test, lost)
}

fn option_with(test: &mut Test, option: &str, values: &[usize]) {
    test.arguments.push(option.into());
    let values = values.iter().map(|value| value.to_string().into());
    test.arguments.extend(values);
}

fn add(test: &mut Test, name: String, bytes: Vec<u8>) {
    test.objects.push(Object {
        name: name.into(),
        bytes: bytes.into(),
    });
}

/// Contents, then what `stat` says of them.
fn add_file(test: &mut Test, name: &str, contents: &[u8], length: usize) {
    let mut bytes = contents.to_vec();
    bytes.resize(length, 0);
    add(test, name.to_owned(), bytes);
    add(test, format!("{name}-stat"), status(length as u64));
}

/// `struct stat` of a regular file on x86-64.
fn status(size: u64) -> Vec<u8> {
    const REGULAR: u64 = 0o100_644;
    let mut bytes = vec![0; 144];
    // Number, links, mode, size, size of a block, blocks.
    for (at, value) in [
        (8, 1),
        (16, 1),
        (24, REGULAR),
        (48, size),
        (56, 4096),
        (64, 8),
    ] {
        bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ktest;

    fn object(name: &str, bytes: &[u8]) -> Object {
        Object {
            name: name.into(),
            bytes: bytes.into(),
        }
    }

    fn words(text: &str) -> Vec<Bytes> {
        text.split(' ').map(Bytes::from).collect()
    }

    #[test]
    fn options_of_the_environment_model_say_what_objects_are() {
        let test = Test {
            arguments: words("p.bc -v --sym-args 0 3 4 --sym-files 2 3 --sym-stdin 2"),
            objects: vec![
                object("n_args", &[2, 0, 0, 0]),
                object("arg0", b"-x\0\0\0"),
                object("arg1", b"A\0\0\0\0"),
                object("A-data", b"one"),
                object("A-data-stat", &[0; 144]),
                object("B-data", b"two"),
                object("B-data-stat", &[0; 144]),
                object("stdin", b"in"),
                object("stdin-stat", &[0; 144]),
                object("model_version", &[1, 0, 0, 0]),
            ],
        };
        let scenario = to_scenario(&test);
        assert_eq!(scenario.argv, words("-v -x A"));
        assert_eq!(scenario.stdin, "in".into());
        let files = [("A".into(), "one".into()), ("B".into(), "two".into())];
        assert_eq!(scenario.files, files.into());
        assert!(scenario.objects.is_empty());
    }

    #[test]
    fn objects_of_a_program_stay_objects() {
        let test = Test {
            arguments: words("p.bc 7"),
            objects: vec![object("x", b"abc"), object("model_version", &[1, 0, 0, 0])],
        };
        let scenario = to_scenario(&test);
        assert_eq!(scenario.objects, [object("x", b"abc")]);
        assert_eq!(scenario.argv, words("7"));
    }

    #[test]
    fn a_scenario_comes_back_from_its_test_case() {
        let scenario = Scenario {
            argv: words("-d : A"),
            stdin: "input".into(),
            files: [("A".into(), "contents".into())].into(),
            ..Scenario::default()
        };
        let (test, lost) = from_scenario(&scenario);
        assert!(lost.is_empty());
        let test = ktest::read(&ktest::write(&test)).unwrap();
        assert_eq!(to_scenario(&test), scenario);
    }

    #[test]
    fn what_a_test_case_cannot_say_is_said() {
        let scenario = Scenario {
            argv: words("list"),
            files: [("list".into(), "1".into()), ("other".into(), "12".into())].into(),
            env: [("LANG".into(), "C".into())].into(),
            ..Scenario::default()
        };
        let (test, lost) = from_scenario(&scenario);
        assert_eq!(to_scenario(&test).argv, words("A"));
        assert!(lost.contains(&"environment variables"));
        assert!(lost.iter().any(|what| what.contains("lengths")));
    }
}
