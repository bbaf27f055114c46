//! Bytes written whole. As a list they would be encoded alike, but one by one, which takes longer than
//! to send them.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// Writes bytes.
///
/// # Errors
/// Those of the serialiser.
pub fn serialize<B, S>(bytes: &B, to: S) -> Result<S::Ok, S::Error>
where
    B: AsRef<Vec<u8>>,
    S: Serializer,
{
    to.serialize_bytes(bytes.as_ref())
}

/// Reads bytes.
///
/// # Errors
/// Those of the deserialiser.
pub fn deserialize<'de, B, D>(from: D) -> Result<B, D::Error>
where
    B: From<Vec<u8>>,
    D: Deserializer<'de>,
{
    from.deserialize_byte_buf(Bytes).map(B::from)
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}
