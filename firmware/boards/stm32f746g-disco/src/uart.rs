//! The console's serial port: USART1 on the ST-LINK's virtual COM port (UM1907, table 5: TX on
//! PA9, RX on PB7).

use crate::board;
use embassy_stm32::Peri;
use embassy_stm32::interrupt;
use embassy_stm32::interrupt::{InterruptExt, typelevel};
use embassy_stm32::mode::Blocking;
use embassy_stm32::pac::{RCC, USART1};
use embassy_stm32::peripherals;
use embassy_stm32::usart::{Config, ConfigError, Uart};
use tilewright_board_support::console::{Console, Line, with_queues};

/// A second of silence within a frame, in bits on the line. The port counts them by itself
/// (RM0385, 31.8.6), so that the core can sleep.
const PATIENCE_BITS: u32 = board::BAUD;

#[interrupt]
fn USART1() {
    with_queues(|queues| {
        let status = USART1.isr().read();
        if status.ore() || status.fe() || status.ne() {
            queues.lose();
            USART1.icr().write(|clear| {
                clear.set_ore(true);
                clear.set_fe(true);
                clear.set_ne(true);
            });
        }
        if status.rtof() {
            queues.fall_silent();
            USART1.icr().write(|clear| clear.set_rtof(true));
        }
        if status.rxne() {
            // Reading the byte takes the interrupt's cause away.
            queues.receive(USART1.rdr().read().dr() as u8);
        }
        if status.txe() {
            match queues.next_to_send() {
                Some(byte) => USART1.tdr().write(|data| data.set_dr(byte.into())),
                None => USART1.cr1().modify(|control| control.set_txeie(false)),
            }
        }
    });
}

/// Sends without interrupts, if the port has a clock.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
fn tilewright_say(bytes: &[u8]) {
    if !RCC.apb2enr().read().usart1en() {
        return;
    }
    for byte in bytes {
        while !USART1.isr().read().txe() {}
        USART1.tdr().write(|register| register.set_dr((*byte).into()));
    }
}

/// The port; keeps clock and pins.
pub struct Usart {
    _uart: Uart<'static, Blocking>,
}

/// Sets the port up: the board's baud rate, 8 bits, no parity, one stop bit.
///
/// # Errors
/// [`ConfigError`] if the clocks cannot give the baud rate.
pub fn open(
    usart: Peri<'static, peripherals::USART1>,
    rx: Peri<'static, peripherals::PB7>,
    tx: Peri<'static, peripherals::PA9>,
) -> Result<Console<Usart>, ConfigError> {
    let mut config = Config::default();
    config.baudrate = board::BAUD;
    let uart = Uart::new_blocking(usart, rx, tx, config)?;
    USART1.cr1().modify(|control| control.set_rxneie(true));
    USART1.cr3().modify(|control| control.set_eie(true));
    USART1.rtor().write(|timeout| timeout.set_rto(PATIENCE_BITS));
    USART1.cr2().modify(|control| control.set_rtoen(true));
    // SAFETY: the handler above is complete, and no critical section relies on this mask.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        <typelevel::USART1 as typelevel::Interrupt>::IRQ.enable();
    }
    Ok(Console::new(Usart { _uart: uart }))
}

impl Line for Usart {
    fn start_sending(&mut self) {
        USART1.cr1().modify(|control| control.set_txeie(true));
    }

    fn watch_silence(&mut self, on: bool) {
        USART1.icr().write(|clear| clear.set_rtof(true));
        USART1.cr1().modify(|control| control.set_rtoie(on));
    }
}
