//! Firmware for the STM32F746G-DISCO: runs the programs of the plan image that lies behind it in
//! flash, for frames that arrive on the ST-LINK's virtual COM port.
#![no_std]
#![no_main]

mod clocks;
mod coupled;
mod external;
mod uart;

/// What the board's file says; made by the build script.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::{marks, wait};
use tilewright_runtime::console::ConsoleError;
use tilewright_stm32::memory::{Place, Places};
use tilewright_stm32::{Board, Cache};

const BOARD: Board = Board {
    id: board::BOARD,
    places: Places {
        plan: Place { address: board::PLAN_ADDRESS, bytes: board::PLAN_BYTES },
        arena: Place { address: board::ARENA_ADDRESS, bytes: board::ARENA_BYTES },
        external_ram: Place {
            address: board::EXTERNAL_RAM_ADDRESS,
            bytes: board::EXTERNAL_RAM_BYTES,
        },
        external_flash: Place {
            address: board::EXTERNAL_FLASH_ADDRESS,
            bytes: board::EXTERNAL_FLASH_BYTES,
        },
    },
    card_bytes: board::CARD_BYTES,
    clock_hertz: board::CLOCK_HERTZ,
};

#[cortex_m_rt::entry]
fn main() -> ! {
    coupled::fill();
    let peripherals = embassy_stm32::init(clocks::config());
    let Some(mut core) = cortex_m::Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    core.SCB.enable_icache();
    core.SCB.enable_dcache(&mut core.CPUID);
    let mut marker = marks::CycleCounter::start(&mut core);
    let Ok((mut port, memories)) = external::set_up(peripherals, &mut core) else {
        panic!("the clocks set above cannot give the console's baud rate");
    };
    let cache = Cache::new(core.CBP, board::UNCACHED);
    let served = wait::for_ready(BOARD.serve(&mut port, memories, cache, &mut marker));
    if let Err(ConsoleError::Port(error)) = served {
        panic!("{error}");
    }
    // What could not go on has been said.
    loop {
        cortex_m::asm::wfi();
    }
}
