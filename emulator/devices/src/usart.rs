//! A USART: RM0385, 31.8. Bytes take the time of their bits at the rate that BRR gives.

mod combined;
mod noise;

pub use noise::Noise;

use std::collections::VecDeque;

use crate::access::{Device, Moment, Time, Write, earlier};
use crate::clocks::Clocks;
use crate::serial::Serial;

const ENABLE: u32 = 1;
const RECEIVE: u32 = 1 << 2;
const TRANSMIT: u32 = 1 << 3;
const OVER8: u32 = 1 << 15;
/// CR2: the receiver timeout counts.
const TIMEOUT: u32 = 1 << 23;

/// Registers of guard time and prescaler, and of the receiver timeout.
const GTPR: u32 = 0x10;
const RTOR: u32 = 0x14;
/// Register of the low-power UART's prescaler, and what its values divide by (RM0432, LPUART_PRESC).
const PRESC: u32 = 0x2c;
const PRESCALERS: [u64; 16] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256, 256, 256, 256, 256];

const ORE: u32 = 1 << 3;
const IDLE: u32 = 1 << 4;
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const RTOF: u32 = 1 << 11;
const TEACK: u32 = 1 << 21;
const REACK: u32 = 1 << 22;
/// Flags that ICR clears.
const CLEARABLE: u32 = 0x0012_1b5f;

/// A USART with its number in the manual.
#[derive(Clone, Debug)]
pub struct Usart {
    number: u32,
    /// Its divider counts in 256ths, and it times no silence.
    low_power: bool,
    /// In the older layout: whether the status register was read since the data register was.
    combined: Option<bool>,
    cr: [u32; 3],
    brr: u32,
    gtpr: u32,
    rtor: u32,
    presc: u32,
    isr: u32,
    rdr: u8,
    /// The byte in TDR that waits for the shift register.
    waiting: Option<u8>,
    /// The byte in the shift register, and when its last bit is sent.
    shifting: Option<(u8, Time)>,
    sent: Vec<u8>,
    incoming: VecDeque<u8>,
    /// When the next incoming byte is complete.
    arrives: Option<Time>,
    /// When the line will have been idle for a frame.
    idles: Option<Time>,
    /// Since when the line has been silent behind a byte, unless that was timed out.
    silent: Option<Time>,
    lost: u64,
    noise: Option<Noise>,
}

impl Usart {
    /// USART `number` after reset.
    pub fn new(number: u32) -> Self {
        Self {
            number,
            low_power: false,
            combined: None,
            cr: [0; 3],
            brr: 0,
            gtpr: 0,
            rtor: 0,
            presc: 0,
            isr: TC | TXE,
            rdr: 0,
            waiting: None,
            shifting: None,
            sent: Vec::new(),
            incoming: VecDeque::new(),
            arrives: None,
            idles: None,
            silent: None,
            lost: 0,
            noise: None,
        }
    }

    /// The same in the older layout of registers.
    pub fn combined(number: u32) -> Self {
        Self { combined: Some(false), ..Self::new(number) }
    }

    /// A low-power UART (RM0432, LPUART).
    pub fn low_power() -> Self {
        Self { low_power: true, ..Self::new(1) }
    }

    /// Core cycles of a number of bits.
    fn bit_cycles(&self, bits: u64, clocks: Clocks) -> u64 {
        if self.low_power {
            let divider = u64::from(self.brr) * PRESCALERS[(self.presc & 15) as usize];
            return clocks.lpuart_cycles(divider * bits).max(1);
        }
        let divider = if self.cr[0] & OVER8 == 0 {
            u64::from(self.brr)
        } else {
            u64::from(self.brr & 0xfff0 | (self.brr & 7) << 1) / 2
        };
        clocks.usart_cycles(self.number, divider * bits).max(1)
    }

    /// Core cycles of a byte with its start and stop bits.
    fn byte_cycles(&self, clocks: Clocks) -> u64 {
        let bits = match (self.cr[0] >> 28 & 1, self.cr[0] >> 12 & 1) {
            (1, 0) => 9,
            (0, 1) => 11,
            _ => 10,
        };
        self.bit_cycles(bits, clocks)
    }

    /// When the line will have been silent for as long as RTOR says (RM0385, 31.8.6).
    fn times_out(&self, clocks: Clocks) -> Option<Time> {
        let counts = self.receives() && self.cr[1] & TIMEOUT != 0;
        let bits = u64::from(self.rtor & 0x00ff_ffff);
        self.silent.filter(|_| counts).map(|since| since.after(self.bit_cycles(bits, clocks)))
    }

    /// Whether it sends or receives.
    pub const fn is_on(&self) -> bool {
        self.cr[0] & ENABLE != 0 && self.cr[0] & (TRANSMIT | RECEIVE) != 0
    }

    fn receives(&self) -> bool {
        self.cr[0] & (ENABLE | RECEIVE) == ENABLE | RECEIVE
    }

    /// When a flag that firmware may poll for will be set. Who reads the status while a byte is there is not known to
    /// poll: a handler reads it too, and the next byte would come before that one is taken.
    pub fn poll_until(&self, offset: u32) -> Option<Time> {
        if self.isr & RXNE != 0 {
            return None;
        }
        let busy = self.isr & (TC | TXE) != TC | TXE;
        let transmitter = self.shifting.filter(|_| busy).map(|(_, end)| end);
        let status = if self.combined.is_some() { combined::STATUS } else { 0x1c };
        if offset == status { earlier(transmitter, self.arrives) } else { None }
    }

    fn transmit(&mut self, byte: u8, at: Moment) {
        if self.cr[0] & (ENABLE | TRANSMIT) != ENABLE | TRANSMIT {
            return;
        }
        self.isr &= !TC;
        if self.shifting.is_some() {
            // TDR holds one byte: an unsent one is overwritten.
            self.waiting = Some(byte);
            self.isr &= !TXE;
        } else {
            self.shifting = Some((byte, at.now.after(self.byte_cycles(at.clocks))));
        }
    }

    fn receive(&mut self, byte: u8) {
        let heard = self.noise.as_mut().map(|noise| noise.hear(byte));
        let (byte, wrong) = heard.unwrap_or((byte, 0));
        if !self.receives() {
            self.lost += 1;
        } else if self.isr & RXNE != 0 {
            self.isr |= ORE;
            self.lost += 1;
        } else {
            self.rdr = byte;
            self.isr |= RXNE | wrong;
        }
    }

    fn control(&mut self, value: u32) {
        let was = std::mem::replace(&mut self.cr[0], value);
        if value & ENABLE == 0 {
            self.isr = TC | TXE;
            self.waiting = None;
            self.shifting = None;
            return;
        }
        let on = |bit: u32| value & bit != 0;
        self.isr &= !(TEACK | REACK);
        self.isr |= if on(TRANSMIT) { TEACK } else { 0 } | if on(RECEIVE) { REACK } else { 0 };
        // Enabling the transmitter sends an idle frame, done at once here.
        if was & TRANSMIT == 0 && on(TRANSMIT) {
            self.isr |= TC | TXE;
        }
    }
}

impl Serial for Usart {
    fn disturb(&mut self, noise: Noise) {
        self.noise = Some(noise);
    }

    fn feed(&mut self, bytes: &[u8], at: Moment) {
        self.incoming.extend(bytes);
        if self.arrives.is_none() && !self.incoming.is_empty() {
            self.arrives = Some(at.now.after(self.byte_cycles(at.clocks)));
            self.idles = None;
            self.silent = None;
        }
    }

    fn is_fed(&self) -> bool {
        !self.incoming.is_empty()
    }

    fn take_sent(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.sent)
    }

    fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}

/// Registers in the newer layout.
impl Usart {
    fn read_separate(&mut self, offset: u32, at: Moment) -> Option<u32> {
        self.advance(at);
        if self.low_power && matches!(offset, GTPR | RTOR) {
            return None;
        }
        Some(match offset {
            0x00..=0x08 => self.cr[(offset / 4) as usize],
            0x0c => self.brr,
            GTPR => self.gtpr,
            RTOR => self.rtor,
            0x18 | 0x20 => 0,
            0x1c => self.isr,
            0x24 => {
                self.isr &= !RXNE;
                u32::from(self.rdr)
            }
            0x28 => u32::from(self.waiting.unwrap_or(0)),
            PRESC if self.low_power => self.presc,
            _ => return None,
        })
    }

    fn write_separate(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        self.advance(at);
        if self.low_power && matches!(offset, GTPR | RTOR) {
            return false;
        }
        match offset {
            0x00 => self.control(write.over(self.cr[0])),
            0x04 | 0x08 => {
                let register = &mut self.cr[(offset / 4) as usize];
                *register = write.over(*register);
            }
            0x0c => {
                self.brr = write.over(self.brr) & if self.low_power { 0xf_ffff } else { 0xffff }
            }
            GTPR => self.gtpr = write.over(self.gtpr),
            RTOR => self.rtor = write.over(self.rtor),
            // RXFRQ and TXFRQ drop what is held.
            0x18 => {
                if write.value & 8 != 0 {
                    self.isr &= !RXNE;
                }
                if write.value & 16 != 0 {
                    self.waiting = None;
                    self.isr |= TXE;
                }
            }
            0x1c | 0x24 => {}
            0x20 => self.isr &= !(write.value & CLEARABLE),
            0x28 => self.transmit(write.value as u8, at),
            PRESC if self.low_power => self.presc = write.over(self.presc) & 15,
            _ => return false,
        }
        true
    }
}

impl Device for Usart {
    fn read(&mut self, offset: u32, at: Moment) -> Option<u32> {
        if self.combined.is_some() {
            self.read_combined(offset, at)
        } else {
            self.read_separate(offset, at)
        }
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        if self.combined.is_some() {
            self.write_combined(offset, write, at)
        } else {
            self.write_separate(offset, write, at)
        }
    }

    fn advance(&mut self, at: Moment) {
        while let Some((byte, end)) = self.shifting.filter(|(_, end)| *end <= at.now) {
            self.sent.push(byte);
            let next = self.waiting.take();
            self.shifting = next.map(|byte| (byte, end.after(self.byte_cycles(at.clocks))));
            self.isr |= if next.is_some() { TXE } else { TC | TXE };
        }
        while let Some(arrived) = self.arrives.filter(|time| *time <= at.now) {
            if let Some(byte) = self.incoming.pop_front() {
                self.receive(byte);
            }
            let next = arrived.after(self.byte_cycles(at.clocks));
            let more = !self.incoming.is_empty();
            self.arrives = more.then_some(next);
            self.idles = (!more).then_some(next);
            self.silent = (!more).then_some(arrived);
        }
        if self.idles.is_some_and(|time| time <= at.now) {
            self.idles = None;
            if self.receives() {
                self.isr |= IDLE;
            }
        }
        if self.times_out(at.clocks).is_some_and(|time| time <= at.now) {
            self.silent = None;
            self.isr |= RTOF;
        }
    }

    fn next_event(&self, clocks: Clocks) -> Option<Time> {
        let received = earlier(earlier(self.arrives, self.idles), self.times_out(clocks));
        earlier(self.shifting.map(|(_, end)| end), received)
    }

    fn lines(&self) -> [bool; 2] {
        let enabled = |control: u32| self.cr[0] >> control & 1 != 0;
        let raised = enabled(5) && self.isr & (RXNE | ORE) != 0
            || enabled(4) && self.isr & IDLE != 0
            || enabled(6) && self.isr & TC != 0
            || enabled(7) && self.isr & TXE != 0
            || enabled(26) && self.isr & RTOF != 0
            || self.cr[2] & 1 != 0 && self.isr & (ORE | noise::FLAGS) != 0;
        [raised && enabled(0), false]
    }
}
