//! What is wired to which pin: a card and the console.

use cortex_m::Peripherals as CorePeripherals;
use embassy_stm32::Peripherals;
use embassy_stm32::usart::ConfigError;

use crate::{BOARD, wired};
use tilewright_board_support::console::Console;
use tilewright_stm32::memory::Memories;
use tilewright_stm32::power_up_card;
use tilewright_stm32::uart::Usart;

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
    let console = wired::console(p.USART3, p.PD9, p.PD8)?;
    BOARD.places.protect(&mut core.MPU);
    // Clock, command, data (UM1974, connector CN8).
    power_up_card([
        p.PC12.into(), p.PD2.into(), p.PC8.into(), p.PC9.into(), p.PC10.into(), p.PC11.into(),
    ]);
    // SAFETY: the build script takes both places from the board's file, which keeps them apart from the
    // firmware's own flash and SRAM; only `main` calls this, once.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    let memories = unsafe { BOARD.places.take(None, |_| {}) };
    Ok((console, memories))
}
