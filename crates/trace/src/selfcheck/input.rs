//! Whether the input bytes of a trace are the bytes that the program was given.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parallax_abi::Op;
use parallax_abi::trace::{EventKind, Node, SourceKind};

use super::{Fault, What};
use crate::trace::{InputSource, Trace};

/// What a run was really given.
#[derive(Clone, Debug)]
pub struct ActualInput {
    /// Arguments after the program name.
    pub args: Vec<OsString>,
    /// Contents of standard input, unless it was a pipe or a terminal.
    pub stdin: Option<Vec<u8>>,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Contents of the objects that the program declares as input, in order; what is missing of one is zero.
    pub objects: Vec<Vec<u8>>,
    /// Working directory at the start.
    pub directory: PathBuf,
    /// When the run began: files that were changed later prove nothing.
    pub started: SystemTime,
}

pub(super) enum Verdict {
    Same,
    /// There is nothing to compare with.
    Unknown,
    Different(Fault),
}

/// Contents of one source.
struct Contents {
    bytes: Vec<u8>,
    /// What is found behind the bytes, if anything.
    beyond: Option<u8>,
    /// The file may have been written during the run: a difference proves nothing.
    changed: bool,
}

pub(super) struct Checker<'a> {
    trace: &'a Trace,
    actual: &'a ActualInput,
    contents: HashMap<u32, Option<Contents>>,
    /// Several program images ran: arguments may be those of another one.
    several_images: bool,
}

impl<'a> Checker<'a> {
    pub fn new(trace: &'a Trace, actual: &'a ActualInput) -> Checker<'a> {
        let images = trace
            .events()
            .filter(|(kind, event)| *kind == EventKind::Process && event.detail == 0)
            .count();
        Checker {
            trace,
            actual,
            contents: HashMap::new(),
            several_images: images > 1,
        }
    }

    pub fn check(&mut self, label: u32, node: &Node) -> Verdict {
        let (trace, actual, several) = (self.trace, self.actual, self.several_images);
        let contents = self.contents.entry(node.a).or_insert_with(|| {
            let source = trace.source(node.a)?;
            read(&source, actual, several)
        });
        let Some(contents) = contents else {
            return Verdict::Unknown;
        };
        let offset = u64::from(node.b) | u64::from(node.c) << 32;
        let byte = usize::try_from(offset)
            .ok()
            .and_then(|offset| contents.bytes.get(offset).copied())
            .or(contents.beyond);
        match byte {
            Some(byte) if u64::from(byte) == node.lo => Verdict::Same,
            _ if contents.changed => Verdict::Unknown,
            _ => Verdict::Different(Fault {
                what: What::Input,
                label,
                site: None,
                op: Some(Op::Input),
                expected: byte.map(u128::from),
                actual: node.lo.into(),
            }),
        }
    }
}

fn read(source: &InputSource, actual: &ActualInput, several_images: bool) -> Option<Contents> {
    let unchanged = |bytes| Contents {
        bytes,
        beyond: None,
        changed: false,
    };
    // The terminating NUL is part of the input: it can be made longer or shorter.
    let string = |text: &OsString| unchanged([text.as_bytes(), &[0]].concat());
    match source.kind {
        SourceKind::Argument => {
            if several_images {
                return None;
            }
            let number = (source.index as usize).checked_sub(1)?;
            actual.args.get(number).map(string)
        }
        SourceKind::Stdin => actual.stdin.clone().map(unchanged),
        SourceKind::File => read_file(source, actual),
        SourceKind::ArgumentCount => {
            let count = u32::try_from(actual.args.len()).ok()? + 1;
            (!several_images).then(|| unchanged(count.to_le_bytes().to_vec()))
        }
        SourceKind::Environment => {
            let mut variables = actual.environment.iter();
            let (_, value) = variables.find(|(name, _)| name.as_bytes() == source.name)?;
            (!several_images).then(|| string(value))
        }
        SourceKind::Object => {
            // One that was not given has what the program starts with, zero or the start of a range.
            let given = actual.objects.get(source.index as usize)?;
            Some(Contents {
                beyond: Some(0),
                ..unchanged(given.clone())
            })
        }
        SourceKind::Stream => None,
    }
}

fn read_file(source: &InputSource, actual: &ActualInput) -> Option<Contents> {
    // Time stamps are as coarse as the kernel's tick.
    const TICK: Duration = Duration::from_millis(20);
    let name = OsString::from_vec(source.name.to_vec());
    let path = actual.directory.join(Path::new(&name));
    let metadata = fs::metadata(&path).ok()?;
    if !metadata.is_file() || (metadata.dev(), metadata.ino()) != (source.device, source.inode) {
        return None;
    }
    let changed = metadata
        .modified()
        .map_or(true, |time| time + TICK >= actual.started);
    Some(Contents {
        bytes: fs::read(&path).ok()?,
        beyond: None,
        changed,
    })
}
