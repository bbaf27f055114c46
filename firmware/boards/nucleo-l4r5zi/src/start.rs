//! Start-up: 120 MHz of the internal oscillator, which no crystal of the board is needed for.

use cortex_m::Peripherals;
use cortex_m::asm;
use stm32_metapac::common::{Read, Reg};
use stm32_metapac::rcc::vals::{Hpre, Pllm, Plln, Pllr, Pllsrc, Sw};
use stm32_metapac::{FLASH, PWR, RCC};

use crate::board;

/// The internal oscillator HSI16 (RM0432, HSI16 clock), factory-trimmed to 1 % (DS12023), which a serial port bears.
const OSCILLATOR_HERTZ: u32 = 16_000_000;
const _: () = assert!(OSCILLATOR_HERTZ / 4 * 60 / 2 == board::CLOCK_HERTZ);

/// Wait states of flash at 100 to 120 MHz in voltage range 1 with boost (RM0432, FLASH, read access latency).
const WAIT_STATES: u8 = 5;

/// PWR_CR5, which the register descriptions lack: its bit 8, R1MODE, is 0 in boost mode (RM0432, PWR_CR5).
const PWR_CR5: usize = 0x80;
const R1MODE: u32 = 1 << 8;

/// Waits until a clock runs that was enabled in a register (RM0432, peripheral clock enable registers). The read
/// waits for the store before it, DSB for both.
#[inline]
pub fn clock_runs<T: Copy, A: Read>(enabling: Reg<T, A>) {
    let _ = enabling.read();
    asm::dsb();
}

/// Makes everything ready that does not depend on what is wired to the pins: once, before anything else.
///
/// # Panics
/// If it is called again.
pub fn start() -> Peripherals {
    boost();
    FLASH.acr().modify(|control| {
        control.set_latency(WAIT_STATES);
        control.set_prften(true);
        control.set_icen(true);
        control.set_dcen(true);
    });
    while FLASH.acr().read().latency() != WAIT_STATES {}

    RCC.cr().modify(|control| control.set_hsion(true));
    while !RCC.cr().read().hsirdy() {}
    RCC.pllcfgr().write(|pll| {
        pll.set_pllsrc(Pllsrc::HSI);
        pll.set_pllm(Pllm::DIV4);
        pll.set_plln(Plln::MUL60);
        pll.set_pllr(Pllr::DIV2);
        pll.set_pllren(true);
    });
    RCC.cr().modify(|control| control.set_pllon(true));
    while !RCC.cr().read().pllrdy() {}

    // Half of it for a microsecond: from below 80 MHz to above, the clock changes in two steps (RM0432, PWR,
    // dynamic voltage scaling management).
    RCC.cfgr().modify(|clocks| {
        clocks.set_hpre(Hpre::DIV2);
        clocks.set_sw(Sw::PLL1_R);
    });
    while RCC.cfgr().read().sws() != Sw::PLL1_R {}
    asm::delay(board::CLOCK_HERTZ / 2 / 1_000_000);
    RCC.cfgr().modify(|clocks| clocks.set_hpre(Hpre::DIV1));

    let Some(core) = Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    core
}

/// The boost mode of voltage range 1, in which the core starts without it.
fn boost() {
    RCC.apb1enr1().modify(|enable| enable.set_pwren(true));
    clock_runs(RCC.apb1enr1());
    let register = PWR.as_ptr().wrapping_byte_add(PWR_CR5).cast::<u32>();
    // SAFETY: the register lies there (RM0432, PWR register map); it reaches no memory by itself.
    #[expect(unsafe_code, reason = "registers are behind addresses")]
    unsafe {
        register.write_volatile(register.read_volatile() & !R1MODE);
    }
    while PWR.sr2().read().vosf() {}
}
