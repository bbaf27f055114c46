//! What switches the clocks of peripherals, by family.

use tilewright_board::Board;

use crate::access::{Device, Time};
use crate::chip::{Chip, Layout};
use crate::clocks::{ClockError, Clocks, Rcc, Supply};
use crate::clocks_l4::RccL4;
use crate::resets::Resets;

/// A clock control.
#[derive(Clone, Debug)]
pub enum ClockControl {
    /// None: all that firmware uses is clocked as the core is.
    None(Clocks),
    /// RCC of STM32F4 and STM32F7.
    Stm32f4(Rcc),
    /// RCC of STM32L4+.
    Stm32l4(RccL4),
    /// RESETS of the RP2350.
    Rp2350(Resets),
}

impl ClockControl {
    /// That of a microcontroller after reset, on a board.
    pub fn new(chip: &Chip, board: &Board) -> Self {
        let core_hz = board.core.clock.hertz.0;
        match chip.layout {
            Layout::None => Self::None(Clocks::of(core_hz.max(1), 1, [1; 2], 0)),
            Layout::Stm32f4 => Self::Stm32f4(Rcc::new(chip, board)),
            Layout::Stm32l4 => Self::Stm32l4(RccL4::new(chip, core_hz)),
            Layout::Rp2350 => Self::Rp2350(Resets::new(chip, core_hz)),
        }
    }

    /// Its registers.
    pub fn device(&mut self) -> Option<&mut dyn Device> {
        match self {
            Self::None(_) => None,
            Self::Stm32f4(rcc) => Some(rcc),
            Self::Stm32l4(rcc) => Some(rcc),
            Self::Rp2350(resets) => Some(resets),
        }
    }

    /// Whether the enable bit of a peripheral is set.
    pub fn is_on(&self, register: u32, bit: u32) -> bool {
        match self {
            Self::None(_) => true,
            Self::Stm32f4(rcc) => rcc.is_on(register, bit),
            Self::Stm32l4(rcc) => rcc.is_on(register, bit),
            Self::Rp2350(resets) => resets.is_on(bit),
        }
    }

    /// Core cycles since a peripheral's clock was enabled and until it runs, if it does not yet.
    pub fn settles(&self, register: u32, bit: u32, now: Time) -> Option<(u64, u64)> {
        match self {
            Self::None(_) | Self::Rp2350(_) => None,
            Self::Stm32f4(rcc) => rcc.settles(register, bit, now),
            Self::Stm32l4(rcc) => rcc.settles(register, bit, now),
        }
    }

    /// The core waited until its stores had taken effect: clocks that they enabled run.
    pub fn settle(&mut self) {
        match self {
            Self::None(_) | Self::Rp2350(_) => {}
            Self::Stm32f4(rcc) => rcc.settle(),
            Self::Stm32l4(rcc) => rcc.settle(),
        }
    }

    const fn stm32f4(&self) -> Option<&Rcc> {
        match self {
            Self::Stm32f4(rcc) => Some(rcc),
            _ => None,
        }
    }

    /// What a setting broke, whose register holds something else than was written.
    pub fn take_broken(&mut self) -> Option<ClockError> {
        match self {
            Self::Stm32f4(rcc) => rcc.take_broken(),
            _ => None,
        }
    }

    /// The board's oscillator does not oscillate.
    pub fn stop_oscillator(&mut self) {
        if let Self::Stm32f4(rcc) = self {
            rcc.stop_oscillator();
        }
    }

    /// Whether the PLL is on whose clock has to suit flash and supply.
    pub fn pll_on(&self) -> bool {
        self.stm32f4().is_some_and(Rcc::pll_on)
    }

    /// What registers break that say how clocks are made, and how fast they may be with this supply.
    ///
    /// # Errors
    /// The first rule that does not hold.
    pub fn check(&self, supply: Supply) -> Result<(), ClockError> {
        self.stm32f4().map_or(Ok(()), |rcc| rcc.check(supply))
    }

    /// Whether a user of the 48 MHz clock has it.
    ///
    /// # Errors
    /// [`ClockError::FortyEight`] if it is off by more than 0.25 %.
    pub fn check_forty_eight(&self, user: &'static str) -> Result<(), ClockError> {
        self.stm32f4().map_or(Ok(()), |rcc| rcc.check_forty_eight(user))
    }

    /// The clocks now.
    pub fn clocks(&self) -> Clocks {
        match self {
            Self::None(clocks) => *clocks,
            Self::Stm32f4(rcc) => rcc.clocks(),
            Self::Stm32l4(rcc) => rcc.clocks(),
            Self::Rp2350(resets) => resets.clocks(),
        }
    }
}
