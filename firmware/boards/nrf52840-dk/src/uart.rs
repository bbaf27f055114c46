//! The console's serial port: UART0 on the J-Link's virtual COM port (nRF52840 DK hardware user guide, virtual COM port:
//! TX on P0.06, RX on P0.08). It cannot tell silence, so that TIMER0 does.

use core::sync::atomic::{AtomicBool, Ordering};

use cortex_m::peripheral::NVIC;
use nrf_pac::gpio::vals::{Dir, Input, Pull};
use nrf_pac::shared::vals::Connect;
use nrf_pac::timer::vals::Bitmode;
use nrf_pac::uart::vals::{Baudrate, Enable};
use nrf_pac::{P0, TIMER0, UART0, interrupt};
use tilewright_board_support::console::{Console, Line, with_queues};

use crate::board;

/// Pins of port 0.
const TX: u8 = 6;
const RX: u8 = 8;

/// TIMER0 counts microseconds, of which so many are its period.
const PRESCALER: u8 = 4;
const PERIOD: u32 = 1_000_000;

/// Whether no byte is on its way: the port takes one at a time.
static IDLE: AtomicBool = AtomicBool::new(true);

const _: () = assert!(board::BAUD == 115_200);

#[interrupt]
fn UARTE0() {
    with_queues(|queues| {
        if UART0.events_error().read() != 0 {
            UART0.events_error().write_value(0);
            let errors = UART0.errorsrc().read();
            // What is written as 1 is cleared.
            UART0.errorsrc().write_value(errors);
            queues.lose();
        }
        // Taking a byte brings the next one of the port's queue, and the event again.
        while UART0.events_rxdrdy().read() != 0 {
            UART0.events_rxdrdy().write_value(0);
            queues.receive(UART0.rxd().read().rxd());
        }
        if UART0.events_txdrdy().read() != 0 {
            UART0.events_txdrdy().write_value(0);
            IDLE.store(true, Ordering::Relaxed);
        }
        if IDLE.load(Ordering::Relaxed)
            && let Some(byte) = queues.next_to_send()
        {
            IDLE.store(false, Ordering::Relaxed);
            UART0.txd().write(|data| data.set_txd(byte));
        }
    });
}

#[interrupt]
fn TIMER0() {
    TIMER0.events_compare(0).write_value(0);
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
    if UART0.enable().read().enable() != Enable::Enabled {
        return;
    }
    for byte in bytes {
        if !IDLE.load(Ordering::Relaxed) {
            while UART0.events_txdrdy().read() == 0 {}
            UART0.events_txdrdy().write_value(0);
        }
        IDLE.store(false, Ordering::Relaxed);
        UART0.txd().write(|data| data.set_txd(*byte));
    }
}

/// The port.
pub struct Usart;

/// Sets the port up: the board's baud rate, 8 bits, no parity, one stop bit.
pub fn open() -> Console<Usart> {
    // The line is high while nothing is sent, from before the port has the pin (nRF52840 PS, UART, pin configuration).
    P0.outset().write(|pins| pins.set_pin(TX.into(), true));
    P0.pin_cnf(TX.into()).write(|pin| {
        pin.set_dir(Dir::Output);
        pin.set_input(Input::Disconnect);
    });
    P0.pin_cnf(RX.into()).write(|pin| pin.set_pull(Pull::Pullup));
    UART0.psel().txd().write(|pin| {
        pin.set_pin(TX);
        pin.set_connect(Connect::Connected);
    });
    UART0.psel().rxd().write(|pin| {
        pin.set_pin(RX);
        pin.set_connect(Connect::Connected);
    });
    UART0.baudrate().write(|rate| rate.set_baudrate(Baudrate::Baud115200));
    UART0.enable().write(|port| port.set_enable(Enable::Enabled));
    UART0.intenset().write(|events| {
        events.set_rxdrdy(true);
        events.set_txdrdy(true);
        events.set_error(true);
    });
    UART0.tasks_startrx().write_value(1);
    UART0.tasks_starttx().write_value(1);

    TIMER0.bitmode().write(|mode| mode.set_bitmode(Bitmode::_32bit));
    TIMER0.prescaler().write(|clock| clock.set_prescaler(PRESCALER));
    TIMER0.cc(0).write_value(PERIOD);
    TIMER0.shorts().write(|shorts| shorts.set_compare_clear(0, true));
    TIMER0.intenset().write(|events| events.set_compare(0, true));
    // SAFETY: the handlers above are complete, and no critical section relies on these masks.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        NVIC::unmask(interrupt::UARTE0);
        NVIC::unmask(interrupt::TIMER0);
    }
    Console::new(Usart)
}

impl Line for Usart {
    fn start_sending(&mut self) {
        // The handler begins if no byte is on its way.
        NVIC::pend(interrupt::UARTE0);
    }

    fn watch_silence(&mut self, on: bool) {
        // From the start of a period, so that it is not cut short.
        TIMER0.tasks_stop().write_value(1);
        TIMER0.tasks_clear().write_value(1);
        TIMER0.events_compare(0).write_value(0);
        if on {
            TIMER0.tasks_start().write_value(1);
        }
    }
}
