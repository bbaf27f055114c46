//! The CRC unit (RM0385, 13; RM0386, 4): four cycles a word, with what both series have. It takes the
//! highest bit of a word first, checksums the lowest: words are turned around.

use core::arch::asm;

use embassy_stm32::pac::{CRC as UNIT, RCC};
use tilewright_plan::Span;
use tilewright_plan::image::CRC;
use tilewright_runtime::card::SECTOR;

use crate::clock_runs;

/// Gives the unit its clock.
pub fn power_up() {
    critical_section::with(|_| RCC.ahb1enr().modify(|clocks| clocks.set_crcen(true)));
    clock_runs(RCC.ahb1enr());
}

/// CRC-32 of a span's bytes, of a space that begins at `base`. One at a time: for whoever drives the
/// engines.
pub fn checksum(base: u32, span: &Span) -> u32 {
    let rows =
        (0..span.rows).map(|row| bytes_at(base + span.offset + row * span.pitch, span.row_bytes));
    // Engines move words; the record does not say so.
    if !span.row_bytes.is_multiple_of(4) {
        let mut digest = CRC.digest();
        rows.for_each(|row| digest.update(row));
        return digest.finalize();
    }
    UNIT.cr().write(|control| control.set_reset(true));
    rows.for_each(take_all);
    !sum().reverse_bits()
}

/// CRC-32 of a sector in memory.
pub fn of_sector(memory: u32) -> u32 {
    of(bytes_at(memory, SECTOR))
}

/// CRC-32 of bytes, which are whole words.
pub fn of(bytes: &[u8]) -> u32 {
    UNIT.cr().write(|control| control.set_reset(true));
    take_all(bytes);
    !sum().reverse_bits()
}

/// What an engine has written, or is going to read.
#[expect(unsafe_code, reason = "engines use memory that the core holds no slice of")]
fn bytes_at(first: u32, bytes: u32) -> &'static [u8] {
    // SAFETY: the image's reader proved that spans lie inside their spaces, which never end; from when
    // its step may begin until it is complete, nobody but the engine writes these bytes.
    unsafe { core::slice::from_raw_parts(first as *const u8, bytes as usize) }
}

/// Takes bytes, of which only whole words count.
fn take_all(bytes: &[u8]) {
    let (fours, rest) = bytes.as_chunks::<16>();
    if bytes.as_ptr().addr().is_multiple_of(4) {
        take_fours(fours);
    } else {
        fours.as_flattened().as_chunks().0.iter().for_each(take);
    }
    rest.as_chunks().0.iter().for_each(take);
}

/// Takes four words a turn: as fast as the unit does, but for the loop.
#[expect(unsafe_code, reason = "a loop of loads and stores of several words")]
fn take_fours(fours: &[[u8; 16]]) {
    if fours.is_empty() {
        return;
    }
    // SAFETY: reads the slice, which begins at a word, and writes the unit's data register alone.
    unsafe {
        asm!(
            "2:",
            "ldmia {from}!, {{r2, r3, r4, r5}}",
            "rbit r2, r2",
            "rbit r3, r3",
            "str r2, [{unit}]",
            "rbit r4, r4",
            "str r3, [{unit}]",
            "rbit r5, r5",
            "str r4, [{unit}]",
            "subs {left}, {left}, #1",
            "str r5, [{unit}]",
            "bne 2b",
            from = inout(reg) fours.as_ptr() => _,
            left = inout(reg) fours.len() => _,
            unit = in(reg) UNIT.as_ptr(),
            out("r2") _,
            out("r3") _,
            out("r4") _,
            out("r5") _,
            options(nostack),
        );
    }
}

#[cfg(feature = "stm32f4")]
fn take(word: &[u8; 4]) {
    UNIT.dr().write_value(u32::from_le_bytes(*word).reverse_bits());
}

#[cfg(feature = "stm32f4")]
fn sum() -> u32 {
    UNIT.dr().read()
}

#[cfg(feature = "stm32f7")]
fn take(word: &[u8; 4]) {
    UNIT.dr32().write_value(u32::from_le_bytes(*word).reverse_bits());
}

#[cfg(feature = "stm32f7")]
fn sum() -> u32 {
    UNIT.dr32().read()
}
