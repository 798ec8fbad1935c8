//! What a link line gives to the linker, and how much of it was captured.

use crate::arguments::Item;
use memmap2::Mmap;
use object::read::archive::{ArchiveFile, ArchiveMember};
use object::{Object, ObjectKind};
use parallax_record::{InputKind, LinkInput, SECTION};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Looks at every file that the link line names. Files that do not exist, scripts and
/// libraries of the system (found by the linker's own search) are left out: the line itself is
/// enough to name those again.
pub fn examine(items: &[Item], directory: &Path) -> Vec<LinkInput> {
    let mut search = Search::default();
    // Search directories apply to libraries before them, too.
    for item in items {
        match item {
            Item::Option(words) => search.note_option(words, directory),
            Item::Linker(word) => search.note_linker_word(word, directory),
            Item::Input { .. } | Item::Library(_) => {}
        }
    }
    let mut inputs = Vec::new();
    for item in items {
        let found = match item {
            Item::Input { path, .. } => look_at(path, &directory.join(path)),
            Item::Linker(word) => match word.as_str() {
                "-Bstatic" | "-dn" | "-non_shared" | "-static" => {
                    search.only_archives = true;
                    None
                }
                "-Bdynamic" | "-dy" | "-call_shared" => {
                    search.only_archives = search.all_static;
                    None
                }
                word if is_linkable_name(word) => look_at(word, &directory.join(word)),
                word => word
                    .strip_prefix("-l")
                    .and_then(|name| search.library(name)),
            },
            Item::Library(name) => search.library(name),
            Item::Option(_) => None,
        };
        inputs.extend(found);
    }
    inputs
}

/// Whether a word for the linker looks like a file to be linked rather than an option's value.
pub fn is_linkable_name(word: &str) -> bool {
    !word.starts_with('-')
        && (word.ends_with(".o") || word.ends_with(".a") || word.ends_with(".so"))
}

/// Where `-l` looks, as far as the command line says it.
#[derive(Default)]
struct Search {
    directories: Vec<PathBuf>,
    all_static: bool,
    only_archives: bool,
}

impl Search {
    fn note_option(&mut self, words: &[String], directory: &Path) {
        match words[0].as_str() {
            "-static" | "-static-pie" => (self.all_static, self.only_archives) = (true, true),
            "-L" => self
                .directories
                .extend(words.get(1).map(|path| directory.join(path))),
            word => {
                self.directories
                    .extend(word.strip_prefix("-L").map(|path| directory.join(path)));
            }
        }
    }

    fn note_linker_word(&mut self, word: &str, directory: &Path) {
        let joined = word.strip_prefix("-L").filter(|path| !path.is_empty());
        self.directories
            .extend(joined.map(|path| directory.join(path)));
    }

    fn library(&self, name: &str) -> Option<LinkInput> {
        let shared = format!("lib{name}.so");
        let archive = format!("lib{name}.a");
        let exact = name.strip_prefix(':');
        for directory in &self.directories {
            let candidates: &[&str] = match exact {
                Some(exact) => &[exact],
                None if self.only_archives => &[&archive],
                None => &[&shared, &archive],
            };
            for candidate in candidates {
                let path = directory.join(candidate);
                if path.is_file() {
                    return look_at(&format!("-l{name}"), &path);
                }
            }
        }
        None
    }
}

/// Describes one file; `None` if it is neither object, archive nor shared library.
fn look_at(argument: &str, path: &Path) -> Option<LinkInput> {
    let bytes = map(path)?;
    let name = || {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let (kind, captured, foreign) =
        if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
            let (captured, foreign) = examine_archive(&bytes, path)?;
            (InputKind::Archive, captured, foreign)
        } else if bytes.starts_with(b"BC\xc0\xde") {
            // An object for link-time optimisation: what it carries appears only in the program.
            (InputKind::Object, 1, Vec::new())
        } else {
            let file = object::File::parse(&*bytes).ok()?;
            let carries = file.section_by_name(SECTION).is_some();
            let kind = match file.kind() {
                ObjectKind::Relocatable => InputKind::Object,
                ObjectKind::Dynamic => InputKind::SharedLibrary,
                _ => return None,
            };
            (
                kind,
                u32::from(carries),
                if carries {
                    Vec::new()
                } else {
                    name().into_iter().collect()
                },
            )
        };
    Some(LinkInput {
        argument: argument.to_owned(),
        path: path.to_str()?.to_owned(),
        kind,
        captured,
        foreign,
    })
}

fn examine_archive(bytes: &[u8], path: &Path) -> Option<(u32, Vec<String>)> {
    let archive = ArchiveFile::parse(bytes).ok()?;
    let mut captured = 0;
    let mut foreign = Vec::new();
    for member in archive.members() {
        let member = member.ok()?;
        let carries = with_member(bytes, path, &member, |data| {
            object::File::parse(data).is_ok_and(|file| file.section_by_name(SECTION).is_some())
        });
        if carries.unwrap_or(false) {
            captured += 1;
        } else {
            foreign.push(String::from_utf8_lossy(member.name()).into_owned());
        }
    }
    Some((captured, foreign))
}

/// Hands a member's bytes to `use_it`. A thin archive only names its members, which are files.
pub fn with_member<T>(
    archive: &[u8],
    archive_path: &Path,
    member: &ArchiveMember<'_>,
    use_it: impl FnOnce(&[u8]) -> T,
) -> Option<T> {
    if member.is_thin() {
        let name = std::str::from_utf8(member.name()).ok()?;
        let bytes = map(&archive_path.parent()?.join(name))?;
        Some(use_it(&bytes))
    } else {
        Some(use_it(member.data(archive).ok()?))
    }
}

/// Maps a regular file; `None` if it cannot be read or is empty.
pub fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || found.len() == 0 {
        return None;
    }
    // Safety: another process may cut the file while it is mapped; so may any linker's input
    // while it is linked. Build products are replaced, not rewritten.
    unsafe { Mmap::map(&file) }.ok()
}
