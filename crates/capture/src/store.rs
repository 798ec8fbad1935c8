//! The capture store: what is too big for an object file, by content.
//!
//! Source files and the small objects that carry link records live here, named by the hash of their
//! content, so that equal ones are kept once. What belongs to one compile is listed under
//! the key that the module's record has.

use parallax_files::{cache_directory, hash, is_hash, named, write_whole};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A directory of content-addressed entries.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

/// The files that one compile read, system headers excepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// Content of the source itself.
    pub main: Content,
    /// Everything that it includes.
    pub files: Vec<SourceFile>,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Absolute, without `.` and `..`.
    pub path: String,
    pub content: Content,
}

/// Hash of a kept file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content(String);

impl Content {
    /// In hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Overrides where the store is.
pub const STORE_VARIABLE: &str = "PARALLAX_STORE";

impl Store {
    /// `$PARALLAX_STORE`, else `capture` below Parallax's cache directory; `None` if neither
    /// that nor a home directory is named. Not created before something is put there.
    pub fn open() -> Option<Store> {
        let usual = || Some(cache_directory()?.join("capture"));
        let directory = named(STORE_VARIABLE).or_else(usual)?;
        Some(Store { directory })
    }

    /// A store in a directory of the caller's choice.
    pub fn at(directory: PathBuf) -> Store {
        Store { directory }
    }

    /// Where it is, whether or not there is anything yet.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether something can be put there.
    pub fn can_be_written(&self) -> bool {
        let directory = self.directory.join("sources");
        fs::create_dir_all(&directory).is_ok() && writable(&directory)
    }

    /// Keeps a file as it is, so that compilers can read it from here.
    pub fn put_file(&self, bytes: &[u8]) -> io::Result<Content> {
        let content = Content(hash(bytes));
        let path = self.file_path(&content);
        if !path.exists() {
            put(&path, bytes)?;
        }
        Ok(content)
    }

    /// Where a kept file is.
    pub fn file_path(&self, content: &Content) -> PathBuf {
        let hash = &content.0;
        self.directory
            .join("files")
            .join(&hash[..2])
            .join(&hash[2..])
    }

    /// Keeps the list of a compile's files.
    pub fn put_sources(&self, key: &str, sources: &Sources) -> io::Result<()> {
        let path = self.sources_path(key)?;
        if path.exists() {
            return Ok(());
        }
        put(
            &path,
            &serde_json::to_vec(sources).map_err(io::Error::other)?,
        )
    }

    /// The list of a compile's files; an error if it or one of them is missing.
    pub fn sources(&self, key: &str) -> io::Result<Sources> {
        let sources: Sources = serde_json::from_slice(&fs::read(self.sources_path(key)?)?)?;
        let contents = sources
            .files
            .iter()
            .map(|file| &file.content)
            .chain([&sources.main]);
        for content in contents {
            if !is_hash(&content.0) || !self.file_path(content).is_file() {
                return Err(io::Error::other("a file is missing in the capture store"));
            }
        }
        Ok(sources)
    }

    /// Keeps an object file; returns its path. It stays where it is, because tools that note a
    /// link's inputs as dependencies look for it again.
    pub fn put_object(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        let key = hash(bytes);
        let path = self
            .directory
            .join("link")
            .join(&key[..2])
            .join(format!("{}.o", &key[2..]));
        if !path.exists() {
            put(&path, bytes)?;
        }
        Ok(path)
    }

    fn sources_path(&self, key: &str) -> io::Result<PathBuf> {
        if !is_hash(key) {
            return Err(io::Error::other("not a key"));
        }
        Ok(self
            .directory
            .join("sources")
            .join(&key[..2])
            .join(format!("{}.json", &key[2..])))
    }
}

/// Whether this process may make files in a directory.
fn writable(directory: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(directory.as_os_str().as_bytes()) else {
        return false;
    };
    // Safety: a C string that lives long enough.
    unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) == 0 }
}

/// Writes a file that appears complete or not at all, making its directory if need be.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    write_whole(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_found_by_its_key() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path().join("deep/store"));
        assert!(store.can_be_written());
        let main = store.put_file(b"int main;").unwrap();
        assert_eq!(store.put_file(b"int main;").unwrap(), main);
        let header = SourceFile {
            path: "/a.h".to_owned(),
            content: main.clone(),
        };
        let sources = Sources {
            main: main.clone(),
            files: vec![header],
        };
        let key = hash(b"key");
        store.put_sources(&key, &sources).unwrap();
        assert_eq!(store.sources(&key).unwrap(), sources);
        assert!(store.sources("../../etc/passwd").is_err());
        fs::remove_file(store.file_path(&main)).unwrap();
        assert!(store.sources(&key).is_err());
    }
}
