//! The program's standard output and standard error.

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::RunError;

/// What happens to the program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Keeps the first `limit` bytes of each stream and throws the rest away: the program
    /// is never blocked.
    Capture { limit: usize },
    /// Goes where the engine's own goes.
    Inherit,
}

impl Output {
    /// Captures with the default limit.
    pub const fn capture() -> Output {
        Output::Capture { limit: 1 << 20 }
    }
}

/// What was kept of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    pub bytes: Vec<u8>,
    /// How much the program wrote, kept or not.
    pub total: u64,
}

impl Captured {
    pub fn truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }
}

/// Reads both streams while the program runs.
pub(crate) struct Collector {
    streams: Vec<Stream>,
}

struct Stream {
    reader: Option<PipeReader>,
    limit: usize,
    captured: Captured,
}

impl Collector {
    /// Also returns the descriptors for the program, if it does not inherit ours.
    pub fn new(output: Output) -> io::Result<(Collector, Option<OwnedFd>, Option<OwnedFd>)> {
        let Output::Capture { limit } = output else {
            return Ok((
                Collector {
                    streams: Vec::new(),
                },
                None,
                None,
            ));
        };
        let mut writers = Vec::new();
        let mut streams = Vec::new();
        for _ in 0..2 {
            let (reader, writer) = io::pipe()?;
            // SAFETY: changes a flag of a descriptor that we own. Only our end: the
            // program expects to block.
            if unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
                return Err(io::Error::last_os_error());
            }
            writers.push(OwnedFd::from(writer));
            streams.push(Stream {
                reader: Some(reader),
                limit,
                captured: Captured::default(),
            });
        }
        let stderr = writers.pop();
        let stdout = writers.pop();
        Ok((Collector { streams }, stdout, stderr))
    }

    /// Closes our end of standard output (0) or standard error (1): who writes there finds a broken pipe.
    pub fn stop_reading(&mut self, number: usize) {
        if let Some(stream) = self.streams.get_mut(number) {
            stream.reader = None;
        }
    }

    fn poll_list(&self) -> Vec<libc::pollfd> {
        self.streams
            .iter()
            .filter_map(|stream| stream.reader.as_ref())
            .map(|reader| libc::pollfd {
                fd: reader.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            })
            .collect()
    }

    /// Reads what is there; how many bytes.
    pub fn read_available(&mut self) -> u64 {
        let streams = self.streams.iter_mut();
        streams.map(Stream::read_available).sum()
    }

    /// Bytes that were read so far.
    pub fn total(&self) -> u64 {
        let streams = self.streams.iter();
        streams.map(|stream| stream.captured.total).sum()
    }

    /// What was captured of standard output and standard error, so that something else can be: both ends of the pipes stay.
    pub fn take(&mut self) -> [Captured; 2] {
        self.read_available();
        let mut streams = self.streams.iter_mut();
        [(); 2].map(|()| {
            let stream = streams.next();
            stream.map_or_else(Captured::default, |stream| {
                std::mem::take(&mut stream.captured)
            })
        })
    }

    /// How much of each stream is kept from now on.
    pub fn keep(&mut self, limit: usize) {
        for stream in &mut self.streams {
            stream.limit = limit;
        }
    }

    /// Whether both streams are still read.
    pub fn is_reading(&self) -> bool {
        self.streams.iter().all(|stream| stream.reader.is_some())
    }

    /// What was captured of standard output and standard error.
    pub fn finish(&mut self) -> (Captured, Captured) {
        self.read_available();
        let mut captured = std::mem::take(&mut self.streams)
            .into_iter()
            .map(|stream| stream.captured);
        (
            captured.next().unwrap_or_default(),
            captured.next().unwrap_or_default(),
        )
    }
}

impl Stream {
    fn read_available(&mut self) -> u64 {
        // Bounded, so that a program that writes without end cannot keep us from
        // looking at the clock.
        const TURNS: usize = 256;
        let before = self.captured.total;
        let mut buffer = [0; 16 << 10];
        for _ in 0..TURNS {
            let Some(reader) = &mut self.reader else {
                break;
            };
            match reader.read(&mut buffer) {
                Ok(0) => self.reader = None,
                Ok(count) => {
                    let room = self.limit - self.captured.bytes.len();
                    self.captured
                        .bytes
                        .extend_from_slice(&buffer[..count.min(room)]);
                    self.captured.total += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.reader = None,
            }
        }
        self.captured.total - before
    }
}

/// Waits until there is something to be read at `news`, or output to be collected, at most `time` and never much longer than a second;
/// whether there is news.
pub fn wait(
    news: BorrowedFd<'_>,
    collector: Option<&mut Collector>,
    time: Duration,
) -> Result<bool, RunError> {
    let mut polled = collector
        .as_ref()
        .map_or_else(Vec::new, |collector| collector.poll_list());
    let streams = polled.len();
    polled.push(libc::pollfd {
        fd: news.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    let millis = time.as_millis().min(1000) as libc::c_int + 1;
    // SAFETY: a valid array of the given length.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as _, millis) };
    if ready < 0 {
        let source = io::Error::last_os_error();
        return match source.kind() {
            io::ErrorKind::Interrupted => Ok(false),
            _ => Err(RunError::System {
                what: "wait for the program",
                source,
            }),
        };
    }
    if let Some(collector) = collector
        && polled[..streams].iter().any(|stream| stream.revents != 0)
    {
        collector.read_available();
    }
    Ok(polled[streams].revents != 0)
}
