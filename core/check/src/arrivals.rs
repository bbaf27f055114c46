//! Inputs that the firmware writes to a card while they arrive: by the format's own words, rows from sectors on, through
//! two halves of the arena that nothing else has then.

use std::ops::Range;

use tilewright_plan::{Plan, Space, View};

/// Bytes of a card's sector.
const SECTOR: u64 = 512;
/// Bytes of a cache line.
const LINE: u64 = 32;

/// Checks where an input of `elements` bytes lies on the card, and how it gets there.
///
/// # Errors
/// Says what is wrong, of the input.
pub fn check(plan: &Plan, view: &View, elements: u64) -> Result<(), String> {
    let wrong = |reason: &str| Err(reason.to_owned());
    let Some(window) = plan.input.window() else {
        return wrong("lies on a card, but has no way there");
    };
    let [offset, bytes] = [window.offset, window.bytes].map(u64::from);
    if bytes == 0 || !bytes.is_multiple_of(2 * SECTOR) || !offset.is_multiple_of(LINE) {
        return wrong("goes to the card through other than two halves of whole sectors");
    }
    if offset + bytes > plan.space(Space::Arena).0 {
        return wrong("goes to the card through bytes behind the arena");
    }
    let checksums =
        plan.sector_checksums.map(|checksums| u64::from(checksums.offset)..checksums.end());
    if checksums.is_some_and(|checksums| checksums.start < offset + bytes && offset < checksums.end)
    {
        return wrong("goes to the card through checksums of its sectors");
    }
    let row = u64::from(view.w) * u64::from(view.c);
    let pitch = u64::from(view.row_pitch);
    let is_whole = view.elements() == elements
        && u64::from(view.column_pitch) == u64::from(view.c)
        && (view.y0, view.x0, view.first_row) == (0, 0, 0)
        && view.ring_rows == view.h;
    if !is_whole {
        return wrong("is not a whole tensor");
    }
    let begins = |at: u64| at.is_multiple_of(SECTOR);
    if !begins(view.offset.into()) || pitch != row && (pitch < row || !begins(pitch)) {
        return wrong("has rows on the card that do not begin at sectors");
    }
    let inside = sectors(view).end <= plan.space(Space::Card).0;
    if inside { Ok(()) } else { wrong("ends behind what the plan uses of the card") }
}

/// What is written while it arrives.
pub fn written(plan: &Plan, view: &View) -> impl Iterator<Item = (Space, Range<u64>)> {
    let window = plan.input.window();
    let window = window.map(|window| (Space::Arena, u64::from(window.offset)..window.end()));
    std::iter::once((Space::Card, sectors(view))).chain(window)
}

/// Whether an input lies in the arena where others go to the card.
pub fn lies_over(plan: &Plan, view: &View) -> bool {
    let (start, end) = (u64::from(view.offset), u64::from(view.offset) + view.extent());
    let window = plan.input.window().filter(|_| view.space() == Some(Space::Arena));
    window.is_some_and(|window| start < window.end() && u64::from(window.offset) < end)
}

/// The sectors that hold an input.
fn sectors(view: &View) -> Range<u64> {
    let start = u64::from(view.offset);
    start..(start + view.extent()).next_multiple_of(SECTOR)
}
