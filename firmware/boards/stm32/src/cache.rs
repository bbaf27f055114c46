//! What the core and DMA share is cleaned and invalidated around each transfer (AN4839, 5): whole
//! lines, of which plans let no two who write at the same time share one. A Cortex-M4 has no cache.

#[cfg(feature = "stm32f7")]
use cortex_m::asm;
use cortex_m::peripheral::CBP;
use tilewright_plan::Span;

#[cfg(feature = "stm32f7")]
use crate::board::UNCACHED;

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
    cbp: CBP,
    /// Where the memory ends that it does not hold.
    #[cfg(feature = "stm32f7")]
    first: u32,
}

/// Writes the line that holds an address back, and forgets it.
#[cfg(feature = "stm32f7")]
pub fn forget(cbp: &mut CBP, address: u32) {
    asm::dsb();
    cbp.dccimvac(address & !(LINE - 1));
    asm::dsb();
}

/// There is no cache.
#[cfg(feature = "stm32f4")]
pub const fn forget(_cbp: &mut CBP, _address: u32) {}

#[cfg(feature = "stm32f4")]
impl Cache {
    /// There is none.
    pub const fn new(_cbp: CBP) -> Self {
        Self {}
    }

    /// Nothing is to be done.
    pub fn maintain(&mut self, _base: u32, _span: &Span, _maintenance: Maintenance) {}
}

#[cfg(feature = "stm32f7")]
impl Cache {
    /// Of a core that does not cache its coupled memory, below all else that DMA reaches.
    pub const fn new(cbp: CBP) -> Self {
        Self { cbp, first: UNCACHED.end }
    }

    /// Maintains the lines of a span's bytes, of a space that begins at `base`.
    pub fn maintain(&mut self, base: u32, span: &Span, maintenance: Maintenance) {
        let gapless = span.pitch == span.row_bytes;
        let (rows, bytes) =
            if gapless { (1, span.bytes() as u32) } else { (span.rows, span.row_bytes) };
        let mut start = base + span.offset;
        asm::dsb();
        for _ in 0..rows {
            let end = (start + bytes).next_multiple_of(LINE);
            self.lines((start & !(LINE - 1)).max(self.first), end, maintenance);
            start = start.wrapping_add(span.pitch);
        }
        asm::dsb();
    }

    /// Maintains whole lines.
    fn lines(&mut self, first: u32, end: u32, maintenance: Maintenance) {
        let cbp = &mut self.cbp;
        match maintenance {
            Maintenance::Clean => each(first, end, |line| cbp.dccmvac(line)),
            Maintenance::CleanAndInvalidate => each(first, end, |line| cbp.dccimvac(line)),
            // SAFETY: whole lines, cleaned before the transfer, that only DMA wrote since then.
            #[expect(unsafe_code, reason = "forgets what the core wrote to these lines")]
            Maintenance::Invalidate => each(first, end, |line| unsafe { cbp.dcimvac(line) }),
        }
    }
}

/// Each line from an address on: eight a turn, since there are hundreds for each copy, and a turn takes
/// longer than the store that maintains a line.
#[cfg(feature = "stm32f7")]
#[inline]
fn each(first: u32, end: u32, mut maintain: impl FnMut(u32)) {
    let mut line = first;
    while end.saturating_sub(line) >= 8 * LINE {
        maintain(line);
        maintain(line + LINE);
        maintain(line + 2 * LINE);
        maintain(line + 3 * LINE);
        maintain(line + 4 * LINE);
        maintain(line + 5 * LINE);
        maintain(line + 6 * LINE);
        maintain(line + 7 * LINE);
        line += 8 * LINE;
    }
    while line < end {
        maintain(line);
        line += LINE;
    }
}
