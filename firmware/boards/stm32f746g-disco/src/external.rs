//! What is wired to which pin: external memories and the console.

use cortex_m::Peripherals as CorePeripherals;
use embassy_stm32::Peripherals;
use embassy_stm32::fmc::Fmc;
use embassy_stm32::qspi::Qspi;
use embassy_stm32::usart::ConfigError;

use crate::memory::{self, Memories};
use crate::uart::{self, Usart};
use crate::{protection, sdram, serial_flash};
use tilewright_board_support::console::Console;

/// Sets everything up that lies outside of the microcontroller; gives the console and the memories.
///
/// # Errors
/// [`ConfigError`] if the clocks cannot give the console's baud rate.
#[rustfmt::skip]
pub fn set_up(
    p: Peripherals,
    core: &mut CorePeripherals,
) -> Result<(Console<Usart>, Memories), ConfigError> {
    let console = uart::open(p.USART1, p.PB7, p.PA9)?;
    sdram::start(Fmc::sdram_a12bits_d16bits_4banks_bank1(
        p.FMC,
        p.PF0, p.PF1, p.PF2, p.PF3, p.PF4, p.PF5, p.PF12, p.PF13, p.PF14, p.PF15, p.PG0, p.PG1,
        p.PG4, p.PG5,
        p.PD14, p.PD15, p.PD0, p.PD1, p.PE7, p.PE8, p.PE9, p.PE10,
        p.PE11, p.PE12, p.PE13, p.PE14, p.PE15, p.PD8, p.PD9, p.PD10,
        p.PE0, p.PE1,
        p.PC3, p.PG8, p.PG15, p.PH3, p.PF11, p.PH5,
        sdram::Mt48lc4m32b2,
    ));
    let flash = Qspi::new_blocking_bank1(
        p.QUADSPI, p.PD11, p.PD12, p.PE2, p.PD13, p.PB2, p.PB6, serial_flash::config(),
    );
    // Clock, command, data (UM1907, table 6).
    tilewright_stm32::power_up_card([
        p.PC12.into(), p.PD2.into(), p.PC8.into(), p.PC9.into(), p.PC10.into(), p.PC11.into(),
    ]);
    let flash_answers = serial_flash::start(flash);
    protection::start(&mut core.MPU);
    let ram_answers = memory::ram_answers();
    Ok((console, memory::take(ram_answers, flash_answers)))
}
