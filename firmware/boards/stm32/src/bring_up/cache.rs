//! The core's data cache beside DMA, and words across the border between memories.

#[cfg(feature = "stm32f7")]
use cortex_m::peripheral::CBP;
#[cfg(feature = "stm32f7")]
use tilewright_runtime::{Piece, Width};

#[cfg(feature = "stm32f7")]
use super::copies::moved;
use super::copies::{read, write};
#[cfg(feature = "stm32f7")]
use super::{COPIED, Reached, failure};
use super::{Checked, holds};
#[cfg(feature = "stm32f7")]
use crate::board::UNCACHED;
use crate::cache::forget;

/// Cleans and forgets the lines of so many bytes, if there is a cache.
pub fn forget_all(start: u32, bytes: u32) {
    // SAFETY: registers that only take addresses.
    #[expect(unsafe_code, reason = "the core's peripherals belong to whoever checks")]
    let mut core = unsafe { cortex_m::Peripherals::steal() };
    (0..=bytes).step_by(32).for_each(|at| forget(&mut core.CBP, start + at));
}

/// Whether DMA reads what was cleaned, and the core what DMA wrote once it has forgotten.
#[cfg(feature = "stm32f7")]
pub fn check(cbp: &mut CBP, reached: &[Reached]) -> Checked {
    let is_cached = |memory: &&Reached| memory.is_written && !UNCACHED.contains(&memory.address);
    let Some(memory) = reached.iter().find(is_cached) else {
        return Err(failure(format_args!("the board's file names no memory that it holds")));
    };
    let (source, destination) = (memory.address, memory.address + COPIED / 2);
    let piece = Piece { source, destination, width: Width::Word, items: 8 };
    for round in 0..3 {
        (0..32).for_each(|at| write(source + at, at as u8 ^ round));
        // The core holds the old bytes of it.
        (0..32).for_each(|at| write(destination + at, 0));
        holds(moved(&piece).is_some(), format_args!("the copy never ends"))?;
        forget(cbp, destination);
        let differs = (0..32).find(|at| read(destination + at) != *at as u8 ^ round);
        holds(differs.is_none(), format_args!("{}: DMA and core differ", memory.name))?;
    }
    Ok(())
}

/// Whether a word may lie across an address.
#[expect(unsafe_code, reason = "memory that the linker knows nothing of")]
pub fn border(end: u32) -> Checked {
    for offset in 1..4 {
        let word = (end - offset) as *mut u32;
        // SAFETY: the board's file says that memory goes on there; nothing uses it.
        let whole = unsafe {
            word.write_unaligned(0x7856_3412);
            core::ptr::read_volatile(&raw const *word.cast::<[u8; 4]>())
        };
        let bytes = [0, 1, 2, 3].map(|at| read(end - offset + at));
        holds(
            whole == [0x12, 0x34, 0x56, 0x78] && bytes == whole,
            format_args!("a word at {:#010x} reads {bytes:02x?}", end - offset),
        )?;
        write(end - offset, 0);
    }
    Ok(())
}
