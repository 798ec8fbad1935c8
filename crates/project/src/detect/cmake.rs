//! CMake: programs from `add_executable`, tests from `add_test`.

use std::collections::BTreeMap;

use super::tree::{Tree, split};
use super::{Commands, Declared, DeclaredProgram};

pub(super) fn commands(tree: &Tree, notes: &mut Vec<String>) -> Commands {
    let has_tests = calls_of(tree).any(|(_, call)| {
        call.name == "enable_testing"
            || call.name == "add_test"
            || call.name == "include" && call.words.first().is_some_and(|word| word == "CTest")
    });
    if !has_tests {
        notes.push("no tests are declared (enable_testing, add_test): set test.command".to_owned());
    }
    let test = "ctest --test-dir build --output-on-failure";
    Commands {
        configure: "cmake -S . -B build".to_owned(),
        build: "cmake --build build -j$JOBS".to_owned(),
        tree: "build".to_owned(),
        test: if has_tests {
            test.to_owned()
        } else {
            String::new()
        },
        ..Commands::default()
    }
}

pub(super) fn programs(tree: &Tree) -> Declared {
    let mut variables = BTreeMap::new();
    // Targets whose programs have another name.
    let mut renamed = BTreeMap::new();
    let mut declared = Declared::default();
    for (file, call) in calls_of(tree) {
        let words: Vec<String> = call
            .words
            .iter()
            .map(|word| expand(word, &variables))
            .collect();
        match (call.name.as_str(), words.as_slice()) {
            ("set", [name, value]) => {
                variables.insert(name.clone(), value.clone());
            }
            ("project", [name, ..]) if split(file).0.is_empty() => {
                variables.insert("PROJECT_NAME".to_owned(), name.clone());
                variables.insert("CMAKE_PROJECT_NAME".to_owned(), name.clone());
            }
            ("add_executable", [name, rest @ ..]) => {
                let without = ["IMPORTED", "ALIAS", "EXCLUDE_FROM_ALL"];
                if rest.iter().any(|word| without.contains(&word.as_str())) {
                    continue;
                }
                if name.contains("${") {
                    declared.unclear.push(DeclaredProgram {
                        pattern: format!("add_executable({name}) in {file}"),
                        place: file.to_owned(),
                    });
                } else {
                    declared.programs.push(DeclaredProgram {
                        pattern: name.clone(),
                        place: file.to_owned(),
                    });
                }
            }
            ("set_target_properties", words) => {
                let mut pairs = words.iter().zip(words.iter().skip(1));
                if let (Some(target), Some((_, name))) =
                    (words.first(), pairs.find(|(key, _)| *key == "OUTPUT_NAME"))
                {
                    renamed.insert(target.clone(), name.clone());
                }
            }
            _ => {}
        }
    }
    for program in &mut declared.programs {
        if let Some(name) = renamed.get(&program.pattern) {
            program.pattern = name.clone();
        }
    }
    declared
}

struct Call {
    name: String,
    words: Vec<String>,
}

/// All calls; the file at the top comes first, because its variables are seen in the others.
fn calls_of(tree: &Tree) -> impl Iterator<Item = (&str, Call)> {
    let mut files: Vec<&str> = tree.named("CMakeLists.txt").collect();
    files.sort_by_key(|file| (file.matches('/').count(), *file));
    files.into_iter().flat_map(|file| {
        calls(&tree.text(file))
            .into_iter()
            .map(move |call| (file, call))
    })
}

fn calls(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut before = String::new();
    let mut words: Option<Vec<String>> = None;
    let mut depth = 0;
    for token in tokens(text) {
        match (&mut words, token.as_str()) {
            (None, "(") => words = Some(Vec::new()),
            (None, _) => before = token,
            (Some(_), "(") => depth += 1,
            (Some(_), ")") if depth > 0 => depth -= 1,
            (Some(found), ")") => {
                let name = std::mem::take(&mut before).to_lowercase();
                let words_of_call = std::mem::take(found);
                calls.push(Call {
                    name,
                    words: words_of_call,
                });
                words = None;
            }
            (Some(found), _) => found.push(token),
        }
    }
    calls
}

/// Words, strings without their quotes, and parentheses. Comments go.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars().peekable();
    let flush = |word: &mut String, tokens: &mut Vec<String>| {
        if !word.is_empty() {
            tokens.push(std::mem::take(word));
        }
    };
    while let Some(character) = characters.next() {
        match character {
            '#' => {
                flush(&mut word, &mut tokens);
                while characters.next_if(|next| *next != '\n').is_some() {}
            }
            '"' => {
                flush(&mut word, &mut tokens);
                let mut string = String::new();
                while let Some(next) = characters.next() {
                    match next {
                        '"' => break,
                        '\\' => string.extend(characters.next()),
                        _ => string.push(next),
                    }
                }
                tokens.push(string);
            }
            '(' | ')' => {
                flush(&mut word, &mut tokens);
                tokens.push(character.to_string());
            }
            _ if character.is_whitespace() => flush(&mut word, &mut tokens),
            _ => word.push(character),
        }
    }
    flush(&mut word, &mut tokens);
    tokens
}

fn expand(word: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = word.to_owned();
    for (name, value) in variables {
        text = text.replace(&format!("${{{name}}}"), value);
    }
    text
}
