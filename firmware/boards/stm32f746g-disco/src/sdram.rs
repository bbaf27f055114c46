//! The board's SDRAM: half of an MT48LC4M32B2B5-6A, wired with 16 data lines to bank 1 of the FMC
//! (UM1907, 6.20 and table 16).

use cortex_m::asm;
use embassy_stm32::fmc::Fmc;
use embassy_stm32::peripherals::FMC;
use embedded_hal::delay::DelayNs;
use stm32_fmc::{Sdram, SdramChip, SdramConfiguration, SdramTiming};

use crate::board;

/// The memory, at half the core's clock. Its data sheet's times in nanoseconds are rounded up to
/// clocks of 108 MHz: tRC 60, tRAS 42, tRP and tRCD 18, tXSR 67.
pub struct Mt48lc4m32b2;

impl SdramChip for Mt48lc4m32b2 {
    /// Single accesses (the FMC makes its bursts of them), CAS latency 3.
    const MODE_REGISTER: u16 = 1 << 9 | 3 << 4;

    const TIMING: SdramTiming = SdramTiming {
        startup_delay_ns: 100_000,
        max_sd_clock_hz: board::CLOCK_HERTZ / 2,
        // 4096 rows in 64 ms.
        refresh_period_ns: 15_625,
        mode_register_to_active: 2,
        exit_self_refresh: 8,
        active_to_precharge: 5,
        row_cycle: 7,
        row_precharge: 2,
        row_to_column: 2,
    };

    const CONFIG: SdramConfiguration = SdramConfiguration {
        column_bits: 8,
        row_bits: 12,
        memory_data_width: 16,
        internal_banks: 4,
        cas_latency: 3,
        write_protection: false,
        read_burst: true,
        read_pipe_delay_cycles: 0,
    };
}

/// Waits by counting cycles of the core.
struct Cycles;

impl DelayNs for Cycles {
    fn delay_ns(&mut self, nanoseconds: u32) {
        let cycles = u64::from(nanoseconds) * u64::from(board::CLOCK_HERTZ) / 1_000_000_000;
        asm::delay(u32::try_from(cycles + 1).unwrap_or(u32::MAX));
    }
}

/// Initialises the memory: it answers from then on.
pub fn start(mut memory: Sdram<Fmc<'static, FMC>, Mt48lc4m32b2>) {
    memory.init(&mut Cycles);
}
