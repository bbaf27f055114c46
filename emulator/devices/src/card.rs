//! An SD card of high capacity as its controller sees it: commands, answers, states (SD Physical
//! Layer Simplified Specification 6.00, chapter 4). Its bytes are held elsewhere.

use crate::access::Time;

/// Bytes of a sector.
pub const SECTOR: u32 = 512;
/// The address that the card gives itself.
const ADDRESS: u32 = 0x1234;
/// How often ACMD41 is answered with "busy".
const POWER_UP_TRIES: u32 = 3;

/// What goes wrong with a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardTrouble {
    /// The card is gone from here on.
    Removed,
    /// A block arrives with a wrong checksum.
    Checksum,
    /// A read gets no data; a write is not acknowledged.
    Silent,
    /// After a write the card stays busy for so many nanoseconds more.
    Busy(u64),
    /// A bit is wrong and nobody notices: for whoever holds the card's bytes.
    Bit {
        /// Its place in the byte, from the least.
        bit: u8,
        /// Whether it is wrong on the card from then on.
        stays: bool,
    },
    /// Nothing is written, and nobody notices: for whoever holds the card's bytes.
    Lost,
    /// The sectors behind are read or written, so many further, and nobody notices: likewise.
    Astray(u32),
    /// A command is not heard.
    Unheard,
    /// An answer comes with a wrong checksum.
    Answer,
}

impl CardTrouble {
    /// Whether it is of commands, and not of transfers.
    #[must_use]
    pub const fn is_of_commands(self) -> bool {
        matches!(self, Self::Unheard | Self::Answer)
    }
}

/// A transfer, or a command, with which something goes wrong: the one with this number, from 0 on, and each so
/// many after it; 0: none of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardFault {
    /// Its number since reset: reads and writes of sectors by one go of DMA, or commands, tries included.
    pub transfer: u64,
    /// How many later it goes wrong again.
    pub every: u64,
    /// What goes wrong.
    pub trouble: CardTrouble,
}

impl CardFault {
    /// Whether it hits a transfer.
    #[must_use]
    pub fn hits(&self, transfer: u64) -> bool {
        match transfer.checked_sub(self.transfer) {
            Some(0) => true,
            Some(later) => self.every > 0 && later.is_multiple_of(self.every),
            None => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle = 0,
    Ready = 1,
    Identification = 2,
    StandBy = 3,
    Transfer = 4,
    Sending = 5,
    Receiving = 6,
    Programming = 7,
}

/// An answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// None.
    Silence,
    /// 48 bits; false: without a checksum that holds.
    Short(u32, bool),
    /// 136 bits.
    Long([u32; 4]),
}

/// Bytes that the card will send or take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// A register.
    Register(Vec<u8>),
    /// Sectors.
    Sectors {
        /// The first.
        first: u32,
        /// How many; nothing: until CMD12.
        count: Option<u32>,
        /// Whether they are written.
        write: bool,
        /// Number of the transfer since reset.
        number: u64,
    },
}

/// A card.
#[derive(Clone, Debug)]
pub struct SdCard {
    sectors: u32,
    /// Nanoseconds of each command, and bytes a second from then on, of reads and of writes.
    curves: [(u64, u64); 2],
    faults: Vec<CardFault>,
    state: State,
    tries: u32,
    /// The next command is of an application.
    application: bool,
    lines: u32,
    high_speed: bool,
    /// Blocks of the next transfer (CMD23).
    count: Option<u32>,
    transfers: u64,
    /// Commands that were sent to it.
    commands: u64,
    busy_until: Time,
    removed: bool,
}

impl SdCard {
    /// A card of so many bytes. Reads and writes take a fixed time in nanoseconds, then bytes at a
    /// rate.
    #[must_use]
    pub fn new(bytes: u64, read: (u64, u64), write: (u64, u64), faults: Vec<CardFault>) -> Self {
        let sectors = u32::try_from(bytes / u64::from(SECTOR)).unwrap_or(u32::MAX);
        Self {
            sectors,
            curves: [read, write],
            faults,
            state: State::Idle,
            tries: 0,
            application: false,
            lines: 1,
            high_speed: false,
            count: None,
            transfers: 0,
            commands: 0,
            busy_until: Time(0),
            removed: false,
        }
    }

    /// Lines that carry data.
    pub const fn lines(&self) -> u32 {
        self.lines
    }

    /// Fastest clock that it takes, in hertz.
    pub const fn fastest_clock(&self) -> u64 {
        if self.high_speed { 50_000_000 } else { 25_000_000 }
    }

    /// Nanoseconds before the first byte of a read or behind the last of a write, and bytes a second.
    pub const fn curve(&self, write: bool) -> (u64, u64) {
        self.curves[write as usize]
    }

    /// What goes wrong with a transfer.
    pub fn trouble(&self, number: u64) -> Option<CardTrouble> {
        self.found(number, false)
    }

    fn found(&self, number: u64, of_commands: bool) -> Option<CardTrouble> {
        let mut faults = self.faults.iter();
        let is = |fault: &&CardFault| {
            fault.trouble.is_of_commands() == of_commands && fault.hits(number)
        };
        faults.find(is).map(|fault| fault.trouble)
    }

    /// A read goes on in another piece of memory, which is a transfer of its own number: this one.
    pub fn goes_on(&mut self) -> u64 {
        let number = self.transfers;
        self.transfers += 1;
        self.removed |= self.trouble(number) == Some(CardTrouble::Removed);
        number
    }

    /// A transfer with a known number of blocks is over; the card programs until `busy`.
    pub fn ended(&mut self, write: bool, busy: Time) {
        if write {
            self.busy_until = self.busy_until.max(busy);
            self.state = State::Programming;
        } else {
            self.state = State::Transfer;
        }
    }

    /// The card status: the state in which a command finds it.
    fn status(&self) -> u32 {
        let ready = u32::from(!matches!(self.state, State::Programming)) << 8;
        (self.state as u32) << 9 | ready | u32::from(self.application) << 5
    }

    /// Whether it has an address of its own.
    pub const fn is_identified(&self) -> bool {
        !matches!(self.state, State::Idle | State::Ready | State::Identification)
    }

    /// Hears a command.
    pub fn command(&mut self, index: u32, argument: u32, now: Time) -> (Answer, Option<Data>) {
        let trouble = self.found(self.commands, true);
        self.commands += 1;
        if self.state == State::Programming && self.busy_until <= now {
            self.state = State::Transfer;
        }
        if self.removed || trouble == Some(CardTrouble::Unheard) {
            return (Answer::Silence, None);
        }
        // What is no command of an application is the plain one (4.3.9).
        let application = self.application && matches!(index, 6 | 41 | 51);
        let status = self.status();
        let answer = if application {
            self.application_command(index, argument, status)
        } else {
            self.plain_command(index, argument, status)
        };
        self.application = !application && index == 55 && answer.0 != Answer::Silence;
        match answer {
            _ if self.removed => (Answer::Silence, None),
            (Answer::Short(word, _), data) if trouble.is_some() => {
                (Answer::Short(word, false), data)
            }
            (Answer::Long(_), data) if trouble.is_some() => (Answer::Short(0, false), data),
            answer => answer,
        }
    }

    fn plain_command(&mut self, index: u32, argument: u32, r: u32) -> (Answer, Option<Data>) {
        let r1 = (Answer::Short(r, true), None);
        let silence = (Answer::Silence, None);
        let addressed = argument >> 16 == ADDRESS;
        match (index, self.state) {
            (0, _) => {
                let card = Self::new(0, self.curves[0], self.curves[1], Vec::new());
                let Self { sectors, transfers, commands, .. } = *self;
                let faults = std::mem::take(&mut self.faults);
                *self = Self { sectors, transfers, commands, faults, ..card };
                silence
            }
            (8, State::Idle) => (Answer::Short(argument & 0xfff, true), None),
            (2, State::Ready) => {
                self.state = State::Identification;
                // Manufacturer 0x54, "TW", "EMULA", revision 1.0, serial number 1.
                (Answer::Long([0x5454_5745, 0x4d55_4c41, 0x1000_0000, 0x0101_9a00]), None)
            }
            (3, State::Identification | State::StandBy) => {
                self.state = State::StandBy;
                (Answer::Short(ADDRESS << 16 | r & 0x1fff, true), None)
            }
            (9, State::StandBy) if addressed => {
                // CSD version 2.0: sectors in units of 1024, less one (5.3.3).
                let size = (self.sectors / 1024).saturating_sub(1);
                let words = [
                    0x400e_0032,
                    0x5b59_0000 | size >> 16 & 0x3f,
                    (size & 0xffff) << 16 | 0x7f80,
                    0x0a40_0000,
                ];
                (Answer::Long(words), None)
            }
            (7, State::StandBy) if addressed => {
                self.state = State::Transfer;
                r1
            }
            (7, State::Transfer) if !addressed => {
                self.state = State::StandBy;
                silence
            }
            (13, _) if addressed && self.is_identified() => r1,
            (55, State::Idle) => r1,
            (55, _) if addressed => r1,
            (16, State::Transfer) if argument == SECTOR => r1,
            (6, State::Transfer) => {
                let high_speed = argument & 15 == 1;
                self.high_speed |= argument >> 31 != 0 && high_speed;
                let mut register = vec![0; 64];
                // Group 1 offers functions 0 and 1; the one that is chosen, or would be (4.3.10).
                (register[13], register[16]) = (3, u8::from(high_speed));
                (r1.0, Some(Data::Register(register)))
            }
            (23, State::Transfer) => {
                self.count = Some(argument);
                r1
            }
            (17 | 18 | 24 | 25, State::Transfer) => self.transfer(index, argument, r),
            (12, State::Sending) => {
                self.state = State::Transfer;
                r1
            }
            (12, State::Receiving) => {
                self.state = State::Programming;
                r1
            }
            _ => silence,
        }
    }

    fn application_command(&mut self, index: u32, argument: u32, r: u32) -> (Answer, Option<Data>) {
        let r1 = (Answer::Short(r, true), None);
        match (index, self.state) {
            (41, State::Idle) => {
                self.tries += 1;
                let ready = self.tries > POWER_UP_TRIES && argument & 1 << 30 != 0;
                if ready {
                    self.state = State::Ready;
                }
                let operating = 0x00ff_8000 | u32::from(ready) << 31 | u32::from(ready) << 30;
                (Answer::Short(operating, false), None)
            }
            (6, State::Transfer) if argument & 3 == 0 || argument & 3 == 2 => {
                self.lines = if argument & 3 == 2 { 4 } else { 1 };
                r1
            }
            (51, State::Transfer) => {
                // SCR: version 3.0, one and four lines, CMD23 (5.6).
                (r1.0, Some(Data::Register(vec![0x02, 0x35, 0x80, 0x02, 0, 0, 0, 0])))
            }
            _ => (Answer::Silence, None),
        }
    }

    fn transfer(&mut self, index: u32, sector: u32, status: u32) -> (Answer, Option<Data>) {
        let number = self.goes_on();
        let set = self.count.take();
        let (write, multiple) = (index >= 24, matches!(index, 18 | 25));
        let count = if multiple { set } else { Some(1) };
        let end = u64::from(sector) + u64::from(count.unwrap_or(1));
        if end > u64::from(self.sectors) {
            return (Answer::Short(status | 1 << 31, true), None);
        }
        self.state = if write { State::Receiving } else { State::Sending };
        (Answer::Short(status, true), Some(Data::Sectors { first: sector, count, write, number }))
    }
}
