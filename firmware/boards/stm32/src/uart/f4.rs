//! The USART of the STM32F4. It cannot tell silence, so that TIM7 does.

use embassy_stm32::interrupt;
use embassy_stm32::interrupt::{InterruptExt, typelevel};
use embassy_stm32::pac::timer::vals::Urs;
use embassy_stm32::pac::usart::Usart as Registers;
use embassy_stm32::pac::{RCC, TIM7};
use tilewright_board_support::console::with_queues;

use crate::{board, clock_runs};

/// TIM7 strikes once a second: its clock is twice that of APB1 (RM0386, figure 16).
const PRESCALER: u16 = 9_000;
const PERIOD: u16 = 10_000;
const _: () = assert!(board::CLOCK_HERTZ / 2 == PRESCALER as u32 * PERIOD as u32);

/// What the handler of the port's interrupt does.
pub fn interrupted(registers: Registers) {
    with_queues(|queues| {
        // Reading the data behind the status clears every flag but that of the transmitter.
        let status = registers.sr().read();
        if status.rxne() || status.ore() {
            let byte = registers.dr().read().dr() as u8;
            // Noise alone leaves the byte as most of its samples say (RM0386, 30.3.3).
            if status.ore() || status.fe() {
                queues.lose();
            }
            if status.rxne() {
                queues.receive(byte);
            }
        }
        if status.txe() {
            match queues.next_to_send() {
                Some(byte) => registers.dr().write(|data| data.set_dr(byte.into())),
                None => registers.cr1().modify(|control| control.set_txeie(false)),
            }
        }
    });
}

#[interrupt]
fn TIM7() {
    TIM7.sr().write(|status| status.set_uif(false));
    with_queues(|queues| {
        if !queues.take_heard() {
            queues.fall_silent();
        }
    });
}

/// Sends without interrupts; the port has a clock.
pub fn say(registers: Registers, bytes: &[u8]) {
    for byte in bytes {
        while !registers.sr().read().txe() {}
        registers.dr().write(|register| register.set_dr((*byte).into()));
    }
}

pub fn prepare_silence(_registers: Registers) {
    RCC.apb1enr().modify(|enable| enable.set_tim7en(true));
    clock_runs(RCC.apb1enr());
    TIM7.psc().write_value(PRESCALER - 1);
    TIM7.arr().write(|reload| reload.set_arr(PERIOD - 1));
    TIM7.cr1().modify(|control| control.set_urs(Urs::COUNTER_ONLY));
    TIM7.dier().modify(|enable| enable.set_uie(true));
    // SAFETY: the handler above is complete, and no critical section relies on this mask.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        <typelevel::TIM7 as typelevel::Interrupt>::IRQ.enable();
    }
}

pub fn watch_silence(_registers: Registers, on: bool) {
    // From the start of a period, so that it is not cut short.
    TIM7.egr().write(|event| event.set_ug(true));
    TIM7.sr().write(|status| status.set_uif(false));
    TIM7.cr1().modify(|control| control.set_cen(on));
}
