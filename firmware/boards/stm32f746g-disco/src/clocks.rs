//! Clocks: 216 MHz from the board's 25 MHz oscillator, which needs over-drive and 7 flash wait
//! states (RM0385, 4.1.4 and table 7); `embassy_stm32::init` sets both.

use crate::board;
use embassy_stm32::Config;
use embassy_stm32::rcc::{
    APBPrescaler, Hse, HseMode, LsConfig, Pll, PllMul, PllPDiv, PllPreDiv, PllQDiv, PllSource,
    Sysclk,
};
use embassy_stm32::time::Hertz;

/// The oscillator X2 on the board (UM1907, "Clock sources").
const OSCILLATOR_HERTZ: u32 = 25_000_000;

const _: () = assert!(OSCILLATOR_HERTZ / 25 * 432 / 2 == board::CLOCK_HERTZ);

/// The clocks' settings.
pub fn config() -> Config {
    let mut config = Config::default();
    let rcc = &mut config.rcc;
    rcc.hse = Some(Hse { freq: Hertz(OSCILLATOR_HERTZ), mode: HseMode::Oscillator });
    rcc.pll_src = PllSource::HSE;
    rcc.pll = Some(Pll {
        prediv: PllPreDiv::DIV25,
        mul: PllMul::MUL432,
        divp: Some(PllPDiv::DIV2),
        // 48 MHz for the card's controller.
        divq: Some(PllQDiv::DIV9),
        divr: None,
    });
    rcc.sys = Sysclk::PLL1_P;
    // APB1 runs at up to 54 MHz, APB2 at up to 108 MHz (DS10916, table 16).
    rcc.apb1_pre = APBPrescaler::DIV4;
    rcc.apb2_pre = APBPrescaler::DIV2;
    // Nothing needs the low-speed clocks.
    rcc.ls = LsConfig::off();
    config
}
