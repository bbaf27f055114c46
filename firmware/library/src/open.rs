//! Opening a model: everything that plan and memories could have wrong is found here.
#![expect(unsafe_code, reason = "memory and functions of C")]

use core::ffi::{c_char, c_void};

use tilewright_plan::image::{ALIGNMENT, Expected, Section};
use tilewright_plan::{ImageError, PlanImage};

use crate::abi::{Tilewright, TilewrightCard, TilewrightMemory};
use crate::failure::Failure;
use crate::invoke;
use crate::places::{Place, Places};
use crate::state::Opened;
use crate::transfers::Transfers;

/// An entry's kind: run once at start.
const BOOT: u16 = 1;
/// Most bytes of a board's id in a plan image.
const LONGEST_ID: usize = 24;

/// What `tilewright_open` is given besides the model.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// The plan image.
    pub plan: *const c_void,
    /// Its bytes; more may follow it.
    pub plan_bytes: usize,
    /// The board's id, with a 0 behind it.
    pub board: *const c_char,
    /// The memories.
    pub memory: *const TilewrightMemory,
}

/// Opens a plan.
///
/// # Safety
/// Each pointer is null or leads to what the header says, which nobody else writes to as long as the model is open.
pub unsafe fn open(model: *const Tilewright, given: &Given) -> Result<Opened, Failure> {
    let Given { plan, plan_bytes, board, memory } = *given;
    let plan = Place::new("the plan image", plan, plan_bytes.max(1), ALIGNMENT)?;
    if board.is_null() {
        return Err(Failure::Null("the board's id"));
    }
    let alignment = align_of::<TilewrightMemory>();
    let memory = Place::new("tilewright_memory", memory.cast(), 1, alignment).map(|_| memory)?;
    // SAFETY: neither null nor misaligned.
    let memory: &TilewrightMemory = unsafe { &*memory };
    let card: Option<TilewrightCard> = if memory.card.is_null() {
        None
    } else {
        let alignment = align_of::<TilewrightCard>();
        Place::new("the card", memory.card.cast(), 1, alignment)?;
        // SAFETY: neither null nor misaligned.
        Some(unsafe { *memory.card })
    };
    let own = Place::new("the model", model.cast(), size_of::<Tilewright>(), 1)?;
    let places = Places::new(memory, card, [&plan, &own])?;

    let mut id = [0; LONGEST_ID];
    // SAFETY: it ends in a 0, behind which nothing is read.
    let id = unsafe { read_id(board, &mut id) }.ok_or(Failure::Board)?;
    if plan_bytes == 0 {
        return Err(Failure::Image(ImageError::Truncated { needed: 4, had: 0 }));
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { plan.read() };
    // SAFETY: the same.
    let mut memory = unsafe { places.memory() };
    let expected = Expected { board: id, space_bytes: memory.space_bytes() };
    let image = PlanImage::read(bytes, &expected).map_err(Failure::Image)?;
    check_runs(&image).map_err(Failure::Image)?;
    if let Some(what) = image.demand() {
        return Err(Failure::Unsupported(what));
    }
    memory.check_stores(&image).map_err(Failure::Store)?;
    let mut transfers = Transfers::new(image, places.card);
    transfers.check_card(&mut memory).map_err(Failure::Card)?;
    let entry = image.entries().iter().position(|entry| entry.kind != BOOT);
    let entry = entry.ok_or(Failure::Empty)?;
    let opened =
        Opened { image, places, entry, exit: None, observer: (None, core::ptr::null_mut()) };
    for (entry, record) in image.entries().iter().enumerate() {
        if record.kind == BOOT {
            invoke::run(&opened, entry, &mut memory, &mut transfers).map_err(Failure::Run)?;
        }
    }
    Ok(opened)
}

/// Refuses copies whose runs overlap: the memories bound how long every other copy takes. The validator refuses such
/// plans where they are made; boards run those alone, the library what it is given.
fn check_runs(image: &PlanImage<'_>) -> Result<(), ImageError> {
    let mut spans = image.spans();
    let mut numbered = (0..).map_while(|index| Some((index, spans.get(index)?)));
    let found = numbered.find(|(_, span)| span.rows > 1 && span.pitch < span.row_bytes);
    let (section, reason) = (Section::Spans, "runs of a copy overlap");
    found.map_or(Ok(()), |(index, _)| Err(ImageError::BadRecord { section, index, reason }))
}

/// The board's id, or as much of it as plan images hold; nothing if that is no text.
///
/// # Safety
/// It ends in a 0.
unsafe fn read_id(text: *const c_char, id: &mut [u8; LONGEST_ID]) -> Option<&str> {
    let mut length = 0;
    while let Some(place) = id.get_mut(length) {
        // SAFETY: no byte before this one was 0.
        let byte = unsafe { text.add(length).read() } as u8;
        if byte == 0 {
            break;
        }
        *place = byte;
        length += 1;
    }
    core::str::from_utf8(id.get(..length)?).ok()
}
