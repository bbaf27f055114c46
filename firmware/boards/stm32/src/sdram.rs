//! SDRAM on bank 1 of the FMC: an MT48LC4M32B2, which boards wire with 16 or 32 data lines (UM1907, 6.20 and
//! table 16; UM1932, SDRAM memory).

use cortex_m::asm;
use embassy_stm32::fmc::Fmc;
use embassy_stm32::peripherals::FMC;
use embedded_hal::delay::DelayNs;
use stm32_fmc::{Sdram, SdramChip, SdramConfiguration, SdramTiming};

use crate::board::CLOCK_HERTZ;

/// The memory with so many data lines.
pub struct Mt48lc4m32b2<const LINES: u8>;

/// The controller's fastest clock for SDRAM: of the STM32F7 (DS10916, FMC, SDRAM waveforms and timings: 100 MHz), of the
/// STM32F4 (DS11189, likewise: 90 MHz).
const FASTEST_HERTZ: u32 = if cfg!(feature = "stm32f4") { 90_000_000 } else { 100_000_000 };

/// The memory's clock: a half or a third of the core's (RM0385, FMC_SDCR, SDCLK).
const HERTZ: u32 = CLOCK_HERTZ / if CLOCK_HERTZ / 2 <= FASTEST_HERTZ { 2 } else { 3 };
const _: () = assert!(HERTZ <= FASTEST_HERTZ, "SDRAM is not slowed down that far");

/// Clocks of the memory that last so many nanoseconds at least.
const fn clocks(nanoseconds: u32) -> u32 {
    (nanoseconds as u64 * HERTZ as u64).div_ceil(1_000_000_000) as u32
}

impl<const LINES: u8> SdramChip for Mt48lc4m32b2<LINES> {
    /// Single accesses (the FMC makes its bursts of them), CAS latency 3.
    const MODE_REGISTER: u16 = 1 << 9 | 3 << 4;

    /// Times of the grade -6A (data sheet, table 18).
    const TIMING: SdramTiming = SdramTiming {
        startup_delay_ns: 100_000,
        max_sd_clock_hz: HERTZ,
        // 4096 rows in 64 ms.
        refresh_period_ns: 15_625,
        mode_register_to_active: 2,
        exit_self_refresh: clocks(67),
        active_to_precharge: clocks(42),
        row_cycle: clocks(60),
        row_precharge: clocks(18),
        row_to_column: clocks(18),
    };

    const CONFIG: SdramConfiguration = SdramConfiguration {
        column_bits: 8,
        row_bits: 12,
        memory_data_width: LINES,
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
        let cycles = u64::from(nanoseconds) * u64::from(CLOCK_HERTZ) / 1_000_000_000;
        asm::delay(u32::try_from(cycles + 1).unwrap_or(u32::MAX));
    }
}

/// Initialises the memory: it answers from then on.
pub fn start<const LINES: u8>(mut memory: Sdram<Fmc<'static, FMC>, Mt48lc4m32b2<LINES>>) {
    memory.init(&mut Cycles);
}
