//! SDMMC1 of the STM32F7 (RM0385, 35) and SDIO of the STM32F4 (RM0386, 31), whose registers are the same,
//! with a card behind it: command path, data path, flags. No line ever begins late (STBITERR). DMA
//! moves the data; the FIFO runs over, or empty, for whoever does not use it. The bytes are moved by
//! whoever holds memories and card, who is told of [`CardEvent`]s.
//!
//! A write is over when the card is no longer busy behind its last block (35.3.2, data path).
//!
//! A read may go to memory in several pieces, each by a stream of DMA that counts its bytes. Between two of
//! them the FIFO fills; then the card's clock stops if hardware flow control is on (35.3.2, 35.8.2), else it
//! runs over.

mod rules;

pub use rules::CardQuirks;

use crate::access::{Device, Moment, Time, Write, earlier};
use crate::card::{Answer, CardTrouble, Data, SECTOR, SdCard};
use crate::clocks::Clocks;

const POWER: u32 = 0x00;
const CLKCR: u32 = 0x04;
const ARG: u32 = 0x08;
/// The command.
pub const CMD: u32 = 0x0c;
const RESPCMD: u32 = 0x10;
const RESP1: u32 = 0x14;
const RESP4: u32 = 0x20;
const DTIMER: u32 = 0x24;
const DLEN: u32 = 0x28;
const DCTRL: u32 = 0x2c;
const DCOUNT: u32 = 0x30;
/// The status register, which drivers read in loops.
pub const STA: u32 = 0x34;
const ICR: u32 = 0x38;
const MASK: u32 = 0x3c;
const FIFOCNT: u32 = 0x48;
/// The FIFO's first word.
pub const FIFO: u32 = 0x80;
const FIFO_END: u32 = 0xfc;

const CCRCFAIL: u32 = 1 << 0;
const DCRCFAIL: u32 = 1 << 1;
const CTIMEOUT: u32 = 1 << 2;
const DTIMEOUT: u32 = 1 << 3;
const TXUNDERR: u32 = 1 << 4;
const RXOVERR: u32 = 1 << 5;
const CMDREND: u32 = 1 << 6;
const CMDSENT: u32 = 1 << 7;
const DATAEND: u32 = 1 << 8;
const DBCKEND: u32 = 1 << 10;
/// The FIFO is full of what was received; half full; not empty.
const FULL: u32 = FIFO_FULL | 1 << 15 | 1 << 21;
const FIFO_FULL: u32 = 1 << 17;
const CMDACT: u32 = 1 << 11;
const TXACT: u32 = 1 << 12;
const RXACT: u32 = 1 << 13;
/// Bytes that the FIFO holds.
const FIFO_BYTES: u32 = 128;
/// CLKCR: hardware flow control.
const FLOW_CONTROL: u32 = 1 << 14;
/// What ICR clears.
const STATIC_FLAGS: u32 = 0x0040_05ff;

/// Bits on the command line: a command or short answer, a long answer, the gap before it, and how
/// long the controller waits for it.
const SHORT: u64 = 48;
const LONG: u64 = 136;
const GAP: u64 = 8;
const PATIENCE: u64 = 64;

/// What the card sends or takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardBytes {
    /// These bytes.
    Register(Vec<u8>),
    /// Those of the card from this sector on, of the transfer with this number since reset.
    Sectors(u32, u64),
}

/// Bytes between the card and the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardMove {
    /// Whether they go to the card.
    pub write: bool,
    /// Which.
    pub what: CardBytes,
    /// How many.
    pub bytes: u32,
}

/// What the data path does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardEvent {
    /// It begins, for DMA to serve.
    Begins(CardMove),
    /// All bytes were moved.
    Ends(CardMove),
    /// It was given up: of what was to be read, any part may be there.
    Stops(CardMove),
}

/// A transfer under way.
#[derive(Clone, Debug)]
struct Moving {
    this: CardMove,
    end: Time,
    /// Flags at its end.
    flags: u32,
    /// Until when the card is busy.
    busy: Time,
    /// When the first byte moves, and bytes a second from then on.
    first: Time,
    rate: u64,
    /// Bytes of the data path behind those that move now.
    left: u32,
    /// Whether the card goes on until it is told to stop.
    endless: bool,
}

/// A read between two pieces.
#[derive(Clone, Debug)]
struct Open {
    /// Where it goes on.
    sector: u32,
    /// Bytes that are left.
    left: u32,
    /// When the last piece ended, and when the FIFO is full.
    since: Time,
    full: Time,
    is_full: bool,
    rate: u64,
    endless: bool,
}

/// The registers.
#[derive(Clone, Debug, Default)]
pub struct Sdmmc {
    registers: [u32; 19],
    flags: u32,
    card: Option<SdCard>,
    /// What a command has brought, and when.
    answer: Option<(Time, u32, Answer, Option<Data>)>,
    /// What the card sends or takes as soon as the data path is on.
    data: Option<Data>,
    /// Since when the data path waits for data.
    waits: Option<Time>,
    moving: Option<Moving>,
    open: Option<Open>,
    events: Vec<CardEvent>,
    quirks: CardQuirks,
    rules: rules::Rules,
}

impl Sdmmc {
    const fn get(&self, offset: u32) -> u32 {
        self.registers[(offset / 4) as usize]
    }

    /// Says what is not as it should be.
    pub const fn set_quirks(&mut self, quirks: CardQuirks) {
        self.quirks = quirks;
    }

    /// Puts a card into the slot.
    pub fn insert(&mut self, card: SdCard) {
        self.card = Some(card);
    }

    /// What happened since the last call.
    pub fn take_events(&mut self) -> Vec<CardEvent> {
        std::mem::take(&mut self.events)
    }

    /// Nobody serves the FIFO of the transfer that began.
    pub fn starves(&mut self) {
        if let Some(moving) = self.moving.take() {
            self.flags |= if moving.this.write { TXUNDERR } else { RXOVERR };
            self.waits = None;
            self.events.push(CardEvent::Stops(moving.this));
        }
    }

    /// The stream that serves the transfer that began ends after so many bytes, at most all of them.
    pub fn takes(&mut self, bytes: u32, clocks: Clocks) {
        let Some(moving) = self.moving.as_mut().filter(|moving| bytes < moving.this.bytes) else {
            return;
        };
        moving.left = moving.this.bytes - bytes;
        moving.this.bytes = bytes;
        if moving.flags & DATAEND != 0 {
            moving.flags = 0;
            moving.end = moving.first.after(clocks.cycles_of(bytes.into(), moving.rate));
        }
    }

    /// Bytes that a read between two pieces waits to move.
    pub fn waits_for_stream(&self) -> Option<u32> {
        self.open.as_ref().map(|open| open.left)
    }

    /// A stream serves the FIFO again: the read that waits goes on.
    pub fn goes_on(&mut self, at: Moment) {
        let spoils = self.spoils(at);
        let (Some(open), Some(card)) = (self.open.take(), self.card.as_mut()) else { return };
        let number = card.goes_on();
        let trouble = card.trouble(number).or(spoils.then_some(CardTrouble::Checksum));
        let clocks = at.clocks;
        let time_of = |bytes: u32| clocks.cycles_of(bytes.into(), open.rate);
        // What is in the FIFO has come already.
        let first =
            open.since.max(Time(at.now.0.saturating_sub(time_of(FIFO_BYTES.min(open.left)))));
        let (end, flags) = match trouble {
            Some(CardTrouble::Silent | CardTrouble::Removed) => {
                let patience = self.cycles(self.get(DTIMER).into(), clocks);
                (at.now.after(patience), DTIMEOUT)
            }
            Some(CardTrouble::Checksum) => (at.now.max(first.after(time_of(SECTOR))), DCRCFAIL),
            _ => (at.now.max(first.after(time_of(open.left))), DATAEND | DBCKEND),
        };
        let what = CardBytes::Sectors(open.sector, number);
        let this = CardMove { write: false, what, bytes: open.left };
        self.events.push(CardEvent::Begins(this.clone()));
        let (rate, endless) = (open.rate, open.endless);
        self.moving =
            Some(Moving { this, end, flags, busy: Time(0), first, rate, left: 0, endless });
    }

    /// Whether the card is powered and has a clock.
    pub const fn is_clocked(&self) -> bool {
        self.get(POWER) & 3 == 3 && self.get(CLKCR) & 1 << 8 != 0
    }

    /// Frequency of the card's clock; 0 if it is off.
    fn clock_hz(&self, clocks: Clocks) -> u64 {
        let control = self.get(CLKCR);
        if self.get(POWER) & 3 != 3 || control & 1 << 8 == 0 {
            return 0;
        }
        if control & 1 << 10 != 0 {
            return clocks.card_hz();
        }
        clocks.card_hz() / (u64::from(control & 0xff) + 2)
    }

    /// Core cycles of so many bits on the command line, or clocks on the data lines.
    fn cycles(&self, bits: u64, clocks: Clocks) -> u64 {
        clocks.cycles_of(bits, self.clock_hz(clocks)).max(1)
    }

    fn send(&mut self, at: Moment) {
        let hz = self.clock_hz(at.clocks);
        if hz == 0 {
            return;
        }
        let command = self.get(CMD);
        let (index, waits) = (command & 0x3f, command >> 6 & 3);
        let argument = self.get(ARG);
        self.obey_card(Some(index), at);
        // Faster than it can, the card understands nothing.
        let card = self.card.as_mut().filter(|card| hz <= card.fastest_clock());
        let (answer, data) =
            card.map_or((Answer::Silence, None), |card| card.command(index, argument, at.now));
        let bits = match (waits, answer) {
            (0 | 2, _) => SHORT,
            (_, Answer::Silence) => SHORT + PATIENCE,
            (_, Answer::Short(..)) => 2 * SHORT + GAP,
            (_, Answer::Long(_)) => SHORT + GAP + LONG,
        };
        self.answer = Some((at.now.after(self.cycles(bits, at.clocks)), command, answer, data));
    }

    /// A command is over.
    fn answered(&mut self, command: u32, answer: Answer, data: Option<Data>, at: Moment) {
        let wants = command >> 6 & 3;
        self.flags |= match (wants, answer) {
            (0 | 2, _) => CMDSENT,
            (_, Answer::Silence) => CTIMEOUT,
            (3, Answer::Short(..)) | (1, Answer::Long(_)) => CCRCFAIL,
            (_, Answer::Short(_, false)) => CCRCFAIL,
            (_, Answer::Short(_, true) | Answer::Long(_)) => CMDREND,
        };
        match answer {
            Answer::Silence => {}
            Answer::Short(word, good) => {
                self.registers[(RESPCMD / 4) as usize] = if good { command & 0x3f } else { 0x3f };
                self.registers[(RESP1 / 4) as usize] = word;
            }
            Answer::Long(words) => {
                self.registers[(RESPCMD / 4) as usize] = 0x3f;
                let first = (RESP1 / 4) as usize;
                self.registers[first..first + 4].copy_from_slice(&words);
            }
        }
        if data.is_some() {
            self.data = data;
        }
        self.begin(at);
    }

    /// Begins to move data if the card has some, or takes some, and the data path is on.
    fn begin(&mut self, at: Moment) {
        let control = self.get(DCTRL);
        let spoils = self.spoils(at);
        let (Some(waits), Some(data), Some(card)) = (self.waits, &self.data, &mut self.card) else {
            return;
        };
        let write = control & 2 == 0;
        let wanted = self.registers[(DLEN / 4) as usize] & 0x01ff_ffff;
        let block = 1u32 << (control >> 4 & 15).min(14);
        let (what, bytes, number, writes, endless) = match data {
            Data::Register(bytes) => {
                (CardBytes::Register(bytes.clone()), bytes.len() as u32, None, false, false)
            }
            Data::Sectors { first, count, write, number } => {
                let bytes = count.map_or(wanted, |count| count.saturating_mul(SECTOR));
                let what = CardBytes::Sectors(*first, *number);
                (what, bytes, Some(*number), *write, count.is_none())
            }
        };
        if writes != write || wanted == 0 || !wanted.is_multiple_of(block) {
            return;
        }
        let trouble = number.and_then(|number| card.trouble(number));
        let trouble = trouble.or(spoils.then_some(CardTrouble::Checksum));
        let (fixed_ns, rate) = match number {
            Some(_) => card.curve(write),
            None => (0, u64::MAX),
        };
        let lines = if self.registers[(CLKCR / 4) as usize] >> 11 & 3 == 1 { 4 } else { 1 };
        let understood = lines == card.lines() && bytes >= wanted;
        let (lines, is_open) = (u64::from(lines), bytes != wanted);
        let clocks = at.clocks;
        let bus = self.clock_hz(clocks).max(1) * lines / 8;
        let rate = bus.min(rate);
        let time_of = |bytes: u32| clocks.cycles_of(bytes.into(), rate);
        let fixed = clocks.core_cycles_of_ns(fixed_ns);
        let busy = match trouble {
            Some(CardTrouble::Busy(ns)) if write => {
                fixed.saturating_add(clocks.core_cycles_of_ns(ns))
            }
            _ => fixed,
        };
        let patience = self.cycles(self.registers[(DTIMER / 4) as usize].into(), clocks);
        let (end, flags, busy_until) = match trouble {
            _ if !understood => (waits.after(patience), DTIMEOUT, Time(0)),
            Some(CardTrouble::Silent | CardTrouble::Removed) => {
                (waits.after(patience), DTIMEOUT, Time(0))
            }
            Some(CardTrouble::Checksum) => {
                let first = time_of(block.min(wanted));
                let latency = if write { 0 } else { fixed };
                (at.now.after(latency).after(first), DCRCFAIL, at.now)
            }
            _ if write => {
                let sent = at.now.after(time_of(wanted));
                let ready = sent.after(busy);
                if busy > patience {
                    (sent.after(patience), DTIMEOUT, ready)
                } else {
                    (ready, DATAEND | DBCKEND, ready)
                }
            }
            _ if fixed > patience => (waits.after(patience), DTIMEOUT, Time(0)),
            _ => {
                let end = at.now.after(fixed).after(time_of(wanted));
                (end, DATAEND | DBCKEND, Time(0))
            }
        };
        let this = CardMove { write, what, bytes: wanted };
        if number.is_some() && !is_open {
            self.data = None;
        }
        let served = control & 8 != 0;
        let first = at.now.after(if write { 0 } else { fixed });
        let busy = busy_until;
        self.moving =
            Some(Moving { this: this.clone(), end, flags, busy, first, rate, left: 0, endless });
        self.events.push(CardEvent::Begins(this));
        if !served {
            self.starves();
        }
    }

    /// The transfer is over.
    fn moved(&mut self, moving: Moving, clocks: Clocks) {
        if moving.flags == 0 {
            return self.pauses(moving, clocks);
        }
        self.flags |= moving.flags;
        self.waits = None;
        self.data = None;
        let is_sectors = matches!(moving.this.what, CardBytes::Sectors(..));
        let complete = moving.flags & DATAEND != 0;
        if let Some(card) = self.card.as_mut().filter(|_| is_sectors && !moving.endless) {
            card.ended(moving.this.write, moving.busy);
        }
        self.events.push(match complete {
            true => CardEvent::Ends(moving.this),
            false => CardEvent::Stops(moving.this),
        });
    }

    /// A piece of a read is over, and others are to follow.
    fn pauses(&mut self, moving: Moving, clocks: Clocks) {
        self.waits = None;
        if let CardBytes::Sectors(first, _) = moving.this.what {
            let Moving { left, rate, endless, end, .. } = moving;
            let sector = first.saturating_add(moving.this.bytes / SECTOR);
            let full = end.after(clocks.cycles_of(FIFO_BYTES.min(left).into(), rate));
            let open = Open { sector, left, since: end, full, is_full: false, rate, endless };
            self.open = Some(open);
        }
        self.events.push(CardEvent::Ends(moving.this));
    }

    fn control_data(&mut self, value: u32, at: Moment) {
        if value & 1 == 0 {
            self.waits = None;
            self.open = None;
            if let Some(moving) = self.moving.take() {
                self.events.push(CardEvent::Stops(moving.this));
            }
        } else if self.moving.is_none() {
            self.obey_card(None, at);
            self.waits = Some(at.now);
            self.begin(at);
        }
    }

    /// When the data path gives up waiting for data.
    fn gives_up(&self, clocks: Clocks) -> Option<Time> {
        let waits = self.waits.filter(|_| self.moving.is_none())?;
        Some(waits.after(self.cycles(self.get(DTIMER).into(), clocks)))
    }

    fn status(&self) -> u32 {
        let moving = match &self.moving {
            Some(moving) if moving.this.write => TXACT,
            Some(_) => RXACT,
            None => 0,
        };
        // DMA serves the FIFO: nothing is in it to be sent, and of what was received only what waits for a stream.
        let (receives, received) = match &self.open {
            Some(Open { is_full: true, .. }) if self.quirks.full_flag_missing => {
                (RXACT, FULL & !FIFO_FULL)
            }
            Some(Open { is_full: true, .. }) => (RXACT, FULL),
            Some(_) => (RXACT, 0),
            None => (0, 1 << 19),
        };
        let fifo = 1 << 14 | 1 << 18 | received;
        self.flags | moving | receives | fifo | if self.answer.is_some() { CMDACT } else { 0 }
    }
}

impl Device for Sdmmc {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        Some(match offset {
            STA => self.status(),
            ICR | FIFOCNT | FIFO..=FIFO_END => 0,
            DCOUNT => self.moving.as_ref().map_or(0, |moving| moving.this.bytes),
            POWER..=MASK => self.get(offset),
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        match offset {
            RESPCMD..=RESP4 | DCOUNT | STA | FIFOCNT | FIFO..=FIFO_END => {}
            ICR => self.flags &= !(write.value & STATIC_FLAGS),
            POWER..=MASK => {
                let value = write.over(self.get(offset));
                self.registers[(offset / 4) as usize] = value;
                self.obey(offset, at);
                match offset {
                    // CPSMEN.
                    CMD if value & 1 << 10 != 0 => self.send(at),
                    DCTRL => self.control_data(value, at),
                    _ => {}
                }
            }
            _ => return false,
        }
        true
    }

    fn take_broken(&mut self) -> Option<&'static str> {
        self.rules.broken.take()
    }

    fn advance(&mut self, at: Moment) {
        if let Some((time, ..)) = &self.answer
            && *time <= at.now
            && let Some((_, command, answer, data)) = self.answer.take()
        {
            self.answered(command, answer, data, at);
        }
        if self.moving.as_ref().is_some_and(|moving| moving.end <= at.now)
            && let Some(moving) = self.moving.take()
        {
            self.moved(moving, at.clocks);
        }
        if let Some(open) = self.open.as_mut().filter(|open| open.full <= at.now) {
            open.is_full = true;
            if self.registers[(CLKCR / 4) as usize] & FLOW_CONTROL == 0 {
                self.open = None;
                self.flags |= RXOVERR;
            }
        }
        if self.gives_up(at.clocks).is_some_and(|time| time <= at.now) {
            self.flags |= DTIMEOUT;
            self.waits = None;
        }
    }

    fn next_event(&self, clocks: Clocks) -> Option<Time> {
        let answer = self.answer.as_ref().map(|(time, ..)| *time);
        let moved = self.moving.as_ref().map(|moving| moving.end);
        let full = self.open.as_ref().filter(|open| !open.is_full).map(|open| open.full);
        earlier(answer, earlier(full, earlier(moved, self.gives_up(clocks))))
    }

    fn lines(&self) -> [bool; 2] {
        [self.status() & self.get(MASK) != 0, false]
    }
}
