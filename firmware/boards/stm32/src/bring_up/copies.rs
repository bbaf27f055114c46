//! DMA between each two memories that it reaches, in bytes, half words, words and bursts.

use core::fmt::Write;

use cortex_m::asm;
use tilewright_runtime::{Piece, Width};

use super::{COPIED, Checked, Line, Reached, failure};
use crate::dma::{self, Ended};

/// How often a copy is asked whether it has ended.
const ASKED: u32 = 100_000;

/// Copies between all of them.
pub fn check(line: &mut Line, reached: &[Reached]) -> Checked {
    let mut pairs = 0;
    for source in reached {
        for destination in reached.iter().filter(|memory| memory.is_written) {
            for (width, items) in [
                (Width::Byte, COPIED / 2 - 1),
                (Width::Half, COPIED / 4),
                (Width::Word, COPIED / 8),
            ] {
                copy(source, destination, width, items as u16)?;
            }
            pairs += 1;
        }
    }
    let _ = write!(line, " {pairs} pairs");
    Ok(())
}

/// Copies the first half of what is free in one memory to the second half in the other.
fn copy(source: &Reached, destination: &Reached, width: Width, items: u16) -> Checked {
    let (from, to) = (source.address, destination.address + COPIED / 2);
    let bytes = u32::from(items) * width.bytes();
    if source.is_written {
        (0..bytes).for_each(|at| write(from + at, (at as u8).wrapping_mul(31) ^ to as u8));
    }
    (0..bytes).for_each(|at| write(to + at, !read(from + at)));
    asm::dsb();
    let piece = Piece { source: from, destination: to, width, items };
    let names = (source.name, destination.name);
    match moved(&piece) {
        Some(Ended::Complete) => {}
        Some(Ended::Failed) => {
            return Err(failure(format_args!("{} to {}: a bus error", names.0, names.1)));
        }
        None => return Err(failure(format_args!("{} to {}: it never ends", names.0, names.1))),
    }
    match (0..bytes).find(|at| read(from + at) != read(to + at)) {
        None => Ok(()),
        Some(at) => Err(failure(format_args!(
            "{} to {}: byte {at} of {bytes}, {width:?}s, is {:02x}, not {:02x}",
            names.0,
            names.1,
            read(to + at),
            read(from + at)
        ))),
    }
}

/// Makes a copy with the core's cache out of its way; how it ended.
pub fn moved(piece: &Piece) -> Option<Ended> {
    super::cache::forget_all(piece.source, COPIED);
    super::cache::forget_all(piece.destination, COPIED);
    // The handler of the stream's interrupt is for lanes.
    critical_section::with(|_| {
        dma::begin(piece);
        let ended = (0..ASKED).find_map(|_| dma::take_end());
        if ended.is_none() {
            dma::abort();
        }
        cortex_m::peripheral::NVIC::unpend(embassy_stm32::interrupt::DMA2_STREAM0);
        asm::dmb();
        ended
    })
}

/// A byte that the core writes.
#[expect(unsafe_code, reason = "memory that the linker knows nothing of")]
pub fn write(address: u32, byte: u8) {
    // SAFETY: the board's file names memory there that nothing else uses.
    unsafe { (address as *mut u8).write_volatile(byte) }
}

/// A byte that the core reads.
#[expect(unsafe_code, reason = "memory that the linker knows nothing of")]
pub fn read(address: u32) -> u8 {
    // SAFETY: likewise.
    unsafe { (address as *const u8).read_volatile() }
}
