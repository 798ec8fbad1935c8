//! Which shared libraries of its own a program is linked with, and how it finds them.
//!
//! Only libraries that the project itself can have built matter, as only they can carry site tables: those that the program's own link
//! line names (kept in its records), and those found through its run path or through `LD_LIBRARY_PATH`. The system's directories are
//! not searched.
//!
//! A program in a build tree need not find its libraries by itself: libtool's programs are linked for the place where they will be
//! installed, and a wrapper script or the test suite sets `LD_LIBRARY_PATH`. Run alone, such a program would load another version that
//! happens to be installed. So the link line decides, and [`search_path`] says what has to be added to the environment.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, FileHeader64};
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSection};
use parallax_record::{InputKind, Kind, LinkRecord, SECTION, frames};

/// Read by the dynamic linker.
const VARIABLE: &str = "LD_LIBRARY_PATH";

/// The libraries, directly or indirectly needed, in a fixed order. What cannot be found or read is
/// left out: the dynamic linker will say so.
pub fn needed(program: &Path) -> Vec<PathBuf> {
    resolve(program).libraries
}

/// Directories that the dynamic linker must be told, so that the program loads the libraries that it was linked with and no
/// others of the same name.
pub fn search_path(program: &Path) -> Vec<PathBuf> {
    resolve(program).directories
}

/// Puts directories before those that are searched already.
pub fn search_first(environment: &mut Vec<(OsString, OsString)>, directories: &[PathBuf]) {
    if directories.is_empty() {
        return;
    }
    let names: Vec<&OsStr> = directories.iter().map(|path| path.as_os_str()).collect();
    let mut value = names.join(OsStr::new(":"));
    let known = environment.iter_mut().find(|(name, _)| name == VARIABLE);
    match known {
        Some((_, old)) => {
            if !old.is_empty() {
                value.push(":");
                value.push(&*old);
            }
            *old = value;
        }
        None => environment.push((VARIABLE.into(), value)),
    }
}

#[derive(Default)]
struct Resolved {
    libraries: Vec<PathBuf>,
    directories: Vec<PathBuf>,
}

fn resolve(program: &Path) -> Resolved {
    let mut resolved = Resolved::default();
    let mut seen = BTreeSet::new();
    let mut open = vec![program.to_owned()];
    while let Some(file) = open.pop() {
        let Some(dynamic) = read(&file) else { continue };
        for name in &dynamic.needed {
            let Some(library) = dynamic.find(name, &mut resolved.directories) else {
                continue;
            };
            if seen.insert(library.clone()) {
                resolved.libraries.push(library.clone());
                open.push(library);
            }
        }
    }
    resolved
}

struct Dynamic {
    needed: Vec<PathBuf>,
    soname: Option<PathBuf>,
    /// The run path.
    search: Vec<PathBuf>,
    /// Captured libraries on its link line.
    linked: Vec<PathBuf>,
}

impl Dynamic {
    /// The library of this name; where the run path does not lead to it, its directory is added.
    fn find(&self, name: &Path, directories: &mut Vec<PathBuf>) -> Option<PathBuf> {
        if name.is_absolute() {
            return Some(name.to_owned());
        }
        let paths = self.search.iter().map(|directory| directory.join(name));
        let found = paths.into_iter().find(|path| path.is_file());
        let own = self.linked.iter().find_map(|linked| {
            let is_it = linked.file_name() == Some(name.as_os_str())
                || read(linked).is_some_and(|read| read.soname.as_deref() == Some(name));
            // The dynamic linker looks for this very name.
            let path = linked.parent().filter(|_| is_it)?.join(name);
            path.is_file().then_some(path)
        });
        let Some(own) = own else {
            let given = std::env::var_os(VARIABLE);
            let given = given.iter().flat_map(std::env::split_paths);
            let mut given = given.map(|directory| directory.join(name));
            return found.or_else(|| given.find(|path| path.is_file()));
        };
        let same = |path: &PathBuf| path.canonicalize().ok() == own.canonicalize().ok();
        match found {
            Some(found) if same(&found) => Some(found),
            _ => {
                let directory = own.parent().and_then(|parent| parent.canonicalize().ok());
                if let Some(directory) = directory
                    && !directories.contains(&directory)
                {
                    directories.push(directory);
                }
                Some(own)
            }
        }
    }
}

fn read(file: &Path) -> Option<Dynamic> {
    let bytes = fs::read(file).ok()?;
    let elf = ElfFile::<FileHeader64<Endianness>>::parse(&*bytes).ok()?;
    let table = elf.elf_dynamic_table().ok()?;
    let mut dynamic = Dynamic {
        needed: Vec::new(),
        soname: None,
        search: Vec::new(),
        linked: linked(&elf).unwrap_or_default(),
    };
    let origin = file.parent().unwrap_or(Path::new("."));
    for entry in table.iter() {
        let text = || table.string(entry).ok();
        let path = || text().map(|name| PathBuf::from(OsStr::from_bytes(name)));
        match entry.tag {
            DT_NEEDED => dynamic.needed.extend(path()),
            DT_SONAME => dynamic.soname = path(),
            DT_RPATH | DT_RUNPATH => {
                for part in text().unwrap_or_default().split(|byte| *byte == b':') {
                    dynamic.search.push(expand(part, origin));
                }
            }
            _ => {}
        }
    }
    Some(dynamic)
}

/// Captured shared libraries that the link line named, as far as they are still there.
fn linked(elf: &ElfFile<'_, FileHeader64<Endianness>>) -> Option<Vec<PathBuf>> {
    let section = elf.section_by_name(SECTION)?;
    let frames = frames(section.data().ok()?).ok()?;
    let link = frames
        .iter()
        .find(|frame| frame.kind == Kind::Link as u32)?;
    let link: LinkRecord = link.meta().ok()?;
    let inputs = link.inputs.into_iter();
    let captured =
        inputs.filter(|input| input.kind == InputKind::SharedLibrary && input.captured > 0);
    let paths = captured.map(|input| PathBuf::from(input.path));
    Some(paths.filter(|path| path.is_file()).collect())
}

/// Replaces `$ORIGIN` at the start, the only place where it is used in practice.
fn expand(part: &[u8], origin: &Path) -> PathBuf {
    for prefix in [b"$ORIGIN".as_slice(), b"${ORIGIN}"] {
        if let Some(rest) = part.strip_prefix(prefix) {
            let rest = rest.strip_prefix(b"/").unwrap_or(rest);
            return origin.join(OsStr::from_bytes(rest));
        }
    }
    PathBuf::from(OsStr::from_bytes(part))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_library_on_the_run_path_is_found_and_the_system_s_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("l.c"), "int f(void) { return 3; }\n").unwrap();
        fs::write(at("m.c"), "int f(void); int main(void) { return f(); }\n").unwrap();
        let clang = |args: &[&str]| {
            let status = Command::new("clang-19")
                .args(args)
                .current_dir(directory.path())
                .status()
                .unwrap();
            assert!(status.success());
        };
        fs::create_dir(at("lib")).unwrap();
        clang(&["-shared", "-fPIC", "l.c", "-o", "lib/libl.so"]);
        clang(&["m.c", "-Llib", "-ll", "-Wl,-rpath,$ORIGIN/lib", "-o", "m"]);
        assert_eq!(needed(&at("m")), [at("lib/libl.so")]);
        assert_eq!(needed(Path::new("/bin/sh")), [] as [PathBuf; 0]);
    }

    #[test]
    fn directories_of_own_libraries_come_before_those_of_the_environment() {
        let mut environment = vec![("A".into(), "1".into())];
        search_first(&mut environment, &[]);
        assert_eq!(environment.len(), 1);
        search_first(&mut environment, &["/b".into(), "/c".into()]);
        search_first(&mut environment, &["/a".into()]);
        assert_eq!(environment[1], (VARIABLE.into(), "/a:/b:/c".into()));
    }
}
