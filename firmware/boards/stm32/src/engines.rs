//! The lanes of transfer engines: DMA2 and the card's controller run theirs, one step behind the other
//! from their interrupts, while the core computes. The core sleeps when it has to wait.

use core::cell::RefCell;
use core::ops::Range;

use cortex_m::asm;
use cortex_m::peripheral::SYST;
use critical_section::Mutex;
use embassy_stm32::interrupt;
use tilewright_board_support::marks;
use tilewright_plan::image::LaneRecord;
use tilewright_plan::{
    After, Instruction, Kernel, LaneKind, PlanImage, Role, Space, Span, StepRecord, View,
};
use tilewright_runtime::console::MarkKind;
use tilewright_runtime::{LaneDriver, LaneError, Memory, Pieces, Run, Schedule, Transfer};

use crate::cache::{Cache, Maintenance};
use crate::card_lane::CardLane;
use crate::crc::{self, checksum};
use crate::dma::{self, Ended};
use crate::sdmmc::{self, Listen};
use crate::watch::Watch;

/// How often a transfer is tried.
const ATTEMPTS: u8 = 3;

/// The transfer that DMA makes. It stays in place: it is made ready between two copies.
#[derive(Default)]
struct Running {
    transfer: Transfer,
    /// Addresses of its spaces.
    bases: [u32; 2],
    pieces: Pieces,
    /// How often it was begun; 0: there is none.
    attempt: u8,
}

struct State {
    cache: Cache,
    schedule: Schedule<'static>,
    /// Addresses of the spaces, by their numbers.
    bases: [Option<u32>; 6],
    /// The bytes of external RAM that the core may write, from the first to the last: all others need not be
    /// cleaned before DMA reads them.
    written: Range<u32>,
    /// The lane that DMA runs.
    lane: Option<u8>,
    running: Running,
    /// The card, once it was opened.
    card: Option<CardLane>,
    watch: Watch,
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
            state.running.attempt = 0;
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
        sdmmc::listen(Listen::Nothing);
    }
}

impl State {
    /// Begins the next transfer of each lane that has none under way and may make one.
    fn go_on(&mut self) -> Result<(), LaneError> {
        self.card_goes_on()?;
        let (0, Some(lane)) = (self.running.attempt, self.lane) else { return Ok(()) };
        let running = &mut self.running;
        if !self.schedule.next(lane, &mut running.transfer)? {
            return Ok(());
        }
        let Transfer { step, source, destination, .. } = &running.transfer;
        let base = |span: &Span| *self.bases.get(span.space()? as usize)?;
        let bases = base(source).zip(base(destination));
        running.bases = bases.ok_or(LaneError::Failed { step: *step })?.into();
        marks::copy(MarkKind::CopyBegin, lane, *step);
        self.begin()
    }

    fn card_goes_on(&mut self) -> Result<(), LaneError> {
        let Some(card) = self.card.as_mut().filter(|card| !card.is_busy()) else { return Ok(()) };
        let Some(lane) = card.lane else { return Ok(()) };
        let mut copy = Transfer::default();
        if !self.schedule.next(lane, &mut copy)? {
            return Ok(());
        }
        let base = memory_of(&self.bases, &copy).ok_or(LaneError::Failed { step: copy.step })?;
        marks::copy(MarkKind::CopyBegin, lane, copy.step);
        card.begin(&mut self.cache, copy, base)
    }

    fn card_interrupted(&mut self) -> Result<(), LaneError> {
        let Some(card) = &mut self.card else { return Ok(()) };
        let copy = card.interrupted(&mut self.cache, &self.bases, self.schedule.image())?;
        self.card_made(copy)
    }

    /// The card's copy is complete, if there is one.
    fn card_made(&mut self, copy: Option<Transfer>) -> Result<(), LaneError> {
        let (Some(copy), Some(card)) = (copy, &self.card) else { return Ok(()) };
        let Some(lane) = card.lane else { return Ok(()) };
        marks::copy(MarkKind::CopyEnd, lane, copy.step);
        self.schedule.completed(lane);
        self.go_on()
    }

    /// Sleeps until an interrupt is pending. What has not moved for seconds is begun again, or fails.
    fn sleep(&mut self) -> Result<(), LaneError> {
        if self.watch.sleep() { begin_anew(self) } else { Ok(()) }
    }

    /// Begins the transfer that was made ready, again if it was begun before.
    fn begin(&mut self) -> Result<(), LaneError> {
        let Running { transfer: Transfer { source, destination, .. }, bases, pieces, attempt } =
            &mut self.running;
        let [from, to] = *bases;
        let may_be_dirty = match source.space() {
            Some(Space::Arena) => true,
            Some(Space::ExternalRam) => {
                let end = u64::from(source.offset) + source.extent();
                source.offset < self.written.end && u64::from(self.written.start) < end
            }
            _ => false,
        };
        if may_be_dirty {
            self.cache.maintain(from, source, Maintenance::Clean);
        }
        self.cache.maintain(to, destination, Maintenance::CleanAndInvalidate);
        *pieces = Pieces::new((from, source), (to, destination));
        *attempt += 1;
        self.next_piece()
    }

    fn next_piece(&mut self) -> Result<(), LaneError> {
        if self.running.attempt == 0 {
            return Ok(());
        }
        match self.running.pieces.next() {
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
        match self.running.attempt {
            0 => Ok(()),
            1..ATTEMPTS => self.begin(),
            _ => Err(LaneError::Failed { step: self.running.transfer.step }),
        }
    }

    fn transfer_ended(&mut self) -> Result<(), LaneError> {
        let Some(lane) = self.lane else { return Ok(()) };
        let Running { transfer, bases: [_, to], attempt, .. } = &mut self.running;
        self.cache.maintain(*to, &transfer.destination, Maintenance::Invalidate);
        if let Some(number) = transfer.sum
            && self.schedule.image().copy_checksum(number)
                != Some(checksum(*to, &transfer.destination))
        {
            return self.again();
        }
        *attempt = 0;
        marks::copy(MarkKind::CopyEnd, lane, transfer.step);
        self.schedule.completed(lane);
        self.go_on()
    }
}

/// Begins again what has not moved for seconds.
// Not a method of the state, whose memory for code is small: it runs when something is broken.
#[cold]
#[inline(never)]
fn begin_anew(state: &mut State) -> Result<(), LaneError> {
    if state.running.attempt > 0 {
        dma::abort();
        state.again()?;
    }
    let Some(card) = &mut state.card else { return Ok(()) };
    let copy = card.stalled(&mut state.cache, &state.bases, state.schedule.image())?;
    state.card_made(copy)
}

/// Where the memory begins that a copy to or from the card uses.
pub fn memory_of(bases: &[Option<u32>; 6], copy: &Transfer) -> Option<u32> {
    let spaces = [copy.source.space()?, copy.destination.space()?];
    let memory = spaces.into_iter().find(|space| *space != Space::Card)?;
    *bases.get(memory as usize)?
}

/// The bytes of external RAM, from the first to the last, that the core writes: inputs of programs, and what
/// their steps make.
fn written(image: &PlanImage<'_>) -> Range<u32> {
    let mut hull = Range { start: u32::MAX, end: 0 };
    let mut add = |view: &View| {
        if view.space() == Some(Space::ExternalRam) {
            let end = u64::from(view.offset) + view.extent();
            hull.start = hull.start.min(view.offset);
            hull.end = hull.end.max(u32::try_from(end).unwrap_or(u32::MAX));
        }
    };
    let (mut reader, mut record) = (image.reader(), StepRecord::default());
    for entry in image.entries() {
        for io in image.entry_inputs(entry) {
            image.view(io.view).iter().for_each(&mut add);
        }
        for lane in image.entry_lanes(entry) {
            for step in 0..lane.step_count {
                let read = reader.step(lane, step, &mut record);
                let Some(Instruction::Compute { op, tile, first_view, .. }) =
                    read.and_then(|()| Instruction::from_record(&record))
                else {
                    continue;
                };
                let Some(compute) = reader.compute(op, tile, first_view) else { continue };
                let roles = compute.op.kernel().map_or(&[][..], Kernel::roles);
                let made = roles.iter().zip(compute.operands);
                made.filter(|(role, _)| **role == Role::Output).for_each(|(_, view)| add(view));
            }
        }
    }
    hull
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
    /// The fastest clock that the way to the card carries.
    pub card_hertz: u32,
    /// Whether reads of a card may wait for room with their command open.
    pub open_reads: bool,
}

/// The board's engines.
pub struct Engines {
    spaces: Spaces,
}

impl Engines {
    /// For programs of an image.
    // Not a part of whoever serves frames: what it needs of the stack would be kept while kernels run.
    #[inline(never)]
    pub fn new(image: PlanImage<'static>, cache: Cache, timer: SYST, spaces: Spaces) -> Self {
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
            written: written(&image),
            lane: None,
            running: Running::default(),
            card: None,
            watch: Watch::new(timer, spaces.clock_hertz),
            failed: None,
        };
        critical_section::with(|section| *STATE.borrow_ref_mut(section) = Some(state));
        Self { spaces }
    }
}

/// Sleeps as long as the card is busy, or something else is.
fn settle(is_other_busy: impl Fn(&State) -> bool) -> Result<(), LaneError> {
    while with_state(|state| {
        let is_busy = state.card.as_ref().is_some_and(CardLane::is_busy) || is_other_busy(state);
        if is_busy {
            // As in `wait`.
            state.sleep()?;
        } else {
            state.watch.end();
        }
        Ok(is_busy)
    })? {}
    Ok(())
}

impl LaneDriver for Engines {
    // As `new`.
    #[inline(never)]
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

    // As `new`.
    #[inline(never)]
    fn begin_frame(&mut self, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        self.stored(memory)?;
        with_state(|state| state.card.as_mut().map_or(Ok(()), CardLane::begin_frame))
    }

    // As `new`.
    #[inline(never)]
    fn store(&mut self, from: &Span, to: &Span, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        self.stored(memory)?;
        let copy = Transfer { step: 0, layer: 0, source: *from, destination: *to, sum: None };
        let base = self.spaces.arena;
        let mut keeper =
            with_state(|state| Ok(state.card.as_mut().and_then(CardLane::take_keeper)))?;
        // With interrupts on: the line's next bytes are taken meanwhile.
        if let Some(keeper) = &mut keeper {
            let Span { row_bytes: bytes, .. } = *from;
            keeper.leave(Run { source: base + from.offset, destination: to.offset, bytes });
        }
        with_state(|state| match &mut state.card {
            Some(card) => card.begin_noted(&mut state.cache, (copy, base), keeper),
            None => Err(LaneError::NoEngine(LaneKind::Card)),
        })
    }

    // As `new`.
    #[inline(never)]
    fn stored(&mut self, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        settle(|_| false)
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
                    card.lane = None;
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
                    state.watch.end();
                    return Ok(true);
                }
                let carries = state.card.as_ref().is_some_and(CardLane::is_busy);
                if state.running.attempt == 0 && !carries {
                    return Err(LaneError::Deadlock);
                }
                // Interrupts are off, so that none is missed; one that is pending ends the sleep.
                state.sleep()?;
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
            if state.running.attempt > 0 {
                state.running.attempt = 0;
                dma::abort();
            }
            if let Some(card) = &mut state.card {
                card.give_up();
            }
            state.watch.end();
            state.failed = None;
        });
    }

    // As `new`.
    #[inline(never)]
    fn drain(&mut self, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        with_state(|state| {
            state.schedule.halt();
            Ok(())
        })?;
        settle(|state| state.running.attempt > 0)?;
        // What DMA wrote is read from memory from here on.
        asm::dmb();
        Ok(())
    }

    fn core_completed(&mut self, step: u32, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        with_state(|state| {
            state.schedule.core_completed(step);
            state.go_on()
        })
    }
}
