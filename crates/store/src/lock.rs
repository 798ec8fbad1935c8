//! Locks between processes: who holds one can be told, and the kernel takes it back from the dead.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use parallax_files::{lock, try_lock};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// A process that holds a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub process: u32,
    pub command: String,
    /// Seconds since 1970.
    pub since: u64,
}

impl Holder {
    /// This process, doing this.
    pub fn this(command: &str) -> Holder {
        Holder {
            process: std::process::id(),
            command: command.to_owned(),
            since: now(),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.process == 0 {
            return f.write_str("another parallax");
        }
        let seconds = now().saturating_sub(self.since);
        write!(
            f,
            "`{}` (process {}, for {} s)",
            self.command, self.process, seconds
        )
    }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| time.as_secs())
}

/// A lock that is held until this is dropped, or the process is gone.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock for this process alone; `Err` inside is who has it.
    pub fn try_alone(path: &Path, command: &str) -> Result<Result<Lock, Holder>, StoreError> {
        let fail = |source| StoreError::io(path, source);
        let mut file = open(path).map_err(fail)?;
        if !try_lock(&file).map_err(fail)? {
            return Ok(Err(read_holder(&mut file)));
        }
        // Only for messages: a lock without a name is still one.
        let _ = write_holder(&mut file, &Holder::this(command));
        Ok(Ok(Lock { _file: file }))
    }

    /// Takes the lock for this process alone; `waiting` is called once if somebody has it.
    pub fn alone(
        path: &Path,
        command: &str,
        waiting: &mut dyn FnMut(&Holder),
    ) -> Result<Lock, StoreError> {
        match Lock::try_alone(path, command)? {
            Ok(lock) => return Ok(lock),
            Err(holder) => waiting(&holder),
        }
        let fail = |source| StoreError::io(path, source);
        let mut file = open(path).map_err(fail)?;
        lock(&file).map_err(fail)?;
        let _ = write_holder(&mut file, &Holder::this(command));
        Ok(Lock { _file: file })
    }
}

/// Says that this process uses a directory: held by any number of processes, each with a file of its own.
#[derive(Debug)]
pub struct Usage {
    _lock: Lock,
    path: PathBuf,
}

impl Usage {
    /// Announces this process in `directory`.
    pub fn announce(directory: &Path, command: &str) -> Result<Usage, StoreError> {
        let fail = |source| StoreError::io(directory, source);
        fs::create_dir_all(directory).map_err(fail)?;
        loop {
            let path = directory.join(format!("{}-{:x}", std::process::id(), unique()));
            // Held by a process of our number in another container, or by who just looks for the dead: the next name is as good.
            if let Ok(lock) = Lock::try_alone(&path, command)? {
                return Ok(Usage { _lock: lock, path });
            }
        }
    }

    /// Who uses it, this process excepted. Traces of the dead are removed.
    pub fn others(directory: &Path) -> Vec<Holder> {
        let mut holders = Vec::new();
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(mut file) = File::options().read(true).open(entry.path()) else {
                continue;
            };
            match try_lock(&file) {
                Ok(true) => {
                    let _ = fs::remove_file(entry.path());
                }
                _ => holders.push(read_holder(&mut file)),
            }
        }
        holders.retain(|holder| holder.process != std::process::id());
        holders.sort_by_key(|holder| (holder.since, holder.process));
        holders
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Tells several announcements of one process apart.
fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

fn read_holder(file: &mut File) -> Holder {
    let mut text = String::new();
    let _ = file.read_to_string(&mut text);
    serde_json::from_str(&text).unwrap_or_default()
}

fn write_holder(file: &mut File, holder: &Holder) -> io::Result<()> {
    let text = serde_json::to_vec(holder)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_a_lock_can_be_told_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("locks/one");
        let lock = Lock::try_alone(&path, "parallax explore").unwrap().unwrap();
        let holder = Lock::try_alone(&path, "other").unwrap().unwrap_err();
        assert_eq!(holder.process, std::process::id());
        assert!(holder.to_string().contains("parallax explore"));
        drop(lock);
        assert!(Lock::try_alone(&path, "other").unwrap().is_ok());
    }

    #[test]
    fn a_waiting_process_gets_the_lock_when_it_is_free() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let first = Lock::try_alone(&path, "first").unwrap().unwrap();
        let waiter = std::thread::spawn({
            let path = path.clone();
            move || {
                let mut seen = String::new();
                let mut waiting = |holder: &Holder| seen = holder.command.clone();
                Lock::alone(&path, "second", &mut waiting).unwrap();
                seen
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        drop(first);
        assert_eq!(waiter.join().unwrap(), "first");
    }

    #[test]
    fn a_name_that_somebody_else_holds_is_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let name = |number: u64| format!("{}-{number:x}", std::process::id());
        let paths = (0..32).map(|number| directory.path().join(name(number)));
        let held: Vec<_> = paths.map(|path| Lock::try_alone(&path, "other")).collect();
        let usage = Usage::announce(directory.path(), "this").unwrap();
        assert!(usage.path.exists());
        assert!(held.iter().all(|lock| matches!(lock, Ok(Ok(_)))));
        assert!((0..32).all(|number| !usage.path.ends_with(name(number))));
    }

    #[test]
    fn the_dead_use_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let dead = Holder {
            process: 1,
            command: "killed".into(),
            since: 0,
        };
        let path = directory.path().join("1-0");
        fs::write(&path, serde_json::to_vec(&dead).unwrap()).unwrap();
        let _usage = Usage::announce(directory.path(), "this").unwrap();
        assert_eq!(Usage::others(directory.path()), []);
        assert!(!path.exists());
    }
}
