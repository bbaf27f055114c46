//! Firmware for the STM32F746G-DISCO: runs the programs of the plan image that lies behind it in
//! flash, for frames that arrive on the ST-LINK's virtual COM port.
#![no_std]
#![no_main]

mod clocks;
mod faults;
mod marks;
mod memory;

/// What the board's file says; made by the build script.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use embassy_executor::Spawner;
use embassy_stm32::usart::{self, BufferedInterruptHandler, BufferedUart};
use embassy_stm32::{bind_interrupts, peripherals};
use tilewright_plan::PlanImage;
use tilewright_plan::image::Expected;
use tilewright_runtime::{Memory, NoEngines, console};

bind_interrupts!(struct Interrupts {
    USART1 => BufferedInterruptHandler<peripherals::USART1>;
});

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let peripherals = embassy_stm32::init(clocks::config());
    let Some(mut core) = cortex_m::Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    core.SCB.enable_icache();
    core.SCB.enable_dcache(&mut core.CPUID);
    let mut marker = marks::CycleCounter::start(&mut core);

    let mut settings = usart::Config::default();
    settings.baudrate = board::BAUD;
    // Frames come in one piece, but nothing tells where they end: wake for each byte.
    settings.eager_reads = Some(1);
    let (mut sending, mut receiving) = ([0; 256], [0; 256]);
    let port = BufferedUart::new(
        peripherals.USART1,
        peripherals.PB7,
        peripherals.PA9,
        &mut sending,
        &mut receiving,
        Interrupts,
        settings,
    );
    let Ok(mut port) = port else {
        panic!("the console's baud rate can be had from the clocks set above");
    };
    if console::greet(&mut port, board::BOARD).await.is_err() {
        panic!("the console does not take text");
    }

    let (plan, arena) = memory::take();
    let mut memory = Memory::new(arena);
    let expected = Expected { board: board::BOARD, space_bytes: memory.space_bytes() };
    let ended = match PlanImage::read(plan, &expected) {
        Ok(image) => console::serve(&mut port, &image, &mut memory, &mut NoEngines, &mut marker)
            .await
            .map(|never| match never {}),
        Err(error) => console::refuse(&mut port, &error, board::PLAN_ADDRESS).await,
    };
    if let Err(console::ConsoleError::Port(error)) = ended {
        panic!("the serial port failed: {error:?}");
    }
    // What is left in the port's buffer is sent by interrupts.
    core::future::pending::<()>().await;
}
