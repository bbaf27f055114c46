//! The console's serial port: USART1 on the ST-LINK's virtual COM port (UM1907, table 5: TX on
//! PA9, RX on PB7), with a queue in each direction that its interrupt serves.
//!
//! Futures here need no waker: the core waits for an event, and each interrupt is one
//! (see [`crate::wait`]).

use core::cell::RefCell;
use core::future::poll_fn;
use core::task::Poll;

use crate::board;
use critical_section::Mutex;
use embassy_stm32::Peri;
use embassy_stm32::interrupt;
use embassy_stm32::interrupt::{InterruptExt, typelevel};
use embassy_stm32::mode::Blocking;
use embassy_stm32::pac::USART1;
use embassy_stm32::peripherals;
use embassy_stm32::usart::{Config, ConfigError, Uart};
use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use heapless::Deque;
use tilewright_runtime::console::FramePort;

/// Bytes that wait in each direction: at 115200 baud 22 ms of them, longer than any line or frame
/// header takes to handle.
const QUEUE: usize = 256;

/// A second of silence within a frame, in bits on the line. The port counts them by itself
/// (RM0385, 31.8.6), so that the core can sleep.
const PATIENCE_BITS: u32 = board::BAUD;

struct Queues {
    received: Deque<u8, QUEUE>,
    to_send: Deque<u8, QUEUE>,
    /// Bytes were lost: they came faster than they were taken, or garbled.
    lost: bool,
    /// Within a frame the line was silent for [`PATIENCE_BITS`].
    silent: bool,
}

static QUEUES: Mutex<RefCell<Queues>> = Mutex::new(RefCell::new(Queues {
    received: Deque::new(),
    to_send: Deque::new(),
    lost: false,
    silent: false,
}));

fn with_queues<T>(run: impl FnOnce(&mut Queues) -> T) -> T {
    critical_section::with(|section| run(&mut QUEUES.borrow_ref_mut(section)))
}

#[interrupt]
fn USART1() {
    with_queues(|queues| {
        let status = USART1.isr().read();
        if status.ore() || status.fe() || status.ne() {
            queues.lost = true;
            USART1.icr().write(|clear| {
                clear.set_ore(true);
                clear.set_fe(true);
                clear.set_ne(true);
            });
        }
        if status.rtof() {
            queues.silent = true;
            USART1.icr().write(|clear| clear.set_rtof(true));
        }
        if status.rxne() {
            // Reading the byte takes the interrupt's cause away.
            let byte = USART1.rdr().read().dr() as u8;
            queues.lost |= queues.received.push_back(byte).is_err();
        }
        if status.txe() {
            match queues.to_send.pop_front() {
                Some(byte) => USART1.tdr().write(|data| data.set_dr(byte.into())),
                None => USART1.cr1().modify(|control| control.set_txeie(false)),
            }
        }
    });
}

/// The port.
pub struct Console {
    /// Keeps clock and pins.
    _uart: Uart<'static, Blocking>,
}

impl Console {
    /// Sets the port up: the board's baud rate, 8 bits, no parity, one stop bit.
    ///
    /// # Errors
    /// [`ConfigError`] if the clocks cannot give the baud rate.
    pub fn new(
        usart: Peri<'static, peripherals::USART1>,
        rx: Peri<'static, peripherals::PB7>,
        tx: Peri<'static, peripherals::PA9>,
    ) -> Result<Self, ConfigError> {
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
        Ok(Self { _uart: uart })
    }

    /// Returns when all is on its way but the byte in the shift register.
    pub async fn sent(&mut self) {
        poll_fn(|_| {
            let empty = with_queues(|queues| queues.to_send.is_empty());
            if empty { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// What went wrong on the way in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortError {
    /// Bytes were lost.
    LostBytes,
    /// Within a frame nothing came for a second.
    Silence,
}

impl core::fmt::Display for PortError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::LostBytes => "bytes were lost on the serial port",
            Self::Silence => "the host fell silent within a frame",
        })
    }
}

impl core::error::Error for PortError {}

impl embedded_io_async::Error for PortError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::LostBytes => ErrorKind::InvalidData,
            Self::Silence => ErrorKind::TimedOut,
        }
    }
}

impl ErrorType for Console {
    type Error = PortError;
}

impl FramePort for Console {
    fn in_frame(&mut self, yes: bool) {
        with_queues(|queues| {
            // The interrupt is on within frames only: it would be counted in runs else.
            if USART1.cr1().read().rtoie() != yes {
                queues.silent = false;
                USART1.icr().write(|clear| clear.set_rtof(true));
                USART1.cr1().modify(|control| control.set_rtoie(yes));
            }
        });
    }
}

impl Read for Console {
    async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, PortError> {
        poll_fn(|_| {
            with_queues(|queues| {
                if core::mem::take(&mut queues.lost) {
                    queues.received.clear();
                    return Poll::Ready(Err(PortError::LostBytes));
                }
                // What came before the silence has been taken; what came after it is kept.
                if core::mem::take(&mut queues.silent) {
                    return Poll::Ready(Err(PortError::Silence));
                }
                let mut count = 0;
                for (place, byte) in
                    bytes.iter_mut().zip(core::iter::from_fn(|| queues.received.pop_front()))
                {
                    *place = byte;
                    count += 1;
                }
                let nothing = count == 0 && !bytes.is_empty();
                if nothing { Poll::Pending } else { Poll::Ready(Ok(count)) }
            })
        })
        .await
    }
}

impl Write for Console {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, PortError> {
        poll_fn(|_| {
            with_queues(|queues| {
                let fits = bytes.iter().take_while(|byte| queues.to_send.push_back(**byte).is_ok());
                let count = fits.count();
                if count > 0 {
                    USART1.cr1().modify(|control| control.set_txeie(true));
                }
                let nothing = count == 0 && !bytes.is_empty();
                if nothing { Poll::Pending } else { Poll::Ready(Ok(count)) }
            })
        })
        .await
    }

    async fn flush(&mut self) -> Result<(), PortError> {
        self.sent().await;
        Ok(())
    }
}
