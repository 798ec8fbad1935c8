//! Byte strings that are text in JSON where they can be.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Any bytes. In JSON a string if they are UTF-8, else `{"base64": …}`; as the key of a map, where only
/// strings can be, `base64:…`.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bytes(pub Vec<u8>);

const KEY: &str = "base64";

impl Bytes {
    pub fn as_os_str(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }

    pub fn to_os_string(&self) -> OsString {
        OsString::from_vec(self.0.clone())
    }

    /// As a key of a map.
    pub fn to_key(&self) -> String {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.starts_with("base64:") => text.to_owned(),
            _ => format!("{KEY}:{}", STANDARD.encode(&self.0)),
        }
    }
}

impl Deref for Bytes {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl<T: Into<Vec<u8>>> From<T> for Bytes {
    fn from(bytes: T) -> Bytes {
        Bytes(bytes.into())
    }
}

impl From<Bytes> for OsString {
    fn from(bytes: Bytes) -> OsString {
        OsString::from_vec(bytes.0)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(KEY, &STANDARD.encode(&self.0))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or {\"base64\": …}")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Bytes, E> {
                Ok(Bytes::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bytes, A::Error> {
                let Some((key, text)) = map.next_entry::<String, String>()? else {
                    return Err(de::Error::invalid_length(0, &self));
                };
                if key != KEY || map.next_key::<String>()?.is_some() {
                    return Err(de::Error::unknown_field(&key, &[KEY]));
                }
                STANDARD.decode(text).map(Bytes).map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// Maps whose keys are bytes: for `#[serde(with = …)]`.
pub mod map {
    use super::*;
    use std::collections::BTreeMap;

    pub fn serialize<V: Serialize, S: Serializer>(
        map: &BTreeMap<Bytes, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(map.iter().map(|(key, value)| (key.to_key(), value)))
    }

    pub fn deserialize<'de, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Bytes, V>, D::Error> {
        let plain = BTreeMap::<String, V>::deserialize(deserializer)?;
        let key = |text: String| match text.strip_prefix("base64:") {
            Some(code) => STANDARD.decode(code).map(Bytes).map_err(de::Error::custom),
            None => Ok(Bytes(text.into_bytes())),
        };
        plain
            .into_iter()
            .map(|(text, value)| Ok((key(text)?, value)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn text_stays_text_and_other_bytes_become_base64() {
        let json = |bytes: &[u8]| serde_json::to_string(&Bytes::from(bytes)).unwrap();
        assert_eq!(json(b"a\xc3\xa4\n"), "\"a\u{e4}\\n\"");
        assert_eq!(json(b"\xff\0"), "{\"base64\":\"/wA=\"}");
    }

    #[test]
    fn a_scenario_of_any_bytes_comes_back_from_json() {
        let mut scenario = Scenario {
            argv: vec![b"-x".into(), b"\xfe".into()],
            stdin: b"a\0b".into(),
            ..Scenario::default()
        };
        scenario.files.insert(b"\xff".into(), b"\x80".into());
        scenario.files.insert(b"base64:trap".into(), b"1".into());
        let text = serde_json::to_string(&scenario).unwrap();
        assert_eq!(serde_json::from_str::<Scenario>(&text).unwrap(), scenario);
    }
}
