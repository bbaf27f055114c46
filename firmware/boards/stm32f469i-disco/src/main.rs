//! Firmware for the STM32F469I-DISCO: runs the programs of the plan image that lies behind it in
//! flash, for frames that arrive on the ST-LINK's virtual COM port.
#![no_std]
#![no_main]

mod clocks;
mod memory;
mod uart;

/// What the board's file says; made by the build script.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use embassy_stm32::pac::FLASH;
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
    // The flash accelerator, in front of five wait states (RM0386, 3.5.2).
    FLASH.acr().modify(|control| {
        control.set_prften(true);
        control.set_icen(true);
        control.set_dcen(true);
    });
    let mut marker = marks::CycleCounter::start(&mut core);
    let p = peripherals;
    // Clock, command, data (UM1932, microSD card).
    tilewright_stm32::power_up_card([
        p.PC12.into(),
        p.PD2.into(),
        p.PC8.into(),
        p.PC9.into(),
        p.PC10.into(),
        p.PC11.into(),
    ]);
    let Ok(mut port) = uart::open(p.USART3, p.PB11, p.PB10) else {
        panic!("the clocks set above cannot give the console's baud rate");
    };
    if let Err(ConsoleError::Port(error)) = wait::for_ready(run(&mut port, &mut marker)) {
        panic!("{error}");
    }
    // What could not go on has been said.
    loop {
        cortex_m::asm::wfi();
    }
}

/// Where engines find memories: none outside of the microcontroller is served.
const SPACES: Spaces = Spaces {
    arena: board::ARENA_ADDRESS as u32,
    external_ram: None,
    external_flash: None,
    clock_hertz: board::CLOCK_HERTZ,
};

/// Greets, finds the plan image and serves frames; returns if something failed and was said.
async fn run(
    port: &mut Console<Usart>,
    marker: &mut marks::CycleCounter,
) -> Result<(), ConsoleError<PortError>> {
    console::greet(port, board::BOARD).await?;
    let (plan, arena) = memory::take();
    let mut memory = Memory::new(arena).with_card(board::CARD_BYTES);
    let expected = Expected { board: board::BOARD, space_bytes: memory.space_bytes() };
    let ended = match PlanImage::read(plan, &expected) {
        Ok(image) => {
            let mut engines = Engines::new(image, Cache::none(), SPACES);
            console::serve(port, &image, &mut memory, &mut engines, marker)
                .await
                .map(|never| match never {})
        }
        Err(error) => console::refuse(port, &error, board::PLAN_ADDRESS).await,
    };
    port.sent().await;
    ended
}
