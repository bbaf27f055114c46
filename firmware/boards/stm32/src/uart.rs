//! The console on a USART of the STM32F7. A board says which and names its interrupt, since a vector has one
//! handler.

use embassy_stm32::interrupt::{Interrupt, InterruptExt};
use embassy_stm32::mode::Blocking;
use embassy_stm32::pac::usart::Usart as Registers;
use embassy_stm32::usart::{Config, Uart};
use tilewright_board_support::console::{Console, Line, with_queues};

/// What the handler of the port's interrupt does.
pub fn interrupted(registers: Registers) {
    with_queues(|queues| {
        let status = registers.isr().read();
        if status.ore() || status.fe() || status.ne() {
            // Noise alone leaves the byte as most of its samples say (RM0385, 31.5.4).
            if status.ore() || status.fe() {
                queues.lose();
            }
            registers.icr().write(|clear| {
                clear.set_ore(true);
                clear.set_fe(true);
                clear.set_ne(true);
            });
        }
        if status.rtof() {
            queues.fall_silent();
            registers.icr().write(|clear| clear.set_rtof(true));
        }
        if status.rxne() {
            // Reading the byte takes the interrupt's cause away.
            queues.receive(registers.rdr().read().dr() as u8);
        }
        if status.txe() {
            match queues.next_to_send() {
                Some(byte) => registers.tdr().write(|data| data.set_dr(byte.into())),
                None => registers.cr1().modify(|control| control.set_txeie(false)),
            }
        }
    });
}

/// Sends without interrupts; the port has a clock.
pub fn say(registers: Registers, bytes: &[u8]) {
    for byte in bytes {
        while !registers.isr().read().txe() {}
        registers.tdr().write(|register| register.set_dr((*byte).into()));
    }
}

/// The port; keeps clock and pins.
pub struct Usart {
    registers: Registers,
    _uart: Uart<'static, Blocking>,
}

/// How a port is to be opened: so many bits a second, 8 of them a byte, no parity, one stop bit.
#[must_use]
pub fn config(baud: u32) -> Config {
    let mut config = Config::default();
    config.baudrate = baud;
    config
}

/// The console on a port that was opened with so many bits a second. Its registers and its interrupt belong
/// together, and that interrupt's handler calls [`interrupted`].
#[must_use]
pub fn console(
    uart: Uart<'static, Blocking>,
    registers: Registers,
    interrupt: Interrupt,
    baud: u32,
) -> Console<Usart> {
    registers.cr1().modify(|control| control.set_rxneie(true));
    registers.cr3().modify(|control| control.set_eie(true));
    // A second of silence within a frame, in bits on the line. The port counts them by itself
    // (RM0385, 31.8.6), so that the core can sleep.
    registers.rtor().write(|timeout| timeout.set_rto(baud));
    registers.cr2().modify(|control| control.set_rtoen(true));
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
        self.registers.icr().write(|clear| clear.set_rtof(true));
        self.registers.cr1().modify(|control| control.set_rtoie(on));
    }
}
