//! What the manuals and the card's specification ask of whoever writes the controller's registers, and what of a
//! controller or its board may be amiss.

use super::{CLKCR, CMD, DCTRL, POWER, Sdmmc};
use crate::access::{Moment, Time};

/// Between two writes to one of these three clocks of the controller and two of the APB have to pass (RM0385 and RM0410,
/// SDMMC_POWER, SDMMC_CLKCR, SDMMC_CMD, SDMMC_DCTRL; RM0386, SDIO likewise).
const SPACED: [u32; 4] = [POWER, CLKCR, CMD, DCTRL];
const TOO_SOON: &str = "it is written again before three clocks of the controller and two of its bus have passed: a \
                        board loses the second value (RM0385, SDMMC registers; RM0386, SDIO registers)";
/// SD Physical Layer Simplified Specification 6.00, 4.2.1 (identification), 4.3.10 (high speed), 6.4.1 (power up).
const IDENTIFIES: &str = "a command at more than 400 kHz before CMD3: a board's card need not understand it (SD \
                          specification, 4.2.1)";
const TOO_FAST: &str = "a command at more than 25 MHz before CMD6 has switched the card to high speed: a board's card \
                        does not understand it (SD specification, 4.3.10)";
const WARMS_UP: &str = "CMD0 before the card had 74 clocks behind its power-up: a board's card does not hear it (SD \
                        specification, 6.4.1)";
/// RM0385, 35.3; RM0386, 31.3.
const SLOW_BUS: &str = "the controller's bus is slower than 3/32 of its lines times the card's clock: a board's FIFO \
                        runs over or empty (RM0385, 35.3; RM0386, 31.3)";
/// Fastest clock of a card that has no address yet.
const IDENTIFICATION_HZ: u64 = 400_000;
/// Clocks before the first command.
const WARM_UP: u64 = 74;

/// What of a controller, or of its board, is not as it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardQuirks {
    /// Above this clock blocks of data fail their checksum, as on STM32F4 where BYPASS gives too little hold time.
    pub fastest_hertz: Option<u64>,
    /// RXFIFOF never rises.
    pub full_flag_missing: bool,
    /// Hardware flow control spoils data (ES0321, SDIO hardware flow control).
    pub flow_control_fails: bool,
}

/// What the rules look back at.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// When the registers of [`SPACED`] were written last.
    written: [Option<Time>; 4],
    /// Since when the card has power and a clock.
    clocked: Option<Time>,
    pub broken: Option<&'static str>,
}

impl Sdmmc {
    /// Looks at a register that was written.
    pub(super) fn obey(&mut self, offset: u32, at: Moment) {
        if let Some(place) = SPACED.iter().position(|register| *register == offset) {
            let last = self.rules.written[place].replace(at.now);
            let (clocks, hertz) = (at.clocks, at.clocks.card_hz());
            let pause = match hertz {
                0 => 0,
                _ => clocks.cycles_of(3, hertz).saturating_add(clocks.apb_cycles(1, 2)),
            };
            if last.is_some_and(|last| at.now.since(last) < pause) {
                self.rules.broken = Some(TOO_SOON);
            }
        }
        let was = self.rules.clocked.take();
        self.rules.clocked = self.is_clocked().then(|| was.unwrap_or(at.now));
    }

    /// Looks at a command that is sent, and at data that are to come or go.
    pub(super) fn obey_card(&mut self, command: Option<u32>, at: Moment) {
        let (clocks, hertz) = (at.clocks, self.clock_hz(at.clocks));
        let Some(card) = &self.card else { return };
        let warm = self.rules.clocked.map(|since| at.now.since(since));
        let lines = if self.get(CLKCR) >> 11 & 3 == 1 { 4 } else { 1 };
        self.rules.broken =
            if command.is_some() && !card.is_identified() && hertz > IDENTIFICATION_HZ {
                Some(IDENTIFIES)
            } else if command.is_some() && hertz > card.fastest_clock() {
                Some(TOO_FAST)
            } else if command == Some(0)
                && warm.is_none_or(|warm| warm < clocks.cycles_of(WARM_UP, hertz))
            {
                Some(WARMS_UP)
            } else if clocks.apb_hz(1) * 32 < 3 * lines * hertz {
                Some(SLOW_BUS)
            } else {
                return;
            };
    }

    /// Whether blocks of data fail their checksum with the settings of now.
    pub(super) fn spoils(&self, at: Moment) -> bool {
        let fast = self.quirks.fastest_hertz.is_some_and(|most| self.clock_hz(at.clocks) > most);
        fast || self.quirks.flow_control_fails && self.get(CLKCR) & super::FLOW_CONTROL != 0
    }
}
