//! Where a server listens.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::sandbox::PRIVATE;
use parallax_scenario::WORK;

/// A place to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp(u16),
    Tcp6(u16),
    /// A name in the sandbox's network, not in its file system.
    Abstract(Vec<u8>),
    /// A path as this process sees it.
    Path(PathBuf),
}

/// Why a recorded address is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no address of a server: expected tcp:PORT, tcp6:PORT or unix:PATH")]
pub struct AddressError(String);

impl Address {
    /// Reads `tcp:PORT` and the like. `files` is the root of the sandbox's own file system, `work` the directory in it that
    /// relative paths begin at.
    pub fn parse(text: &[u8], files: &Path, work: &Path) -> Result<Address, AddressError> {
        let wrong = || AddressError(String::from_utf8_lossy(text).into_owned());
        let port = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok()?;
            digits.parse::<u16>().ok().filter(|port| *port > 0)
        };
        if let Some(digits) = text.strip_prefix(b"tcp:") {
            return port(digits).map(Address::Tcp).ok_or_else(wrong);
        }
        if let Some(digits) = text.strip_prefix(b"tcp6:") {
            return port(digits).map(Address::Tcp6).ok_or_else(wrong);
        }
        let path = text.strip_prefix(b"unix:").ok_or_else(wrong)?;
        if let Some(name) = path.strip_prefix(b"@") {
            return Ok(Address::Abstract(name.to_vec()));
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        if path.is_relative() {
            return Ok(Address::Path(files.join(work).join(path)));
        }
        // Only what is in the sandbox's own file system can be reached from outside of it.
        if let Ok(rest) = path.strip_prefix(WORK) {
            return Ok(Address::Path(files.join(work).join(rest)));
        }
        let private = PRIVATE.iter().find_map(|private| {
            let rest = path.strip_prefix(private.path.to_str().ok()?).ok()?;
            Some(files.join(private.name.to_str().ok()?).join(rest))
        });
        private.map(Address::Path).ok_or_else(wrong)
    }

    pub fn family(&self) -> i32 {
        match self {
            Address::Tcp(_) => libc::AF_INET,
            Address::Tcp6(_) => libc::AF_INET6,
            Address::Abstract(_) | Address::Path(_) => libc::AF_UNIX,
        }
    }

    /// As `connect` wants it: the bytes of the kernel's struct. `None` if the path is too long for it.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let family = (self.family() as u16).to_ne_bytes();
        let mut bytes = family.to_vec();
        match self {
            Address::Tcp(port) => {
                bytes.extend(port.to_be_bytes());
                bytes.extend([127, 0, 0, 1]);
                bytes.extend([0; 8]);
            }
            Address::Tcp6(port) => {
                bytes.extend(port.to_be_bytes());
                // Flow, address, scope.
                bytes.extend([0; 4]);
                bytes.extend(std::net::Ipv6Addr::LOCALHOST.octets());
                bytes.extend([0; 4]);
            }
            Address::Abstract(name) => {
                bytes.push(0);
                bytes.extend(name);
            }
            Address::Path(path) => {
                bytes.extend(path.as_os_str().as_bytes());
                bytes.push(0);
            }
        }
        const MOST: usize = size_of::<libc::sockaddr_un>();
        (bytes.len() <= MOST).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address, AddressError> {
        let (files, work) = (Path::new("/proc/self/fd/9"), Path::new("work"));
        Address::parse(text.as_bytes(), files, work)
    }

    #[test]
    fn addresses_of_all_kinds_are_read() {
        assert_eq!(parse("tcp:80"), Ok(Address::Tcp(80)));
        assert_eq!(parse("tcp6:8080"), Ok(Address::Tcp6(8080)));
        assert_eq!(parse("unix:@name"), Ok(Address::Abstract(b"name".into())));
        let path = |path: &str| Ok(Address::Path(path.into()));
        assert_eq!(parse("unix:run/s"), path("/proc/self/fd/9/work/run/s"));
        assert_eq!(
            parse("unix:/tmp/parallax-work/s"),
            path("/proc/self/fd/9/work/s")
        );
        assert_eq!(parse("unix:/tmp/s"), path("/proc/self/fd/9/tmp/s"));
    }

    #[test]
    fn what_cannot_be_reached_is_no_address() {
        for text in ["tcp:0", "tcp:70000", "udp:53", "unix:/home/s", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
