//! The console on a USART. What of its registers differs between families, and how silence is told, is in `family`.

#[cfg(feature = "stm32f4")]
#[path = "uart/f4.rs"]
mod family;
#[cfg(feature = "stm32f7")]
#[path = "uart/f7.rs"]
mod family;

use embassy_stm32::interrupt::{Interrupt, InterruptExt};
use embassy_stm32::mode::Blocking;
use embassy_stm32::pac::usart::Usart as Registers;
use embassy_stm32::usart::{Config, ConfigError, Uart};
use tilewright_board_support::console::{Console, Line};

pub use family::{interrupted, say};

use crate::board;

/// The port; keeps clock and pins.
pub struct Usart {
    registers: Registers,
    _uart: Uart<'static, Blocking>,
}

/// How a port is to be opened: the board's baud rate, 8 bits a byte, no parity, one stop bit.
#[must_use]
pub fn config() -> Config {
    let mut config = Config::default();
    config.baudrate = board::BAUD;
    config
}

/// The console on a port that was opened so. Its registers and its interrupt belong together, and that interrupt's
/// handler calls [`interrupted`].
///
/// # Panics
/// If it could not be opened.
pub fn console(
    uart: Result<Uart<'static, Blocking>, ConfigError>,
    registers: Registers,
    interrupt: Interrupt,
) -> Console<Usart> {
    let Ok(uart) = uart else {
        panic!("the core's clock cannot give the console's baud rate");
    };
    registers.cr1().modify(|control| control.set_rxneie(true));
    registers.cr3().modify(|control| control.set_eie(true));
    family::prepare_silence(registers);
    // SAFETY: the handler is complete, and no critical section relies on this mask.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        interrupt.enable();
    }
    Console::new(Usart { registers, _uart: uart })
}

impl Line for Usart {
    fn start_sending(&mut self) {
        self.registers.cr1().modify(|control| control.set_txeie(true));
    }

    fn watch_silence(&mut self, on: bool) {
        family::watch_silence(self.registers, on);
    }
}
