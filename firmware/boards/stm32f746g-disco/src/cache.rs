//! What the core and DMA share is cleaned and invalidated around each transfer (AN4839, 5): whole
//! lines, of which plans let no two who write at the same time share one.

use cortex_m::peripheral::SCB;
use tilewright_plan::Span;

use crate::board;

/// Bytes of a line.
const LINE: u32 = 32;

/// What is to be done with lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Maintenance {
    /// Before DMA reads them: memory gets what the cache holds.
    Clean,
    /// Before DMA writes them: nothing is written over it later, and neighbours in the line are kept.
    CleanAndInvalidate,
    /// After DMA wrote them: what was read ahead is forgotten.
    Invalidate,
}

/// Maintains the lines of a span's bytes, of a space that begins at `base`.
pub fn maintain(scb: &mut SCB, base: u32, span: &Span, maintenance: Maintenance) {
    let gapless = span.pitch == span.row_bytes;
    let (rows, bytes) =
        if gapless { (1, span.bytes() as u32) } else { (span.rows, span.row_bytes) };
    for row in 0..rows {
        let first = base + span.offset + row * span.pitch;
        let end = (first + bytes).next_multiple_of(LINE);
        let first = (first & !(LINE - 1)).max(if first < board::UNCACHED.end {
            board::UNCACHED.end
        } else {
            0
        });
        let (address, size) = (first as usize, end.saturating_sub(first) as usize);
        if size == 0 {
            continue;
        }
        match maintenance {
            Maintenance::Clean => scb.clean_dcache_by_address(address, size),
            Maintenance::CleanAndInvalidate => {
                scb.clean_invalidate_dcache_by_address(address, size);
            }
            // SAFETY: whole lines, cleaned before the transfer, that only DMA wrote since then.
            #[expect(unsafe_code, reason = "forgets what the core wrote to these lines")]
            Maintenance::Invalidate => unsafe {
                scb.invalidate_dcache_by_address(address, size);
            },
        }
    }
}
