//! Lanes of engines without engines: the core makes a copy when a step waits for it.
//!
//! Of what goes through a card the same is checked as on the boards' own firmware: weights by the checksums of the plan
//! image, sectors that a program wrote by checksums in the arena.

use core::ffi::c_void;

use tilewright_plan::image::{CRC, LaneRecord, StoreHeader};
use tilewright_plan::step::MAX_LANES;
use tilewright_plan::{After, PlanImage, Space, Span, View};
use tilewright_runtime::card::{CardError, SECTOR};
use tilewright_runtime::{LaneDriver, LaneError, Memory, Run, Runs, Schedule, Transfer};

use crate::abi::TilewrightCard;

/// How often a transfer of a card is tried.
const TRIES: u8 = 4;
/// The checksum of a sector that was not written since the model was opened.
const UNKNOWN: u32 = 0;

/// Makes copies.
#[derive(Debug)]
pub struct Transfers<'i> {
    schedule: Schedule<'i>,
    card: Option<TilewrightCard>,
}

/// What failed at a sector.
struct Trouble {
    sector: u32,
    cause: CardError,
}

impl<'i> Transfers<'i> {
    /// For programs of an image, with the card that it may use.
    pub fn new(image: PlanImage<'i>, card: Option<TilewrightCard>) -> Self {
        Self { schedule: Schedule::new(image), card }
    }

    /// Holds the card, if the image uses one, against it; what programs write to it is unknown from here on.
    pub fn check_card(&mut self, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        let image = *self.schedule.image();
        if image.space_bytes(Space::Card) == 0 {
            return Ok(());
        }
        // Nothing lies in the arena yet, where the card's engine reaches what it brings.
        let place = View::bytes(Space::Arena, 0, SECTOR);
        let mut tries = 1;
        loop {
            let sector = memory.bytes_mut(&place).map_err(|_| CardError::Memory);
            let read = sector.and_then(|sector| {
                self.read(0, sector)?;
                let header = StoreHeader::read(sector, &image, Space::Card);
                header.map(drop).map_err(CardError::Store)
            });
            match read {
                Ok(()) => break,
                Err(error) if tries == TRIES => return Err(LaneError::NoCard(error)),
                Err(_) => tries += 1,
            }
        }
        if let Some(kept) = image.sector_checksums() {
            let bytes = kept.sectors.saturating_mul(kept.each());
            let place = View::bytes(Space::Arena, kept.offset, bytes);
            let place = memory.bytes_mut(&place).map_err(|_| LaneError::Deadlock)?;
            place.fill(UNKNOWN as u8);
        }
        Ok(())
    }

    /// Reads whole sectors.
    fn read(&self, sector: u32, to: &mut [u8]) -> Result<(), CardError> {
        let sectors = whole_sectors(to.len(), to.as_ptr())?;
        let Some(TilewrightCard { context, read: Some(read), .. }) = self.card else {
            return Err(CardError::Transfer);
        };
        // SAFETY: the caller gave the function for this; the memory is a slice.
        #[expect(unsafe_code, reason = "a function of C")]
        let code = unsafe { read(context, sector, sectors, to.as_mut_ptr().cast::<c_void>()) };
        if code == 0 { Ok(()) } else { Err(CardError::Driver { code }) }
    }

    /// Writes whole sectors.
    fn write(&self, sector: u32, from: &[u8]) -> Result<(), CardError> {
        let sectors = whole_sectors(from.len(), from.as_ptr())?;
        let Some(TilewrightCard { context, write: Some(write), .. }) = self.card else {
            return Err(CardError::Transfer);
        };
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "a function of C")]
        let code = unsafe { write(context, sector, sectors, from.as_ptr().cast::<c_void>()) };
        if code == 0 { Ok(()) } else { Err(CardError::Driver { code }) }
    }

    /// Makes the next copy of a lane; whether there was one that could be made.
    fn advance(&mut self, lane: u8, memory: &mut Memory<'_>) -> Result<bool, LaneError> {
        let mut copy = Transfer::default();
        if !self.schedule.next(lane, &mut copy)? {
            return Ok(false);
        }
        if self.is_on_card(&copy) {
            self.try_card(&copy, memory)?;
        } else {
            self.move_bytes(&copy, memory).ok_or(LaneError::Failed { step: copy.step })?;
        }
        self.schedule.completed(lane);
        Ok(true)
    }

    fn is_on_card(&self, copy: &Transfer) -> bool {
        let card = Some(Space::Card);
        self.card.is_some() && (copy.source.space() == card || copy.destination.space() == card)
    }

    /// Moves bytes between memories; nothing if some are not there or not those that the plan says.
    fn move_bytes(&self, copy: &Transfer, memory: &mut Memory<'_>) -> Option<()> {
        let image = self.schedule.image();
        let (from, to) = (copy.source.space()?, copy.destination.space()?);
        for Run { source, destination, bytes } in runs(copy) {
            let source = View::bytes(from, source, bytes);
            let destination = View::bytes(to, destination, bytes);
            let ([read], write) = memory.operands(image, [&source], &destination).ok()?;
            write.copy_from_slice(read);
        }
        self.is_stored(copy, memory).then_some(())
    }

    /// Whether what a copy brought is what the plan says, if it says that.
    fn is_stored(&self, copy: &Transfer, memory: &Memory<'_>) -> bool {
        let (image, to) = (self.schedule.image(), &copy.destination);
        let Some((number, space)) = copy.sum.zip(to.space()) else { return copy.sum.is_none() };
        let mut digest = CRC.digest();
        for Run { destination, bytes, .. } in runs(copy) {
            let brought = memory.bytes(image, &View::bytes(space, destination, bytes));
            digest.update(brought.unwrap_or(&[]));
        }
        image.copy_checksum(number) == Some(digest.finalize())
    }

    /// Makes a copy from or to the card, more than once if it must be.
    fn try_card(&self, copy: &Transfer, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        let mut tries = 1;
        loop {
            let made = match copy.destination.space() {
                Some(Space::Card) => self.leave(copy, memory),
                _ => self.bring(copy, memory),
            };
            match made {
                Ok(()) => return Ok(()),
                Err(Trouble { sector, cause }) if tries == TRIES => {
                    let Transfer { step, layer, .. } = *copy;
                    return Err(LaneError::Card { step, layer, sector, tries, cause });
                }
                Err(_) => tries += 1,
            }
        }
    }

    /// Writes bytes of memory to the card, and keeps their checksums.
    fn leave(&self, copy: &Transfer, memory: &mut Memory<'_>) -> Result<(), Trouble> {
        let image = self.schedule.image();
        for Run { source, destination, bytes } in runs(copy) {
            let sector = destination / SECTOR;
            let at = |cause| Trouble { sector, cause };
            let from = copy.source.space().unwrap_or(Space::Card);
            for number in 0..bytes / SECTOR {
                let view = View::bytes(from, source + number * SECTOR, SECTOR);
                let content = memory.bytes(image, &view).map_err(|_| at(CardError::Memory))?;
                let sum = sum_of(content);
                if let Some(place) = self.kept(sector + number)
                    && let Ok(place) = memory.bytes_mut(&place)
                {
                    place.copy_from_slice(&sum.to_le_bytes());
                }
            }
            let view = View::bytes(from, source, bytes);
            let content = memory.bytes(image, &view).map_err(|_| at(CardError::Memory))?;
            aligned(destination).and_then(|()| self.write(sector, content)).map_err(at)?;
        }
        Ok(())
    }

    /// Reads bytes of the card to memory, and compares their checksums.
    fn bring(&self, copy: &Transfer, memory: &mut Memory<'_>) -> Result<(), Trouble> {
        let image = self.schedule.image();
        let to = copy.destination.space().unwrap_or(Space::Card);
        for Run { source, destination, bytes } in runs(copy) {
            let sector = source / SECTOR;
            let at = |cause| Trouble { sector, cause };
            let view = View::bytes(to, destination, bytes);
            let place = memory.bytes_mut(&view).map_err(|_| at(CardError::Memory))?;
            aligned(source).and_then(|()| self.read(sector, place)).map_err(at)?;
            for number in 0..bytes / SECTOR {
                let Some(kept) = self.kept(sector + number) else { continue };
                let view = View::bytes(to, destination + number * SECTOR, SECTOR);
                let (kept, content) = (memory.bytes(image, &kept), memory.bytes(image, &view));
                let (Ok(kept), Ok(content)) = (kept, content) else { continue };
                if kept != UNKNOWN.to_le_bytes() && kept != sum_of(content).to_le_bytes() {
                    return Err(Trouble { sector: sector + number, cause: CardError::Content });
                }
            }
        }
        let sector = copy.source.offset / SECTOR;
        let is_right = self.is_stored(copy, memory);
        if is_right { Ok(()) } else { Err(Trouble { sector, cause: CardError::Image }) }
    }

    /// Where the checksum of a sector lies; nothing if none is kept.
    fn kept(&self, sector: u32) -> Option<View> {
        let kept = self.schedule.image().sector_checksums()?;
        Some(View::bytes(Space::Arena, kept.place(sector)?, kept.each()))
    }
}

/// What is moved at a time: where neither side has a gap. Addresses are offsets in their spaces.
fn runs(copy: &Transfer) -> Runs {
    let whole = |span| (0, span);
    let (source, destination): (&Span, &Span) = (&copy.source, &copy.destination);
    Runs::new(whole(source), whole(destination), u32::MAX)
}

fn whole_sectors(bytes: usize, memory: *const u8) -> Result<u32, CardError> {
    let is_whole = bytes.is_multiple_of(SECTOR as usize) && memory.addr().is_multiple_of(4);
    let sectors = u32::try_from(bytes / SECTOR as usize).ok().filter(|_| is_whole);
    sectors.ok_or(CardError::Transfer)
}

const fn aligned(place: u32) -> Result<(), CardError> {
    if place.is_multiple_of(SECTOR) { Ok(()) } else { Err(CardError::Transfer) }
}

fn sum_of(sector: &[u8]) -> u32 {
    CRC.checksum(sector).max(UNKNOWN + 1)
}

impl LaneDriver for Transfers<'_> {
    fn start(
        &mut self,
        _image: &PlanImage<'_>,
        lane: u8,
        record: &LaneRecord,
        _memory: &mut Memory<'_>,
    ) -> Result<(), LaneError> {
        self.schedule.start(lane, record)
    }

    fn wait(&mut self, after: After, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        while !self.schedule.is_complete(after) {
            if self.advance(after.lane, memory)? {
                continue;
            }
            // It waits for another lane.
            let mut moved = false;
            for other in (1..MAX_LANES as u8).filter(|other| *other != after.lane) {
                moved |= self.advance(other, memory)?;
            }
            if !moved {
                return Err(LaneError::Deadlock);
            }
        }
        Ok(())
    }

    fn core_completed(&mut self, step: u32, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        self.schedule.core_completed(step);
        Ok(())
    }
}
