//! What is wired to the microcontroller for all programs: a crystal, and the console, USART3 on the ST-LINK's virtual COM port (UM1932, ST-LINK/V2-1: TX on
//! PB10, RX on PB11). It cannot tell silence, so that TIM7 does.

use crate::board;
use embassy_stm32::Peri;
use embassy_stm32::interrupt;
use embassy_stm32::interrupt::{InterruptExt, typelevel};
use embassy_stm32::mode::Blocking;
use embassy_stm32::pac::timer::vals::Urs;
use embassy_stm32::pac::{RCC, TIM7, USART3};
use embassy_stm32::peripherals;
use embassy_stm32::rcc::HseMode;
use embassy_stm32::usart::{Config, ConfigError, Uart};
use tilewright_board_support::console::{Console, Line, with_queues};
use tilewright_stm32::{Oscillator, clock_runs, start};

/// The crystal X2 on the board (UM1932, "HSE clock source").
pub const OSCILLATOR: Oscillator = Oscillator { hertz: 8_000_000, mode: HseMode::Oscillator };

const _: () = assert!(start::CLOCK_HERTZ == board::CLOCK_HERTZ);

/// TIM7 strikes once a second: its clock is twice that of APB1 (RM0386, figure 16).
const PRESCALER: u16 = 9_000;
const PERIOD: u16 = 10_000;
const _: () = assert!(board::CLOCK_HERTZ / 2 == PRESCALER as u32 * PERIOD as u32);

#[interrupt]
fn USART3() {
    with_queues(|queues| {
        // Reading the data behind the status clears every flag but that of the transmitter.
        let status = USART3.sr().read();
        if status.rxne() || status.ore() {
            let byte = USART3.dr().read().dr() as u8;
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
                Some(byte) => USART3.dr().write(|data| data.set_dr(byte.into())),
                None => USART3.cr1().modify(|control| control.set_txeie(false)),
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

/// Sends without interrupts, if the port has a clock.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
fn tilewright_say(bytes: &[u8]) {
    if !RCC.apb1enr().read().usart3en() {
        return;
    }
    for byte in bytes {
        while !USART3.sr().read().txe() {}
        USART3.dr().write(|register| register.set_dr((*byte).into()));
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
    usart: Peri<'static, peripherals::USART3>,
    rx: Peri<'static, peripherals::PB11>,
    tx: Peri<'static, peripherals::PB10>,
) -> Result<Console<Usart>, ConfigError> {
    let mut config = Config::default();
    config.baudrate = board::BAUD;
    let uart = Uart::new_blocking(usart, rx, tx, config)?;
    USART3.cr1().modify(|control| control.set_rxneie(true));
    USART3.cr3().modify(|control| control.set_eie(true));
    RCC.apb1enr().modify(|enable| enable.set_tim7en(true));
    clock_runs(RCC.apb1enr());
    TIM7.psc().write_value(PRESCALER - 1);
    TIM7.arr().write(|reload| reload.set_arr(PERIOD - 1));
    TIM7.cr1().modify(|control| control.set_urs(Urs::COUNTER_ONLY));
    TIM7.dier().modify(|enable| enable.set_uie(true));
    // SAFETY: the handlers above are complete, and no critical section relies on these masks.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        <typelevel::USART3 as typelevel::Interrupt>::IRQ.enable();
        <typelevel::TIM7 as typelevel::Interrupt>::IRQ.enable();
    }
    Ok(Console::new(Usart { _uart: uart }))
}

impl Line for Usart {
    fn start_sending(&mut self) {
        USART3.cr1().modify(|control| control.set_txeie(true));
    }

    fn watch_silence(&mut self, on: bool) {
        // From the start of a period, so that it is not cut short.
        TIM7.egr().write(|event| event.set_ug(true));
        TIM7.sr().write(|status| status.set_uif(false));
        TIM7.cr1().modify(|control| control.set_cen(on));
    }
}
