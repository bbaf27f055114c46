//! What the core and DMA share is cleaned and invalidated around each transfer (AN4839, 5): whole
//! lines, of which plans let no two who write at the same time share one. A Cortex-M4 has no cache.

#[cfg(feature = "stm32f7")]
use core::ops::Range;

#[cfg(feature = "stm32f7")]
use cortex_m::peripheral::SCB;
use tilewright_plan::Span;

/// Bytes of a line.
#[cfg(feature = "stm32f7")]
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

/// The core's data cache, if it has one.
pub struct Cache {
    #[cfg(feature = "stm32f7")]
    scb: SCB,
    /// Where the memory ends that it does not hold.
    #[cfg(feature = "stm32f7")]
    first: u32,
}

#[cfg(feature = "stm32f4")]
impl Cache {
    /// There is none.
    pub const fn none() -> Self {
        Self {}
    }

    /// Nothing is to be done.
    pub fn maintain(&mut self, _base: u32, _span: &Span, _maintenance: Maintenance) {}
}

#[cfg(feature = "stm32f7")]
impl Cache {
    /// Of a core that does not cache `uncached`, below all else that DMA reaches.
    pub const fn new(scb: SCB, uncached: Range<u32>) -> Self {
        Self { scb, first: uncached.end }
    }

    /// Maintains the lines of a span's bytes, of a space that begins at `base`.
    pub fn maintain(&mut self, base: u32, span: &Span, maintenance: Maintenance) {
        let gapless = span.pitch == span.row_bytes;
        let (rows, bytes) =
            if gapless { (1, span.bytes() as u32) } else { (span.rows, span.row_bytes) };
        for row in 0..rows {
            let first = base + span.offset + row * span.pitch;
            let end = (first + bytes).next_multiple_of(LINE);
            let first = (first & !(LINE - 1)).max(if first < self.first { self.first } else { 0 });
            let (address, size) = (first as usize, end.saturating_sub(first) as usize);
            if size == 0 {
                continue;
            }
            match maintenance {
                Maintenance::Clean => self.scb.clean_dcache_by_address(address, size),
                Maintenance::CleanAndInvalidate => {
                    self.scb.clean_invalidate_dcache_by_address(address, size);
                }
                // SAFETY: whole lines, cleaned before the transfer, that only DMA wrote since then.
                #[expect(unsafe_code, reason = "forgets what the core wrote to these lines")]
                Maintenance::Invalidate => unsafe {
                    self.scb.invalidate_dcache_by_address(address, size);
                },
            }
        }
    }
}
