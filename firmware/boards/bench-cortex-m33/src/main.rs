//! Firmware for a Cortex-M33 that exists in the emulator alone: runs the programs of the plan image that
//! lies behind it in flash, so that kernels can be measured.
#![no_std]
#![no_main]

mod memory;
mod uart;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "there is nothing outside of the core")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::console::{Console, PortError};
use tilewright_board_support::{layer_cycles, marks, sleep, wait};
use tilewright_plan::PlanImage;
use tilewright_plan::image::Expected;
use tilewright_runtime::console::{self, ConsoleError};
use tilewright_runtime::{Memory, NoEngines};
use uart::Usart;

#[cortex_m_rt::entry]
fn main() -> ! {
    let Some(mut core) = cortex_m::Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    let mut marker = marks::CycleCounter::start(&mut core);
    let mut port = uart::open();
    if let Err(ConsoleError::Port(error)) = wait::for_ready(run(&mut port, &mut marker)) {
        panic!("{error}");
    }
    // What could not go on has been said.
    sleep::for_ever()
}

/// Greets, finds the plan image and serves frames; returns if something failed and was said.
async fn run(
    port: &mut Console<Usart>,
    marker: &mut marks::CycleCounter,
) -> Result<(), ConsoleError<PortError>> {
    console::greet(port, board::BOARD).await?;
    let (plan, arena) = memory::take();
    let mut memory = Memory::new(arena);
    let expected = Expected { board: board::BOARD, space_bytes: memory.space_bytes() };
    let layers = layer_cycles();
    let ended = match PlanImage::read(plan, &expected) {
        Ok(image) => console::serve(port, &image, &mut memory, &mut NoEngines, marker, layers)
            .await
            .map(|never| match never {}),
        Err(error) => console::refuse(port, &error, board::PLAN_ADDRESS).await,
    };
    port.sent().await;
    ended
}
