//! Reading a captured program back.

use memmap2::Mmap;
use object::{Object, ObjectSection};
use parallax_record::code::ModuleCode;
use parallax_record::{Kind, LinkRecord, ModuleRecord, RecordError, SECTION, SiteTable, frames};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A captured program or shared library.
#[derive(Clone, Debug)]
pub struct Program {
    /// Absolute path of the file that was read: behind a libtool wrapper, the real program.
    pub path: PathBuf,
    /// In link order.
    pub modules: Vec<Module>,
    pub link: LinkRecord,
}

/// One captured translation unit.
#[derive(Clone, Debug)]
pub struct Module {
    pub record: ModuleRecord,
    /// The front end's bitcode, with debug information.
    pub bitcode: Vec<u8>,
}

/// Why a program could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{} cannot be read: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{} is a script, not a program", path.display())]
    Script { path: PathBuf },
    #[error("{} is a libtool wrapper, but {} is missing", path.display(), wanted.display())]
    LibtoolWrapper { path: PathBuf, wanted: PathBuf },
    #[error("{} is not an ELF program or shared library", path.display())]
    NotElf { path: PathBuf },
    #[error("{} was not built with parallax-cc", path.display())]
    NotCaptured { path: PathBuf },
    #[error("{} was linked by something else than parallax-cc, which its objects were built with", path.display())]
    NotLinked { path: PathBuf },
    #[error("{} is an object or archive, not a program", path.display())]
    NotLinkedYet { path: PathBuf },
    #[error("what parallax-cc put into {} is damaged", path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        error: RecordError,
    },
}

impl ReadError {
    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            ReadError::Io { .. } => "look at it with ls -l and file",
            ReadError::Script { .. } => "name the program that it runs",
            ReadError::LibtoolWrapper { .. } | ReadError::Damaged { .. } => "build it again",
            ReadError::NotElf { .. } => {
                "the command file says what it is; name a program of this machine"
            }
            ReadError::NotCaptured { .. } => {
                "build it again with\n\
                 make clean; ./configure CC=parallax-cc && make\n\
                 (CMake: -DCMAKE_C_COMPILER=parallax-cc, Meson: CC=parallax-cc meson setup)"
            }
            ReadError::NotLinked { .. } => "link it with parallax-cc, too",
            ReadError::NotLinkedYet { .. } => "name the program that it is linked into",
        }
    }
}

/// Reads a captured program.
pub fn read_program(path: &Path) -> Result<Program, ReadError> {
    let path = resolve_wrapper(path)?;
    let io_error = |error| ReadError::Io {
        path: path.clone(),
        error,
    };
    let file = File::open(&path).map_err(io_error)?;
    // Safety: the file is not expected to be cut while it is read; linkers replace, not rewrite.
    let bytes = unsafe { Mmap::map(&file) }.map_err(io_error)?;
    let damaged = |error| ReadError::Damaged {
        path: path.clone(),
        error,
    };

    let Ok(elf) = object::File::parse(&*bytes) else {
        return Err(ReadError::NotElf { path });
    };
    match elf.kind() {
        object::ObjectKind::Executable | object::ObjectKind::Dynamic => {}
        object::ObjectKind::Relocatable => return Err(ReadError::NotLinkedYet { path }),
        _ => return Err(ReadError::NotElf { path }),
    }
    let Some(section) = elf.section_by_name(SECTION) else {
        return Err(ReadError::NotCaptured { path });
    };
    let data = section.data().map_err(|_| {
        damaged(RecordError::Damaged {
            offset: 0,
            what: "outside of the file",
        })
    })?;

    let mut modules = Vec::new();
    let mut link = None;
    for frame in frames(data).map_err(damaged)? {
        if frame.kind == Kind::Module as u32 {
            let record = frame.meta().map_err(damaged)?;
            let bitcode = frame.data().map_err(damaged)?;
            modules.push(Module { record, bitcode });
        } else if frame.kind == Kind::Link as u32 {
            // Ours comes first on the line; a second one could only come from a relocatable object
            // that somebody made out of a whole program.
            if link.is_none() {
                link = Some(frame.meta().map_err(damaged)?);
            }
        }
    }
    match link {
        Some(link) => Ok(Program {
            path,
            modules,
            link,
        }),
        None => Err(ReadError::NotLinked { path }),
    }
}

/// The sites of a derived program, one table per module.
pub fn read_sites(path: &Path) -> Result<Vec<SiteTable>, ReadError> {
    let read = |data: &[u8]| Ok(SiteTable::from_bytes(data)?);
    read_records(path, Kind::Sites, read)
}

/// The code of a covered program or library, one description per module.
pub fn read_code(path: &Path) -> Result<Vec<ModuleCode>, ReadError> {
    let read = |data: &[u8]| Ok(ModuleCode::from_bytes(data)?);
    read_records(path, Kind::Code, read)
}

/// The records of one kind that a derived program carries.
fn read_records<T>(
    path: &Path,
    kind: Kind,
    read: impl Fn(&[u8]) -> Result<T, RecordError>,
) -> Result<Vec<T>, ReadError> {
    let io_error = |error| ReadError::Io {
        path: path.to_owned(),
        error,
    };
    let damaged = |error| ReadError::Damaged {
        path: path.to_owned(),
        error,
    };
    let file = File::open(path).map_err(io_error)?;
    // Safety: derived programs appear by rename and are never rewritten.
    let bytes = unsafe { Mmap::map(&file) }.map_err(io_error)?;
    let Ok(elf) = object::File::parse(&*bytes) else {
        return Err(ReadError::NotElf {
            path: path.to_owned(),
        });
    };
    // A program without any site has no section.
    let Some(section) = elf.section_by_name(SECTION) else {
        return Ok(Vec::new());
    };
    let data = section.data().map_err(|_| {
        damaged(RecordError::Damaged {
            offset: 0,
            what: "outside of the file",
        })
    })?;
    let mut records = Vec::new();
    for frame in frames(data).map_err(damaged)? {
        if frame.kind == kind as u32 {
            let data = frame.data().map_err(damaged)?;
            records.push(read(&data).map_err(damaged)?);
        }
    }
    Ok(records)
}

/// The program itself, absolute. libtool leaves a script where the program belongs, and the program
/// in `.libs` beside it.
fn resolve_wrapper(path: &Path) -> Result<PathBuf, ReadError> {
    let io_error = |error| ReadError::Io {
        path: path.to_owned(),
        error,
    };
    let path = std::path::absolute(path).map_err(io_error)?;
    let file = File::open(&path).map_err(io_error)?;
    if !file.metadata().map_err(io_error)?.is_file() {
        return Err(io_error(io::Error::other("not a regular file")));
    }
    let mut start = Vec::new();
    file.take(4096).read_to_end(&mut start).map_err(io_error)?;
    if start.is_empty() {
        return Err(ReadError::NotElf { path });
    }
    if !start.starts_with(b"#!") {
        return Ok(path);
    }
    let text = String::from_utf8_lossy(&start);
    if !text.contains("libtool") {
        return Err(ReadError::Script { path });
    }
    let wanted = path
        .parent()
        .zip(path.file_name())
        .map(|(parent, name)| parent.join(".libs").join(name))
        .unwrap_or_default();
    if wanted.is_file() {
        Ok(wanted)
    } else {
        Err(ReadError::LibtoolWrapper { path, wanted })
    }
}
