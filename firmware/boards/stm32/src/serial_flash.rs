//! Serial flash on bank 1 of QUADSPI (UM1907, 6.19 and table 15; UM1932, Quad-SPI NOR flash memory), read like
//! memory. Boards of one name carry different parts: the STM32F746G-DISCO had an N25Q128A up to its revision C-02
//! and has a W25Q128JV since.

use core::fmt;

use embassy_stm32::mode::Blocking;
use embassy_stm32::pac::QUADSPI as CONTROLLER;
use embassy_stm32::pac::quadspi::regs::{Abr, Ar, Ccr, Dlr, Fcr};
use embassy_stm32::peripherals::QUADSPI;
use embassy_stm32::qspi::enums::{
    AddressSize, ChipSelectHighTime, FIFOThresholdLevel, MemorySize, SampleShifting,
};
use embassy_stm32::qspi::{Config, Qspi};

use crate::board::CLOCK_HERTZ;

/// RESET ENABLE, RESET MEMORY, READ ID, QUAD INPUT/OUTPUT FAST READ, alike in all parts (N25Q128A data sheet,
/// table 18; W25Q128JV data sheet, instruction set).
const RESET_ENABLE: u8 = 0x66;
const RESET_MEMORY: u8 = 0x99;
const READ_ID: u8 = 0x9f;
const QUAD_READ: u8 = 0xeb;
/// WRITE ENABLE FOR VOLATILE STATUS REGISTER, READ and WRITE STATUS REGISTER-2 (W25Q128JV data sheet, instruction set).
const ENABLE_VOLATILE: u8 = 0x50;
const READ_STATUS_2: u8 = 0x35;
const WRITE_STATUS_2: u8 = 0x31;
/// Status register 2: four lines carry data (QE).
const FOUR_LINES: u8 = 1 << 1;

/// A part that is known: all have 16 MiB and addresses of 24 bits.
struct Part {
    name: &'static str,
    identification: [u8; 3],
    /// Whether a byte of mode follows the address.
    has_mode: bool,
    /// Clocks between what is sent and what comes.
    dummies: u32,
    /// Whether it uses four lines only when it is told to.
    has_to_be_told: bool,
}

const PARTS: [Part; 3] = [
    // Table 11 of its data sheet: up to 108 MHz with the 10 clocks that it waits after power-up.
    Part {
        name: "N25Q128A or MT25QL128",
        identification: [0x20, 0xba, 0x18],
        has_mode: false,
        dummies: 10,
        has_to_be_told: false,
    },
    // Its data sheet, fast read quad I/O: up to 133 MHz, the mode and four clocks behind the address; QE of this one cannot be cleared.
    Part {
        name: "W25Q128JV-IQ",
        identification: [0xef, 0x40, 0x18],
        has_mode: true,
        dummies: 4,
        has_to_be_told: false,
    },
    Part {
        name: "W25Q128JV-IM",
        identification: [0xef, 0x70, 0x18],
        has_mode: true,
        dummies: 4,
        has_to_be_told: true,
    },
];

/// What answers where the serial flash should be.
#[derive(Clone, Copy)]
pub struct Answer {
    identification: [u8; 3],
    part: Option<&'static str>,
}

impl Answer {
    /// Whether it is read like memory now.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.part.is_some()
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.part {
            return write!(f, "serial flash {name}");
        }
        let [maker, kind, size] = self.identification;
        let identification = u32::from_be_bytes([0, maker, kind, size]);
        write!(f, "serial flash unknown, it says {identification:06x}: not used")
    }
}

/// The controller's settings: the core's clock halved.
pub fn config() -> Config {
    let mut config = Config::default();
    // Twice what there is: a second read of the last byte of what the controller is told locks the bus (STM32F7 and
    // STM32F4 erratum "Memory-mapped read of last memory byte fails"). The MPU keeps the core from what is not there.
    config.memory_size = MemorySize::_32MiB;
    config.address_size = AddressSize::_24bit;
    config.prescaler = 1;
    config.fifo_threshold = FIFOThresholdLevel::_4Bytes;
    // tSHSL2: 50 ns.
    config.cs_high_time = ChipSelectHighTime::_6Cycle;
    config.sample_shifting = SampleShifting::HalfCycle;
    config
}

/// Resets the flash and maps it into memory, if it is known; says what it is.
pub fn start(controller: Qspi<'static, QUADSPI, Blocking>) -> Answer {
    // Its pins and clock stay as they are.
    core::mem::forget(controller);
    send(RESET_ENABLE, &mut [], READS);
    send(RESET_MEMORY, &mut [], READS);
    // tSHSL3, tRST: up to 30 µs until the reset is over.
    cortex_m::asm::delay(CLOCK_HERTZ / 30_000);
    let mut identification = [0; 3];
    send(READ_ID, &mut identification, READS);
    let part = PARTS.iter().find(|part| part.identification == identification);
    let Some(part) = part else { return Answer { identification, part: None } };
    if part.has_to_be_told {
        let mut status = [0];
        send(READ_STATUS_2, &mut status, READS);
        status[0] |= FOUR_LINES;
        // Until the next reset: what is kept for good wears.
        send(ENABLE_VOLATILE, &mut [], READS);
        send(WRITE_STATUS_2, &mut status, WRITES);
    }
    map(part);
    Answer { identification, part: Some(part.name) }
}

/// CCR.FMODE of commands without an address that bring bytes, or send them.
const WRITES: u32 = 0;
const READS: u32 = 1 << 26;

/// Sends a command on one line, and bytes behind it or from it.
#[inline(never)]
fn send(instruction: u8, bytes: &mut [u8], mode: u32) {
    let (data, mode) = if bytes.is_empty() { (0, WRITES) } else { (1 << 24, mode) };
    CONTROLLER.dlr().write_value(Dlr((bytes.len() as u32).saturating_sub(1)));
    CONTROLLER.ccr().write_value(Ccr(mode | data | 1 << 8 | u32::from(instruction)));
    let register = CONTROLLER.dr().as_ptr().cast::<u8>();
    for byte in bytes {
        // SAFETY: the data register takes and gives as many bytes as an access has.
        #[expect(unsafe_code, reason = "the register's accessor knows words alone")]
        unsafe {
            if mode == WRITES {
                register.write_volatile(*byte);
            } else {
                while CONTROLLER.sr().read().flevel() == 0 {}
                *byte = register.read_volatile();
            }
        }
    }
    while !CONTROLLER.sr().read().tcf() {}
    CONTROLLER.fcr().write(|clear| clear.set_ctcf(true));
}

/// From now on the core reads the flash like memory.
fn map(part: &Part) {
    // The first word would be wrong if the address register did not hold a multiple of 4 (STM32F7 and STM32F4
    // erratum "wrong data in memory-mapped mode after indirect mode"): it holds 0 behind these.
    CONTROLLER.ar().write_value(Ar(0));
    CONTROLLER.cr().modify(|control| control.set_abort(true));
    // All flags.
    CONTROLLER.fcr().write_value(Fcr(0x1b));
    // Not 0xA0 to 0xAF, behind which the next read would have no instruction.
    CONTROLLER.abr().write_value(Abr(0xff));
    let mode = if part.has_mode { 3 << 14 } else { 0 };
    // Memory-mapped; data, 24 bits of address and the mode on four lines, the instruction on one (RM0385, 14.5).
    let command = 3 << 26 | 3 << 24 | part.dummies << 18 | mode | 2 << 12 | 3 << 10 | 1 << 8;
    CONTROLLER.ccr().write_value(Ccr(command | u32::from(QUAD_READ)));
}
