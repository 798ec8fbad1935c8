//! The capture store: what is too big for an object file, by content.
//!
//! Preprocessed sources and the small objects that carry link records live here. An entry's name is the
//! hash of its content, so that equal ones are kept once and nothing is ever overwritten.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A directory of content-addressed entries.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

/// Overrides where the store is.
pub const STORE_VARIABLE: &str = "PARALLAX_STORE";

impl Store {
    /// `$PARALLAX_STORE`, else `capture` below Parallax's cache directory; `None` if neither
    /// that nor a home directory is named. Not created before something is put there.
    pub fn open() -> Option<Store> {
        let named = |name: &str| {
            env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let directory = named(STORE_VARIABLE).or_else(|| {
            let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
            Some(cache.join("parallax").join("capture"))
        })?;
        Some(Store { directory })
    }

    /// A store in a directory of the caller's choice.
    pub fn at(directory: PathBuf) -> Store {
        Store { directory }
    }

    /// Keeps a preprocessed source; returns its key.
    pub fn put_source(&self, text: &[u8]) -> io::Result<String> {
        let key = hash(text);
        let path = self.source_path(&key);
        if !path.exists() {
            write_atomically(&path, &zstd::stream::encode_all(text, 3)?)?;
        }
        Ok(key)
    }

    /// The preprocessed source with this key.
    pub fn source(&self, key: &str) -> io::Result<Vec<u8>> {
        if key.len() < 3 || !key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::Error::other("not a key"));
        }
        zstd::stream::decode_all(fs::File::open(self.source_path(key))?)
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
            write_atomically(&path, bytes)?;
        }
        Ok(path)
    }

    fn source_path(&self, key: &str) -> PathBuf {
        self.directory
            .join("source")
            .join(&key[..2])
            .join(format!("{}.zst", &key[2..]))
    }
}

/// Half a blake3 hash in hexadecimal: 128 bits are plenty against accidents.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Writes a file that appears complete or not at all, making its directory if need be.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path
        .parent()
        .ok_or_else(|| io::Error::other("path without a directory"))?;
    fs::create_dir_all(parent)?;
    let mut scratch = tempfile::Builder::new()
        .prefix(".tmp-")
        .tempfile_in(parent)?;
    io::Write::write_all(&mut scratch, bytes)?;
    // Temporary files are private; what others may build with need not be.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    scratch.as_file().set_permissions(mode)?;
    scratch.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_found_by_its_key() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path().join("deep/store"));
        let key = store.put_source(b"int main;").unwrap();
        assert_eq!(store.put_source(b"int main;").unwrap(), key);
        assert_eq!(store.source(&key).unwrap(), b"int main;");
        assert!(store.source("../../etc/passwd").is_err());
        assert!(store.source("abcdef").is_err());
    }
}
