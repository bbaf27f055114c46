//! What is wired to the microcontroller for all programs: the oscillator X2 (UM1907, "Clock sources"), and the
//! console on the ST-LINK's virtual COM port (UM1907, table 5: USART1, TX on PA9, RX on PB7).

use embassy_stm32::Peri;
use embassy_stm32::interrupt;
use embassy_stm32::pac::{RCC, USART1};
use embassy_stm32::peripherals::{self, PA9, PB7};
use embassy_stm32::rcc::HseMode;
use embassy_stm32::usart::{ConfigError, Uart};
use tilewright_board_support::console::Console;
use tilewright_stm32::uart::{self, Usart};
use tilewright_stm32::{Oscillator, start};

use crate::board;

/// The oscillator.
pub const OSCILLATOR: Oscillator = Oscillator { hertz: 25_000_000, mode: HseMode::Oscillator };

const _: () = assert!(start::CLOCK_HERTZ == board::CLOCK_HERTZ);

#[interrupt]
fn USART1() {
    uart::interrupted(USART1);
}

/// Sends without interrupts, if the port has a clock.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
fn tilewright_say(bytes: &[u8]) {
    if RCC.apb2enr().read().usart1en() {
        uart::say(USART1, bytes);
    }
}

/// The console.
///
/// # Errors
/// [`ConfigError`] if the clocks cannot give the baud rate.
pub fn console(
    usart: Peri<'static, peripherals::USART1>,
    rx: Peri<'static, PB7>,
    tx: Peri<'static, PA9>,
) -> Result<Console<Usart>, ConfigError> {
    let port = Uart::new_blocking(usart, rx, tx, uart::config(board::BAUD))?;
    Ok(uart::console(port, USART1, interrupt::USART1, board::BAUD))
}
