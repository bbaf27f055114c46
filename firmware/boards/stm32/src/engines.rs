//! The lanes of transfer engines: DMA2 and the card's controller run theirs, one step behind the other
//! from their interrupts, while the core computes. The core sleeps when it has to wait.

use core::cell::RefCell;

use cortex_m::asm;
use critical_section::Mutex;
use embassy_stm32::interrupt;
use tilewright_board_support::marks;
use tilewright_plan::image::LaneRecord;
use tilewright_plan::{After, LaneKind, PlanImage, Space, Span};
use tilewright_runtime::console::MarkKind;
use tilewright_runtime::{LaneDriver, LaneError, Memory, Pieces, Schedule, Transfer};

use crate::cache::{Cache, Maintenance};
use crate::card_lane::CardLane;
use crate::crc::{self, checksum};
use crate::dma::{self, Ended};
use crate::sdmmc;

/// How often a transfer is tried.
const ATTEMPTS: u8 = 3;

/// A transfer under way.
struct Running {
    transfer: Transfer,
    pieces: Pieces,
    attempt: u8,
}

struct State {
    cache: Cache,
    schedule: Schedule<'static>,
    /// Addresses of the spaces, by their numbers.
    bases: [Option<u32>; 6],
    /// The lane that DMA runs.
    lane: Option<u8>,
    running: Option<Running>,
    /// The card, once it was opened.
    card: Option<CardLane>,
    failed: Option<LaneError>,
}

static STATE: Mutex<RefCell<Option<State>>> = Mutex::new(RefCell::new(None));

fn with_state<T>(run: impl FnOnce(&mut State) -> Result<T, LaneError>) -> Result<T, LaneError> {
    critical_section::with(|section| {
        let mut state = STATE.borrow_ref_mut(section);
        let Some(state) = &mut *state else { return Err(LaneError::Deadlock) };
        // Looked at before it is copied: this runs at each wake.
        if let Some(error) = &state.failed {
            return Err(*error);
        }
        run(state)
    })
}

#[interrupt]
fn DMA2_STREAM0() {
    // Taken even if the card has failed meanwhile: what stays pending is raised for ever.
    let ended = dma::take_end();
    // A failure is kept for whoever waits.
    let _ = with_state(|state| {
        if let Some(ended) = ended
            && let Err(error) = state.piece_ended(ended)
        {
            state.running = None;
            state.failed = Some(error);
        }
        Ok(())
    });
}

#[cfg(feature = "stm32f4")]
#[interrupt]
fn SDIO() {
    card_interrupt();
}

#[cfg(feature = "stm32f7")]
#[interrupt]
fn SDMMC1() {
    card_interrupt();
}

fn card_interrupt() {
    let heard = with_state(|state| {
        if let Err(error) = state.card_interrupted() {
            state.failed = Some(error);
        }
        Ok(())
    });
    if heard.is_err() {
        // Nobody goes on with the transfer; the next one listens again.
        sdmmc::listen(false);
    }
}

impl State {
    /// Addresses of a transfer's spaces.
    fn bases(&self, transfer: &Transfer) -> Option<[u32; 2]> {
        let base = |span: &Span| *self.bases.get(span.space()? as usize)?;
        Some([base(&transfer.source)?, base(&transfer.destination)?])
    }

    /// Begins the next transfer of each lane that has none under way and may make one.
    fn go_on(&mut self) -> Result<(), LaneError> {
        self.card_goes_on()?;
        let (None, Some(lane)) = (&self.running, self.lane) else { return Ok(()) };
        let Some(transfer) = self.schedule.next(lane)? else { return Ok(()) };
        marks::copy(MarkKind::CopyBegin, lane, transfer.step);
        self.begin(transfer, 1)
    }

    fn card_goes_on(&mut self) -> Result<(), LaneError> {
        let Some(card) = self.card.as_mut().filter(|card| !card.is_busy()) else { return Ok(()) };
        let Some(lane) = card.lane else { return Ok(()) };
        let Some(copy) = self.schedule.next(lane)? else { return Ok(()) };
        let base = memory_of(&self.bases, &copy).ok_or(LaneError::Failed { step: copy.step })?;
        marks::copy(MarkKind::CopyBegin, lane, copy.step);
        card.begin(&mut self.cache, copy, base)
    }

    fn card_interrupted(&mut self) -> Result<(), LaneError> {
        let Some(card) = &mut self.card else { return Ok(()) };
        let Some(copy) = card.interrupted(&mut self.cache, &self.bases, self.schedule.image())?
        else {
            return Ok(());
        };
        let Some(lane) = card.lane else { return Ok(()) };
        marks::copy(MarkKind::CopyEnd, lane, copy.step);
        self.schedule.completed(lane);
        self.go_on()
    }

    fn begin(&mut self, transfer: Transfer, attempt: u8) -> Result<(), LaneError> {
        let failed = LaneError::Failed { step: transfer.step };
        let [from, to] = self.bases(&transfer).ok_or(failed)?;
        if transfer.source.space().is_some_and(Space::is_writable) {
            self.cache.maintain(from, &transfer.source, Maintenance::Clean);
        }
        let before = Maintenance::CleanAndInvalidate;
        self.cache.maintain(to, &transfer.destination, before);
        let pieces = Pieces::new((from, &transfer.source), (to, &transfer.destination));
        self.running = Some(Running { transfer, pieces, attempt });
        self.next_piece()
    }

    fn next_piece(&mut self) -> Result<(), LaneError> {
        let Some(running) = &mut self.running else { return Ok(()) };
        match running.pieces.next() {
            Some(piece) => {
                dma::begin(&piece);
                Ok(())
            }
            None => self.transfer_ended(),
        }
    }

    fn piece_ended(&mut self, ended: Ended) -> Result<(), LaneError> {
        match ended {
            Ended::Complete => self.next_piece(),
            Ended::Failed => self.again(),
        }
    }

    /// Makes the transfer again, a bounded number of times.
    fn again(&mut self) -> Result<(), LaneError> {
        match self.running.take() {
            Some(Running { transfer, attempt, .. }) if attempt < ATTEMPTS => {
                self.begin(transfer, attempt + 1)
            }
            Some(running) => Err(LaneError::Failed { step: running.transfer.step }),
            None => Ok(()),
        }
    }

    fn transfer_ended(&mut self) -> Result<(), LaneError> {
        let (Some(running), Some(lane)) = (&self.running, self.lane) else { return Ok(()) };
        let transfer = running.transfer;
        let failed = LaneError::Failed { step: transfer.step };
        let [_, to] = self.bases(&transfer).ok_or(failed)?;
        self.cache.maintain(to, &transfer.destination, Maintenance::Invalidate);
        let sum = |number| self.schedule.image().sum(number);
        let holds = |number| sum(number) == Some(checksum(to, &transfer.destination));
        if !transfer.sum.is_none_or(holds) {
            return self.again();
        }
        self.running = None;
        marks::copy(MarkKind::CopyEnd, lane, transfer.step);
        self.schedule.completed(lane);
        self.go_on()
    }
}

/// Where the memory begins that a copy to or from the card uses.
pub fn memory_of(bases: &[Option<u32>; 6], copy: &Transfer) -> Option<u32> {
    let spaces = [copy.source.space()?, copy.destination.space()?];
    let memory = spaces.into_iter().find(|space| *space != Space::Card)?;
    *bases.get(memory as usize)?
}

/// Where a board's memories lie.
#[derive(Clone, Copy)]
pub struct Spaces {
    /// The tensor arena, within DMA's reach.
    pub arena: u32,
    /// RAM outside of the microcontroller, if the firmware serves any.
    pub external_ram: Option<u32>,
    /// Flash outside of the microcontroller, if the firmware serves any.
    pub external_flash: Option<u32>,
    /// The core's clock.
    pub clock_hertz: u32,
}

/// The board's engines.
pub struct Engines {
    spaces: Spaces,
}

impl Engines {
    /// For programs of an image.
    pub fn new(image: PlanImage<'static>, cache: Cache, spaces: Spaces) -> Self {
        crc::power_up();
        let mut bases = [None; 6];
        bases[Space::Arena as usize] = Some(spaces.arena);
        bases[Space::Weights as usize] = Some(image.weights().as_ptr().addr() as u32);
        bases[Space::Constants as usize] = Some(image.constants().as_ptr().addr() as u32);
        bases[Space::ExternalRam as usize] = spaces.external_ram;
        bases[Space::ExternalFlash as usize] = spaces.external_flash;
        let state = State {
            cache,
            schedule: Schedule::new(image),
            bases,
            lane: None,
            running: None,
            card: None,
            failed: None,
        };
        critical_section::with(|section| *STATE.borrow_ref_mut(section) = Some(state));
        Self { spaces }
    }
}

impl LaneDriver for Engines {
    fn open(&mut self, image: &PlanImage<'_>, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        if image.space_bytes(Space::Card) == 0 {
            return Ok(());
        }
        let card = CardLane::open(image, &self.spaces).map_err(LaneError::NoCard)?;
        with_state(|state| {
            state.card = Some(card);
            Ok(())
        })
    }

    fn start(
        &mut self,
        _image: &PlanImage<'_>,
        lane: u8,
        record: &LaneRecord,
        _memory: &mut Memory<'_>,
    ) -> Result<(), LaneError> {
        let kind = LaneKind::from_number(record.kind).ok_or(LaneError::Deadlock)?;
        with_state(|state| {
            if lane == 1 {
                state.lane = None;
                if let Some(card) = &mut state.card {
                    card.begin_frame()?;
                }
            }
            let engine = match (kind, &mut state.card) {
                (LaneKind::Dma, _) => Some(&mut state.lane),
                (LaneKind::Card, Some(card)) => Some(&mut card.lane),
                _ => None,
            };
            match engine {
                Some(engine) if engine.is_none() => *engine = Some(lane),
                _ => return Err(LaneError::NoEngine(kind)),
            }
            state.schedule.start(lane, record)?;
            state.go_on()
        })
    }

    fn wait(&mut self, after: After, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        loop {
            let complete = with_state(|state| {
                if state.schedule.is_complete(after) {
                    return Ok(true);
                }
                let carries = state.card.as_ref().is_some_and(CardLane::is_busy);
                if state.running.is_none() && !carries {
                    return Err(LaneError::Deadlock);
                }
                // Interrupts are off, so that none is missed; one that is pending ends the sleep.
                asm::wfi();
                Ok(false)
            })?;
            if complete {
                // What DMA wrote is read from memory from here on.
                asm::dmb();
                return Ok(());
            }
        }
    }

    fn give_up(&mut self) {
        critical_section::with(|section| {
            let mut state = STATE.borrow_ref_mut(section);
            let Some(state) = &mut *state else { return };
            if state.running.take().is_some() {
                dma::abort();
            }
            if let Some(card) = &mut state.card {
                card.give_up();
            }
            state.failed = None;
        });
    }

    fn core_completed(&mut self, step: u32, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        with_state(|state| {
            state.schedule.core_completed(step);
            state.go_on()
        })
    }
}
