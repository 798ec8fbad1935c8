//! Entries of a trace with their names and kinds decoded.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::Ordering;

use parallax_abi::SiteId;
use parallax_abi::trace::{Loss, LossKind, Object, ObjectKind, Source, SourceKind};

/// A memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectView<'a> {
    pub kind: ObjectKind,
    pub base: u64,
    pub size: u64,
    /// Empty unless it is a global.
    pub name: &'a [u8],
}

impl<'a> ObjectView<'a> {
    pub(super) fn new(object: &Object, name: &'a [u8]) -> Option<ObjectView<'a>> {
        use ObjectKind::*;
        let kind = [Global, Stack, Heap, Library, Argument, Unknown]
            .into_iter()
            .find(|kind| *kind as u32 == object.kind)?;
        Some(ObjectView {
            kind,
            base: object.base,
            size: object.size,
            name,
        })
    }
}

/// Where input came from. Displayed as `argv[1]`, `stdin`, `file("name")`, `env("NAME")`, `stream(0)`,
/// `argc` or `object("name")`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSource<'a> {
    pub kind: SourceKind,
    /// Number of the argument, stream or object.
    pub index: u32,
    pub device: u64,
    pub inode: u64,
    /// Path of a file, name of a variable or object.
    pub name: &'a [u8],
}

impl<'a> InputSource<'a> {
    pub(super) fn new(source: &Source, name: &'a [u8]) -> Option<InputSource<'a>> {
        use SourceKind::*;
        let kind = [
            Argument,
            Stdin,
            File,
            Environment,
            Stream,
            ArgumentCount,
            Object,
        ]
        .into_iter()
        .find(|kind| *kind as u32 == source.kind)?;
        Some(InputSource {
            kind,
            index: source.index,
            device: source.device,
            inode: source.inode,
            name,
        })
    }
}

impl fmt::Display for InputSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            SourceKind::Argument => write!(f, "argv[{}]", self.index),
            SourceKind::Stdin => f.write_str("stdin"),
            SourceKind::File => write!(f, "file(\"{}\")", self.name.escape_ascii()),
            SourceKind::Environment => write!(f, "env(\"{}\")", self.name.escape_ascii()),
            SourceKind::Stream => write!(f, "stream({})", self.index),
            SourceKind::ArgumentCount => f.write_str("argc"),
            SourceKind::Object => write!(f, "object(\"{}\")", self.name.escape_ascii()),
        }
    }
}

/// Precision that was given up at one place for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRecord<'a> {
    pub kind: LossKind,
    pub count: u32,
    pub site: SiteId,
    /// Function or instruction, where the kind has one.
    name: &'a [u8],
}

impl<'a> LossRecord<'a> {
    pub(super) fn new(loss: &Loss, name: &'a [u8]) -> Option<LossRecord<'a>> {
        let kind = LossKind::from_number(loss.kind)?;
        Some(LossRecord {
            kind,
            count: loss.count.load(Ordering::Relaxed),
            site: SiteId(loss.site),
            name,
        })
    }

    pub fn name(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.name)
    }
}
