//! Keeps each source as the front end saw it, at the same time as it is compiled.
//!
//! UBSan's checks are made by the front end, so the checked variant needs source, and
//! the files that a source includes may be gone or changed by then. `-frewrite-includes` puts
//! all of them into one text but leaves macros and positions alone. It decides `#if`s, so it
//! runs under the flags that the checked variant will have.

use super::Job;
use crate::arguments::{Unit, for_source};
use crate::derive::CHECKED_FLAGS;
use crate::store::Store;
use crate::tools::clang;
use std::io::{PipeWriter, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// The preprocessor runs of one command, one after the other in a thread of their own.
pub struct Preprocessing {
    thread: JoinHandle<()>,
    state: std::sync::Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    running: Option<Child>,
    stopped: bool,
}

impl Preprocessing {
    /// Starts; the key of each unit's source goes to the unit's pipe, which is then closed.
    pub fn start(job: &Job, pipes: Vec<(Unit, PipeWriter)>) -> Preprocessing {
        let state = std::sync::Arc::new(Mutex::new(State::default()));
        let options = for_source(&job.items);
        let compiler = job.compiler;
        let shared = state.clone();
        let thread = std::thread::spawn(move || {
            let Some(store) = Store::open() else { return };
            for (unit, mut pipe) in pipes {
                let Ok(mut clang) = clang(compiler) else {
                    return;
                };
                clang
                    .args(&options)
                    .args(CHECKED_FLAGS)
                    .args(["-E", "-frewrite-includes", "-x"]);
                clang.args([&unit.language, &unit.source]);
                // A key that cannot be had is not worth a message: the checked variant says so
                // when it falls back to bitcode.
                if let Some(text) = output(clang, &shared)
                    && let Ok(key) = store.put_source(&text)
                {
                    // The compile may have failed, and nobody may be listening.
                    let _ = pipe.write_all(key.as_bytes());
                }
            }
        });
        Preprocessing { thread, state }
    }

    /// Ends what is still running: the compile is over, so nobody waits for a key.
    pub fn stop(self) {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.stopped = true;
            if let Some(child) = &mut state.running {
                let _ = child.kill();
            }
        }
        // A panic there costs a key, nothing else.
        let _ = self.thread.join();
    }
}

/// Standard output of a command that succeeds and is not stopped.
fn output(mut command: Command, state: &Mutex<State>) -> Option<Vec<u8>> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stdout = {
        let mut state = lock();
        if state.stopped {
            return None;
        }
        let mut child = command.spawn().ok()?;
        let stdout = child.stdout.take()?;
        state.running = Some(child);
        stdout
    };
    let mut text = Vec::new();
    let read = stdout.read_to_end(&mut text);
    let mut child = lock().running.take()?;
    let success = child.wait().is_ok_and(|status| status.success());
    (read.is_ok() && success).then_some(text)
}
