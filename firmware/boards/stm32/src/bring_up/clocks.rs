//! Clocks and what they rest on: what the registers say.

use core::fmt::{self, Write};

use embassy_stm32::pac::{DBGMCU, FLASH, PWR, RCC};

use super::{Checked, Line, failure, holds};
use crate::{Board, Oscillator};

/// The system clock is the PLL's output (RM0385, 5.3.3, SWS).
const BY_PLL: u8 = 2;
/// Flash wait states at the full clock (RM0385, table 7; RM0386, table 12).
const WAIT_STATES: u8 = if cfg!(feature = "stm32f4") { 5 } else { 7 };

/// Which microcontroller it is, and why it began.
pub struct Identity {
    device: u32,
    reset: u32,
}

impl Identity {
    /// Reads both (RM0385, 40.6.1 and 5.3.21; RM0386, 38.6.1 and 6.3.21).
    pub fn read() -> Self {
        Self { device: DBGMCU.idcode().read().0, reset: RCC.csr().read().0 >> 24 }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {:#010x} reset {:#04x}", self.device, self.reset)
    }
}

/// Whether the core runs at its full clock, with what that needs.
pub fn check(line: &mut Line, board: &Board, missing: Option<Oscillator>) -> Checked {
    if let Some(oscillator) = missing {
        return Err(failure(format_args!("{oscillator}")));
    }
    let source = RCC.cfgr().read().sws().to_bits();
    let states = FLASH.acr().read().latency().to_bits();
    let power = PWR.csr1().read();
    let (over_drive, regulator) = (power.odrdy() && power.odswrdy(), power.vosrdy());
    let megahertz = board.clock_hertz / 1_000_000;
    let _ = write!(line, " {megahertz} MHz, {states} wait states, over-drive");
    holds(source == BY_PLL, format_args!("the core runs by source {source}, not the PLL"))?;
    holds(states == WAIT_STATES, format_args!("{states} wait states, not {WAIT_STATES}"))?;
    holds(over_drive, format_args!("over-drive is off"))?;
    holds(regulator, format_args!("the regulator is not ready"))
}
