//! Firmware for the STM32F469I-DISCO: runs the programs of the plan image that lies behind it in
//! flash, for frames that arrive on the ST-LINK's virtual COM port.
#![no_std]
#![no_main]

mod clocks;
mod external;
mod uart;

/// What the board's file says; made by the build script.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use embassy_stm32::pac::FLASH;
use tilewright_board_support::marks;
use tilewright_stm32::{Board, Cache};

const BOARD: Board = tilewright_stm32::board!(board);

#[cortex_m_rt::entry]
fn main() -> ! {
    let peripherals = embassy_stm32::init(clocks::config());
    let Some(mut core) = cortex_m::Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    // The flash accelerator, in front of five wait states (RM0386, 3.5.2).
    FLASH.acr().modify(|control| {
        control.set_prften(true);
        control.set_icen(true);
        control.set_dcen(true);
    });
    let mut marker = marks::CycleCounter::start(&mut core);
    let Ok((mut port, memories)) = external::set_up(peripherals, &mut core) else {
        panic!("the clocks set above cannot give the console's baud rate");
    };
    let cache = Cache::none();
    BOARD.run(&mut port, memories, cache, &mut marker);
    loop {
        cortex_m::asm::wfi();
    }
}
