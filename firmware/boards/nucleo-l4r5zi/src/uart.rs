//! The console's serial port: LPUART1 on the ST-LINK's virtual COM port (UM2179, LPUART1 communication: TX on PG7,
//! RX on PG8). It cannot tell silence, so that TIM7 does.

use cortex_m::peripheral::NVIC;
use stm32_metapac::gpio::vals::{Moder, Pupdr};
use stm32_metapac::timer::vals::Urs;
use stm32_metapac::{GPIOG, LPUART1, PWR, RCC, TIM7, interrupt};
use tilewright_board_support::console::{Console, Line, with_queues};

use crate::board;
use crate::start::clock_runs;

/// The pins of port G, and LPUART1 among what they can be (DS12023, alternate functions).
const TX: usize = 7;
const RX: usize = 8;
const LPUART: u8 = 8;

/// The divider counts in 256ths (RM0432, LPUART baud rate generation).
const DIVIDER: u32 =
    ((board::CLOCK_HERTZ as u64 * 256 + board::BAUD as u64 / 2) / board::BAUD as u64) as u32;
const _: () = assert!(DIVIDER >= 0x300 && DIVIDER < 1 << 20);

/// TIM7 strikes once a second: its clock is the core's, for APB1 is not divided (RM0432, clock tree).
const PRESCALER: u16 = 12_000;
const PERIOD: u16 = 10_000;
const _: () = assert!(board::CLOCK_HERTZ == PRESCALER as u32 * PERIOD as u32);

#[interrupt]
fn LPUART1() {
    with_queues(|queues| {
        let status = LPUART1.isr().read();
        if status.ore() || status.fe() {
            queues.lose();
        }
        // A byte with noise is as it was sent, most likely; a frame's checksum tells if it is not.
        if status.ore() || status.fe() || status.ne() {
            LPUART1.icr().write(|clear| {
                clear.set_ore(true);
                clear.set_fe(true);
                clear.set_ne(true);
            });
        }
        if status.rxne() {
            // Reading the byte takes the interrupt's cause away.
            queues.receive(LPUART1.rdr().read().dr() as u8);
        }
        if status.txe() {
            match queues.next_to_send() {
                Some(byte) => LPUART1.tdr().write(|data| data.set_dr(byte.into())),
                None => LPUART1.cr1().modify(|control| control.set_txeie(false)),
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

/// Sends without interrupts, if the port is on.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
fn tilewright_say(bytes: &[u8]) {
    if !RCC.apb1enr2().read().lpuart1en() || !LPUART1.cr1().read().te() {
        return;
    }
    for byte in bytes {
        while !LPUART1.isr().read().txe() {}
        LPUART1.tdr().write(|register| register.set_dr((*byte).into()));
    }
}

/// The port.
pub struct Usart;

/// Sets the port up: the board's baud rate, 8 bits, no parity, one stop bit.
pub fn open() -> Console<Usart> {
    pins();
    RCC.apb1enr2().modify(|enable| enable.set_lpuart1en(true));
    clock_runs(RCC.apb1enr2());
    LPUART1.brr().write(|rate| rate.0 = DIVIDER);
    LPUART1.cr3().write(|control| control.set_eie(true));
    LPUART1.cr1().write(|control| {
        control.set_ue(true);
        control.set_re(true);
        control.set_te(true);
        control.set_rxneie(true);
    });
    RCC.apb1enr1().modify(|enable| enable.set_tim7en(true));
    clock_runs(RCC.apb1enr1());
    TIM7.psc().write_value(PRESCALER - 1);
    TIM7.arr().write(|reload| reload.set_arr(PERIOD - 1));
    TIM7.cr1().modify(|control| control.set_urs(Urs::COUNTER_ONLY));
    TIM7.dier().modify(|enable| enable.set_uie(true));
    // SAFETY: the handlers above are complete, and no critical section relies on these masks.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        NVIC::unmask(interrupt::LPUART1);
        NVIC::unmask(interrupt::TIM7);
    }
    Console::new(Usart)
}

/// The port's pins, whose supply is cut off until firmware says that it is there (RM0432, PWR_CR2.IOSV).
fn pins() {
    PWR.cr2().modify(|control| control.set_iosv(true));
    RCC.ahb2enr().modify(|enable| enable.set_gpiogen(true));
    clock_runs(RCC.ahb2enr());
    GPIOG.pupdr().modify(|pulls| pulls.set_pupdr(RX, Pupdr::PULL_UP));
    for pin in [TX, RX] {
        GPIOG.afr(pin / 8).modify(|functions| functions.set_afr(pin % 8, LPUART));
        GPIOG.moder().modify(|modes| modes.set_moder(pin, Moder::ALTERNATE));
    }
}

impl Line for Usart {
    fn start_sending(&mut self) {
        LPUART1.cr1().modify(|control| control.set_txeie(true));
    }

    fn watch_silence(&mut self, on: bool) {
        // From the start of a period, so that it is not cut short.
        TIM7.egr().write(|event| event.set_ug(true));
        TIM7.sr().write(|status| status.set_uif(false));
        TIM7.cr1().modify(|control| control.set_cen(on));
    }
}
