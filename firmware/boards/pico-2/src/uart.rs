//! The console's serial port: UART0 on its default pins (Raspberry Pi Pico 2 datasheet, pinout: TX on GP0, RX on GP1).
//! It cannot tell silence of a second, so that SysTick does.

use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{NVIC, SYST};
use rp_pac::{IO_BANK0, PADS_BANK0, RESETS, UART0, interrupt};
use tilewright_board_support::console::{Console, Line, with_queues};

use crate::board;
use crate::start::release;

/// Pins, and the port among what they can be (RP2350 datasheet, GPIO functions, bank 0).
const TX: usize = 0;
const RX: usize = 1;
const UART: u8 = 2;

/// The divider, in 64ths of sixteen clocks a bit (RP2350 datasheet, UART, baud rate calculation), rounded.
const DIVIDER: u32 = (board::CLOCK_HERTZ * 4 + board::BAUD / 2) / board::BAUD;

/// SysTick, which counts to 24 bits, strikes ten times a second.
const STRIKES: u32 = 10;
const PERIOD: u32 = board::CLOCK_HERTZ / STRIKES;
const _: () = assert!(PERIOD <= 1 << 24);

/// Strikes since the last byte.
static SILENT: AtomicU32 = AtomicU32::new(0);

#[interrupt]
fn UART0_IRQ() {
    with_queues(|queues| {
        while !UART0.uartfr().read().rxfe() {
            // Reading the byte takes the interrupt's cause away.
            let data = UART0.uartdr().read();
            if data.oe() || data.fe() {
                queues.lose();
            }
            if !data.fe() {
                queues.receive(data.data());
            }
        }
        UART0.uarticr().write(|clear| {
            clear.set_oeic(true);
            clear.set_feic(true);
        });
        while !UART0.uartfr().read().txff() {
            match queues.next_to_send() {
                Some(byte) => UART0.uartdr().write(|data| data.set_data(byte)),
                None => {
                    UART0.uarticr().write(|clear| clear.set_txic(true));
                    break;
                }
            }
        }
    });
}

#[cortex_m_rt::exception]
fn SysTick() {
    with_queues(|queues| {
        if queues.take_heard() {
            SILENT.store(0, Ordering::Relaxed);
        } else if SILENT.fetch_add(1, Ordering::Relaxed) + 1 == STRIKES {
            SILENT.store(0, Ordering::Relaxed);
            queues.fall_silent();
        }
    });
}

/// Sends without interrupts, if the port is on.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
fn tilewright_say(bytes: &[u8]) {
    if RESETS.reset().read().uart0() || !UART0.uartcr().read().uarten() {
        return;
    }
    for byte in bytes {
        while UART0.uartfr().read().txff() {}
        UART0.uartdr().write(|data| data.set_data(*byte));
    }
}

/// The port, and what times its silence.
pub struct Usart {
    timer: SYST,
}

/// Sets the port up: the board's baud rate, 8 bits, no parity, one stop bit.
pub fn open(mut timer: SYST) -> Console<Usart> {
    release(|which| {
        which.set_io_bank0(true);
        which.set_pads_bank0(true);
        which.set_uart0(true);
    });
    UART0.uartibrd().write(|rate| rate.set_baud_divint((DIVIDER / 64) as u16));
    UART0.uartfbrd().write(|rate| rate.set_baud_divfrac((DIVIDER % 64) as u8));
    // What was written of the rate takes effect by this.
    UART0.uartlcr_h().write(|line| line.set_wlen(3));
    UART0.uartcr().write(|control| {
        control.set_uarten(true);
        control.set_txe(true);
        control.set_rxe(true);
    });
    UART0.uartimsc().write(|mask| {
        mask.set_rxim(true);
        mask.set_txim(true);
        mask.set_oeim(true);
    });
    for pin in [TX, RX] {
        IO_BANK0.gpio(pin).ctrl().write(|control| control.set_funcsel(UART));
        PADS_BANK0.gpio(pin).modify(|pad| {
            pad.set_ie(true);
            pad.set_od(false);
            pad.set_pde(false);
            pad.set_pue(pin == RX);
            // Last: until then the pin keeps what it was (RP2350 datasheet, pad isolation latches).
            pad.set_iso(false);
        });
    }
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(PERIOD - 1);
    // SAFETY: the handlers above are complete, and no critical section relies on this mask.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        NVIC::unmask(interrupt::UART0_IRQ);
    }
    Console::new(Usart { timer })
}

impl Line for Usart {
    fn start_sending(&mut self) {
        // The port raises its interrupt behind bytes, not before the first.
        NVIC::pend(interrupt::UART0_IRQ);
    }

    fn watch_silence(&mut self, on: bool) {
        SILENT.store(0, Ordering::Relaxed);
        self.timer.clear_current();
        if on {
            self.timer.enable_interrupt();
            self.timer.enable_counter();
        } else {
            self.timer.disable_counter();
            self.timer.disable_interrupt();
        }
    }
}
