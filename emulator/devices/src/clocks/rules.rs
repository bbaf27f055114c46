//! Rules of clocks that registers set.

use super::{BY_PLL, CR, ClockError, PLLCFGR, PLLS, Rcc, Supply};

/// What 48 MHz may be: 0.25 % less or more (RM0385, 5.2, for USB; card and random numbers are held to it too).
const FORTY_EIGHT: std::ops::RangeInclusive<u64> = 47_880_000..=48_120_000;
/// The fastest clock of the card's controller when it takes the system's (DS10916, SD/SDIO characteristics).
const FASTEST_CARD: u64 = 50_000_000;

impl Rcc {
    /// What registers break that say how clocks are made, and how fast they may be with this supply.
    ///
    /// # Errors
    /// The first rule that does not hold.
    pub fn check(&self, supply: Supply) -> Result<(), ClockError> {
        let Some(limits) = self.limits else { return Ok(()) };
        for (bit, register) in PLLS {
            if self.get(CR) >> bit & 1 != 0 {
                self.check_pll(self.get(register))?;
            }
        }
        let clocks = self.clocks();
        let hertz = clocks.core_hz;
        let limit = limits.scales[supply.scale.min(2)][usize::from(supply.over_drive)];
        if hertz > limit {
            return Err(ClockError::Voltage { hertz, limit });
        }
        let (states, needed) = (supply.wait_states, (hertz - 1) / limits.wait_state);
        if states < needed {
            return Err(ClockError::WaitStates { hertz, states, needed });
        }
        for (apb, limit) in limits.apb.into_iter().enumerate() {
            let hertz = clocks.apb_hz(apb);
            if hertz > limit {
                return Err(ClockError::Apb { bus: apb + 1, hertz, limit });
            }
        }
        if self.switched_to() == BY_PLL && hertz != self.told_hz {
            return Err(ClockError::Core { made: hertz, told: self.told_hz });
        }
        Ok(())
    }

    /// The rules of a PLL that is on, whose factors are in this word: 1 to 2 MHz in, 100 to 432 MHz of N times that,
    /// codes of Q and R (RM0385, RM0410 and RM0386, RCC_PLLCFGR and RCC_PLLSAICFGR).
    fn check_pll(&self, word: u32) -> Result<(), ClockError> {
        let divisor = u64::from(self.get(PLLCFGR) & 0x3f);
        let input = self.pll_source().checked_div(divisor).unwrap_or(0);
        if divisor < 2 || !(1_000_000..=2_000_000).contains(&input) {
            return Err(ClockError::Input { hertz: input });
        }
        let factor = u64::from(word >> 6 & 0x1ff);
        let hertz = self.multiplied(word);
        if !(50..=432).contains(&factor) || !(100_000_000..=432_000_000).contains(&hertz) {
            return Err(ClockError::Oscillates { factor, hertz });
        }
        let divides = |shift: u32, bits: u32| word >> shift & ((1 << bits) - 1) >= 2;
        if divides(24, 4) && divides(28, 3) { Ok(()) } else { Err(ClockError::Divides) }
    }

    /// Whether a user of the 48 MHz clock has it.
    ///
    /// # Errors
    /// [`ClockError::FortyEight`] if it is off by more than 0.25 %.
    pub fn check_forty_eight(&self, user: &'static str) -> Result<(), ClockError> {
        let hertz = self.clocks().card_hz;
        let by_system = self.get(self.card_clock) >> 28 & 1 != 0;
        let is_right =
            FORTY_EIGHT.contains(&hertz) || by_system && (1..=FASTEST_CARD).contains(&hertz);
        if self.limits.is_none() || is_right {
            return Ok(());
        }
        Err(ClockError::FortyEight { user, hertz })
    }
}
