//! Autotools: `configure`, or what it is made from; programs from `bin_PROGRAMS` and its like.

use std::collections::BTreeMap;

use super::tree::{Tree, join, split};
use super::{Commands, Declared, DeclaredProgram};

pub(super) fn commands(
    tree: &Tree,
    has_tool: &dyn Fn(&str) -> bool,
    notes: &mut Vec<String>,
) -> Commands {
    let mut commands = Commands {
        configure: "./configure".to_owned(),
        build: "make -j$JOBS".to_owned(),
        tree: ".".to_owned(),
        // On after the first folder with a failure: what is recorded should not depend on it.
        test: "make -k check".to_owned(),
        ..Commands::default()
    };
    if !tree.has("configure") {
        // The project's own script knows more than autoreconf, which comes with autoconf.
        let scripts = ["bootstrap", "bootstrap.sh", "autogen.sh", "autogen"];
        let script = scripts.into_iter().find(|script| tree.has(script));
        commands.bootstrap = match script {
            // Scripts of this name like to run configure as well.
            Some(script) if script.starts_with("autogen") => format!("NOCONFIGURE=1 ./{script}"),
            Some(script) => format!("./{script}"),
            None => "autoreconf --force --install".to_owned(),
        };
        notes.push(format!(
            "there is no configure script: {:?} makes it in every build (build.bootstrap)",
            commands.bootstrap
        ));
        if !has_tool("autoreconf") {
            notes.push("autoconf and automake are needed for it and are not on PATH".to_owned());
        }
    }
    if tree.named("Makefile.am").next().is_none() {
        notes.push("there is no Makefile.am: check that test.command fits".to_owned());
    }
    commands
}

/// Installed programs of all `Makefile.am` and the files that they include.
pub(super) fn programs(tree: &Tree) -> Declared {
    let mut declared = Declared::default();
    let makefiles = tree.files().filter(|file| {
        let name = split(file).1;
        name == "Makefile.am" || name.ends_with(".mk") || name.ends_with(".am")
    });
    for file in makefiles {
        let text = tree.text(file);
        let variables = variables(&text);
        // An included file speaks for the makefile that includes it: here, the one at the top.
        let folder = if split(file).1 == "Makefile.am" {
            split(file).0
        } else {
            ""
        };
        for (name, value) in &variables {
            let Some(place) = name.strip_suffix("_PROGRAMS") else {
                continue;
            };
            let place = place
                .trim_start_matches("nodist_")
                .trim_start_matches("dist_");
            if matches!(place, "check" | "EXTRA" | "noinst" | "") {
                continue;
            }
            for word in expand(value, &variables, 0).split_whitespace() {
                let word = word.trim_end_matches("$(EXEEXT)");
                if word.contains(['$', '@']) {
                    declared.unclear.push(DeclaredProgram {
                        pattern: format!("{name} in {file} has {word}"),
                        place: file.to_owned(),
                    });
                } else {
                    let here = split(file).0;
                    let word = word.replace("%D%", here).replace("%reldir%", here);
                    let pattern = join(folder, &word);
                    declared.programs.push(DeclaredProgram {
                        place: pattern.clone(),
                        pattern,
                    });
                }
            }
        }
    }
    declared
}

/// Assignments of a makefile. Conditions are not looked at: what may be built is named.
fn variables(text: &str) -> BTreeMap<String, String> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    for line in joined.lines() {
        let line = line.split('#').next().unwrap_or_default();
        // Recipes begin with a tab.
        if line.starts_with('\t') {
            continue;
        }
        let Some((left, right)) = line.split_once('=') else {
            continue;
        };
        let adds = left.ends_with('+');
        let name = left.trim_end_matches(['+', ':', '?']).trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            continue;
        }
        let value = variables.entry(name.to_owned()).or_default();
        // A second plain assignment is the other side of a condition.
        if !adds && !value.is_empty() && !name.ends_with("_PROGRAMS") {
            value.clear();
        }
        value.push(' ');
        value.push_str(right.trim());
    }
    variables
}

/// Replaces variables that are known.
fn expand(value: &str, variables: &BTreeMap<String, String>, depth: usize) -> String {
    const DEEPEST: usize = 8;
    let mut text = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let reference = &rest[at..];
        let closing = match reference.as_bytes().get(1) {
            Some(b'(') => ')',
            Some(b'{') => '}',
            _ => {
                text.push('$');
                rest = &reference[1..];
                continue;
            }
        };
        let end = reference.find(closing).unwrap_or(reference.len() - 1);
        let name = reference.get(2..end).unwrap_or_default();
        match variables.get(name) {
            Some(value) if depth < DEEPEST => text.push_str(&expand(value, variables, depth + 1)),
            _ => text.push_str(&reference[..=end]),
        }
        rest = &reference[end + 1..];
    }
    text.push_str(rest);
    text
}
