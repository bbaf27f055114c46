//! Start-up: code for SRAM, and 150 MHz of the board's crystal. The boot ROM has made the serial flash readable, and it
//! stays as it is: at the new clock its own is 50 MHz.

use cortex_m::Peripherals;
use rp_pac::clocks::vals::{ClkPeriCtrlAuxsrc, ClkRefCtrlSrc, ClkSysCtrlAuxsrc, ClkSysCtrlSrc};
use rp_pac::xosc::vals::{CtrlFreqRange, Enable};
use rp_pac::{CLOCKS, PLL_SYS, RESETS, XOSC, pll, resets};
use tilewright_board_support::coupled;

use crate::board;

/// The crystal (Raspberry Pi Pico 2 datasheet, schematic).
const OSCILLATOR_HERTZ: u32 = 12_000_000;
/// What the PLL multiplies it by, to 750 to 1600 MHz, and divides that by (RP2350 datasheet, PLL).
const MULTIPLIER: u16 = 125;
const DIVIDERS: [u8; 2] = [5, 2];
const _: () = assert!(
    OSCILLATOR_HERTZ * MULTIPLIER as u32 / DIVIDERS[0] as u32 / DIVIDERS[1] as u32
        == board::CLOCK_HERTZ
);
/// A millisecond in 256 clocks of the crystal, rounded (RP2350 datasheet, XOSC, start-up delay).
const START_UP: u16 = ((OSCILLATOR_HERTZ / 1000 + 128) / 256) as u16;

/// What the boot ROM takes for a program: an image for Arm cores in secure mode, and no further block (RP2350
/// datasheet, minimum viable image metadata).
#[expect(unsafe_code, reason = "the section's name is a contract with the linker's script")]
#[unsafe(link_section = ".start_block")]
#[used]
static IMAGE_DEFINITION: [u32; 5] =
    [0xffff_ded3, 0x1021_0142, 0x0000_01ff, 0x0000_0000, 0xab12_3579];

/// Takes peripherals out of reset.
pub fn release(which: impl FnOnce(&mut resets::regs::Peripherals)) {
    let mut wanted = resets::regs::Peripherals(0);
    which(&mut wanted);
    RESETS.reset().modify(|held| held.0 &= !wanted.0);
    while RESETS.reset_done().read().0 & wanted.0 != wanted.0 {}
}

/// Makes everything ready that does not depend on what is wired to the pins: once, before anything else.
///
/// # Panics
/// If it is called again.
pub fn start() -> Peripherals {
    coupled::fill();
    XOSC.startup().write(|wait| wait.set_delay(START_UP));
    XOSC.ctrl().write(|control| {
        control.set_freq_range(CtrlFreqRange::_1_15MHZ);
        control.set_enable(Enable::ENABLE);
    });
    while !XOSC.status().read().stable() {}
    // Off the PLL, in case that a debugger started this.
    CLOCKS.clk_sys_ctrl().modify(|clock| clock.set_src(ClkSysCtrlSrc::CLK_REF));
    while CLOCKS.clk_sys_selected().read().0 != 1 << ClkSysCtrlSrc::CLK_REF as u32 {}
    CLOCKS.clk_ref_ctrl().modify(|clock| clock.set_src(ClkRefCtrlSrc::XOSC_CLKSRC));
    while CLOCKS.clk_ref_selected().read().0 != 1 << ClkRefCtrlSrc::XOSC_CLKSRC as u32 {}

    RESETS.reset().modify(|held| held.set_pll_sys(true));
    release(|which| which.set_pll_sys(true));
    PLL_SYS.cs().write(|control| control.set_refdiv(1));
    PLL_SYS.fbdiv_int().write(|factor| factor.set_fbdiv_int(MULTIPLIER));
    PLL_SYS.pwr().modify(|off: &mut pll::regs::Pwr| {
        off.set_pd(false);
        off.set_vcopd(false);
    });
    while !PLL_SYS.cs().read().lock() {}
    PLL_SYS.prim().write(|dividers| {
        dividers.set_postdiv1(DIVIDERS[0]);
        dividers.set_postdiv2(DIVIDERS[1]);
    });
    PLL_SYS.pwr().modify(|off| off.set_postdivpd(false));

    CLOCKS.clk_sys_ctrl().modify(|clock| clock.set_auxsrc(ClkSysCtrlAuxsrc::CLKSRC_PLL_SYS));
    CLOCKS.clk_sys_ctrl().modify(|clock| clock.set_src(ClkSysCtrlSrc::CLKSRC_CLK_SYS_AUX));
    while CLOCKS.clk_sys_selected().read().0 != 1 << ClkSysCtrlSrc::CLKSRC_CLK_SYS_AUX as u32 {}
    CLOCKS.clk_peri_ctrl().write(|clock| {
        clock.set_auxsrc(ClkPeriCtrlAuxsrc::CLK_SYS);
        clock.set_enable(true);
    });
    let Some(core) = Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    core
}
