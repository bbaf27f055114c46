//! What is wired to which pin: external memories, card and console.

use cortex_m::Peripherals as CorePeripherals;
use embassy_stm32::Peripherals;
use embassy_stm32::fmc::Fmc;
use embassy_stm32::qspi::Qspi;
use embassy_stm32::usart::ConfigError;

use crate::wired::{self, Usart};
use crate::{BOARD, board};
use tilewright_board_support::console::Console;
use tilewright_stm32::memory::Memories;
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
    let console = wired::open(p.USART3, p.PB11, p.PB10)?;
    BOARD.places.protect(&mut core.MPU);
    // UM1932, SDRAM memory: all of its data lines, so that D16 to D31 lie on ports H and I.
    sdram::start(Fmc::sdram_a12bits_d32bits_4banks_bank1(
        p.FMC,
        p.PF0, p.PF1, p.PF2, p.PF3, p.PF4, p.PF5, p.PF12, p.PF13, p.PF14, p.PF15, p.PG0, p.PG1,
        p.PG4, p.PG5,
        p.PD14, p.PD15, p.PD0, p.PD1, p.PE7, p.PE8, p.PE9, p.PE10,
        p.PE11, p.PE12, p.PE13, p.PE14, p.PE15, p.PD8, p.PD9, p.PD10,
        p.PH8, p.PH9, p.PH10, p.PH11, p.PH12, p.PH13, p.PH14, p.PH15,
        p.PI0, p.PI1, p.PI2, p.PI3, p.PI6, p.PI7, p.PI9, p.PI10,
        p.PE0, p.PE1, p.PI4, p.PI5,
        p.PH2, p.PG8, p.PG15, p.PH3, p.PF11, p.PC0,
        sdram::Mt48lc4m32b2::<{ board::CLOCK_HERTZ }, 32>,
    ));
    let flash = Qspi::new_blocking_bank1(
        p.QUADSPI, p.PF8, p.PF9, p.PF7, p.PF6, p.PF10, p.PB6, serial_flash::config(),
    );
    // Clock, command, data (UM1932, microSD card).
    power_up_card([
        p.PC12.into(), p.PD2.into(), p.PC8.into(), p.PC9.into(), p.PC10.into(), p.PC11.into(),
    ]);
    let answer = serial_flash::start(flash, board::CLOCK_HERTZ);
    // SAFETY: the build script takes all places from the board's file, which keeps them apart from the
    // firmware's own flash and SRAM; FMC and MPU are set up; only `main` calls this, once.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    let memories = unsafe { BOARD.places.take(Some(answer), |_| {}) };
    Ok((console, memories))
}
