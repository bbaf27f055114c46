//! RESETS of the RP2350 (RP2350 datasheet, subsystem resets): each peripheral is held in reset until its bit is 0.

use crate::access::{Device, Moment, Write};
use crate::chip::Chip;
use crate::clocks::Clocks;

const RESET: u32 = 0x0;
const WATCHDOG: u32 = 0x4;
const DONE: u32 = 0x8;
/// Peripherals that have a bit.
const ALL: u32 = 0x1fff_ffff;

/// The registers.
#[derive(Clone, Debug)]
pub struct Resets {
    held: u32,
    watchdog: u32,
    core_hz: u64,
}

impl Resets {
    /// After reset, on a board whose firmware will set the core to `core_hz`.
    pub fn new(chip: &Chip, core_hz: u64) -> Self {
        let held =
            chip.rcc_reset.iter().find(|(at, _)| *at == RESET).map_or(0, |(_, value)| *value);
        Self { held, watchdog: 0, core_hz: core_hz.max(1) }
    }

    /// Whether a peripheral is out of reset.
    pub const fn is_on(&self, bit: u32) -> bool {
        self.held >> (bit & 31) & 1 == 0
    }

    /// The clocks: peripherals run as fast as the core.
    pub const fn clocks(&self) -> Clocks {
        Clocks::of(self.core_hz, 1, [1; 2], 0)
    }
}

impl Device for Resets {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        match offset {
            RESET => Some(self.held),
            WATCHDOG => Some(self.watchdog),
            DONE => Some(!self.held & ALL),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, write: Write, _: Moment) -> bool {
        match offset {
            RESET => self.held = write.over(self.held) & ALL,
            WATCHDOG => self.watchdog = write.over(self.watchdog) & ALL,
            DONE => {}
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::access::Time;

    #[test]
    fn a_peripheral_answers_once_it_is_released() {
        let mut resets = Resets::new(crate::chip::find("rp2350").unwrap(), 150_000_000);
        let at = Moment { now: Time(0), clocks: resets.clocks() };
        // UART0, which is held, and IO_QSPI, which the boot ROM released.
        assert!(!resets.is_on(26) && resets.is_on(7));
        let held = resets.read(RESET, at).unwrap();
        assert!(resets.write(RESET, Write { value: held & !(1 << 26), mask: u32::MAX }, at));
        assert!(resets.is_on(26));
        assert_eq!(resets.read(DONE, at), Some(1 << 26 | 1 << 10 | 1 << 7));
    }
}
