//! The smallest object file that carries records: no symbols, nothing that is loaded.
//!
//! Added to a link it must change nothing about the program. Two sections see to that:
//! `.note.GNU-stack`, without which linkers make the stack executable, and a
//! property note that claims every control-flow protection, because linkers keep only
//! what *all* inputs claim.
//!
//! The records' own section is marked to be retained: `--gc-sections` drops an object of which nothing
//! is loaded.

use parallax_record::SECTION;

const HEADER: usize = 64;
const SECTION_HEADER: usize = 64;
const SHT_PROGBITS: u32 = 1;
const SHT_STRTAB: u32 = 3;
const SHT_NOTE: u32 = 7;
const SHF_ALLOC: u64 = 2;
const SHF_GNU_RETAIN: u64 = 1 << 21;
/// Flags of GNU's own mean something only in files that say so.
const ELFOSABI_GNU: u8 = 3;

struct Section<'a> {
    name: &'a str,
    kind: u32,
    flags: u64,
    align: u64,
    bytes: Vec<u8>,
}

/// A relocatable x86-64 object with `records` in [`SECTION`].
pub fn object(records: &[u8]) -> Vec<u8> {
    let mut sections = vec![
        Section {
            name: "",
            kind: 0,
            flags: 0,
            align: 0,
            bytes: Vec::new(),
        },
        Section {
            name: SECTION,
            kind: SHT_PROGBITS,
            flags: SHF_GNU_RETAIN,
            align: 16,
            bytes: records.to_vec(),
        },
        Section {
            name: ".note.GNU-stack",
            kind: SHT_PROGBITS,
            flags: 0,
            align: 1,
            bytes: Vec::new(),
        },
        Section {
            name: ".note.gnu.property",
            kind: SHT_NOTE,
            flags: SHF_ALLOC,
            align: 8,
            bytes: every_protection(),
        },
    ];
    let mut names = Vec::new();
    let mut name_offsets = Vec::new();
    for name in sections
        .iter()
        .map(|section| section.name)
        .chain([".shstrtab"])
    {
        name_offsets.push(names.len() as u32);
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    sections.push(Section {
        name: ".shstrtab",
        kind: SHT_STRTAB,
        flags: 0,
        align: 1,
        bytes: names,
    });

    let mut file = vec![0; HEADER];
    let mut headers = Vec::new();
    for (section, name_offset) in sections.iter().zip(name_offsets) {
        file.resize(file.len().next_multiple_of(16), 0);
        let offset = if section.kind == 0 {
            0
        } else {
            file.len() as u64
        };
        headers.extend_from_slice(&name_offset.to_le_bytes());
        headers.extend_from_slice(&section.kind.to_le_bytes());
        let size = section.bytes.len() as u64;
        // flags, address, offset, size
        for word in [section.flags, 0, offset, size] {
            headers.extend_from_slice(&word.to_le_bytes());
        }
        headers.extend_from_slice(&[0; 8]); // link, info
        headers.extend_from_slice(&section.align.to_le_bytes());
        headers.extend_from_slice(&[0; 8]); // entry size
        file.extend_from_slice(&section.bytes);
    }
    file.resize(file.len().next_multiple_of(16), 0);
    let headers_offset = file.len() as u64;
    file.extend_from_slice(&headers);
    file[..HEADER].copy_from_slice(&header(headers_offset, sections.len() as u16));
    file
}

fn header(headers_offset: u64, section_count: u16) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(b"\x7fELF");
    header[4..8].copy_from_slice(&[2, 1, 1, ELFOSABI_GNU]); // 64 bits, little endian, version
    header[16..18].copy_from_slice(&1u16.to_le_bytes()); // relocatable
    header[18..20].copy_from_slice(&62u16.to_le_bytes()); // x86-64
    header[20..24].copy_from_slice(&1u32.to_le_bytes());
    header[40..48].copy_from_slice(&headers_offset.to_le_bytes());
    header[52..54].copy_from_slice(&(HEADER as u16).to_le_bytes());
    header[58..60].copy_from_slice(&(SECTION_HEADER as u16).to_le_bytes());
    header[60..62].copy_from_slice(&section_count.to_le_bytes());
    header[62..64].copy_from_slice(&(section_count - 1).to_le_bytes());
    header
}

/// An `NT_GNU_PROPERTY_TYPE_0` note with all bits of `GNU_PROPERTY_X86_FEATURE_1_AND`.
fn every_protection() -> Vec<u8> {
    let mut note = Vec::new();
    // name size, descriptor size, type
    for word in [4u32, 16, 5] {
        note.extend_from_slice(&word.to_le_bytes());
    }
    note.extend_from_slice(b"GNU\0");
    // property, its size, indirect branch tracking + shadow stack + both address maskings, padding
    for word in [0xc000_0002u32, 4, 0xf, 0] {
        note.extend_from_slice(&word.to_le_bytes());
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSection};

    #[test]
    fn the_object_can_be_read_back() {
        let bytes = object(b"some records");
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let section = file.section_by_name(SECTION).unwrap();
        assert_eq!(section.data().unwrap(), b"some records");
        assert!(file.section_by_name(".note.GNU-stack").is_some());
    }
}
