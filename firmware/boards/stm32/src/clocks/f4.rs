//! Clocks of the STM32F4: 180 MHz, which need over-drive and 5 flash wait states (RM0386, 5.1.4 and table 12);
//! `embassy_stm32::init` sets both.

use embassy_stm32::Config;
use embassy_stm32::rcc::{
    APBPrescaler, LsConfig, Pll, PllMul, PllPDiv, PllPreDiv, PllQDiv, PllRDiv, PllSource, Sysclk,
    mux,
};

use crate::Oscillator;

/// The core's clock: 360 MHz of the PLL, halved.
pub const CLOCK_HERTZ: u32 = 180_000_000;

/// The clocks' settings.
pub fn config(oscillator: Oscillator) -> Config {
    let mut config = Config::default();
    let rcc = &mut config.rcc;
    let to_2_mhz = PllPreDiv::from_bits((oscillator.hertz / 2_000_000) as u8);
    rcc.hse = Some(oscillator.hse());
    rcc.pll_src = PllSource::HSE;
    rcc.pll = Some(Pll {
        prediv: to_2_mhz,
        mul: PllMul::MUL180,
        divp: Some(PllPDiv::DIV2),
        // Unused, but dividing by 0 or 1 is a wrong configuration (RM0386, 6.3.2).
        divq: Some(PllQDiv::DIV8),
        divr: Some(PllRDiv::DIV2),
    });
    // 48 MHz for the card's controller, which the first PLL does not divide 360 MHz to.
    rcc.pllsai = Some(Pll {
        prediv: to_2_mhz,
        mul: PllMul::MUL192,
        divp: Some(PllPDiv::DIV8),
        divq: Some(PllQDiv::DIV4),
        divr: Some(PllRDiv::DIV2),
    });
    // Its output P (RM0386, RCC_DCKCFGR.CK48MSEL).
    rcc.mux.clk48sel = mux::Clk48sel::PLLSAI1_Q;
    rcc.sys = Sysclk::PLL1_P;
    // APB1 runs at up to 45 MHz, APB2 at up to 90 MHz (DS11189, table 17).
    rcc.apb1_pre = APBPrescaler::DIV4;
    rcc.apb2_pre = APBPrescaler::DIV2;
    // Nothing needs the low-speed clocks.
    rcc.ls = LsConfig::off();
    config
}
