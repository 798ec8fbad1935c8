//! Framing: how records are laid end to end in a section and found again.

use serde::{Serialize, de::DeserializeOwned};

const MAGIC: &[u8; 8] = b"plxrec\x01\n";
const HEADER: usize = 24;
const ALIGN: usize = 16;

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A [`ModuleRecord`](crate::ModuleRecord); data = bitcode.
    Module = 1,
    /// A [`LinkRecord`](crate::LinkRecord); no data.
    Link = 2,
    /// Meta = [`SitesMeta`](crate::SitesMeta); data = a [`SiteTable`](crate::SiteTable) in its own form. In derived
    /// programs only.
    Sites = 3,
    /// No meta; data = a [`ModuleCode`](crate::code::ModuleCode) in its own form. In covered programs only.
    Code = 4,
}

/// Why a section could not be read. All variants mean that the file was damaged or
/// written by an incompatible version.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("section {} is damaged at offset {offset}: {what}", crate::SECTION)]
    Damaged { offset: usize, what: &'static str },
    #[error("record has an unexpected form")]
    Json(#[from] serde_json::Error),
    #[error("record data has an unexpected form")]
    Data(#[from] postcard::Error),
    #[error("record data cannot be decompressed")]
    Decompress(#[from] std::io::Error),
}

/// One record, still compressed.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    pub kind: u32,
    pub meta: &'a [u8],
    data: &'a [u8],
}

impl Frame<'_> {
    /// The record's meta part.
    pub fn meta<T: DeserializeOwned>(&self) -> Result<T, RecordError> {
        Ok(serde_json::from_slice(self.meta)?)
    }

    /// The record's data part, decompressed.
    pub fn data(&self) -> Result<Vec<u8>, RecordError> {
        if self.data.is_empty() {
            return Ok(Vec::new());
        }
        Ok(zstd::stream::decode_all(self.data)?)
    }
}

/// Encodes one record, padded.
pub fn encode<T: Serialize>(kind: Kind, meta: &T, data: &[u8]) -> Result<Vec<u8>, RecordError> {
    let meta = serde_json::to_vec(meta)?;
    let data = if data.is_empty() {
        Vec::new()
    } else {
        zstd::stream::encode_all(data, 3)?
    };
    let mut bytes = Vec::with_capacity(HEADER + meta.len() + data.len() + ALIGN);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&(kind as u32).to_le_bytes());
    bytes.extend_from_slice(&(meta.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&meta);
    bytes.extend_from_slice(&data);
    bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
    Ok(bytes)
}

/// Splits a section into its records. Unknown kinds are kept, so that a reader
/// can skip what a later version added.
pub fn frames(section: &[u8]) -> Result<Vec<Frame<'_>>, RecordError> {
    let mut frames = Vec::new();
    let mut at = 0;
    while at < section.len() {
        if section[at] == 0 {
            at += 1;
            continue;
        }
        let damaged = |what| RecordError::Damaged { offset: at, what };
        let header = section
            .get(at..at + HEADER)
            .ok_or(damaged("cut off in a header"))?;
        if &header[..8] != MAGIC {
            return Err(damaged("no record starts here"));
        }
        let word = |from: usize| u32::from_le_bytes(header[from..from + 4].try_into().unwrap());
        let meta_length = word(12) as usize;
        let data_length = u64::from_le_bytes(header[16..24].try_into().unwrap());
        let meta_start = at + HEADER;
        let data_start = meta_start + meta_length;
        let end = usize::try_from(data_length)
            .ok()
            .and_then(|length| data_start.checked_add(length))
            .filter(|end| *end <= section.len())
            .ok_or(damaged("cut off in a record"))?;
        frames.push(Frame {
            kind: word(8),
            meta: &section[meta_start..data_start],
            data: &section[data_start..end],
        });
        at = end;
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_concatenation_with_padding() {
        let mut section = encode(Kind::Module, &"first", b"some bitcode").unwrap();
        section.extend_from_slice(&[0; 48]);
        section.extend(encode(Kind::Link, &vec![1, 2], b"").unwrap());
        let frames = frames(&section).unwrap();
        assert_eq!(frames.len(), 2);
        assert_eq!(frames[0].kind, Kind::Module as u32);
        assert_eq!(frames[0].meta::<String>().unwrap(), "first");
        assert_eq!(frames[0].data().unwrap(), b"some bitcode");
        assert_eq!(frames[1].meta::<Vec<u32>>().unwrap(), [1, 2]);
        assert!(frames[1].data().unwrap().is_empty());
    }

    #[test]
    fn a_cut_section_is_reported_not_misread() {
        let section = encode(Kind::Module, &"first", b"some bitcode").unwrap();
        for length in 1..section.len() - 15 {
            assert!(frames(&section[..length]).is_err(), "length {length}");
        }
    }
}
