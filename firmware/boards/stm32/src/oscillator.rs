//! The clock that comes from the board: a crystal, or the ST-LINK.

use core::fmt;

use embassy_stm32::pac::RCC;
use embassy_stm32::rcc::{Hse, HseMode};
use embassy_stm32::time::Hertz;

/// How often it is asked whether it is steady: a tenth of a second at the 16 MHz that run after reset, some fifty times what
/// a crystal takes (DS10916 and DS11189, HSE oscillator characteristics: 2 ms).
const ASKED: u32 = 200_000;

/// What makes a board's clock.
#[derive(Clone, Copy)]
pub struct Oscillator {
    /// Its frequency, of whole megahertz.
    pub hertz: u32,
    /// Whether it is a crystal on the microcontroller's two pins, or a clock that arrives at one.
    pub mode: HseMode,
}

impl Oscillator {
    /// Starts it; whether it is steady within a tenth of a second. `embassy_stm32::init` waits for ever.
    #[must_use]
    pub fn starts(self) -> bool {
        RCC.cr().modify(|control| control.set_hsebyp(self.mode != HseMode::Oscillator));
        RCC.cr().modify(|control| control.set_hseon(true));
        let starts = (0..ASKED).any(|_| RCC.cr().read().hserdy());
        if !starts {
            RCC.cr().modify(|control| control.set_hseon(false));
        }
        starts
    }

    /// As `embassy_stm32` has it.
    #[must_use]
    pub const fn hse(self) -> Hse {
        Hse { freq: Hertz(self.hertz), mode: self.mode }
    }
}

/// Why a board stops whose oscillator did not start: everything else counts on its frequency.
impl fmt::Display for Oscillator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.mode {
            HseMode::Oscillator => "crystal does not oscillate",
            _ => "clock does not come from the ST-LINK",
        };
        write!(f, "the board's {} MHz {source}", self.hertz / 1_000_000)
    }
}
