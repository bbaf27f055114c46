//! The board's memories: bytes on the host that Unicorn, devices and reports share.

use std::ptr;

/// A memory without a gap.
#[derive(Debug)]
struct Block {
    address: u32,
    bytes: usize,
    /// Owned: made by [`Memories::add`], given back when dropped.
    start: *mut u8,
}

impl Drop for Block {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the pointer is that of a boxed slice of this length, which nothing else frees.
        // Unicorn, which may know it, is closed before its data is dropped.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(self.start, self.bytes)) });
    }
}

#[derive(Debug, Default)]
pub struct Memories {
    blocks: Vec<Block>,
}

impl Memories {
    /// Adds a memory of zeros; gives its first byte, for Unicorn to map. It stays where it is.
    pub fn add(&mut self, address: u32, bytes: usize) -> *mut u8 {
        let start = Box::into_raw(vec![0u8; bytes].into_boxed_slice()).cast::<u8>();
        self.blocks.push(Block { address, bytes, start });
        start
    }

    /// Where bytes lie on the host; nothing if one memory does not hold them all.
    #[inline]
    fn place(&self, address: u32, bytes: usize) -> Option<*mut u8> {
        let block = self.blocks.iter().find(|block| {
            address
                .checked_sub(block.address)
                .is_some_and(|offset| offset as usize + bytes <= block.bytes)
        })?;
        Some(block.start.wrapping_add((address - block.address) as usize))
    }

    /// Whether one memory holds all of these bytes.
    pub fn holds(&self, address: u32, bytes: usize) -> bool {
        self.place(address, bytes).is_some()
    }

    /// Reads bytes; false if they are not there.
    #[inline]
    #[allow(unsafe_code)]
    pub fn read(&self, address: u32, to: &mut [u8]) -> bool {
        let Some(from) = self.place(address, to.len()) else { return false };
        // SAFETY: the block holds as many bytes from there on; it is only reached through pointers, and
        // Unicorn does not run while one of its callbacks does.
        unsafe { ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
        true
    }

    /// Writes bytes; false if they are not there.
    #[inline]
    #[allow(unsafe_code)]
    pub fn write(&mut self, address: u32, from: &[u8]) -> bool {
        let Some(to) = self.place(address, from.len()) else { return false };
        // SAFETY: as in `read`.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_where_they_are_and_nowhere_else() {
        let mut memories = Memories::default();
        memories.add(0x1000, 16);
        memories.add(0x2000, 16);
        assert!(memories.write(0x200c, &[1, 2, 3, 4]));
        assert!(!memories.write(0x200d, &[0; 4]) && !memories.write(0xfff, &[0; 2]));
        let mut bytes = [0; 4];
        assert!(memories.read(0x200c, &mut bytes) && !memories.read(0x100d, &mut [0; 4]));
        assert_eq!(bytes, [1, 2, 3, 4]);
    }
}
