//! The USART of the STM32F7, which times silence itself.

use embassy_stm32::pac::usart::Usart as Registers;
use tilewright_board_support::console::with_queues;

use crate::board;

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

/// A second of silence within a frame, in bits on the line. The port counts them by itself (RM0385, 31.8.6), so that the
/// core can sleep.
pub fn prepare_silence(registers: Registers) {
    registers.rtor().write(|timeout| timeout.set_rto(board::BAUD));
    registers.cr2().modify(|control| control.set_rtoen(true));
}

pub fn watch_silence(registers: Registers, on: bool) {
    registers.icr().write(|clear| clear.set_rtof(true));
    registers.cr1().modify(|control| control.set_rtoie(on));
}
