//! Measures the core's pipeline on the STM32F746G-DISCO and says it on the ST-LINK's virtual COM port,
//! once after each reset.
#![no_std]
#![no_main]

mod clocks;
mod coupled;
mod uart;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "the plan and its memories are not used here")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::{clock, marks, wait};

#[cortex_m_rt::entry]
fn main() -> ! {
    coupled::fill();
    let peripherals = embassy_stm32::init(clocks::config());
    let Some(mut core) = cortex_m::Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    // As where networks run.
    core.SCB.enable_icache();
    core.SCB.enable_dcache(&mut core.CPUID);
    marks::CycleCounter::start(&mut core);
    let Ok(mut port) = uart::open(peripherals.USART1, peripherals.PB7, peripherals.PA9) else {
        panic!("the clocks set above cannot give the console's baud rate");
    };
    if let Err(error) = wait::for_ready(clock::measure(&mut port, board::BOARD)) {
        panic!("{error}");
    }
    loop {
        cortex_m::asm::wfi();
    }
}
