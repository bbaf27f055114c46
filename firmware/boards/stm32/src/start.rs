//! Start-up of an STM32F7: code that is coupled to the core, clocks, caches.

use cortex_m::Peripherals as CorePeripherals;
use embassy_stm32::rcc::{
    APBPrescaler, Hse, HseMode, LsConfig, Pll, PllMul, PllPDiv, PllPreDiv, PllQDiv, PllRDiv,
    PllSource, Sysclk,
};
use embassy_stm32::time::Hertz;
use embassy_stm32::{Config, Peripherals};

use crate::coupled;

/// The core's clock: 432 MHz of the PLL, halved.
pub const CLOCK_HERTZ: u32 = 216_000_000;

/// What makes a board's clock.
#[derive(Clone, Copy)]
pub struct Oscillator {
    /// Its frequency, of whole megahertz.
    pub hertz: u32,
    /// Whether it is a crystal on the microcontroller's two pins, or a clock that arrives at one.
    pub mode: HseMode,
}

/// Makes everything ready that does not depend on what is wired to the pins: once, before anything else.
///
/// # Panics
/// If it is called again.
pub fn start(oscillator: Oscillator) -> (Peripherals, CorePeripherals) {
    coupled::fill();
    let peripherals = embassy_stm32::init(clocks(oscillator));
    let Some(mut core) = CorePeripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    core.SCB.enable_icache();
    core.SCB.enable_dcache(&mut core.CPUID);
    (peripherals, core)
}

/// 216 MHz, which need over-drive and 7 flash wait states (RM0385, 4.1.4 and table 7; RM0410, 4.1.4 and
/// table 7); `embassy_stm32::init` sets both.
fn clocks(oscillator: Oscillator) -> Config {
    let mut config = Config::default();
    let rcc = &mut config.rcc;
    rcc.hse = Some(Hse { freq: Hertz(oscillator.hertz), mode: oscillator.mode });
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
