//! What is wired to the microcontroller for all programs: the clock that the ST-LINK makes (UM1974, "OSC clock
//! supply"), and the console on its virtual COM port (UM1974, "USART communication": USART3, TX on PD8, RX on
//! PD9).

use embassy_stm32::Peri;
use embassy_stm32::interrupt;
use embassy_stm32::pac::{RCC, USART3};
use embassy_stm32::peripherals::{self, PD8, PD9};
use embassy_stm32::rcc::HseMode;
use embassy_stm32::usart::{ConfigError, Uart};
use tilewright_board_support::console::Console;
use tilewright_stm32::uart::{self, Usart};
use tilewright_stm32::{Oscillator, start};

use crate::board;

/// The ST-LINK's clock, its MCO.
pub const OSCILLATOR: Oscillator = Oscillator { hertz: 8_000_000, mode: HseMode::Bypass };

const _: () = assert!(start::CLOCK_HERTZ == board::CLOCK_HERTZ);

#[interrupt]
fn USART3() {
    uart::interrupted(USART3);
}

/// Sends without interrupts, if the port has a clock.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
fn tilewright_say(bytes: &[u8]) {
    if RCC.apb1enr().read().usart3en() {
        uart::say(USART3, bytes);
    }
}

/// The console.
///
/// # Errors
/// [`ConfigError`] if the clocks cannot give the baud rate.
pub fn console(
    usart: Peri<'static, peripherals::USART3>,
    rx: Peri<'static, PD9>,
    tx: Peri<'static, PD8>,
) -> Result<Console<Usart>, ConfigError> {
    let port = Uart::new_blocking(usart, rx, tx, uart::config(board::BAUD))?;
    Ok(uart::console(port, USART3, interrupt::USART3, board::BAUD))
}
