//! The console's queues, one in each direction, which the interrupt of a board's serial port
//! serves.
//!
//! Interrupts say when a future here can go on ([`wait::wake`]): not for each byte, since a poll takes
//! longer than the interrupt.

use core::cell::RefCell;
use core::future::poll_fn;
use core::task::Poll;

use critical_section::Mutex;
use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use heapless::Deque;
use tilewright_runtime::console::FramePort;

use crate::wait;

/// Bytes that wait in each direction: at 115200 baud 22 ms of them, longer than any line, frame header or
/// piece of a frame takes to handle.
const QUEUE: usize = 256;
/// Bytes of a queue that are worth a poll where more are wanted.
const HALF: usize = QUEUE / 2;

/// What port and firmware hand each other.
pub struct Queues {
    received: Deque<u8, QUEUE>,
    to_send: Deque<u8, QUEUE>,
    /// Bytes that a read waits for.
    wanted: usize,
    /// Bytes were lost: they came faster than they were taken, or garbled.
    lost: bool,
    /// Whether silence is watched for: within a frame.
    watched: bool,
    /// Within a frame the line was silent for too long.
    silent: bool,
    /// Whether a byte came since the port last asked.
    heard: bool,
}

static QUEUES: Mutex<RefCell<Queues>> = Mutex::new(RefCell::new(Queues {
    received: Deque::new(),
    to_send: Deque::new(),
    wanted: 0,
    lost: false,
    watched: false,
    silent: false,
    heard: false,
}));

/// Runs with the queues, without interrupts.
pub fn with_queues<T>(run: impl FnOnce(&mut Queues) -> T) -> T {
    critical_section::with(|section| run(&mut QUEUES.borrow_ref_mut(section)))
}

impl Queues {
    /// A byte came.
    pub fn receive(&mut self, byte: u8) {
        self.heard = true;
        self.lost |= self.received.push_back(byte).is_err();
        if self.lost || self.received.len() >= self.wanted {
            wait::wake();
        }
    }

    /// The port lost bytes, or got them garbled.
    pub fn lose(&mut self) {
        self.lost = true;
        wait::wake();
    }

    /// The byte to send next.
    pub fn next_to_send(&mut self) -> Option<u8> {
        let byte = self.to_send.pop_front();
        if self.to_send.is_empty() || self.to_send.len() == HALF {
            wait::wake();
        }
        byte
    }

    /// The line was silent for too long, which matters within a frame only: between frames ports notice
    /// it too.
    pub fn fall_silent(&mut self) {
        if self.watched {
            self.silent = true;
            self.received.clear();
            wait::wake();
        }
    }

    /// Whether a byte came since the last call.
    pub fn take_heard(&mut self) -> bool {
        core::mem::take(&mut self.heard)
    }
}

/// A board's serial port, set up and with its interrupt on. Both are called without interrupts.
pub trait Line {
    /// Bytes wait to be sent: the port takes them in its interrupt.
    fn start_sending(&mut self);

    /// From now on the port tells a second of silence, or does so no longer.
    fn watch_silence(&mut self, on: bool);
}

/// The console on a serial port.
pub struct Console<L> {
    line: L,
}

impl<L: Line> Console<L> {
    /// A console on a port.
    pub const fn new(line: L) -> Self {
        Self { line }
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

impl<L> ErrorType for Console<L> {
    type Error = PortError;
}

impl<L: Line> FramePort for Console<L> {
    fn in_frame(&mut self, yes: bool) {
        with_queues(|queues| {
            // The port watches within frames only: its interrupts would be counted in runs else.
            if queues.watched != yes {
                queues.watched = yes;
                queues.silent = false;
                queues.heard = false;
                self.line.watch_silence(yes);
            }
        });
    }
}

impl<L> Read for Console<L> {
    async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, PortError> {
        poll_fn(|_| {
            with_queues(|queues| {
                if core::mem::take(&mut queues.lost) {
                    queues.received.clear();
                    return Poll::Ready(Err(PortError::LostBytes));
                }
                // What came before the silence is gone; what came after it is kept.
                if core::mem::take(&mut queues.silent) {
                    return Poll::Ready(Err(PortError::Silence));
                }
                // Within a frame nobody asks for bytes that are not part of it.
                queues.wanted = if queues.watched { bytes.len().min(HALF) } else { 1 };
                if queues.received.len() < queues.wanted && !bytes.is_empty() {
                    return Poll::Pending;
                }
                let mut count = 0;
                for (place, byte) in
                    bytes.iter_mut().zip(core::iter::from_fn(|| queues.received.pop_front()))
                {
                    *place = byte;
                    count += 1;
                }
                Poll::Ready(Ok(count))
            })
        })
        .await
    }
}

impl<L: Line> Write for Console<L> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, PortError> {
        poll_fn(|_| {
            with_queues(|queues| {
                let fits = bytes.iter().take_while(|byte| queues.to_send.push_back(**byte).is_ok());
                let count = fits.count();
                if count > 0 {
                    self.line.start_sending();
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
