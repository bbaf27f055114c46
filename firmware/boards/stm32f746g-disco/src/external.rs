//! What is wired to which pin: external memories, card and console.

use cortex_m::Peripherals as CorePeripherals;
use embassy_stm32::Peripherals;
use embassy_stm32::fmc::Fmc;
use embassy_stm32::qspi::Qspi;
use embassy_stm32::usart::ConfigError;

use crate::{BOARD, board, wired};
use tilewright_board_support::console::Console;
use tilewright_stm32::cache::forget;
use tilewright_stm32::memory::Memories;
use tilewright_stm32::uart::Usart;
use tilewright_stm32::{power_up_card, sdram, serial_flash};

const _: () = assert!(BOARD.places.can_be_told());

/// Sets everything up that lies outside of the microcontroller; gives the console and the memories.
/// Called once.
///
/// # Errors
/// [`ConfigError`] if the clocks cannot give the console's baud rate.
#[rustfmt::skip]
pub fn set_up(
    p: Peripherals,
    core: &mut CorePeripherals,
) -> Result<(Console<Usart>, Memories), ConfigError> {
    let console = wired::console(p.USART1, p.PB7, p.PA9)?;
    BOARD.places.protect(&mut core.MPU);
    // UM1907, 6.20 and table 16: half of the memory.
    sdram::start(Fmc::sdram_a12bits_d16bits_4banks_bank1(
        p.FMC,
        p.PF0, p.PF1, p.PF2, p.PF3, p.PF4, p.PF5, p.PF12, p.PF13, p.PF14, p.PF15, p.PG0, p.PG1,
        p.PG4, p.PG5,
        p.PD14, p.PD15, p.PD0, p.PD1, p.PE7, p.PE8, p.PE9, p.PE10,
        p.PE11, p.PE12, p.PE13, p.PE14, p.PE15, p.PD8, p.PD9, p.PD10,
        p.PE0, p.PE1,
        p.PC3, p.PG8, p.PG15, p.PH3, p.PF11, p.PH5,
        sdram::Mt48lc4m32b2::<{ board::CLOCK_HERTZ }, 16>,
    ));
    let flash = Qspi::new_blocking_bank1(
        p.QUADSPI, p.PD11, p.PD12, p.PE2, p.PD13, p.PB2, p.PB6, serial_flash::config(),
    );
    // Clock, command, data (UM1907, table 6).
    power_up_card([
        p.PC12.into(), p.PD2.into(), p.PC8.into(), p.PC9.into(), p.PC10.into(), p.PC11.into(),
    ]);
    let answer = serial_flash::start(flash, board::CLOCK_HERTZ);
    // SAFETY: the build script takes all places from the board's file, which keeps them apart from the
    // firmware's own flash and SRAM; FMC and MPU are set up; only `main` calls this, once.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    let memories = unsafe { BOARD.places.take(Some(answer), |line| forget(&mut core.CBP, line)) };
    Ok((console, memories))
}
