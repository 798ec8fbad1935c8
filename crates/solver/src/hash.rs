//! Structural hashes of expressions, long enough to be taken for the expressions themselves.
//!
//! Equal expressions have equal hashes in whatever trace they occur; two different ones share a hash with
//! a probability that no number of queries makes noticeable. Hash 0 is never given out.

/// 128 bits that stand for an expression.
pub(crate) type Hash = u128;

const FACTOR: u128 = 0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15;

pub(crate) struct Digest(u128);

impl Digest {
    pub fn new() -> Digest {
        Digest(0x2545_f491_4f6c_dd1d_8a5c_d789_635d_2dff)
    }

    #[inline]
    pub fn add(&mut self, word: u128) {
        let mixed = (self.0 ^ word).wrapping_mul(FACTOR);
        self.0 = (mixed ^ mixed >> 67).wrapping_mul(FACTOR).rotate_left(29);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(16) {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u128::from_le_bytes(word));
        }
    }

    pub fn finish(self) -> Hash {
        let mixed = (self.0 ^ self.0 >> 61).wrapping_mul(FACTOR);
        (mixed ^ mixed >> 71).max(1)
    }
}

/// The hash of a sequence of words.
pub(crate) fn of(words: impl IntoIterator<Item = u128>) -> Hash {
    let mut digest = Digest::new();
    for word in words {
        digest.add(word);
    }
    digest.finish()
}
