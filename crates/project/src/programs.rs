//! Captured programs in a build tree: executables that carry the records of parallax-cc.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Object, ObjectSection};
use parallax_record::{Kind, SECTION, frames};
use serde::{Deserialize, Serialize};

use crate::pattern::{fits, lies_in};

/// A program of a build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Program {
    /// As configured: its path in the build tree. For what libtool builds this is where its wrapper script is.
    pub name: String,
    /// The program itself, absolute; behind a libtool wrapper, the one in `.libs`.
    pub path: PathBuf,
}

/// Folders in which build systems try out the compiler.
const TRIALS: &[&str] = &[
    "CMakeFiles",
    "meson-private",
    "meson-logs",
    ".git",
    crate::project::STATE,
];

/// All captured executables below a directory, by name.
pub fn captured(tree: &Path) -> Vec<Program> {
    let mut programs = Vec::new();
    walk(tree, &mut |relative, entry| {
        if is_candidate(entry) && is_captured_program(&entry.path()) {
            let name = without_libtool(&relative);
            // libtool relinks a program under another name when it is first run.
            if !(relative != name && short(&name).starts_with("lt-")) {
                let path = entry.path();
                programs.push(Program { name, path });
            }
        }
    });
    programs.sort();
    programs
}

/// All captured shared libraries and plug-ins below a directory, by name.
pub fn libraries(tree: &Path) -> Vec<Program> {
    let mut libraries = Vec::new();
    walk(tree, &mut |relative, entry| {
        if short(&relative).contains(".so") && file_kind(&entry.path()) == Some(FileKind::Library) {
            let (name, path) = (without_libtool(&relative), entry.path());
            libraries.push(Program { name, path });
        }
    });
    libraries.sort();
    libraries
}

/// Static libraries below a directory with captured code in them, by name.
pub fn archives(tree: &Path) -> Vec<String> {
    let mut archives = Vec::new();
    walk(tree, &mut |relative, entry| {
        let is_captured = || {
            let bytes = fs::read(entry.path()).unwrap_or_default();
            let section = SECTION.as_bytes();
            bytes.starts_with(b"!<arch>") && bytes.windows(section.len()).any(|at| at == section)
        };
        if relative.ends_with(".a") && is_captured() {
            archives.push(without_libtool(&relative));
        }
    });
    archives.sort();
    archives
}

/// Shows every file below a directory, with its path from there, but for what build systems try out.
fn walk(tree: &Path, show: &mut dyn FnMut(String, &fs::DirEntry)) {
    let mut open = vec![(tree.to_owned(), String::new())];
    while let Some((directory, prefix)) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            // What is no text cannot be named in a configuration.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let relative = match prefix.as_str() {
                "" => name.clone(),
                _ => format!("{prefix}/{name}"),
            };
            if kind.is_dir() && !TRIALS.contains(&name.as_str()) {
                open.push((entry.path(), relative));
            } else if kind.is_file() {
                show(relative, &entry);
            }
        }
    }
}

/// Those that are meant by a configuration. With no patterns, all that are in none of the folders to skip.
pub fn configured(programs: &[Program], patterns: &[String], skip: &[String]) -> Vec<Program> {
    let meant = |program: &&Program| {
        if patterns.is_empty() {
            return !lies_in(skip, &program.name);
        }
        patterns.iter().any(|pattern| fits(pattern, &program.name))
    };
    programs.iter().filter(meant).cloned().collect()
}

fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// `src/.libs/prog` is what the user knows as `src/prog`.
fn without_libtool(path: &str) -> String {
    match path.strip_prefix(".libs/") {
        Some(rest) => rest.to_owned(),
        None => path.replacen("/.libs/", "/", 1),
    }
}

fn is_candidate(entry: &fs::DirEntry) -> bool {
    entry
        .metadata()
        .is_ok_and(|found| found.permissions().mode() & 0o111 != 0 && found.len() > 64)
}

/// What parallax-cc linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Program,
    Library,
}

/// Whether a file is a program (not a library, not an object) that parallax-cc linked.
pub fn is_captured_program(path: &Path) -> bool {
    file_kind(path) == Some(FileKind::Program)
}

/// What a file is, if parallax-cc linked it.
fn file_kind(path: &Path) -> Option<FileKind> {
    let file = File::open(path).ok()?;
    // Safety: linkers replace programs, they do not rewrite them.
    let bytes = unsafe { Mmap::map(&file) }.ok()?;
    if !bytes.starts_with(b"\x7fELF") {
        return None;
    }
    let elf = object::File::parse(&*bytes).ok()?;
    let kind = match elf.kind() {
        object::ObjectKind::Executable => FileKind::Program,
        object::ObjectKind::Dynamic if is_position_independent_program(&bytes) => FileKind::Program,
        object::ObjectKind::Dynamic => FileKind::Library,
        _ => return None,
    };
    let section = elf.section_by_name(SECTION)?;
    let frames = frames(section.data().ok()?).ok()?;
    let has = |kind: Kind| frames.iter().any(|frame| frame.kind == kind as u32);
    // Derived programs have sites.
    (has(Kind::Link) && has(Kind::Module) && !has(Kind::Sites)).then_some(kind)
}

/// Programs and shared libraries are the same kind of file. A program asks for an interpreter, or says what it is.
fn is_position_independent_program(bytes: &[u8]) -> bool {
    use object::elf;
    let look = || -> object::read::Result<bool> {
        let header = elf::FileHeader64::<object::Endianness>::parse(bytes)?;
        let endian = header.endian()?;
        for segment in header.program_headers(endian, bytes)? {
            if segment.p_type(endian) == elf::PT_INTERP {
                return Ok(true);
            }
            let entries = segment.dynamic(endian, bytes)?.unwrap_or_default();
            let says_program = |entry: &elf::Dyn64<object::Endianness>| {
                entry.d_tag(endian) == elf::DT_FLAGS_1 && entry.d_val(endian) & elf::DF_1_PIE.0 != 0
            };
            if entries.iter().any(says_program) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    look().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(names: &[&str]) -> Vec<Program> {
        let program = |name: &&str| Program {
            name: (*name).to_owned(),
            path: PathBuf::from(name),
        };
        names.iter().map(program).collect()
    }

    fn names(programs: Vec<Program>) -> Vec<String> {
        programs.into_iter().map(|program| program.name).collect()
    }

    #[test]
    fn without_patterns_every_program_outside_of_skipped_folders_is_meant() {
        let all = programs(&["src/cut", "src/[", "tests/helper", "find/tests/x"]);
        let skip = ["tests".to_owned()];
        assert_eq!(names(configured(&all, &[], &skip)), ["src/cut", "src/["]);
    }

    #[test]
    fn patterns_decide_alone_when_there_are_some() {
        let all = programs(&["src/cut", "src/wc", "tests/helper"]);
        let skip = ["tests".to_owned()];
        let patterns = ["src/c*".to_owned(), "helper".to_owned()];
        assert_eq!(
            names(configured(&all, &patterns, &skip)),
            ["src/cut", "tests/helper"]
        );
    }

    #[test]
    fn libtools_folder_is_no_part_of_a_programs_name() {
        assert_eq!(without_libtool("src/.libs/prog"), "src/prog");
        assert_eq!(without_libtool(".libs/prog"), "prog");
        assert_eq!(without_libtool("src/prog"), "src/prog");
    }

    #[test]
    fn files_that_are_no_programs_of_ours_are_left_out() {
        assert!(!is_captured_program(Path::new("/bin/sh")));
        assert!(!is_captured_program(Path::new("/etc/passwd")));
        assert!(!is_captured_program(Path::new("/no/such/file")));
    }
}
