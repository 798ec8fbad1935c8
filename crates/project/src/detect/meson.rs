//! Meson: programs from `executable`, tests from `test`.

use super::tree::Tree;
use super::{Commands, Declared, DeclaredProgram};

pub(super) fn commands(tree: &Tree, notes: &mut Vec<String>) -> Commands {
    let has_tests = tree
        .named("meson.build")
        .any(|file| !first_arguments(&tree.text(file), "test").is_empty());
    if !has_tests {
        notes.push("no tests are declared (test()): set test.command".to_owned());
    }
    let test = "meson test -C build";
    Commands {
        // Assertions stay on: the default of some projects turns them off.
        configure: "meson setup build --buildtype=debugoptimized".to_owned(),
        build: "meson compile -C build -j $JOBS".to_owned(),
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
    let mut declared = Declared::default();
    let files = tree
        .named("meson.build")
        .filter(|file| !file.starts_with("subprojects/"));
    for file in files {
        for argument in first_arguments(&tree.text(file), "executable") {
            match argument {
                Some(name) if !name.contains('@') => declared.programs.push(DeclaredProgram {
                    pattern: name,
                    place: file.to_owned(),
                }),
                _ => declared.unclear.push(DeclaredProgram {
                    pattern: format!("executable() in {file} has a name that is computed"),
                    place: file.to_owned(),
                }),
            }
        }
    }
    declared
}

/// For every call of a function, its first argument if that is a string alone.
fn first_arguments(text: &str, function: &str) -> Vec<Option<String>> {
    let text = without_comments(text);
    let mut found = Vec::new();
    let mut rest = text.as_str();
    let mut before = ' ';
    while let Some(at) = rest.find(function) {
        before = rest[..at].chars().next_back().unwrap_or(before);
        rest = &rest[at + function.len()..];
        // Other names that end in this one, and methods.
        let other = before.is_alphanumeric() || before == '_' || before == '.';
        let after = rest.trim_start();
        before = function.chars().next_back().unwrap_or(' ');
        if other || !after.starts_with('(') {
            continue;
        }
        let argument = after[1..].trim_start();
        let name = argument.strip_prefix('\'').and_then(|string| {
            let (name, tail) = string.split_once('\'')?;
            tail.trim_start()
                .starts_with([',', ')'])
                .then(|| name.to_owned())
        });
        found.push(name);
    }
    found
}

fn without_comments(text: &str) -> String {
    let mut result = String::new();
    for line in text.lines() {
        let mut quoted = false;
        let end = line.char_indices().find(|(_, c)| {
            quoted ^= *c == '\'';
            *c == '#' && !quoted
        });
        result.push_str(&line[..end.map_or(line.len(), |(at, _)| at)]);
        result.push('\n');
    }
    result
}
