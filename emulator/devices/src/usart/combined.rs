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

/// CR1 as it stands here, of CR1 in the newer layout.
const fn combined_control(control: u32) -> u32 {
    let enable = if control & 1 != 0 { ENABLE } else { 0 };
    control & 0xdffe | enable
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
            CR1 => self.read_separate(0, at).map(combined_control),
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
                let new = write.over(combined_control(self.cr[0]));
                let enable = u32::from(new & ENABLE != 0);
                self.write_separate(0, whole(new & 0xdffe | enable), at)
            }
            _ => same(offset).is_some_and(|offset| self.write_separate(offset, write, at)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::access::{Device, Time};
    use crate::clocks::Rcc;
    use crate::serial::Serial;

    fn at(cycles: u64) -> Moment {
        let board = tilewright_board::find("stm32f469i-disco").unwrap();
        let rcc = Rcc::new(crate::chip::find("stm32f469ni").unwrap(), &board);
        Moment { now: Time(cycles), clocks: rcc.clocks() }
    }

    fn word(value: u32) -> Write {
        Write { value, mask: u32::MAX }
    }

    /// On, with transmitter and receiver, ten clocks a bit.
    fn port() -> Usart {
        let mut port = Usart::combined(3);
        port.write(0x08, word(10), at(0));
        port.write(CR1, word(ENABLE | 0xc), at(0));
        port
    }

    #[test]
    fn control_keeps_its_bits_in_their_places() {
        let mut port = port();
        assert_eq!(port.read(CR1, at(0)), Some(ENABLE | 0xc));
        port.write(CR1, word(ENABLE | 0x80), at(0));
        assert_eq!(port.read(CR1, at(0)), Some(ENABLE | 0x80));
        assert!(port.lines()[0], "an empty transmitter interrupts");
    }

    #[test]
    fn a_byte_takes_the_time_of_its_bits_both_ways() {
        let mut port = port();
        port.write(DATA, word(0x5a), at(0));
        assert_eq!(port.read(STATUS, at(99)).unwrap() & TC, 0);
        assert_eq!(port.read(STATUS, at(100)).unwrap() & TC, TC);
        assert_eq!(port.take_sent(), [0x5a]);
        port.feed(&[0xa5], at(200));
        assert_eq!(port.read(STATUS, at(299)).unwrap() & RXNE, 0);
        assert_eq!(port.read(STATUS, at(300)).unwrap() & RXNE, RXNE);
        assert_eq!(port.read(DATA, at(300)), Some(0xa5));
        assert_eq!(port.read(STATUS, at(300)).unwrap() & RXNE, 0);
    }

    #[test]
    fn an_overrun_stays_until_status_and_data_are_read() {
        let mut port = port();
        port.feed(&[1, 2], at(0));
        assert_eq!(port.read(STATUS, at(1000)).unwrap() & ORE, ORE);
        assert_eq!(port.read(STATUS, at(1000)).unwrap() & ORE, ORE);
        assert_eq!(port.read(DATA, at(1000)), Some(1));
        assert_eq!(port.read(STATUS, at(1000)).unwrap() & ORE, 0);
    }
}
