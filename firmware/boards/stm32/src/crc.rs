//! The CRC unit (RM0385, 13; RM0386, 4): four cycles a word, with what both series have. It takes the
//! highest bit of a word first, checksums the lowest: words are turned around.

use embassy_stm32::pac::{CRC as UNIT, RCC};
use tilewright_plan::Span;
use tilewright_plan::image::CRC;

/// Gives the unit its clock.
pub fn power_up() {
    critical_section::with(|_| RCC.ahb1enr().modify(|clocks| clocks.set_crcen(true)));
}

/// CRC-32 of a span's bytes, of a space that begins at `base`. One at a time: for whoever drives the
/// engines.
#[expect(unsafe_code, reason = "engines write to memory that the core holds no slice of")]
pub fn checksum(base: u32, span: &Span) -> u32 {
    // SAFETY: the image's reader proved that the span lies inside its space; DMA has written it
    // and nobody else writes it before this step is complete.
    let rows = (0..span.rows).map(|row| unsafe {
        let first = (base + span.offset + row * span.pitch) as *const u8;
        core::slice::from_raw_parts(first, span.row_bytes as usize)
    });
    // Engines move words; the slices' types do not say so.
    if !(base | span.offset | span.pitch | span.row_bytes).is_multiple_of(4) {
        let mut digest = CRC.digest();
        rows.for_each(|row| digest.update(row));
        return digest.finalize();
    }
    UNIT.cr().write(|control| control.set_reset(true));
    for row in rows {
        let (fours, rest) = row.as_chunks::<16>();
        for four in fours {
            let (words, _) = four.as_chunks::<4>();
            for word in words {
                take(word);
            }
        }
        let (words, _) = rest.as_chunks::<4>();
        for word in words {
            take(word);
        }
    }
    !sum().reverse_bits()
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
