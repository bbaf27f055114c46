//! The older layout of a USART's registers (RM0386, 31.6): one status register, one data register
//! for both directions, no receiver timeout.

use super::{IDLE, Moment, ORE, RXNE, TC, Usart, Write};

/// Offset of SR.
pub const STATUS: u32 = 0x00;
const DATA: u32 = 0x04;
const CR1: u32 = 0x0c;
/// SR has ten flags, where ISR has them too.
const FLAGS: u32 = 0x3ff;
/// CR1.UE stands elsewhere.
const ENABLE: u32 = 1 << 13;

/// Offsets in the newer layout.
const ISR: u32 = 0x1c;
const ICR: u32 = 0x20;
const RQR: u32 = 0x18;
const RDR: u32 = 0x24;
const TDR: u32 = 0x28;

/// Offset in the newer layout of a register that is the same there.
const fn same(offset: u32) -> Option<u32> {
    match offset {
        0x08 => Some(0x0c),
        0x10 => Some(0x04),
        0x14 => Some(0x08),
        0x18 => Some(0x10),
        _ => None,
    }
}

impl Usart {
    pub(super) fn read_combined(&mut self, offset: u32, at: Moment) -> Option<u32> {
        match offset {
            STATUS => {
                self.combined = Some(true);
                Some(self.read_separate(ISR, at)? & FLAGS)
            }
            DATA => {
                let data = self.read_separate(RDR, at);
                // Reading the data behind the status clears what was wrong with it.
                if self.combined.replace(false) == Some(true) {
                    self.isr &= !(ORE | IDLE | 0x7);
                }
                data
            }
            CR1 => {
                let control = self.read_separate(0, at)?;
                Some(control & 0xfffe | (control & 1) * ENABLE)
            }
            _ => self.read_separate(same(offset)?, at),
        }
    }

    pub(super) fn write_combined(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        let whole = |value| Write { value, mask: u32::MAX };
        match offset {
            // Flags are cleared by writing 0.
            STATUS => {
                let cleared = !write.value & write.mask;
                if cleared & RXNE != 0 {
                    self.write_separate(RQR, whole(8), at);
                }
                self.write_separate(ICR, whole(cleared & TC), at)
            }
            DATA => {
                self.combined = Some(false);
                self.write_separate(TDR, write, at)
            }
            CR1 => {
                let old = self.cr[0] & 0xfffe | (self.cr[0] & 1) * ENABLE;
                let new = write.over(old);
                let enable = u32::from(new & ENABLE != 0);
                self.write_separate(0, whole(new & 0xdffe | enable), at)
            }
            _ => same(offset).is_some_and(|offset| self.write_separate(offset, write, at)),
        }
    }
}
