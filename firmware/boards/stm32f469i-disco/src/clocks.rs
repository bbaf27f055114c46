//! Clocks: 180 MHz from the board's 8 MHz crystal, which needs over-drive and 5 flash wait states
//! (RM0386, 5.1.4 and table 12); `embassy_stm32::init` sets both.

use crate::board;
use embassy_stm32::Config;
use embassy_stm32::rcc::{
    APBPrescaler, Hse, HseMode, LsConfig, Pll, PllMul, PllPDiv, PllPreDiv, PllQDiv, PllRDiv,
    PllSource, Sysclk, mux,
};
use embassy_stm32::time::Hertz;

/// The crystal X2 on the board (UM1932, "HSE clock source").
const OSCILLATOR_HERTZ: u32 = 8_000_000;

const _: () = assert!(OSCILLATOR_HERTZ / 4 * 180 / 2 == board::CLOCK_HERTZ);

/// The clocks' settings.
pub fn config() -> Config {
    let mut config = Config::default();
    let rcc = &mut config.rcc;
    rcc.hse = Some(Hse { freq: Hertz(OSCILLATOR_HERTZ), mode: HseMode::Oscillator });
    rcc.pll_src = PllSource::HSE;
    rcc.pll = Some(Pll {
        prediv: PllPreDiv::DIV4,
        mul: PllMul::MUL180,
        divp: Some(PllPDiv::DIV2),
        // Unused, but dividing by 0 or 1 is a wrong configuration (RM0386, 6.3.2).
        divq: Some(PllQDiv::DIV8),
        divr: Some(PllRDiv::DIV2),
    });
    // 48 MHz for the card's controller, which the first PLL does not divide 360 MHz to.
    rcc.pllsai = Some(Pll {
        prediv: PllPreDiv::DIV4,
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
