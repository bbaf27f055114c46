//! Clamps of bytes that are there already, four at a time.

use crate::dsp::{larger_bytes, smaller_bytes, store_word, word};
use crate::geometry::Output;

/// Clamps bytes that saturate at int8's range.
#[inline(always)]
pub fn clamp(output: &Output, bytes: &mut [u8]) {
    if output.is_narrow() {
        clamp_all(output, bytes);
    }
}

#[inline(never)]
fn clamp_all(output: &Output, bytes: &mut [u8]) {
    let [min, max] = [output.min, output.max].map(|end| u32::from_le_bytes([end as u8; 4]));
    let (words, rest) = bytes.as_chunks_mut();
    for bytes in words {
        store_word(bytes, larger_bytes(smaller_bytes(word(bytes), max), min));
    }
    for byte in rest {
        *byte = output.clamp(*byte);
    }
}
