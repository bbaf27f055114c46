//! Words in slices of bytes; at any address, since these cores load and store unaligned words.

/// The word of four bytes.
#[inline(always)]
#[must_use]
pub const fn word(bytes: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*bytes)
}

/// Writes a word over four bytes.
#[inline(always)]
pub const fn store_word(bytes: &mut [u8; 4], word: u32) {
    *bytes = word.to_le_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_they_lie_in_memory() {
        assert_eq!(word(&[1, 2, 3, 4]), 0x0403_0201);
        let mut bytes = [0; 4];
        store_word(&mut bytes, 0x0403_0201);
        assert_eq!(bytes, [1, 2, 3, 4]);
    }
}
