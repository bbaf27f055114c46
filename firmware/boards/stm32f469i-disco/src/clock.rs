//! Measures the core's pipeline on the STM32F469I-DISCO and says it on the ST-LINK's virtual COM port,
//! once after each reset.
#![no_std]
#![no_main]

mod clocks;
mod uart;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "the plan and its memories are not used here")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use embassy_stm32::pac::FLASH;
use tilewright_board_support::{clock, marks};

#[cortex_m_rt::entry]
fn main() -> ! {
    let peripherals = embassy_stm32::init(clocks::config());
    let Some(mut core) = cortex_m::Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    // As where networks run (RM0386, 3.5.2).
    FLASH.acr().modify(|control| {
        control.set_prften(true);
        control.set_icen(true);
        control.set_dcen(true);
    });
    marks::CycleCounter::start(&mut core);
    let Ok(mut port) = uart::open(peripherals.USART3, peripherals.PB11, peripherals.PB10) else {
        panic!("the clocks set above cannot give the console's baud rate");
    };
    clock::run(&mut port, board::BOARD)
}
