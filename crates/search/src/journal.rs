//! The journal of a search: what it has found out so far, so that a later process can go on with it.
//!
//! Searches are deterministic but for what is slow: given the same answers of the solver and of the native runs, a search makes
//! the same choices. So its journal holds these answers ([`crate::answers`]), in chunks. A search that is gone on with begins
//! at the beginning and runs the traced program as before, but asks nothing that has been answered.
//!
//! Solvers learn from query to query, and answers depend on what they have learned. Therefore solvers are replaced
//! by fresh ones at the end of each chunk, in every search: so one that goes on from there is
//! in the same state as one that was never interrupted, and comes to the same result.

use std::error::Error;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where chunks are kept. What was appended is safe when the call returns.
pub trait Journal {
    /// A chunk of an earlier, interrupted search; `None` behind the last.
    fn chunk(&mut self, number: u64) -> Result<Option<Vec<u8>>, JournalError>;
    fn append(&mut self, chunk: &[u8]) -> Result<(), JournalError>;
    /// Forgets all chunks from this one on: the search went another way.
    fn truncate(&mut self, chunks: u64) -> Result<(), JournalError>;
}

/// Why a journal could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the journal of the search cannot be kept")]
pub struct JournalError(#[source] pub Box<dyn Error + Send + Sync>);

/// For searches that need no journal.
#[derive(Debug, Default)]
pub struct Nowhere;

impl Journal for Nowhere {
    fn chunk(&mut self, _: u64) -> Result<Option<Vec<u8>>, JournalError> {
        Ok(None)
    }

    fn append(&mut self, _: &[u8]) -> Result<(), JournalError> {
        Ok(())
    }

    fn truncate(&mut self, _: u64) -> Result<(), JournalError> {
        Ok(())
    }
}

/// What a chunk says, as bytes.
pub fn pack(value: &impl Serialize) -> Result<Vec<u8>, JournalError> {
    const LEVEL: i32 = 3;
    let bytes = postcard::to_stdvec(value).map_err(|error| JournalError(error.into()))?;
    zstd::bulk::compress(&bytes, LEVEL).map_err(|error| JournalError(error.into()))
}

/// What the bytes of a chunk say.
pub fn unpack<T: DeserializeOwned>(chunk: &[u8]) -> Result<T, JournalError> {
    let bytes = zstd::stream::decode_all(chunk).map_err(|error| JournalError(error.into()))?;
    postcard::from_bytes(&bytes).map_err(|error| JournalError(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_back_and_damaged_ones_do_not() {
        let value = vec![(1u64, "one".to_owned()), (2, "two".to_owned())];
        let chunk = pack(&value).unwrap();
        assert_eq!(unpack::<Vec<(u64, String)>>(&chunk).unwrap(), value);
        assert!(unpack::<Vec<(u64, String)>>(&chunk[..chunk.len() / 2]).is_err());
    }
}
