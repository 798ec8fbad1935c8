//! What the integration tests share: the static library, programs that are linked with it
//! "as if instrumented", and traces read back.
#![allow(dead_code, reason = "each test uses a part")]

use parallax_abi::VERSION;
use parallax_abi::trace::*;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

/// The compiler that Parallax works with.
pub const CLANG: &str = "clang-19";

fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// The runtime as programs are linked with it, built once.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let target = scratch().join("runtime-library");
        let status = Command::new(env!("CARGO"))
            .args([
                "rustc",
                "--quiet",
                "-p",
                "parallax-runtime",
                "--profile",
                "runtime",
            ])
            .args(["--features", "freestanding", "--crate-type", "staticlib"])
            .env("CARGO_TARGET_DIR", &target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the static library does not build");
        target.join("runtime/libparallax_runtime.a")
    })
}

/// Compiles `tests/programs/<name>.c` with extra flags; the runtime is linked in.
pub fn program(name: &str, variant: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
    let output = scratch().join(format!("{name}{variant}"));
    let status = Command::new(CLANG)
        .args(["-O1", "-g", "-Wall", "-Werror", "-fno-builtin", "-pthread"])
        .args(flags)
        .arg("-o")
        .arg(&output)
        .arg(source)
        .arg(library())
        .status()
        .expect("clang runs");
    assert!(status.success(), "{name} does not compile");
    output
}

/// A trace region in memory that a child inherits.
pub struct Region {
    file: File,
    base: *mut u8,
    size: usize,
}

const PAGE: u64 = 4096;

/// How many records of each kind a test's region holds.
const CAPACITY: u32 = 1 << 16;

impl Region {
    pub fn new(flags: u32) -> Region {
        Region::with_nodes(flags, CAPACITY)
    }

    /// A region that is full after `node_capacity` nodes.
    pub fn with_nodes(flags: u32, node_capacity: u32) -> Region {
        let mut end = PAGE;
        let mut place = |record: usize| {
            let offset = end;
            end = (end + u64::from(CAPACITY) * record as u64).next_multiple_of(PAGE);
            offset
        };
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            flags,
            node_capacity,
            event_capacity: CAPACITY,
            context_capacity: CAPACITY,
            object_capacity: CAPACITY,
            table_capacity: CAPACITY,
            source_capacity: CAPACITY,
            loss_capacity: CAPACITY,
            mismatch_capacity: CAPACITY,
            blob_capacity: u64::from(CAPACITY) * 64,
            node_offset: place(size_of::<Node>()),
            event_offset: place(size_of::<Event>()),
            context_offset: place(size_of::<Context>()),
            object_offset: place(size_of::<Object>()),
            table_offset: place(size_of::<Table>()),
            source_offset: place(size_of::<Source>()),
            loss_offset: place(size_of::<Loss>()),
            mismatch_offset: place(size_of::<Mismatch>()),
            blob_offset: place(64),
            max_table_bytes: 4096,
            max_depth: 500,
            nodes: FIRST_NODE.into(),
            contexts: FIRST_CONTEXT.into(),
            objects: FIRST_OBJECT.into(),
            ..Header::default()
        };
        let size = end as usize;
        // SAFETY: plain calls; every result is checked.
        unsafe {
            let descriptor = libc::memfd_create(c"trace".as_ptr(), 0);
            assert!(descriptor >= 0);
            let file = File::from_raw_fd(descriptor);
            assert_eq!(libc::ftruncate(file.as_raw_fd(), end as i64), 0);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let null = std::ptr::null_mut();
            let base = libc::mmap(null, size, access, libc::MAP_SHARED, file.as_raw_fd(), 0);
            assert_ne!(base, libc::MAP_FAILED);
            base.cast::<Header>().write(header);
            Region {
                file,
                base: base.cast(),
                size,
            }
        }
    }

    /// Cuts the file off.
    pub fn cut(&self, size: u64) {
        self.file.set_len(size).expect("the file can be cut");
    }

    pub fn header(&self) -> &Header {
        // SAFETY: written by `with_nodes`.
        unsafe { &*self.base.cast::<Header>() }
    }

    /// A copy of one array.
    fn array<T: Copy>(&self, offset: u64, count: u32, first: u32) -> Vec<T> {
        assert!(offset as usize + count as usize * size_of::<T>() <= self.size);
        // SAFETY: inside the region; the writers have ended.
        let all = unsafe {
            let start = self.base.add(offset as usize).cast::<T>();
            std::slice::from_raw_parts(start, count as usize)
        };
        all[first.min(count) as usize..].to_vec()
    }

    pub fn node(&self, label: u32) -> Node {
        let count = self.header().nodes.load(Relaxed);
        assert!(label > 0 && label < count, "label {label} of {count}");
        self.array::<Node>(self.header().node_offset, label + 1, label)[0]
    }

    pub fn events(&self) -> Vec<Event> {
        self.array(
            self.header().event_offset,
            self.header().events.load(Relaxed),
            0,
        )
    }

    pub fn events_of(&self, kind: EventKind) -> Vec<Event> {
        self.events()
            .into_iter()
            .filter(|event| event.kind == kind as u8)
            .collect()
    }

    pub fn sources(&self) -> Vec<Source> {
        self.array(
            self.header().source_offset,
            self.header().sources.load(Relaxed),
            0,
        )
    }

    pub fn objects(&self) -> Vec<Object> {
        self.array(
            self.header().object_offset,
            self.header().objects.load(Relaxed),
            1,
        )
    }

    pub fn tables(&self) -> Vec<Table> {
        self.array(
            self.header().table_offset,
            self.header().tables.load(Relaxed),
            0,
        )
    }

    pub fn mismatches(&self) -> Vec<Mismatch> {
        self.array(
            self.header().mismatch_offset,
            self.header().mismatches.load(Relaxed),
            0,
        )
    }

    pub fn context(&self, index: u32) -> Context {
        self.array::<Context>(self.header().context_offset, index + 1, index)[0]
    }

    /// Losses as (kind, name, count).
    pub fn losses(&self) -> Vec<(u32, String, u32)> {
        let count = self.header().losses.load(Relaxed) as usize;
        // SAFETY: inside the region.
        let all = unsafe {
            let start = self
                .base
                .add(self.header().loss_offset as usize)
                .cast::<Loss>();
            std::slice::from_raw_parts(start, count)
        };
        let describe = |loss: &Loss| {
            (
                loss.kind,
                self.text(loss.name, loss.name_length),
                loss.count.load(Relaxed),
            )
        };
        all.iter().map(describe).collect()
    }

    pub fn text(&self, offset: u64, length: u32) -> String {
        let from = self.header().blob_offset + offset;
        String::from_utf8(self.array(from, length, 0)).expect("names are text")
    }

    /// The environment variable's value for a child of this process.
    pub fn descriptor(&self) -> String {
        self.file.as_raw_fd().to_string()
    }

    /// Runs a program with this trace.
    pub fn run(&self, program: &Path, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).env(ENVIRONMENT, self.descriptor());
        run(command, input)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: nobody uses the mapping any more.
        unsafe { libc::munmap(self.base.cast(), self.size) };
    }
}

/// Runs a command with this standard input, through a pipe.
pub fn run(mut command: Command, input: &[u8]) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that does not read its input is no failure of the test.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}
