//! Serial flash on bank 1 of QUADSPI: an N25Q128A (UM1907, 6.19 and table 15; UM1932, Quad-SPI NOR flash
//! memory), read like memory.

use embassy_stm32::mode::Blocking;
use embassy_stm32::peripherals::QUADSPI;
use embassy_stm32::qspi::enums::{
    AddressSize, ChipSelectHighTime, DummyCycles, FIFOThresholdLevel, MemorySize, QspiWidth,
    SampleShifting,
};
use embassy_stm32::qspi::{Config, Qspi, TransferConfig};

/// RESET ENABLE, RESET MEMORY, READ ID, QUAD INPUT/OUTPUT FAST READ (N25Q128A data sheet, table 18).
const RESET_ENABLE: u8 = 0x66;
const RESET_MEMORY: u8 = 0x99;
const READ_ID: u8 = 0x9f;
const QUAD_READ: u8 = 0xeb;
/// Micron, serial NOR at 3 V, 128 Mbit.
const IDENTIFICATION: [u8; 3] = [0x20, 0xba, 0x18];

/// The controller's settings: the core's clock halved, which the flash allows with the clocks that
/// it waits by itself after power-up (data sheet, table 11: up to 108 MHz with 10).
pub fn config() -> Config {
    let mut config = Config::default();
    config.memory_size = MemorySize::_16MiB;
    config.address_size = AddressSize::_24bit;
    config.prescaler = 1;
    config.fifo_threshold = FIFOThresholdLevel::_4Bytes;
    // tSHSL2: 50 ns.
    config.cs_high_time = ChipSelectHighTime::_6Cycle;
    config.sample_shifting = SampleShifting::HalfCycle;
    config
}

/// Resets the flash and maps it into memory; false if none answers. The core's clock has so many hertz.
pub fn start(mut controller: Qspi<'static, QUADSPI, Blocking>, core_hertz: u32) -> bool {
    for instruction in [RESET_ENABLE, RESET_MEMORY] {
        let iwidth = QspiWidth::SING;
        controller.blocking_command(TransferConfig { iwidth, instruction, ..Default::default() });
    }
    // tSHSL3: 40 ns to 30 µs until the reset is over.
    cortex_m::asm::delay(core_hertz / 30_000);
    let mut identification = [0; 3];
    let read_id = TransferConfig {
        iwidth: QspiWidth::SING,
        dwidth: QspiWidth::SING,
        instruction: READ_ID,
        ..Default::default()
    };
    controller.blocking_read(&mut identification, read_id);
    if identification != IDENTIFICATION {
        return false;
    }
    controller.enable_memory_map(&TransferConfig {
        iwidth: QspiWidth::SING,
        awidth: QspiWidth::QUAD,
        dwidth: QspiWidth::QUAD,
        instruction: QUAD_READ,
        address: None,
        dummy: DummyCycles::_10,
    });
    // Its pins and clock stay as they are.
    core::mem::forget(controller);
    true
}
