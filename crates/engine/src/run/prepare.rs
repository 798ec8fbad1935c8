//! Everything that must be ready before the fork: after it, nothing may allocate.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr;

use parallax_abi::trace::ENVIRONMENT;

use super::{Launch, RunError, Stdin};
use crate::region::Region;

/// Owned strings and descriptors of a launch.
pub(super) struct Prepared {
    program: CString,
    directory: Option<CString>,
    _strings: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    stdin: Option<OwnedFd>,
    trace: Option<(RawFd, RawFd)>,
}

/// What the keeper and the child need, as plain numbers and pointers. Valid as long
/// as the [`Prepared`] it came from.
pub(super) struct Plan {
    pub program: *const libc::c_char,
    pub argv: *const *const libc::c_char,
    pub envp: *const *const libc::c_char,
    pub directory: *const libc::c_char,
    /// Descriptors that become 0, 1 and 2; negative ones are inherited.
    pub streams: [RawFd; 3],
    /// The trace's descriptor, and the number it shall have; negative without trace.
    pub trace: RawFd,
    pub trace_target: RawFd,
    pub control: RawFd,
    pub status: RawFd,
}

impl Prepared {
    pub fn new(launch: &Launch, region: Option<&Region>) -> Result<Prepared, RunError> {
        let program = c_string(launch.program.as_os_str())?;
        let directory = launch
            .directory
            .as_ref()
            .map(|path| c_string(path.as_os_str()))
            .transpose()?;
        let trace = region.map(|region| (region.descriptor().as_raw_fd(), high_descriptor()));

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
            if name != ENVIRONMENT {
                strings.push(variable(name, value)?);
            }
        }
        if let Some((_, target)) = trace {
            let number = OsString::from(target.to_string());
            strings.push(variable(OsStr::new(ENVIRONMENT), &number)?);
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
            trace,
        })
    }

    pub fn plan(
        &self,
        stdout: Option<&OwnedFd>,
        stderr: Option<&OwnedFd>,
        control: RawFd,
        status: RawFd,
    ) -> Result<Plan, RunError> {
        let number = |fd: Option<&OwnedFd>| fd.map_or(-1, |fd| fd.as_raw_fd());
        let streams = [number(self.stdin.as_ref()), number(stdout), number(stderr)];
        let (trace, trace_target) = self.trace.unwrap_or((-1, -1));
        // Of all that is open, only these two are still needed when the trace gets its number.
        if trace >= 0 && (status == trace_target || control == trace_target) {
            return Err(RunError::System {
                what: "pass the trace to the program",
                source: io::Error::from_raw_os_error(libc::EMFILE),
            });
        }
        Ok(Plan {
            program: self.program.as_ptr(),
            argv: self.argv.as_ptr(),
            envp: self.envp.as_ptr(),
            directory: self.directory.as_ref().map_or(ptr::null(), |d| d.as_ptr()),
            streams,
            trace,
            trace_target,
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
fn high_descriptor() -> RawFd {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: fills in a plain struct.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_cur.clamp(16, 1024) as RawFd - 1
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
fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    // SAFETY: the name is a valid C string; the result is checked.
    let fd = unsafe { libc::memfd_create(c"stdin".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just created, owned by nobody else.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(0))?;
    // Opened anew for reading only: a program that writes to its standard input must fail as usual.
    open(format!("/proc/self/fd/{fd}")).or_else(|_| Ok(file.into()))
}
