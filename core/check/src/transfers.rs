//! What transfer engines can copy.

use std::ops::Range;

use tilewright_board::Board;
use tilewright_plan::{LaneKind, Space, Span};

/// Bytes of a cache line: what is made clean or invalid around a copy. The longest of all cores.
pub const CACHE_LINE: u64 = 32;
/// Bytes of a card's sector.
const SECTOR: u64 = 512;

/// Checks that an engine can make a copy.
///
/// # Errors
/// Says what it cannot.
pub fn check(board: &Board, kind: LaneKind, from: &Span, to: &Span) -> Result<(), String> {
    let engine = board.engine(kind).ok_or("the board has no engine for the lane")?;
    for span in [from, to] {
        let pitch = if span.rows > 1 { span.pitch } else { 0 };
        let numbers = [span.offset, span.row_bytes, pitch];
        if numbers.iter().any(|number| !number.is_multiple_of(engine.alignment.max(1))) {
            return Err(format!("{} moves multiples of {} bytes", engine.name, engine.alignment));
        }
        if u64::from(span.row_bytes) > engine.largest_bytes.0 {
            return Err(format!("{} moves {} at most", engine.name, engine.largest_bytes));
        }
    }
    if from.bytes() != to.bytes() || from.bytes() == 0 {
        return Err("source and destination differ in length, or are empty".to_owned());
    }
    let spaces = from.space().zip(to.space()).ok_or("unknown space")?;
    for span in [from, to] {
        if span.rows > 1 && span.pitch < span.row_bytes {
            return Err("runs of a copy overlap".to_owned());
        }
    }
    let is_writable = spaces.1.is_writable();
    match kind {
        LaneKind::Core => Err("the core lane makes no copies".to_owned()),
        LaneKind::Dma if spaces.0 == Space::Card || !is_writable => {
            Err("memory-to-memory DMA does not reach there".to_owned())
        }
        LaneKind::Dma => Ok(()),
        LaneKind::Card => {
            let (card, memory) = match spaces {
                (Space::Card, space) if is_writable => (from, space),
                (space, Space::Card) => (to, space),
                _ => return Err("the card's controller does not reach there".to_owned()),
            };
            if memory == Space::Card {
                return Err("a card does not copy within itself".to_owned());
            }
            let whole = [card.offset, card.row_bytes]
                .iter()
                .chain((card.rows > 1).then_some(&card.pitch))
                .all(|bytes| u64::from(*bytes).is_multiple_of(SECTOR));
            whole.then_some(()).ok_or_else(|| "a card is read and written in sectors".to_owned())
        }
    }
}

/// The runs of a span.
pub fn runs(span: &Span) -> impl Iterator<Item = Range<u64>> {
    let (offset, pitch) = (u64::from(span.offset), u64::from(span.pitch));
    let bytes = u64::from(span.row_bytes);
    (0..u64::from(span.rows)).map(move |row| offset + row * pitch..offset + row * pitch + bytes)
}

/// The whole cache lines that bytes lie in.
pub fn lines(range: Range<u64>) -> Range<u64> {
    range.start / CACHE_LINE * CACHE_LINE..range.end.next_multiple_of(CACHE_LINE)
}
