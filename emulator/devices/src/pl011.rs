//! A PL011 without its queues (Arm DDI 0183, programmers model; RP2350 datasheet, UART): a byte that is sent and one
//! that waits, a byte that arrived. Pins are taken to be wired, and there is no flow control.

use crate::access::{Device, Moment, Time, Write, earlier};
use crate::clocks::Clocks;
use crate::serial::{Host, Serial};

const DATA: u32 = 0x00;
const ERRORS: u32 = 0x04;
const FLAGS: u32 = 0x18;
const DIVIDER: u32 = 0x24;
const FRACTION: u32 = 0x28;
const LINE: u32 = 0x2c;
const CONTROL: u32 = 0x30;
const LEVELS: u32 = 0x34;
const MASK: u32 = 0x38;
const RAISED: u32 = 0x3c;
const MASKED: u32 = 0x40;
const CLEAR: u32 = 0x44;
const DMA: u32 = 0x48;

/// Of the flags: busy, nothing received, a byte waits to be sent, one was received, none waits.
const BUSY: u32 = 1 << 3;
const RX_EMPTY: u32 = 1 << 4;
const TX_FULL: u32 = 1 << 5;
const RX_FULL: u32 = 1 << 6;
const TX_EMPTY: u32 = 1 << 7;
/// Of control: the port, its transmitter, its receiver.
const ON: u32 = 1;
const TRANSMITS: u32 = 1 << 8;
const RECEIVES: u32 = 1 << 9;
/// Interrupts: a byte came, room for one, an overrun.
const RX: u32 = 1 << 4;
const TX: u32 = 1 << 5;
const OVERRUN: u32 = 1 << 10;

/// The registers.
#[derive(Clone, Debug)]
pub struct Pl011 {
    host: Host,
    divider: u32,
    fraction: u32,
    line: u32,
    control: u32,
    levels: u32,
    mask: u32,
    raised: u32,
    dma: u32,
    received: Option<u8>,
    /// The byte in the data register was followed by one that was lost.
    overrun: bool,
    waiting: Option<u8>,
    shifting: Option<(u8, Time)>,
}

impl Default for Pl011 {
    fn default() -> Self {
        Self {
            host: Host::default(),
            divider: 0,
            fraction: 0,
            line: 0,
            control: 0x300,
            levels: 0x12,
            mask: 0,
            raised: 0,
            dma: 0,
            received: None,
            overrun: false,
            waiting: None,
            shifting: None,
        }
    }
}

impl Pl011 {
    /// Core cycles of a byte with its start and stop bits, where the core's clock is the port's: sixteen times the
    /// divider, which has 64ths, a bit.
    fn byte_cycles(&self) -> u64 {
        let parts = u64::from(self.divider) * 64 + u64::from(self.fraction);
        (10 * 16 * parts / 64).max(1)
    }

    const fn does(&self, what: u32) -> bool {
        self.control & (ON | what) == ON | what
    }

    fn send(&mut self, byte: u8, at: Moment) {
        if !self.does(TRANSMITS) {
            return;
        }
        self.raised &= !TX;
        if self.shifting.is_some() {
            self.waiting = Some(byte);
        } else {
            self.shifting = Some((byte, at.now.after(self.byte_cycles())));
            self.raised |= TX;
        }
    }

    fn receive(&mut self, byte: u8) {
        if !self.does(RECEIVES) {
            self.host.lost += 1;
        } else if self.received.is_some() {
            self.host.lost += 1;
            self.overrun = true;
            self.raised |= OVERRUN;
        } else {
            self.received = Some(byte);
            self.raised |= RX;
        }
    }

    /// When a flag that firmware may poll for will be set.
    pub fn poll_until(&self, offset: u32) -> Option<Time> {
        let sent = self.shifting.map(|(_, end)| end);
        // A byte that is there is not polled for.
        let polls = offset == FLAGS && self.received.is_none();
        if polls { earlier(sent, self.host.arrives) } else { None }
    }
}

impl Serial for Pl011 {
    fn feed(&mut self, bytes: &[u8], at: Moment) {
        let cycles = self.byte_cycles();
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

impl Device for Pl011 {
    fn read(&mut self, offset: u32, at: Moment) -> Option<u32> {
        self.advance(at);
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        Some(match offset {
            DATA => {
                self.raised &= !RX;
                let overrun = std::mem::take(&mut self.overrun);
                u32::from(self.received.take().unwrap_or(0)) | flag(overrun, 1 << 11)
            }
            ERRORS => flag(self.overrun, 1 << 3),
            FLAGS => {
                flag(self.shifting.is_some(), BUSY)
                    | flag(self.received.is_none(), RX_EMPTY)
                    | flag(self.waiting.is_some(), TX_FULL)
                    | flag(self.received.is_some(), RX_FULL)
                    | flag(self.waiting.is_none(), TX_EMPTY)
            }
            DIVIDER => self.divider,
            FRACTION => self.fraction,
            LINE => self.line,
            CONTROL => self.control,
            LEVELS => self.levels,
            MASK => self.mask,
            RAISED => self.raised,
            MASKED => self.raised & self.mask,
            DMA => self.dma,
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        self.advance(at);
        match offset {
            DATA => self.send(write.value as u8, at),
            ERRORS => self.overrun = false,
            DIVIDER => self.divider = write.over(self.divider) & 0xffff,
            FRACTION => self.fraction = write.over(self.fraction) & 0x3f,
            LINE => self.line = write.over(self.line) & 0xff,
            CONTROL => self.control = write.over(self.control) & 0xffff,
            LEVELS => self.levels = write.over(self.levels) & 0x3f,
            MASK => self.mask = write.over(self.mask) & 0x7ff,
            CLEAR => self.raised &= !write.value,
            DMA => self.dma = write.over(self.dma) & 7,
            FLAGS | RAISED | MASKED => {}
            _ => return false,
        }
        true
    }

    fn advance(&mut self, at: Moment) {
        let cycles = self.byte_cycles();
        while let Some((byte, end)) = self.shifting.filter(|(_, end)| *end <= at.now) {
            self.host.sent.push(byte);
            let next = self.waiting.take();
            self.shifting = next.map(|byte| (byte, end.after(cycles)));
            if next.is_some() {
                self.raised |= TX;
            }
        }
        while let Some(byte) = self.host.arrived(cycles, at.now) {
            self.receive(byte);
        }
    }

    fn next_event(&self, _: Clocks) -> Option<Time> {
        earlier(self.shifting.map(|(_, end)| end), self.host.arrives)
    }

    fn lines(&self) -> [bool; 2] {
        [self.raised & self.mask != 0, false]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cycles: u64) -> Moment {
        Moment { now: Time(cycles), clocks: Clocks::of(150_000_000, 1, [1; 2], 0) }
    }

    fn word(value: u32) -> Write {
        Write { value, mask: u32::MAX }
    }

    /// On, with a byte in 640 cycles.
    fn port() -> Pl011 {
        let mut port = Pl011::default();
        port.write(DIVIDER, word(4), at(0));
        port.write(CONTROL, word(ON | TRANSMITS | RECEIVES), at(0));
        port
    }

    #[test]
    fn one_byte_is_sent_while_another_waits() {
        let mut port = port();
        port.write(DATA, word(1), at(0));
        assert_eq!(port.read(FLAGS, at(0)), Some(BUSY | RX_EMPTY | TX_EMPTY));
        port.write(DATA, word(2), at(0));
        assert_eq!(port.read(FLAGS, at(639)).map(|flags| flags & TX_FULL), Some(TX_FULL));
        assert_eq!(port.read(FLAGS, at(640)).map(|flags| flags & TX_FULL), Some(0));
        assert_eq!(port.read(RAISED, at(640)), Some(TX));
        port.advance(at(1280));
        assert_eq!(port.take_sent(), [1, 2]);
    }

    #[test]
    fn a_byte_that_nobody_takes_costs_the_next_one() {
        let mut port = port();
        port.write(MASK, word(RX), at(0));
        port.feed(&[1, 2, 3], at(0));
        port.advance(at(640));
        assert!(port.lines()[0]);
        assert_eq!(port.read(RAISED, at(1280)), Some(RX | OVERRUN));
        assert_eq!(port.read(DATA, at(1280)), Some(1 | 1 << 11));
        assert_eq!(port.read(DATA, at(1920)), Some(3));
        assert_eq!(port.lost(), 1);
    }
}
