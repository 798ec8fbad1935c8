//! Everything that must be ready before the fork: after it, nothing may allocate.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::ptr;

use parallax_abi::{cover, serve, trace};

use super::{Launch, RunError, Stdin};
use crate::shared::Shared;

/// What programs find shared memory by. Never inherited: the descriptor that an outer variable names is
/// not the program's.
pub(crate) const VARIABLES: [&str; 4] = [
    trace::ENVIRONMENT,
    cover::ENVIRONMENT,
    serve::ENVIRONMENT,
    serve::PRELOADED,
];

/// A descriptor of the engine's, and the number that it has in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handover {
    pub from: RawFd,
    pub to: RawFd,
}

/// Owned strings and descriptors of a launch.
pub(super) struct Prepared {
    program: CString,
    directory: Option<CString>,
    _strings: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    stdin: Option<OwnedFd>,
    shared: Vec<Handover>,
}

/// What the keeper and the child need, as plain numbers and pointers. Valid as long
/// as the [`Prepared`] it came from.
pub(super) struct Plan<'a> {
    pub program: *const libc::c_char,
    pub argv: *const *const libc::c_char,
    pub envp: *const *const libc::c_char,
    pub directory: *const libc::c_char,
    /// Descriptors that become 0, 1 and 2; negative ones are inherited.
    pub streams: [RawFd; 3],
    /// Shared memory; no `to` is a `from`, so the order does not matter.
    pub shared: &'a [Handover],
    pub control: RawFd,
    pub status: RawFd,
}

impl Prepared {
    pub fn new(launch: &Launch, shared: &[Shared<'_>]) -> Result<Prepared, RunError> {
        let program = c_string(launch.program.as_os_str())?;
        let directory = launch
            .directory
            .as_ref()
            .map(|path| c_string(path.as_os_str()))
            .transpose()?;
        let handovers = hand_over(shared, high_descriptor())?;

        let mut strings = Vec::new();
        let argv0 = launch
            .argv0
            .as_deref()
            .unwrap_or(launch.program.as_os_str());
        strings.push(c_string(argv0)?);
        for argument in &launch.args {
            strings.push(c_string(argument)?);
        }
        let arguments = strings.len();
        let inherited: Vec<(OsString, OsString)>;
        let environment = match &launch.environment {
            Some(environment) => environment,
            None => {
                inherited = std::env::vars_os().collect();
                &inherited
            }
        };
        for (name, value) in environment {
            if !VARIABLES.iter().any(|variable| name == variable) {
                strings.push(variable(name, value)?);
            }
        }
        for (shared, handover) in shared.iter().zip(&handovers) {
            let number = OsString::from(handover.to.to_string());
            strings.push(variable(OsStr::new(shared.variable), &number)?);
        }
        let pointers = |strings: &[CString]| {
            let mut list: Vec<_> = strings.iter().map(|string| string.as_ptr()).collect();
            list.push(ptr::null());
            list
        };
        Ok(Prepared {
            argv: pointers(&strings[..arguments]),
            envp: pointers(&strings[arguments..]),
            program,
            directory,
            _strings: strings,
            stdin: open_stdin(&launch.stdin)?,
            shared: handovers,
        })
    }

    pub fn plan(
        &self,
        stdout: Option<&OwnedFd>,
        stderr: Option<&OwnedFd>,
        control: RawFd,
        status: RawFd,
    ) -> Result<Plan<'_>, RunError> {
        let number = |fd: Option<&OwnedFd>| fd.map_or(-1, |fd| fd.as_raw_fd());
        let streams = [number(self.stdin.as_ref()), number(stdout), number(stderr)];
        // Of all else that is open, only these two are still needed when shared memory gets its
        // numbers.
        let in_the_way = |handover: &Handover| [status, control].contains(&handover.to);
        if self.shared.iter().any(in_the_way) {
            return Err(no_number());
        }
        Ok(Plan {
            program: self.program.as_ptr(),
            argv: self.argv.as_ptr(),
            envp: self.envp.as_ptr(),
            directory: self.directory.as_ref().map_or(ptr::null(), |d| d.as_ptr()),
            streams,
            shared: &self.shared,
            control,
            status,
        })
    }
}

fn c_string(text: &OsStr) -> Result<CString, RunError> {
    CString::new(text.as_bytes()).map_err(|_| RunError::Nul)
}

fn variable(name: &OsStr, value: &OsStr) -> Result<CString, RunError> {
    let mut text = name.as_bytes().to_vec();
    text.push(b'=');
    text.extend_from_slice(value.as_bytes());
    c_string(&OsString::from_vec(text))
}

/// A descriptor number that programs do not use by accident: the highest that the limit
/// allows, at most 1023 (`select` and shells expect small ones below).
pub(crate) fn high_descriptor() -> RawFd {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: fills in a plain struct.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_cur.clamp(16, 1024) as RawFd - 1
}

/// Gives each descriptor a number from `highest` on downwards that is none of theirs here: a
/// duplicate onto itself would not reach the program, one onto another would replace it.
fn hand_over(shared: &[Shared<'_>], highest: RawFd) -> Result<Vec<Handover>, RunError> {
    let taken: Vec<RawFd> = shared.iter().map(|s| s.descriptor.as_raw_fd()).collect();
    let mut free = (3..=highest).rev().filter(|number| !taken.contains(number));
    let mut handovers = Vec::new();
    for &from in &taken {
        let to = free.next().ok_or_else(no_number)?;
        handovers.push(Handover { from, to });
    }
    Ok(handovers)
}

fn no_number() -> RunError {
    RunError::System {
        what: "pass shared memory to the program",
        source: io::Error::from_raw_os_error(libc::EMFILE),
    }
}

fn open_stdin(stdin: &Stdin) -> Result<Option<OwnedFd>, RunError> {
    let in_memory = |source| RunError::System {
        what: "keep standard input in memory",
        source,
    };
    match stdin {
        Stdin::Inherit => Ok(None),
        Stdin::Null => open("/dev/null")
            .map(Some)
            .map_err(|source| RunError::Stdin {
                path: "/dev/null".into(),
                source,
            }),
        Stdin::File(path) => open(path).map(Some).map_err(|source| RunError::Stdin {
            path: path.clone(),
            source,
        }),
        Stdin::Bytes(bytes) => memory_file(bytes).map(Some).map_err(in_memory),
    }
}

fn open(path: impl AsRef<std::path::Path>) -> io::Result<OwnedFd> {
    Ok(File::open(path)?.into())
}

/// A read-only descriptor of an anonymous file with these bytes.
pub(crate) fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = new_memory_file(c"stdin")?;
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(0))?;
    reopened(&file).or_else(|_| Ok(file.into()))
}

/// A file in memory that is given to one program after the other.
#[derive(Debug, Default)]
pub(crate) struct KeptFile(Option<File>);

impl KeptFile {
    /// As [`memory_file`]. Nobody may have the last one any more.
    pub fn holding(&mut self, bytes: &[u8]) -> io::Result<OwnedFd> {
        let again = || {
            let file = self.0.as_ref()?;
            file.write_all_at(bytes, 0).ok()?;
            file.set_len(bytes.len() as u64).ok()?;
            reopened(file).ok()
        };
        if let Some(descriptor) = again() {
            return Ok(descriptor);
        }
        let file = new_memory_file(c"stdin")?;
        file.write_all_at(bytes, 0)?;
        let descriptor = reopened(&file)?;
        self.0 = Some(file);
        Ok(descriptor)
    }
}

/// Opened anew for reading only: a program that writes to its standard input must fail as usual.
fn reopened(file: &File) -> io::Result<OwnedFd> {
    open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A pipe that holds these bytes and nothing after them; `None` if they are more than a pipe can hold.
pub(crate) fn full_pipe(bytes: &[u8]) -> io::Result<Option<OwnedFd>> {
    const USUAL: usize = 64 << 10;
    let (reader, mut writer) = io::pipe()?;
    if bytes.len() > USUAL {
        let size = libc::c_int::try_from(bytes.len()).unwrap_or(libc::c_int::MAX);
        // SAFETY: an open descriptor and a number.
        if unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, size) } < size {
            return Ok(None);
        }
    }
    writer.write_all(bytes)?;
    Ok(Some(reader.into()))
}

/// An empty file in memory: for reading, and opened once more for a program's output.
pub(crate) fn empty_memory_file() -> io::Result<(File, File)> {
    let reader = new_memory_file(c"output")?;
    let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
    let writer = File::options().write(true).open(path)?;
    Ok((reader, writer))
}

fn new_memory_file(name: &CStr) -> io::Result<File> {
    // SAFETY: a valid C string; the result is checked.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just created, owned by nobody else.
    Ok(unsafe { File::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_pipe_holds_what_fits_into_it() {
        let read = |size: usize| {
            let pipe = full_pipe(&vec![b'x'; size]).unwrap()?;
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut File::from(pipe), &mut bytes).unwrap();
            Some(bytes.len())
        };
        assert_eq!(read(0), Some(0));
        assert_eq!(read(200_000), Some(200_000));
        assert_eq!(read(1 << 30), None);
    }

    #[test]
    fn shared_memory_never_lands_on_a_descriptor_that_is_still_to_be_handed_over() {
        let file = open("/dev/null").unwrap();
        let above = |number: RawFd| {
            // SAFETY: a new descriptor, owned by nobody else; the result is checked.
            unsafe {
                let fd = libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, number);
                assert!(fd >= number);
                OwnedFd::from_raw_fd(fd)
            }
        };
        let files = [above(100), above(100)];
        let shared = [("A", &files[0]), ("B", &files[1])].map(|(variable, file)| Shared {
            variable,
            descriptor: file.as_fd(),
        });
        let numbers = files.each_ref().map(|file| file.as_raw_fd());
        let highest = numbers[0].max(numbers[1]);
        let handovers = hand_over(&shared, highest).unwrap();
        assert_ne!(handovers[0].to, handovers[1].to);
        for (handover, number) in handovers.iter().zip(numbers) {
            assert_eq!(handover.from, number);
            assert!(!numbers.contains(&handover.to) && handover.to >= 3);
        }
        assert!(hand_over(&shared, 3).is_err());
    }
}
