//! Clamps of bytes that are there already.

use crate::dsp::{larger_bytes, smaller_bytes, store_word, word};
use crate::geometry::Output;

/// Clamps bytes that saturate at int8's range.
pub fn clamp(output: &Output, bytes: &mut [u8]) {
    if output.min == i8::MIN && output.max == i8::MAX {
        return;
    }
    let [min, max] = [output.min, output.max].map(|end| u32::from_le_bytes([end as u8; 4]));
    let (words, rest) = bytes.as_chunks_mut();
    for bytes in words {
        store_word(bytes, smaller_bytes(larger_bytes(word(bytes), min), max));
    }
    for byte in rest {
        *byte = output.clamp(*byte);
    }
}
