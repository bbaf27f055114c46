//! Firmware for the STM32F746G-DISCO: runs the programs of the plan image that lies behind it in
//! flash, for frames that arrive on the ST-LINK's virtual COM port.
#![no_std]
#![no_main]

mod clocks;
mod external;
mod memory;
mod protection;
mod sdram;
mod serial_flash;
mod uart;

/// What the board's file says; made by the build script.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use cortex_m::peripheral::SCB;
use memory::Memories;
use tilewright_board_support::console::{Console, PortError};
use tilewright_board_support::{marks, wait};
use tilewright_plan::PlanImage;
use tilewright_plan::image::Expected;
use tilewright_runtime::Memory;
use tilewright_runtime::console::{self, ConsoleError};
use tilewright_stm32::{Cache, Engines, Spaces};
use uart::Usart;

#[cortex_m_rt::entry]
fn main() -> ! {
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
    let served = wait::for_ready(run(&mut port, memories, core.SCB, &mut marker));
    if let Err(ConsoleError::Port(error)) = served {
        panic!("{error}");
    }
    // What could not go on has been said.
    loop {
        cortex_m::asm::wfi();
    }
}

/// Where engines find memories.
const SPACES: Spaces = Spaces {
    arena: board::ARENA_ADDRESS as u32,
    external_ram: Some(board::EXTERNAL_RAM_ADDRESS as u32),
    external_flash: Some(board::EXTERNAL_FLASH_ADDRESS as u32),
    clock_hertz: board::CLOCK_HERTZ,
};

/// Greets, finds the plan image and serves frames; returns if something failed and was said.
async fn run(
    port: &mut Console<Usart>,
    memories: Memories,
    scb: SCB,
    marker: &mut marks::CycleCounter,
) -> Result<(), ConsoleError<PortError>> {
    console::greet(port, board::BOARD).await?;
    let Memories { plan, arena, external_ram, external_flash } = memories;
    let memory = Memory::new(arena).with_external(external_ram, external_flash);
    let mut memory = memory.with_card(board::CARD_BYTES);
    let expected = Expected { board: board::BOARD, space_bytes: memory.space_bytes() };
    let ended = match PlanImage::read(plan, &expected) {
        Ok(image) => {
            let cache = Cache::new(scb, board::UNCACHED);
            let mut engines = Engines::new(image, cache, SPACES);
            console::serve(port, &image, &mut memory, &mut engines, marker)
                .await
                .map(|never| match never {})
        }
        Err(error) => console::refuse(port, &error, board::PLAN_ADDRESS).await,
    };
    port.sent().await;
    ended
}
