//! Keeps each source, and the headers that it includes, as the front end read them.
//!
//! UBSan's checks are made by the front end, so the checked variant needs source, and
//! by then files may be changed or gone. The compile itself lists the headers that it
//! opens, which costs nothing; system headers are not among them and stay where they are. Most
//! files are included by many sources and are kept once.
//!
//! Keeping preprocessed text instead was tried: a second preprocessing per compile made builds take 1.3 to 1.5 times as long.

use super::Job;
use super::descriptors::{memory_file, path_for_children};
use crate::arguments::Unit;
use crate::store::{SourceFile, Sources, Store};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// What is needed to keep the sources of one command.
pub struct Keeper {
    store: Option<Store>,
    /// clang lists headers here, one path per line.
    headers: File,
    /// The plug-in reports keys here.
    keys: File,
}

impl Keeper {
    pub fn new() -> io::Result<Keeper> {
        let headers = memory_file(b"")?;
        let store = Store::open().filter(|store| store.can_be_written());
        let store = store.filter(|_| path_for_children(&headers).is_some());
        Ok(Keeper {
            store,
            headers,
            keys: memory_file(b"")?,
        })
    }

    /// Whether this source can be kept. Standard input can be read only once, and that is the
    /// compiler's; bitcode is no source.
    pub fn can_keep(&self, unit: &Unit) -> bool {
        self.store.is_some() && unit.source != "-" && unit.language != "ir"
    }

    pub fn key_descriptor(&self) -> i32 {
        self.keys.as_raw_fd()
    }

    /// Makes clang list the headers.
    pub fn add_flags(&self, clang: &mut Command) {
        if let (Some(_), Some(path)) = (&self.store, path_for_children(&self.headers)) {
            clang
                .args(["-Xclang", "-header-include-file", "-Xclang"])
                .arg(path);
        }
    }

    /// Keeps what was compiled. A failure is not worth a message here: the checked variant tells
    /// when it has to do without a source.
    pub fn keep(&self, job: &Job) -> io::Result<()> {
        let Some(store) = &self.store else {
            return Ok(());
        };
        let keys = content(&self.keys)?;
        if keys.is_empty() {
            return Ok(());
        }
        let directory = Path::new(&job.invocation.directory);
        let mut files = Vec::new();
        let headers = content(&self.headers)?;
        let mut paths: Vec<PathBuf> = headers
            .lines()
            .map(|line| normal(&directory.join(line)))
            .collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            // A name that is no UTF-8 cannot be recorded; the compile then needs the file itself.
            if let Some(name) = path.to_str() {
                files.push(SourceFile {
                    path: name.to_owned(),
                    content: store.put_file(&std::fs::read(&path)?)?,
                });
            }
        }
        for line in keys.lines() {
            let unit = line.split_once(' ').and_then(|(index, key)| {
                Some((job.analysis.units.get(index.parse::<usize>().ok()?)?, key))
            });
            let Some((unit, key)) = unit else { continue };
            let text = std::fs::read(directory.join(&unit.source))?;
            let sources = Sources {
                main: store.put_file(&text)?,
                files: files.clone(),
            };
            store.put_sources(key, &sources)?;
        }
        Ok(())
    }
}

fn content(file: &File) -> io::Result<String> {
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A path without `.` and `..`, as clang compares them.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
