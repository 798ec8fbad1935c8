//! Which shared libraries of its own a program is linked with.
//!
//! Only libraries that the project itself can have built matter, as only they
//! can carry site tables: those found through the program's own run path or through
//! `LD_LIBRARY_PATH`. The system's directories are not searched.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::ElfFile;

/// The libraries, directly or indirectly needed, in a fixed order. What cannot be found or read is
/// left out: the dynamic linker will say so.
pub fn needed(program: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![program.to_owned()];
    while let Some(file) = open.pop() {
        let Some(dynamic) = read(&file) else { continue };
        for name in &dynamic.needed {
            let library = if name.is_absolute() {
                Some(name.clone())
            } else {
                let candidates = dynamic.search.iter().map(|directory| directory.join(name));
                candidates.into_iter().find(|path| path.is_file())
            };
            if let Some(library) = library
                && seen.insert(library.clone())
            {
                found.push(library.clone());
                open.push(library);
            }
        }
    }
    found
}

struct Dynamic {
    needed: Vec<PathBuf>,
    search: Vec<PathBuf>,
}

fn read(file: &Path) -> Option<Dynamic> {
    let bytes = fs::read(file).ok()?;
    let elf = ElfFile::<FileHeader64<Endianness>>::parse(&*bytes).ok()?;
    let table = elf.elf_dynamic_table().ok()?;
    let mut dynamic = Dynamic {
        needed: Vec::new(),
        search: Vec::new(),
    };
    let origin = file.parent().unwrap_or(Path::new("."));
    for entry in table.iter() {
        let text = || table.string(entry).ok();
        match entry.tag {
            DT_NEEDED => dynamic
                .needed
                .extend(text().map(|name| PathBuf::from(OsStr::from_bytes(name)))),
            DT_RPATH | DT_RUNPATH => {
                for part in text().unwrap_or_default().split(|byte| *byte == b':') {
                    dynamic.search.push(expand(part, origin));
                }
            }
            _ => {}
        }
    }
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        dynamic.search.extend(std::env::split_paths(&path));
    }
    Some(dynamic)
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
}
