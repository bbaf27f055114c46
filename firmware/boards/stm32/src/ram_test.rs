//! Whether external RAM is there: its lines of data and of addresses, and those that choose a byte.

use core::fmt;

use crate::memory::Place;

/// What a word held that should hold another.
#[derive(Clone, Copy)]
pub struct RamFault {
    address: u32,
    written: u32,
    read: u32,
}

impl fmt::Display for RamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, written, read } = *self;
        write!(f, "SDRAM at {address:#010x} wrote {written:#010x}, read {read:#010x}")
    }
}

/// Writes and reads a word at each power of two, and bytes of one. `forget` writes the line of the data cache at an
/// address back and forgets it: else the cache alone would be tested.
///
/// # Errors
/// The first word that is not as it was written.
///
/// # Safety
/// A controller answers these addresses, and nothing uses them yet.
#[expect(unsafe_code, reason = "memory that the linker knows nothing of")]
pub unsafe fn run(ram: Place, mut forget: impl FnMut(u32)) -> Result<(), RamFault> {
    let (start, bytes) = (ram.address as u32, ram.bytes as u32);
    let mut read = |address: u32, written: u32| {
        forget(address);
        // SAFETY: the word lies within.
        let read = unsafe { (address as *const u32).read_volatile() };
        if read == written { Ok(()) } else { Err(RamFault { address, written, read }) }
    };
    // SAFETY: as above.
    let write = |address: u32, word: u32| unsafe { (address as *mut u32).write_volatile(word) };
    // Neighbouring lines of data differ; both values of each.
    for word in [0x5555_5555, 0xaaaa_aaaa, 0x0000_ffff, 0xff00_ff00] {
        write(start, word);
        read(start, word)?;
    }
    // One byte and then another of a word.
    for byte in 0..4 {
        write(start, u32::MAX);
        // SAFETY: as above.
        unsafe { ((start + byte) as *mut u8).write_volatile(0) };
        read(start, !(0xff << (8 * byte)))?;
    }
    // Each line of the address alone: two that are one give the word of the other.
    let mut offset = 0;
    while offset < bytes {
        write(start + offset, !(start + offset));
        offset = next(offset);
    }
    offset = 0;
    while offset < bytes {
        read(start + offset, !(start + offset))?;
        offset = next(offset);
    }
    Ok(())
}

/// Zero, then the powers of two from a word on.
const fn next(offset: u32) -> u32 {
    if offset == 0 { 4 } else { 2 * offset }
}
