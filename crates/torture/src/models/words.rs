//! Pieces that generators of cases are made of.

use crate::rng::Rng;

/// Alphabets on which interesting things happen in short strings.
pub const ALPHABETS: &[&[u8]] = &[
    b"ab",
    b"aAbB",
    b"abc\xff\x80 ",
    b"\x01\xfe,;: ",
    b"aZ@[`{z\xc1\xe1",
];

/// A string of at most `most` bytes over an alphabet, without NUL.
pub fn string(rng: &mut Rng, alphabet: &[u8], most: usize) -> Vec<u8> {
    let length = rng.between(0, most);
    (0..length).map(|_| *rng.pick(alphabet)).collect()
}

/// Any bytes, but rather small ones.
pub fn bytes(rng: &mut Rng, alphabet: &[u8], most: usize) -> Vec<u8> {
    let mut bytes = string(rng, alphabet, most);
    for byte in &mut bytes {
        if rng.one_in(8) {
            *byte = *rng.pick(&[0, 1, 0x7f, 0x80, 0xff]);
        }
    }
    bytes
}

/// An `int` as a field.
pub fn int(value: i32) -> [u8; 4] {
    value.to_le_bytes()
}

/// A `long` as a field.
pub fn long(value: i64) -> [u8; 8] {
    value.to_le_bytes()
}

/// A number near a boundary or of random magnitude.
pub fn any_long(rng: &mut Rng) -> i64 {
    match rng.below(4) {
        0 => rng.between(0, 20) as i64 - 10,
        1 => {
            let near = *rng.pick(&[
                i64::MIN,
                i64::MAX,
                i32::MIN.into(),
                i32::MAX.into(),
                u32::MAX.into(),
                127,
                255,
                32767,
                65535,
            ]);
            near.wrapping_add(rng.between(0, 4) as i64 - 2)
        }
        _ => rng.next_u64() as i64 >> rng.below(64),
    }
}
