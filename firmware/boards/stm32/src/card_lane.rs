//! The lane of the card: copies as transfers of whole sectors, each tried a few times.

use tilewright_plan::image::StoreHeader;
use tilewright_plan::{PlanImage, Space, Span};
use tilewright_runtime::card::{CardError, SECTOR};
use tilewright_runtime::{LaneError, Run, Runs, Transfer};

use crate::cache::{Cache, Maintenance};
use crate::card::{self, Card};
use crate::engines::{Spaces, memory_of};
use crate::sdmmc;
use crate::sector_checksums::{SectorChecker, is_stored};

/// How often a transfer is tried.
const TRIES: u8 = 4;
/// What memory addresses are multiples of: bursts of four words.
const BURST: u32 = 16;

/// A copy under way.
struct Carrying {
    copy: Transfer,
    write: bool,
    runs: Runs,
    run: Run,
    tries: u8,
    /// How often the whole copy was made.
    made: u8,
}

/// The card and the copy that it makes.
pub struct CardLane {
    card: Card,
    /// The program's lane.
    pub lane: Option<u8>,
    carrying: Option<Carrying>,
    /// What is kept of what programs write to the card.
    keeper: Option<SectorChecker>,
}

impl CardLane {
    /// Identifies the card and holds it against an image that uses it.
    pub fn open(image: &PlanImage<'_>, spaces: &Spaces) -> Result<Self, CardError> {
        let scratch = spaces.arena;
        let mut card = identified(scratch, spaces)?;
        let needed = image.space_bytes(Space::Card).div_ceil(SECTOR.into());
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        if card.sectors < needed {
            return Err(CardError::TooSmall { needed, had: card.sectors });
        }
        for tries in 1.. {
            match card.read(0, scratch).and_then(|()| is_of(image, scratch)) {
                Ok(()) => break,
                Err(error) if tries >= TRIES => return Err(error),
                // It came whole, and may come otherwise.
                Err(CardError::Store(_)) => {}
                Err(error) => card.recover(error)?,
            }
        }
        sdmmc::unmask();
        let keeper = image
            .sector_checksums()
            .map(|kept| SectorChecker::new(kept, spaces.arena))
            .transpose()?;
        Ok(Self { card, lane: None, carrying: None, keeper })
    }

    /// A frame begins.
    pub fn begin_frame(&mut self) -> Result<(), LaneError> {
        self.lane = None;
        self.keeper.as_mut().map_or(Ok(()), SectorChecker::begin_frame).map_err(LaneError::NoCard)
    }

    /// Gives away what is kept of what is written, so that something can be noted while interrupts are on; what
    /// [`Self::begin_noted`] takes back.
    pub const fn take_keeper(&mut self) -> Option<SectorChecker> {
        self.keeper.take()
    }

    /// Begins to write what was noted already, from the arena, which begins at `base`.
    pub fn begin_noted(
        &mut self,
        cache: &mut Cache,
        (copy, base): (Transfer, u32),
        keeper: Option<SectorChecker>,
    ) -> Result<(), LaneError> {
        self.keeper = keeper;
        self.make(cache, copy, base, true, 1)
    }

    /// Gives up the copy that it makes, whose transfer is over.
    pub fn give_up(&mut self) {
        self.carrying = None;
    }

    /// Whether it makes a copy.
    pub const fn is_busy(&self) -> bool {
        self.carrying.is_some()
    }

    /// Begins a copy between the card and memory, whose space begins at `base`.
    pub fn begin(&mut self, cache: &mut Cache, copy: Transfer, base: u32) -> Result<(), LaneError> {
        let write = copy.destination.space() == Some(Space::Card);
        if let Some(keeper) = self.keeper.as_mut().filter(|_| write) {
            runs(&self.card, (base, &copy.source), (0, &copy.destination))
                .for_each(|run| keeper.leave(run));
        }
        self.make(cache, copy, base, write, 1)
    }

    fn make(
        &mut self,
        cache: &mut Cache,
        copy: Transfer,
        base: u32,
        write: bool,
        made: u8,
    ) -> Result<(), LaneError> {
        let (from, to) = if write { (base, 0) } else { (0, base) };
        let mut runs = runs(&self.card, (from, &copy.source), (to, &copy.destination));
        maintain(cache, &copy, base);
        let Some(run) = runs.next() else { return Ok(()) };
        self.carrying = Some(Carrying { copy, write, runs, run, tries: 1, made });
        self.start()
    }

    /// Begins the transfer of the run that is due.
    fn start(&mut self) -> Result<(), LaneError> {
        let Some(carrying) = &self.carrying else { return Ok(()) };
        let Run { source, destination, bytes } = carrying.run;
        let write = carrying.write;
        let (memory, place) = if write { (source, destination) } else { (destination, source) };
        if !(place | bytes).is_multiple_of(SECTOR) || !memory.is_multiple_of(BURST) {
            return Err(carrying.failed(CardError::Transfer));
        }
        let (sector, count) = (place / SECTOR, bytes / SECTOR);
        self.card.begin(card::Transfer { write, sector, memory, count });
        Ok(())
    }

    /// Goes on after the controller's interrupt; gives the copy once it is complete.
    pub fn interrupted(
        &mut self,
        cache: &mut Cache,
        bases: &[Option<u32>; 6],
        image: &PlanImage<'_>,
    ) -> Result<Option<Transfer>, LaneError> {
        let result = self.card.interrupted();
        self.go_on(cache, bases, image, result)
    }

    /// Gives up the transfer that it waits for, and begins it again; gives the copy once it is complete.
    pub fn stalled(
        &mut self,
        cache: &mut Cache,
        bases: &[Option<u32>; 6],
        image: &PlanImage<'_>,
    ) -> Result<Option<Transfer>, LaneError> {
        self.go_on(cache, bases, image, Err(CardError::NoData))
    }

    /// Goes on once a transfer is complete or has failed.
    fn go_on(
        &mut self,
        cache: &mut Cache,
        bases: &[Option<u32>; 6],
        image: &PlanImage<'_>,
        result: Result<bool, CardError>,
    ) -> Result<Option<Transfer>, LaneError> {
        let Some(carrying) = &mut self.carrying else { return Ok(None) };
        let (copy, write, made) = (carrying.copy, carrying.write, carrying.made);
        let base = memory_of(bases, &copy).ok_or(LaneError::Failed { step: copy.step })?;
        match result {
            Ok(false) => return Ok(None),
            Ok(true) => {}
            Err(cause) => {
                if carrying.tries >= TRIES {
                    return Err(carrying.failed(cause));
                }
                carrying.tries += 1;
                if let Err(cause) = self.card.recover(cause) {
                    return Err(carrying.failed(cause));
                }
                maintain(cache, &copy, base);
                return self.start().map(|()| None);
            }
        }
        if let Some(run) = carrying.runs.next() {
            (carrying.run, carrying.tries) = (run, 1);
            return self.start().map(|()| None);
        }
        if !write {
            cache.maintain(base, &copy.destination, Maintenance::Invalidate);
            let mut runs = runs(&self.card, (0, &copy.source), (base, &copy.destination));
            let wrong =
                self.keeper.as_ref().and_then(|keeper| runs.find_map(|run| keeper.arrive(run)));
            let holds = |number| is_stored(image, number, base, &copy);
            if wrong.is_some() || !copy.sum.is_none_or(holds) {
                if made >= TRIES {
                    let cause = wrong.map_or(CardError::Image, |_| CardError::Content);
                    let failed = Carrying { tries: made, ..*carrying }.failed(cause);
                    return Err(at_sector(failed, wrong));
                }
                return self.make(cache, copy, base, write, made + 1).map(|()| None);
            }
        }
        self.carrying = None;
        Ok(Some(copy))
    }
}

/// The card in the slot, asked again if it did not understand or was not understood.
fn identified(scratch: u32, spaces: &Spaces) -> Result<Card, CardError> {
    for tries in 1.. {
        match Card::identify(scratch, spaces) {
            Err(_) if tries < TRIES => {}
            identified => return identified,
        }
    }
    Err(CardError::Unsuited)
}

/// What the card moves of a copy, one after the other.
fn runs(card: &Card, source: (u32, &Span), destination: (u32, &Span)) -> Runs {
    Runs::new(source, destination, card.most * SECTOR)
}

/// Whether a header that was read to `scratch` belongs to the image.
fn is_of(image: &PlanImage<'_>, scratch: u32) -> Result<(), CardError> {
    // SAFETY: DMA has written the first sector to the arena, which nothing uses yet.
    #[expect(unsafe_code, reason = "memory that DMA has written")]
    let header = unsafe { core::slice::from_raw_parts(scratch as *const u8, SECTOR as usize) };
    StoreHeader::read(header, image, Space::Card).map(|_| ()).map_err(CardError::Store)
}

/// The same failure, at a sector that is known better.
const fn at_sector(failed: LaneError, known: Option<u32>) -> LaneError {
    match (failed, known) {
        (LaneError::Card { step, layer, tries, cause, .. }, Some(sector)) => {
            LaneError::Card { step, layer, sector, tries, cause }
        }
        (failed, _) => failed,
    }
}

/// Makes the cache's lines such that the controller may move a copy.
fn maintain(cache: &mut Cache, copy: &Transfer, base: u32) {
    if copy.destination.space() == Some(Space::Card) {
        cache.maintain(base, &copy.source, Maintenance::Clean);
    } else {
        cache.maintain(base, &copy.destination, Maintenance::CleanAndInvalidate);
    }
}

impl Carrying {
    const fn failed(&self, cause: CardError) -> LaneError {
        let place = if self.write { self.run.destination } else { self.run.source };
        LaneError::Card {
            step: self.copy.step,
            layer: self.copy.layer,
            sector: place / SECTOR,
            tries: self.tries,
            cause,
        }
    }
}
