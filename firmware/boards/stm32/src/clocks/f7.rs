//! Clocks of the STM32F7: 216 MHz, which need over-drive and 7 flash wait states (RM0385, 4.1.4 and table 7;
//! RM0410, 4.1.4 and table 7); `embassy_stm32::init` sets both.

use embassy_stm32::Config;
use embassy_stm32::rcc::{
    APBPrescaler, LsConfig, Pll, PllMul, PllPDiv, PllPreDiv, PllQDiv, PllRDiv, PllSource, Sysclk,
};

use crate::Oscillator;

/// The core's clock: 432 MHz of the PLL, halved.
pub const CLOCK_HERTZ: u32 = 216_000_000;

/// The clocks' settings.
pub fn config(oscillator: Oscillator) -> Config {
    let mut config = Config::default();
    let rcc = &mut config.rcc;
    rcc.hse = Some(oscillator.hse());
    rcc.pll_src = PllSource::HSE;
    rcc.pll = Some(Pll {
        // To 1 MHz.
        prediv: PllPreDiv::from_bits((oscillator.hertz / 1_000_000) as u8),
        mul: PllMul::MUL432,
        divp: Some(PllPDiv::DIV2),
        // 48 MHz for the card's controller.
        divq: Some(PllQDiv::DIV9),
        // What its bits hold at reset: reserved on the STM32F746 (RM0385, 5.3.2), unused on the STM32F767, where
        // dividing by 0 or 1 is a wrong configuration (RM0410, 5.3.2).
        divr: Some(PllRDiv::DIV2),
    });
    rcc.sys = Sysclk::PLL1_P;
    // APB1 runs at up to 54 MHz, APB2 at up to 108 MHz (DS10916, table 16; DS11532, general operating
    // conditions).
    rcc.apb1_pre = APBPrescaler::DIV4;
    rcc.apb2_pre = APBPrescaler::DIV2;
    // Nothing needs the low-speed clocks.
    rcc.ls = LsConfig::off();
    config
}
