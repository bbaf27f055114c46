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

/// Whether no entry lies at an address that instructions for several words refuse: entries are a multiple of four
/// bytes. Asked on every target, so that the host takes the way of a board; an empty slice may lie anywhere.
#[inline(always)]
#[must_use]
pub fn are_at_words<T>(entries: &[T]) -> bool {
    const { assert!(size_of::<T>().is_multiple_of(4)) };
    entries.is_empty() || entries.as_ptr().addr().is_multiple_of(4)
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

    #[test]
    fn no_entries_are_at_words_wherever_they_are() {
        let bytes = [0u32; 3].map(u32::to_le_bytes);
        let at = bytes.as_flattened().as_ptr().addr() % 4;
        let entries = |skip: usize| bytes.as_flattened()[skip..].as_chunks::<4>().0;
        let skip = (4 - at) % 4;
        assert!(are_at_words(&entries(skip)[..1]) && !are_at_words(&entries(skip + 1)[..1]));
        assert!(are_at_words(&entries(skip + 1)[..0]) && are_at_words::<[u8; 12]>(&[]));
    }
}
