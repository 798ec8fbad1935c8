//! Hashing: one multiplication per two words, folded. Fast and good enough
//! for tables of our own; nothing here faces an adversary.

const KEY_A: u64 = 0x9e37_79b9_7f4a_7c15;
const KEY_B: u64 = 0xd1b5_4a32_d192_ed03;

/// Hash of two words. The sum keeps a factor that happens to be 0 from hiding the other one.
#[inline(always)]
pub const fn pair(a: u64, b: u64) -> u64 {
    let product = (a ^ KEY_A) as u128 * (b ^ KEY_B) as u128;
    (product as u64 ^ (product >> 64) as u64).wrapping_add(a.rotate_left(32) ^ b)
}

/// Hash of a sequence of words.
#[inline]
pub fn words(words: &[u64]) -> u64 {
    words
        .iter()
        .fold(words.len() as u64, |hash, word| pair(hash, *word))
}

/// Hash of bytes.
pub fn bytes(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(32);
    let mut lanes = [KEY_A, KEY_B, !KEY_A, bytes.len() as u64];
    for chunk in &mut chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk.chunks_exact(8)) {
            let word = u64::from_le_bytes([
                word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7],
            ]);
            *lane = pair(*lane, word);
        }
    }
    let mut hash = words(&lanes);
    for byte in chunks.remainder() {
        hash = pair(hash, u64::from(*byte));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_nearby_keys_spread_over_the_low_bits() {
        let mut seen = std::collections::HashSet::new();
        for a in 0..64 {
            for b in 0..64 {
                seen.insert(pair(a, b) & 0xf_ffff);
            }
        }
        assert!(seen.len() > 4050, "only {} of 4096 distinct", seen.len());
    }

    #[test]
    fn every_byte_of_a_sequence_matters() {
        let mut data = [0u8; 77];
        let empty = bytes(&data);
        for at in 0..data.len() {
            data[at] = 1;
            assert_ne!(bytes(&data), empty, "byte {at}");
            data[at] = 0;
        }
    }
}
