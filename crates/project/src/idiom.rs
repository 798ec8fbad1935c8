//! How a project writes its tests: which kind of file, in which folder, and on which list of tests they have to be.
//!
//! Known from the files that build systems read; nothing is run. Lists are edited as text: a line is added behind what is
//! there, so that everything else stays as its author wrote it.
//!
//! A test looks for the program in the build tree that it is run in.

use std::collections::BTreeMap;
use std::fmt;

use crate::detect::Tree;

/// A way to write tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Idiom {
    /// Shell scripts on the list `TESTS` of a `Makefile.am`.
    Automake,
    /// Shell scripts, named by `test()` in a `meson.build`.
    Meson,
    /// Shell scripts, named by `add_test()` in a `CMakeLists.txt`.
    Ctest,
    /// Files of bats.
    Bats,
    /// Shell scripts that nothing lists.
    Shell,
}

impl Idiom {
    pub const ALL: [Idiom; 5] = [
        Idiom::Automake,
        Idiom::Meson,
        Idiom::Ctest,
        Idiom::Bats,
        Idiom::Shell,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Idiom::Automake => "automake",
            Idiom::Meson => "meson",
            Idiom::Ctest => "ctest",
            Idiom::Bats => "bats",
            Idiom::Shell => "sh",
        }
    }

    /// The file that has the list of tests, if there is one.
    fn list(self) -> Option<&'static str> {
        match self {
            Idiom::Automake => Some("Makefile.am"),
            Idiom::Meson => Some("meson.build"),
            Idiom::Ctest => Some("CMakeLists.txt"),
            Idiom::Bats | Idiom::Shell => None,
        }
    }

    /// Whether a file lists tests in this way.
    fn is_list(self, text: &str) -> bool {
        let mut lines = text.lines().map(str::trim_start);
        match self {
            Idiom::Automake => lines.any(|line| is_assignment(line, "TESTS")),
            Idiom::Meson => lines.any(|line| calls(line, "test")),
            Idiom::Ctest => lines.any(|line| calls(&line.to_lowercase(), "add_test")),
            Idiom::Bats | Idiom::Shell => false,
        }
    }
}

impl fmt::Display for Idiom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where tests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub idiom: Idiom,
    /// Relative to the top of the project; empty at the top.
    pub folder: String,
    /// The file with the list of tests.
    pub list: Option<String>,
}

/// A test that is to be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Name of its file, in the folder.
    pub file: String,
    /// The program that it tests, by its name in the build tree.
    pub program: String,
}

impl Place {
    /// Finds out how the tests of a source tree are written; as `wanted`, if that is said.
    pub fn find(tree: &Tree, wanted: Option<Idiom>) -> Place {
        let kinds = Idiom::ALL.into_iter();
        let kinds = kinds.filter(|kind| wanted.is_none_or(|wanted| wanted == *kind));
        for idiom in kinds {
            if let Some(list) = idiom.list() {
                let lists = tree
                    .named(list)
                    .filter(|file| idiom.is_list(&tree.text(file)));
                // Those about tests, then those nearest to the top.
                let best =
                    lists.min_by_key(|file| (!file.contains("test"), file.matches('/').count()));
                if let Some(list) = best {
                    let (folder, _) = list.rsplit_once('/').unwrap_or(("", list));
                    return Place {
                        idiom,
                        folder: folder.to_owned(),
                        list: Some(list.to_owned()),
                    };
                }
                continue;
            }
            let ending = if idiom == Idiom::Bats { ".bats" } else { ".sh" };
            let folder = busiest(tree.files().filter(|file| file.ends_with(ending)));
            if let Some(folder) = folder {
                return Place {
                    idiom,
                    folder,
                    list: None,
                };
            }
        }
        Place {
            idiom: wanted.unwrap_or(Idiom::Shell),
            folder: "tests".to_owned(),
            list: None,
        }
    }

    /// The list with these tests on it as well.
    pub fn with(&self, text: &str, tests: &[Listed]) -> String {
        let names: Vec<&str> = tests.iter().map(|test| test.file.as_str()).collect();
        match self.idiom {
            Idiom::Automake => {
                let mut text = behind(text, "TESTS", &names);
                // What is tested is shipped, where that is not said of all tests at once.
                if text.lines().any(|line| is_assignment(line, "EXTRA_DIST")) {
                    text = behind(&text, "EXTRA_DIST", &names);
                }
                text
            }
            Idiom::Meson => {
                let line = |test: &Listed| {
                    let program = variable(text, &test.program).unwrap_or_else(|| {
                        format!("meson.project_build_root() / '{}'", test.program)
                    });
                    let name = stem(&test.file);
                    let file = &test.file;
                    format!("test('{name}', find_program('{file}'), args: [{program}])\n")
                };
                appended(text, tests.iter().map(line))
            }
            Idiom::Ctest => {
                let line = |test: &Listed| {
                    let name = stem(&test.file);
                    let target = test.program.rsplit('/').next().unwrap_or(&test.program);
                    let script = format!("${{CMAKE_CURRENT_SOURCE_DIR}}/{}", test.file);
                    format!("add_test(NAME {name} COMMAND sh {script} $<TARGET_FILE:{target}>)\n")
                };
                appended(text, tests.iter().map(line))
            }
            Idiom::Bats | Idiom::Shell => text.to_owned(),
        }
    }
}

/// The folder with most of these files, those about tests first.
fn busiest<'f>(files: impl Iterator<Item = &'f str>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let (folder, _) = file.rsplit_once('/').unwrap_or(("", file));
        *counts.entry(folder).or_default() += 1;
    }
    let tests = counts
        .into_iter()
        .filter(|(folder, _)| folder.contains("test"));
    let best = tests.max_by_key(|(folder, count)| (*count, std::cmp::Reverse(folder.len())));
    best.map(|(folder, _)| folder.to_owned())
}

/// Whether a line assigns or adds to a variable of a makefile.
fn is_assignment(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix(name).map(str::trim_start);
    rest.is_some_and(|rest| {
        let rest = rest.trim_start_matches(['+', ':', '?']);
        rest.starts_with('=')
    })
}

fn calls(line: &str, function: &str) -> bool {
    let rest = line.strip_prefix(function).map(str::trim_start);
    rest.is_some_and(|rest| rest.starts_with('('))
}

/// Adds words to a variable, behind the last line that assigns to it.
fn behind(text: &str, name: &str, words: &[&str]) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mut end = lines.len();
    let mut inside = false;
    for (number, line) in lines.iter().enumerate() {
        if inside || is_assignment(line, name) {
            inside = line.trim_end().ends_with('\\');
            end = number + 1;
        }
    }
    let addition: Vec<String> = words
        .iter()
        .map(|word| format!("{name} += {word}\n"))
        .collect();
    if let Some(last) = lines
        .get_mut(end.saturating_sub(1))
        .filter(|last| !last.ends_with('\n'))
    {
        last.push('\n');
    }
    lines.splice(end..end, addition);
    lines.concat()
}

fn appended(text: &str, lines: impl Iterator<Item = String>) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.extend(lines);
    text
}

fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// The variable that a `meson.build` has for a program.
fn variable(text: &str, program: &str) -> Option<String> {
    let name = program.rsplit('/').next().unwrap_or(program);
    text.lines().find_map(|line| {
        let (variable, rest) = line.split_once('=')?;
        let rest = rest.trim_start().strip_prefix("executable")?.trim_start();
        let first = rest.strip_prefix('(')?.trim_start();
        let is_it = first.starts_with(&format!("'{name}'"));
        is_it.then(|| variable.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = Tree::walk(folder.path());
        (folder, tree)
    }

    fn listed() -> Vec<Listed> {
        vec![Listed {
            file: "new.sh".to_owned(),
            program: "src/prog".to_owned(),
        }]
    }

    #[test]
    fn the_list_of_automake_gets_a_line_behind_the_last_one() {
        let text = "TESTS = a.sh \\\n  b.sh\nif X\nTESTS += c.sh\nendif\nEXTRA_DIST = $(TESTS)\nTESTS_ENVIRONMENT = x\n";
        let (_folder, found) = tree(&[
            ("Makefile.am", "SUBDIRS = tests\n"),
            ("tests/Makefile.am", text),
            ("tests/a.sh", ""),
        ]);
        let place = Place::find(&found, None);
        assert_eq!(
            (place.idiom, place.folder.as_str()),
            (Idiom::Automake, "tests")
        );
        let new = place.with(text, &listed());
        let expected = "TESTS = a.sh \\\n  b.sh\nif X\nTESTS += c.sh\nTESTS += new.sh\nendif\n\
                        EXTRA_DIST = $(TESTS)\nEXTRA_DIST += new.sh\nTESTS_ENVIRONMENT = x\n";
        assert_eq!(new, expected);
    }

    #[test]
    fn a_list_without_an_end_of_line_is_ended_first() {
        let place = Place {
            idiom: Idiom::Automake,
            folder: String::new(),
            list: None,
        };
        assert_eq!(
            place.with("TESTS = a", &listed()),
            "TESTS = a\nTESTS += new.sh\n"
        );
    }

    #[test]
    fn meson_and_cmake_are_told_which_program_it_is() {
        let text = "prog = executable('prog', 'prog.c')\ntest('a', prog)\n";
        let (_folder, found) = tree(&[("meson.build", text)]);
        let place = Place::find(&found, None);
        assert_eq!(place.idiom, Idiom::Meson);
        let new = place.with(text, &listed());
        assert!(
            new.ends_with("test('new', find_program('new.sh'), args: [prog])\n"),
            "{new}"
        );
        let elsewhere = place.with("test('a', x)\n", &listed());
        assert!(elsewhere.contains("meson.project_build_root() / 'src/prog'"));

        let text = "add_executable(prog prog.c)\nenable_testing()\nadd_test(a prog)";
        let (_folder, found) = tree(&[("CMakeLists.txt", text)]);
        let place = Place::find(&found, None);
        assert_eq!(place.idiom, Idiom::Ctest);
        let new = place.with(text, &listed());
        let line = "add_test(NAME new COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/new.sh $<TARGET_FILE:prog>)\n";
        assert!(new.ends_with(&format!("add_test(a prog)\n{line}")), "{new}");
    }

    #[test]
    fn scripts_go_where_scripts_are() {
        let (_folder, found) = tree(&[("test/x/a.bats", ""), ("build.sh", "")]);
        let place = Place::find(&found, None);
        assert_eq!(
            (place.idiom, place.folder.as_str()),
            (Idiom::Bats, "test/x")
        );
        let (_folder, found) =
            tree(&[("tests/a.sh", ""), ("tests/b.sh", ""), ("tests/x/c.sh", "")]);
        let place = Place::find(&found, None);
        assert_eq!(
            (place.idiom, place.folder.as_str()),
            (Idiom::Shell, "tests")
        );
        let (_folder, found) = tree(&[("build.sh", ""), ("a.c", "")]);
        assert_eq!(Place::find(&found, None).folder, "tests");
        assert_eq!(Place::find(&found, Some(Idiom::Bats)).idiom, Idiom::Bats);
    }
}
