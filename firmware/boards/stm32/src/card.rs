//! The SD card in the slot: identification, and transfers that go on by themselves from interrupts
//! (SD Physical Layer Simplified Specification 6.00, 4.2 and 4.3). Cards of high capacity alone.
//!
//! The driver is our own, since that of `embassy-stm32` waits without bounds and owns the core meanwhile. Every answer is an
//! interrupt, the controller's timers bound every wait, and a transfer is tried four times. On the STM32F7 a read stays open (CMD18):
//! between pieces the FIFO fills and the controller stops the clock. The STM32F4's flow control gives glitches (ES0321), so each
//! transfer there tells its number of blocks (CMD23); board files say which (`open_reads`). What answers mean is the runtime's
//! (`firmware/runtime/src/card.rs`), tested on the host.

use cortex_m::asm;
use tilewright_runtime::card::{CardError, CardState, SECTOR, card_state, sectors};

use crate::engines::Spaces;
use crate::sdmmc::{self, Answer, Count, Listen, Speed48};

/// CMD8: 2.7 to 3.6 V, and a pattern that comes back.
const INTERFACE: u32 = 0x1aa;
/// ACMD41: high capacity, 2.7 to 3.6 V; in the answer: powered up, of high capacity.
const OPERATING: u32 = 0x40ff_8000;
const POWERED_UP: u32 = 1 << 31;
const HIGH_CAPACITY: u32 = 1 << 30;
/// How often a card is asked whether it is powered up, every 10 ms.
const POWER_UP_TRIES: u32 = 100;
/// CMD6: sets function 1, high speed, of group 1; the answer's length and the byte that says so.
const HIGH_SPEED: u32 = 0x80ff_fff1;
const SWITCH_BYTES: u32 = 64;
const SWITCHED: usize = 16;
/// Blocks of two to the power of these.
const SWITCH_BLOCK: u8 = 6;
const SECTOR_BLOCK: u8 = 9;
/// CMD18: reads sectors until CMD12, or as many as CMD23 has said.
const READ_SECTORS: u8 = 18;
/// How often a card is asked whether it has written what it got: some 4 µs each.
const BUSY_TRIES: u32 = 125_000;
/// How often a card may be misheard at its highest clock.
const MISHEARD: u8 = 2;
/// How many of these questions, at most, may stay without an answer that holds.
const UNHEARD: u32 = 4;

/// What a transfer waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The answer to CMD23.
    Count,
    /// The answer to the command of the transfer.
    Command,
    /// The data.
    Data,
    /// The answer to CMD13, so many times.
    Status(u32),
}

/// Sectors between card and memory.
#[derive(Clone, Copy)]
pub struct Transfer {
    /// Whether they go to the card.
    pub write: bool,
    /// The first.
    pub sector: u32,
    /// Address in memory.
    pub memory: u32,
    /// How many.
    pub count: u32,
}

impl Transfer {
    const fn command(&self) -> u8 {
        17 + 7 * self.write as u8 + (self.count > 1) as u8
    }
}

/// A read whose command is open: it goes on where it ended.
#[derive(Clone, Copy)]
struct Open {
    /// The sector that comes next.
    sector: u32,
    /// Sectors that the controller's data path still takes.
    left: u32,
}

/// A card that is ready for transfers.
pub struct Card {
    /// Its relative address, as commands have it.
    address: u32,
    /// Its size.
    pub sectors: u32,
    /// Most sectors of a transfer.
    pub most: u32,
    /// Whether reads may wait with their command open.
    open_reads: bool,
    /// Whether its clock is the highest.
    is_fast: bool,
    /// Answers and data whose checksum did not hold, at that clock.
    misheard: u8,
    current: Option<(Transfer, Phase)>,
    open: Option<Open>,
}

fn milliseconds(count: u32, clock_hertz: u32) {
    asm::delay(clock_hertz / 1000 * count);
}

impl Card {
    /// Identifies the card in the slot and switches it to four lines and its highest speed, if the way
    /// there carries that; `scratch` is memory for a sector that nothing uses yet.
    pub fn identify(scratch: u32, spaces: &Spaces) -> Result<Self, CardError> {
        let Spaces { clock_hertz, card_hertz, open_reads, .. } = *spaces;
        sdmmc::listen(Listen::Nothing);
        sdmmc::stop();
        sdmmc::set_clock(Speed48::Identification, false);
        milliseconds(2, clock_hertz);
        sdmmc::command(0, 0, Answer::None)?;
        if sdmmc::command(8, INTERFACE, Answer::Short)? != INTERFACE {
            return Err(CardError::Unsuited);
        }
        let mut operating = 0;
        for _ in 0..POWER_UP_TRIES {
            sdmmc::command(55, 0, Answer::Short)?;
            operating = sdmmc::command(41, OPERATING, Answer::Unchecked)?;
            if operating & POWERED_UP != 0 {
                break;
            }
            milliseconds(10, clock_hertz);
        }
        if operating & (POWERED_UP | HIGH_CAPACITY) != POWERED_UP | HIGH_CAPACITY {
            return Err(CardError::Unsuited);
        }
        sdmmc::command(2, 0, Answer::Long)?;
        let address = sdmmc::command(3, 0, Answer::Short)? & 0xffff_0000;
        sdmmc::command(9, address, Answer::Long)?;
        let sectors = sectors(sdmmc::long_answer()).ok_or(CardError::Unsuited)?;
        sdmmc::command(7, address, Answer::Short)?;
        sdmmc::set_clock(Speed48::Default, false);
        sdmmc::command(55, address, Answer::Short)?;
        sdmmc::command(6, 2, Answer::Short)?;
        sdmmc::set_clock(Speed48::Default, true);
        sdmmc::command(16, SECTOR, Answer::Short)?;

        let mut is_fast = false;
        if card_hertz >= sdmmc::HIGH_HERTZ {
            sdmmc::begin_stream(false, scratch, Count::Controller);
            sdmmc::begin_data(false, SWITCH_BYTES, SWITCH_BLOCK);
            sdmmc::command(6, HIGH_SPEED, Answer::Short)?;
            sdmmc::finish_data()?;
            // SAFETY: the caller says that this memory is there and that nothing uses it; DMA is done.
            #[expect(unsafe_code, reason = "memory that DMA has written")]
            let switched = unsafe { (scratch as *const u8).add(SWITCHED).read_volatile() };
            is_fast = switched & 15 == 1;
            if is_fast {
                sdmmc::set_clock(Speed48::High, true);
            }
        }
        // Cards that do not know CMD23 make sectors one by one.
        let counts = sdmmc::command(23, 1, Answer::Short).is_ok();
        let most = if counts { sdmmc::LARGEST / SECTOR } else { 1 };
        let open_reads = open_reads && sdmmc::MAY_WAIT;
        Ok(Self {
            address,
            sectors,
            most,
            open_reads,
            is_fast,
            misheard: 0,
            current: None,
            open: None,
        })
    }

    /// Whether its clock is the highest.
    pub const fn is_fast(&self) -> bool {
        self.is_fast
    }

    /// Reads a sector and waits for it.
    pub fn read(&mut self, sector: u32, memory: u32) -> Result<(), CardError> {
        sdmmc::begin_stream(false, memory, Count::Controller);
        sdmmc::begin_data(false, SECTOR, SECTOR_BLOCK);
        sdmmc::command(17, sector, Answer::Short)?;
        sdmmc::finish_data()
    }

    /// Begins a transfer; interrupts say how it goes on.
    ///
    /// A read that begins where the last one ended goes on with its command, if that may wait.
    pub fn begin(&mut self, transfer: Transfer) {
        let Transfer { write, sector, memory, count } = transfer;
        if let Some(Open { sector: next, left }) = self.open.take() {
            if !write && sector == next && count < left {
                self.open = Some(Open { sector: sector + count, left: left - count });
                self.current = Some((transfer, Phase::Data));
                sdmmc::begin_stream(false, memory, Count::Stream(count * SECTOR));
                sdmmc::listen(Listen::Pieces);
                return;
            }
            sdmmc::stop();
            // A card that has not heard it does not take the next command either, which tells.
            let _ = sdmmc::command(12, 0, Answer::Short);
        }
        sdmmc::take_flags();
        // Something is to come behind a piece, so that its end can be seen; see `piece_ended`.
        if self.open_reads && !write && self.most > 1 && sector + count < self.sectors {
            return self.open(transfer);
        }
        sdmmc::listen(Listen::Ends);
        if count > 1 {
            self.current = Some((transfer, Phase::Count));
            sdmmc::send(23, count, Answer::Short);
        } else {
            self.start(transfer);
        }
    }

    /// Begins a read that goes on until it is stopped.
    fn open(&mut self, transfer: Transfer) {
        let Transfer { sector, memory, count, .. } = transfer;
        let sectors = sdmmc::LONGEST.min(self.sectors - sector);
        self.open = Some(Open { sector: sector + count, left: sectors - count });
        self.current = Some((transfer, Phase::Command));
        sdmmc::listen(Listen::Pieces);
        sdmmc::begin_stream(false, memory, Count::Stream(count * SECTOR));
        sdmmc::begin_data(false, sectors * SECTOR, SECTOR_BLOCK);
        sdmmc::send(READ_SECTORS, sector, Answer::Short);
    }

    fn start(&mut self, transfer: Transfer) {
        let Transfer { write, sector, memory, count } = transfer;
        self.current = Some((transfer, Phase::Command));
        sdmmc::begin_stream(write, memory, Count::Controller);
        // What is read may come at once; what is written is to follow the answer.
        if !write {
            sdmmc::begin_data(write, count * SECTOR, SECTOR_BLOCK);
        }
        sdmmc::send(transfer.command(), sector, Answer::Short);
    }

    /// Goes on with the transfer after an interrupt; whether it is complete.
    pub fn interrupted(&mut self) -> Result<bool, CardError> {
        let flags = sdmmc::take_flags();
        let Some((transfer, phase)) = self.current else { return Ok(false) };
        let command = match phase {
            Phase::Count => 23,
            Phase::Command | Phase::Data if self.open.is_some() => READ_SECTORS,
            Phase::Command | Phase::Data => transfer.command(),
            Phase::Status(_) => 13,
        };
        sdmmc::check_command(command, flags)?;
        match phase {
            Phase::Count if flags.cmdrend() => {
                card_state(command, sdmmc::answer())?;
                self.start(transfer);
            }
            Phase::Command if flags.cmdrend() => {
                card_state(command, sdmmc::answer())?;
                if transfer.write {
                    sdmmc::begin_data(true, transfer.count * SECTOR, SECTOR_BLOCK);
                }
                self.current = Some((transfer, Phase::Data));
                // Both may have come at once.
                return self.data(transfer, sdmmc::data_ended(flags)?);
            }
            Phase::Command | Phase::Data => {
                return self.data(transfer, sdmmc::data_ended(flags)?);
            }
            Phase::Status(asked) if flags.cmdrend() => {
                match card_state(command, sdmmc::answer())? {
                    CardState::Ready => {
                        self.current = None;
                        return Ok(true);
                    }
                    CardState::Writing if asked < BUSY_TRIES => self.ask(transfer, asked + 1),
                    CardState::Writing | CardState::Other => return Err(CardError::Busy),
                }
            }
            Phase::Count | Phase::Status(_) => {}
        }
        Ok(false)
    }

    fn data(&mut self, transfer: Transfer, ended: bool) -> Result<bool, CardError> {
        if self.open.is_some() {
            if !sdmmc::piece_ended()? {
                return Ok(false);
            }
            sdmmc::listen(Listen::Nothing);
            self.current = None;
            return Ok(true);
        }
        if !ended {
            return Ok(false);
        }
        sdmmc::end_stream()?;
        if transfer.write {
            self.ask(transfer, 0);
            return Ok(false);
        }
        self.current = None;
        Ok(true)
    }

    fn ask(&mut self, transfer: Transfer, asked: u32) {
        self.current = Some((transfer, Phase::Status(asked)));
        sdmmc::send(13, self.address, Answer::Short);
    }

    /// Gives a transfer up that failed and brings the card back to where the next can begin; with half the clock if
    /// that was misheard before, which cards and the controller of the STM32F4 may not bear (its erratum "SDIO clock
    /// divider BYPASS mode may not work properly").
    pub fn recover(&mut self, cause: CardError) -> Result<(), CardError> {
        (self.current, self.open) = (None, None);
        sdmmc::listen(Listen::Nothing);
        sdmmc::stop();
        if self.is_fast && matches!(cause, CardError::Checksum | CardError::Answer { .. }) {
            self.misheard += 1;
            if self.misheard >= MISHEARD {
                self.is_fast = false;
                sdmmc::set_clock(Speed48::Default, true);
            }
        }
        let mut unheard = 0;
        for _ in 0..BUSY_TRIES {
            let status = match sdmmc::command(13, self.address, Answer::Short) {
                Ok(status) => status,
                Err(error) if unheard >= UNHEARD => return Err(error),
                Err(_) => {
                    unheard += 1;
                    continue;
                }
            };
            // A card that waits for a transfer knows no end of one, and does not answer CMD12.
            match status >> 9 & 15 {
                4 if status & 1 << 8 != 0 => return Ok(()),
                4 | 7 => {}
                _ => {
                    let _ = sdmmc::command(12, 0, Answer::Short);
                }
            }
        }
        Err(CardError::Busy)
    }
}
