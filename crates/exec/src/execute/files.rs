//! Output that goes to regular files: what the program wrote is read back when it has ended.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::ExecuteError;
use super::layout::inside;
use crate::run::prepare::empty_memory_file;
use crate::run::{Captured, RunError};
use parallax_scenario::{Bytes, OutputFile, Scenario, Sink};

/// A file that the program writes to.
pub(super) struct OutputTo {
    /// What the program gets: it shares the position with us.
    writer: File,
    reader: File,
    /// Where its writing begins.
    start: u64,
}

impl OutputTo {
    /// A file without a name.
    fn unnamed() -> io::Result<OutputTo> {
        let (reader, writer) = empty_memory_file()?;
        Ok(OutputTo {
            writer,
            reader,
            start: 0,
        })
    }

    fn named(path: &Path, file: &OutputFile) -> io::Result<OutputTo> {
        let reader = open(path, File::options().read(true))?;
        let mut options = File::options();
        let mut writer = open(path, options.write(true).append(file.append))?;
        let start = match file.append {
            true => SeekFrom::End(0),
            false => SeekFrom::Start(file.offset),
        };
        Ok(OutputTo {
            start: writer.seek(start)?,
            writer,
            reader,
        })
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.writer.as_fd()
    }

    /// What lies between where writing began and where it ended, holes included: what was in the file before is no
    /// output.
    pub fn written(&self, limit: usize) -> io::Result<Captured> {
        let end = (&self.writer).stream_position()?;
        let end = end.min(self.reader.metadata()?.len());
        let total = end.saturating_sub(self.start);
        let mut bytes = vec![0; total.min(limit as u64) as usize];
        self.reader.read_exact_at(&mut bytes, self.start)?;
        Ok(Captured { bytes, total })
    }
}

fn open(path: &Path, options: &mut std::fs::OpenOptions) -> io::Result<File> {
    options.custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Opens the files that standard output and standard error go to, below the run's working directory `work`.
pub(super) fn open_all(
    scenario: &Scenario,
    work: &Path,
) -> Result<[Option<OutputTo>; 2], ExecuteError> {
    let sinks = [&scenario.stdout, &scenario.stderr];
    let mut files = [None, None];
    let mut taken: Option<&Bytes> = None;
    for (file, sink) in files.iter_mut().zip(sinks) {
        let Sink::File(target) = sink else {
            continue;
        };
        // What both are written to would have two positions: the second gets a file of its own.
        let is_named = scenario.files.contains_key(&target.path) && taken != Some(&target.path);
        let named = match is_named {
            true => {
                taken = Some(&target.path);
                let path = work.join(inside(&target.path, scenario)?);
                // Permissions can forbid what they did not when it was opened first.
                OutputTo::named(&path, target).ok()
            }
            false => None,
        };
        *file = Some(match named {
            Some(named) => named,
            None => OutputTo::unnamed().map_err(|source| RunError::System {
                what: "keep output in memory",
                source,
            })?,
        });
    }
    Ok(files)
}
