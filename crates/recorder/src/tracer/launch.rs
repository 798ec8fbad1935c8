//! Starts the test command so that it is traced from its first instruction on.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::RecorderError;
use crate::ptrace::{self, Pid};

/// A test command.
#[derive(Clone, Debug)]
pub struct Command {
    pub words: Vec<OsString>,
    pub directory: PathBuf,
    /// Set in addition to our own environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where its standard output and standard error go; where ours go without it.
    pub output: Option<Arc<File>>,
}

/// Starts a command; it is traced by this thread.
pub(super) fn launch(command: &Command) -> Result<Pid, RecorderError> {
    let start = |error| RecorderError::Start {
        command: command.words.first().cloned().unwrap_or_default(),
        error,
    };
    let words = strings(command.words.iter().cloned()).map_err(start)?;
    let directory = strings([command.directory.clone().into()]).map_err(start)?;
    let variables = strings(environment(&command.environment)).map_err(start)?;
    let (word_pointers, variable_pointers) = (pointers(&words), pointers(&variables));
    let Some(name) = words.first() else {
        return Err(start(io::ErrorKind::InvalidInput.into()));
    };
    let (go, may_go) = pipe().map_err(start)?;
    let (failed, failure) = pipe().map_err(start)?;
    let output = command.output.as_ref().map(|file| file.as_raw_fd());
    // SAFETY: no preconditions.
    let is_privileged = unsafe { libc::geteuid() } == 0;
    // SAFETY: the child only makes calls that are allowed after a fork of one thread of many.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: all pointers are to memory that the child has a copy of; lists end with null.
        unsafe {
            libc::close(may_go.as_raw_fd());
            let mut byte = 0_u8;
            // Ends when the parent writes, or is gone: it traces us by then.
            libc::read(go.as_raw_fd(), (&raw mut byte).cast(), 1);
            // Rust programs ignore it; tests expect the usual.
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            if let Some(output) = output {
                libc::dup2(output, 1);
                libc::dup2(output, 2);
            }
            // Filters can be installed by ordinary users only in processes that never gain rights.
            let is_ready = (is_privileged
                || libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
                && libc::chdir(directory[0].as_ptr()) == 0;
            if is_ready {
                libc::execvpe(
                    name.as_ptr(),
                    word_pointers.as_ptr(),
                    variable_pointers.as_ptr(),
                );
            }
            let errno = *libc::__errno_location();
            libc::write(failure.as_raw_fd(), (&raw const errno).cast(), 4);
            libc::_exit(127);
        }
    }
    if pid < 0 {
        return Err(start(io::Error::last_os_error()));
    }
    drop(failure);
    if let Err(error) = ptrace::seize(pid) {
        // SAFETY: our own child, which is still waiting.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        let _ = ptrace::wait(pid, 0);
        return Err(RecorderError::Trace(error));
    }
    // To close it would not do: a command that another thread starts at the same time has a copy of it, and waits as well.
    let _ = File::from(may_go).write_all(&[1]);
    // Closed by a successful exec.
    let mut errno = [0; 4];
    match File::from(failed).read_exact(&mut errno) {
        Ok(()) => {
            let _ = ptrace::wait(pid, 0);
            Err(start(io::Error::from_raw_os_error(i32::from_ne_bytes(
                errno,
            ))))
        }
        Err(_) => Ok(pid),
    }
}

fn environment(additional: &[(OsString, OsString)]) -> impl Iterator<Item = OsString> {
    let is_kept = |name: &OsString| !additional.iter().any(|(own, _)| own == name);
    let inherited = std::env::vars_os().filter(move |(name, _)| is_kept(name));
    inherited
        .chain(additional.iter().cloned())
        .map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            name
        })
}

fn strings(texts: impl IntoIterator<Item = OsString>) -> io::Result<Vec<CString>> {
    let string = |text: OsString| {
        CString::new(text.into_vec()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
    };
    texts.into_iter().map(string).collect()
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    let null = std::ptr::null();
    strings
        .iter()
        .map(|text| text.as_ptr())
        .chain([null])
        .collect()
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for both descriptors, which are ours alone.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}
