//! Scenarios and results as rows hold them: JSON, with large byte strings taken out into blobs.
//!
//! Byte strings are visited in one fixed order; a large one is left empty in the JSON and its place in that
//! order is noted with the hash of the blob.

use parallax_scenario::{Bytes, Ending, Scenario};
use serde::Serialize;
use serde::de::DeserializeOwned;

use parallax_files::hash;

use crate::blobs::Blobs;
use crate::error::StoreError;

/// Larger byte strings become blobs.
const LARGE: usize = 4096;

/// Things that hold byte strings which can be large.
pub trait Large: Clone + Serialize + DeserializeOwned {
    /// Visits them, always in the same order.
    fn each(&mut self, visit: &mut dyn FnMut(&mut Bytes));
}

impl Large for Scenario {
    fn each(&mut self, visit: &mut dyn FnMut(&mut Bytes)) {
        visit(&mut self.stdin);
        self.files.values_mut().for_each(&mut *visit);
        self.streams.iter_mut().for_each(&mut *visit);
        for object in &mut self.objects {
            visit(&mut object.bytes);
        }
        self.argv.iter_mut().for_each(&mut *visit);
    }
}

impl Large for Ending {
    fn each(&mut self, visit: &mut dyn FnMut(&mut Bytes)) {
        visit(&mut self.stdout);
        visit(&mut self.stderr);
    }
}

/// As it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    pub text: String,
    /// JSON: places and hashes.
    pub places: String,
    /// The blobs themselves.
    pub blobs: Vec<(String, Vec<u8>)>,
}

pub fn pack(value: &impl Large) -> Packed {
    let mut small = value.clone();
    let mut place = 0;
    let mut places = Vec::new();
    let mut blobs = Vec::new();
    small.each(&mut |bytes| {
        if bytes.len() > LARGE {
            let contents = std::mem::take(&mut bytes.0);
            let name = hash(&contents);
            places.push((place, name.clone()));
            blobs.push((name, contents));
        }
        place += 1;
    });
    Packed {
        text: json(&small),
        places: json(&places),
        blobs,
    }
}

/// From the text and the places of large byte strings.
pub fn unpack<T: Large>(
    text: &str,
    places: &str,
    blobs: &Blobs,
    damaged: &dyn Fn(String) -> StoreError,
) -> Result<T, StoreError> {
    let mut value: T = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
    let places: Vec<(usize, String)> =
        serde_json::from_str(places).map_err(|error| damaged(error.to_string()))?;
    let mut contents = Vec::new();
    for (place, name) in places {
        contents.push((place, blobs.get(&name)?));
    }
    let mut contents = contents.into_iter().peekable();
    let mut place = 0;
    value.each(&mut |bytes| {
        if let Some((_, found)) = contents.next_if(|(at, _)| *at == place) {
            bytes.0 = found;
        }
        place += 1;
    });
    Ok(value)
}

/// Our own types always have a form in JSON: maps have keys that are text.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("data without keys that are no text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_byte_strings_are_taken_out_and_put_back() {
        let directory = tempfile::tempdir().unwrap();
        let blobs = Blobs::at(directory.path().to_owned());
        let big = |byte: u8| Bytes(vec![byte; LARGE + 1]);
        let scenario = Scenario {
            argv: vec!["-x".into(), big(4)],
            stdin: big(1),
            files: [("a".into(), "small".into()), ("b".into(), big(2))].into(),
            streams: vec![big(3)],
            ..Scenario::default()
        };
        let packed = pack(&scenario);
        assert!(packed.text.len() < 300, "{}", packed.text);
        assert_eq!(packed.blobs.len(), 4);
        let named: Vec<_> = packed
            .blobs
            .iter()
            .map(|(n, b)| (n.clone(), b.as_slice()))
            .collect();
        blobs.put(&named).unwrap();
        let damaged = |detail| StoreError::damaged(directory.path(), detail);
        let back: Scenario = unpack(&packed.text, &packed.places, &blobs, &damaged).unwrap();
        assert_eq!(back, scenario);
    }
}
