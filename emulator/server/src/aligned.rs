//! A copy of bytes that starts where the plan image's reader wants it to.

use tilewright_plan::image::ALIGNMENT;

/// Bytes that start at a multiple of [`ALIGNMENT`] in memory.
#[derive(Debug)]
pub struct AlignedBytes {
    buffer: Vec<u8>,
    start: usize,
}

impl AlignedBytes {
    /// An aligned copy.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut buffer: Vec<u8> = Vec::with_capacity(bytes.len() + ALIGNMENT);
        let start = buffer.as_ptr().addr().next_multiple_of(ALIGNMENT) - buffer.as_ptr().addr();
        buffer.resize(start, 0);
        buffer.extend_from_slice(bytes);
        Self { buffer, start }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_aligned_wherever_they_come_from() {
        let source: Vec<u8> = (0..=255).collect();
        for from in 0..40 {
            let copy = AlignedBytes::copy_of(&source[from..]);
            assert_eq!(copy.bytes(), &source[from..]);
            assert!(copy.bytes().as_ptr().addr().is_multiple_of(ALIGNMENT));
        }
    }
}
