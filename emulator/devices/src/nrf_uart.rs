//! The UART of nRF52 without DMA (nRF52840 PS, UART): a byte at a time out, six in a queue in. Pins are taken to be
//! wired, and there is no flow control.

use std::collections::VecDeque;

use crate::access::{Device, Moment, Time, Write, earlier};
use crate::clocks::Clocks;
use crate::serial::{Host, Serial};

/// What BAUDRATE is a part of: of 16 MHz, in 2^32nds.
const CLOCK_HZ: u64 = 16_000_000;
/// ENABLE: UART, not UARTE.
const ENABLED: u32 = 4;
/// Bytes that arrived and wait.
const QUEUE: usize = 6;
/// ERRORSRC.OVERRUN.
const OVERRUN: u32 = 1;

const START_RX: u32 = 0x000;
const STOP_RX: u32 = 0x004;
const START_TX: u32 = 0x008;
const STOP_TX: u32 = 0x00c;
const SUSPEND: u32 = 0x01c;
/// Registers of events that there are; each stands at 0x100 and four times its bit in INTEN.
const EVENTS: [u32; 6] = [0, 1, 2, 7, 9, 17];
const RXDRDY: u32 = 1 << 2;
const TXDRDY: u32 = 1 << 7;
const ERROR: u32 = 1 << 9;
const RXTO: u32 = 1 << 17;
const SHORTS: u32 = 0x200;
const INTENSET: u32 = 0x304;
const INTENCLR: u32 = 0x308;
const ERRORSRC: u32 = 0x480;
const ENABLE: u32 = 0x500;
const PSEL_FIRST: u32 = 0x508;
const PSEL_LAST: u32 = 0x514;
const RXD: u32 = 0x518;
const TXD: u32 = 0x51c;
const BAUDRATE: u32 = 0x524;
const CONFIG: u32 = 0x56c;

/// The registers.
#[derive(Clone, Debug)]
pub struct NrfUart {
    host: Host,
    sends: bool,
    receives: bool,
    events: u32,
    enabled_interrupts: u32,
    shorts: u32,
    errors: u32,
    enable: u32,
    pins: [u32; 4],
    baud: u32,
    config: u32,
    queue: VecDeque<u8>,
    /// The byte that is sent, and when its last bit is.
    shifting: Option<(u8, Time)>,
}

impl Default for NrfUart {
    fn default() -> Self {
        Self {
            host: Host::default(),
            sends: false,
            receives: false,
            events: 0,
            enabled_interrupts: 0,
            shorts: 0,
            errors: 0,
            enable: 0,
            pins: [u32::MAX; 4],
            baud: 0x0400_0000,
            config: 0,
            queue: VecDeque::new(),
            shifting: None,
        }
    }
}

impl NrfUart {
    /// Core cycles of a byte with its start and stop bits.
    fn byte_cycles(&self, clocks: Clocks) -> u64 {
        let hertz = (CLOCK_HZ * u64::from(self.baud)) >> 32;
        clocks.cycles_of(10, hertz.max(1)).max(1)
    }

    fn receive(&mut self, byte: u8) {
        if !self.receives || self.enable != ENABLED {
            self.host.lost += 1;
        } else if self.queue.len() == QUEUE {
            self.host.lost += 1;
            self.errors |= OVERRUN;
            self.events |= ERROR;
        } else {
            self.queue.push_back(byte);
            if self.queue.len() == 1 {
                self.events |= RXDRDY;
            }
        }
    }

    /// When a flag that firmware may poll for will be set.
    pub fn poll_until(&self, offset: u32) -> Option<Time> {
        match offset {
            0x108 if self.events & RXDRDY == 0 => self.host.arrives,
            0x11c => self.shifting.map(|(_, end)| end),
            _ => None,
        }
    }
}

impl Serial for NrfUart {
    fn feed(&mut self, bytes: &[u8], at: Moment) {
        let cycles = self.byte_cycles(at.clocks);
        self.host.feed(bytes, cycles, at);
    }

    fn is_fed(&self) -> bool {
        self.host.is_fed()
    }

    fn take_sent(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.host.sent)
    }

    fn has_sent(&self) -> bool {
        !self.host.sent.is_empty()
    }

    fn lost(&self) -> u64 {
        self.host.lost
    }
}

impl Device for NrfUart {
    fn read(&mut self, offset: u32, at: Moment) -> Option<u32> {
        self.advance(at);
        let event = offset.wrapping_sub(0x100) / 4;
        Some(match offset {
            0x100..=0x144 if EVENTS.contains(&event) => self.events >> event & 1,
            SHORTS => self.shorts,
            INTENSET | INTENCLR => self.enabled_interrupts,
            ERRORSRC => self.errors,
            ENABLE => self.enable,
            PSEL_FIRST..=PSEL_LAST => self.pins[((offset - PSEL_FIRST) / 4) as usize],
            RXD => {
                let byte = self.queue.pop_front().unwrap_or(0);
                if !self.queue.is_empty() {
                    self.events |= RXDRDY;
                }
                u32::from(byte)
            }
            BAUDRATE => self.baud,
            CONFIG => self.config,
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        self.advance(at);
        let event = offset.wrapping_sub(0x100) / 4;
        let starts = write.value & 1 != 0;
        match offset {
            START_RX => self.receives |= starts,
            STOP_RX if starts => {
                self.receives = false;
                self.events |= RXTO;
            }
            START_TX => self.sends |= starts,
            STOP_TX | SUSPEND if starts => self.sends = false,
            STOP_RX | STOP_TX | SUSPEND => {}
            0x100..=0x144 if EVENTS.contains(&event) => {
                self.events = self.events & !(1 << event) | u32::from(starts) << event;
            }
            SHORTS => self.shorts = write.over(self.shorts),
            INTENSET => self.enabled_interrupts |= write.value,
            INTENCLR => self.enabled_interrupts &= !write.value,
            ERRORSRC => self.errors &= !write.value,
            ENABLE => self.enable = write.over(self.enable) & 15,
            PSEL_FIRST..=PSEL_LAST => {
                let pin = &mut self.pins[((offset - PSEL_FIRST) / 4) as usize];
                *pin = write.over(*pin);
            }
            RXD => {}
            TXD if self.sends && self.enable == ENABLED => {
                let end = at.now.after(self.byte_cycles(at.clocks));
                self.shifting = Some((write.value as u8, end));
            }
            TXD => {}
            BAUDRATE => self.baud = write.over(self.baud),
            CONFIG => self.config = write.over(self.config),
            _ => return false,
        }
        true
    }

    fn advance(&mut self, at: Moment) {
        if let Some((byte, _)) = self.shifting.filter(|(_, end)| *end <= at.now) {
            self.host.sent.push(byte);
            self.shifting = None;
            self.events |= TXDRDY;
        }
        let cycles = self.byte_cycles(at.clocks);
        while let Some(byte) = self.host.arrived(cycles, at.now) {
            self.receive(byte);
        }
    }

    fn next_event(&self, _: Clocks) -> Option<Time> {
        earlier(self.shifting.map(|(_, end)| end), self.host.arrives)
    }

    fn lines(&self) -> [bool; 2] {
        [self.events & self.enabled_interrupts != 0, false]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cycles: u64) -> Moment {
        Moment { now: Time(cycles), clocks: Clocks::of(64_000_000, 1, [1; 2], 0) }
    }

    fn word(value: u32) -> Write {
        Write { value, mask: u32::MAX }
    }

    /// On, at 1,000,000 baud: a byte takes 640 cycles.
    fn port() -> NrfUart {
        let mut port = NrfUart::default();
        port.write(BAUDRATE, word(0x1000_0000), at(0));
        port.write(ENABLE, word(ENABLED), at(0));
        port.write(START_RX, word(1), at(0));
        port.write(START_TX, word(1), at(0));
        port
    }

    #[test]
    fn a_byte_takes_the_time_of_its_bits_both_ways() {
        let mut port = port();
        port.write(INTENSET, word(TXDRDY), at(0));
        port.write(TXD, word(0x5a), at(0));
        assert_eq!(port.read(0x11c, at(639)), Some(0));
        assert_eq!(port.read(0x11c, at(640)), Some(1));
        assert!(port.lines()[0]);
        assert_eq!(port.take_sent(), [0x5a]);
        port.feed(&[0xa5], at(1000));
        assert_eq!(port.read(0x108, at(1639)), Some(0));
        assert_eq!(port.read(0x108, at(1640)), Some(1));
        assert_eq!(port.read(RXD, at(1640)), Some(0xa5));
    }

    #[test]
    fn six_bytes_wait_and_the_seventh_is_lost() {
        let mut port = port();
        port.feed(&[1, 2, 3, 4, 5, 6, 7], at(0));
        assert_eq!(port.read(ERRORSRC, at(6 * 640)), Some(0));
        assert_eq!(port.read(ERRORSRC, at(7 * 640)), Some(OVERRUN));
        for byte in 1..=6 {
            // The event comes again for each byte that follows.
            assert_eq!(port.read(0x108, at(5000)), Some(1));
            port.write(0x108, word(0), at(5000));
            assert_eq!(port.read(RXD, at(5000)), Some(byte));
        }
        assert_eq!((port.read(0x108, at(5000)), port.lost()), (Some(0), 1));
    }
}
