//! A copy as an engine makes it: in pieces of at most so many items of one width, each without a gap
//! on either side.

use tilewright_plan::Span;

/// Most items of a piece: an engine counts 16 bits of them; a multiple of 8, so that what follows is
/// as aligned as what came before.
const LARGEST: u32 = 0xfff8;

/// Bytes that an engine moves at a time, where both addresses are multiples of it.
const BURST: u32 = 16;

/// Bytes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One.
    Byte,
    /// Two.
    Half,
    /// Four.
    Word,
}

impl Width {
    /// The number.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }
}

/// A piece of a copy. Both addresses are multiples of the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Address of the first byte that is read.
    pub source: u32,
    /// Address of the first byte that is written.
    pub destination: u32,
    /// Bytes of an item.
    pub width: Width,
    /// Number of items, at least 1.
    pub items: u16,
}

impl Piece {
    /// Whether it can be moved in bursts of four words.
    #[must_use]
    pub const fn in_bursts(&self) -> bool {
        let aligned = (self.source | self.destination).is_multiple_of(BURST);
        aligned && matches!(self.width, Width::Word) && self.items.is_multiple_of(4)
    }
}

/// A part of a copy that has no gap on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Address of the first byte that is read.
    pub source: u32,
    /// Address of the first byte that is written.
    pub destination: u32,
    /// Bytes, at least 1.
    pub bytes: u32,
}

/// The pieces of a copy that are left, in the order of its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pieces {
    source: Side,
    destination: Side,
    done: u64,
    total: u64,
}

/// Where a side of a copy is. Rows are followed step by step: 64-bit divisions for each piece would
/// take longer than most pieces.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    address: u32,
    /// Bytes from here to the end of the row.
    left: u32,
    row_bytes: u32,
    /// Bytes from the end of a row to the start of the next.
    gap: u32,
}

impl Side {
    fn of(base: u32, span: &Span) -> Self {
        let address = base.wrapping_add(span.offset);
        let (row_bytes, gap) = if span.pitch == span.row_bytes || span.rows <= 1 {
            (u32::try_from(span.bytes()).unwrap_or(u32::MAX), 0)
        } else {
            (span.row_bytes, span.pitch.wrapping_sub(span.row_bytes))
        };
        Self { address, left: row_bytes, row_bytes, gap }
    }

    /// Goes on by some bytes, at most those that are left of the row.
    fn advance(&mut self, bytes: u32) {
        self.address = self.address.wrapping_add(bytes);
        self.left = self.left.saturating_sub(bytes);
        if self.left == 0 {
            self.address = self.address.wrapping_add(self.gap);
            self.left = self.row_bytes;
        }
    }
}

impl Pieces {
    /// Of a copy from a span to another of as many bytes, in spaces that begin at these addresses.
    #[must_use]
    pub fn new(source: (u32, &Span), destination: (u32, &Span)) -> Self {
        let total = source.1.bytes().min(destination.1.bytes());
        let [source, destination] = [source, destination].map(|(base, span)| Side::of(base, span));
        Self { source, destination, done: 0, total }
    }

    /// Where the next byte is read and written, and how many follow it without a gap.
    fn run(&self) -> Option<(u32, u32, u32)> {
        let run = self.source.left.min(self.destination.left);
        let is_left = self.done < self.total && run > 0;
        is_left.then_some((self.source.address, self.destination.address, run))
    }

    /// Goes on by some bytes, at most those of the run.
    fn advance(&mut self, bytes: u32) {
        self.done += u64::from(bytes);
        self.source.advance(bytes);
        self.destination.advance(bytes);
    }
}

/// The runs of a copy that are left, in the order of its bytes, none longer than an engine moves at a
/// time.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    left: Pieces,
    largest: u32,
}

impl Runs {
    /// Of a copy as [`Pieces::new`] takes it.
    #[must_use]
    pub fn new(source: (u32, &Span), destination: (u32, &Span), largest: u32) -> Self {
        Self { left: Pieces::new(source, destination), largest: largest.max(1) }
    }
}

impl Iterator for Runs {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let (source, destination, bytes) = self.left.run()?;
        let bytes = bytes.min(self.largest);
        self.left.advance(bytes);
        Some(Run { source, destination, bytes })
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let (source, destination, run) = self.run()?;
        let (width, items) = items(source, destination, run);
        self.advance(width.bytes() * u32::from(items));
        Some(Piece { source, destination, width, items })
    }
}

/// The widest items that both addresses allow, or as many narrow ones as lead to wider.
fn items(source: u32, destination: u32, run: u32) -> (Width, u16) {
    let (misaligned, apart) = (source | destination, source ^ destination);
    let (width, items) = if misaligned & 15 == 0 && run >= BURST {
        (Width::Word, run / BURST * 4)
    } else if misaligned & 3 == 0 && apart & 15 == 0 && run >= 2 * BURST {
        (Width::Word, (BURST - (source & 15)) / 4)
    } else if misaligned & 3 == 0 && run >= 4 {
        (Width::Word, run / 4)
    } else if apart & 3 == 0 && misaligned & 3 != 0 {
        (Width::Byte, run.min(4 - (source & 3)))
    } else if misaligned & 1 == 0 && run >= 2 {
        (Width::Half, run / 2)
    } else if apart & 1 == 0 && misaligned & 1 != 0 {
        (Width::Byte, 1)
    } else {
        (Width::Byte, run)
    };
    (width, items.min(LARGEST) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(offset: u32, rows: u32, row_bytes: u32, pitch: u32) -> Span {
        Span { offset, rows, row_bytes, pitch, ..Span::default() }
    }

    /// Moves bytes as an engine does.
    fn moved(source: &Span, destination: &Span) -> (Vec<u8>, Vec<Piece>) {
        let from: Vec<u8> = (0..1 << 20).map(|i: u32| (i ^ i >> 8) as u8).collect();
        let mut to = vec![0; 1 << 20];
        let pieces: Vec<Piece> = Pieces::new((0, source), (0, destination)).collect();
        for piece in &pieces {
            let width = piece.width.bytes();
            assert!(piece.items > 0 && (piece.source | piece.destination).is_multiple_of(width));
            let bytes = width as usize * usize::from(piece.items);
            let (from_at, to_at) = (piece.source as usize, piece.destination as usize);
            to[to_at..to_at + bytes].copy_from_slice(&from[from_at..from_at + bytes]);
        }
        (to, pieces)
    }

    #[test]
    fn every_byte_comes_where_it_belongs() {
        for (source, destination) in [
            (span(3, 1, 1000, 1000), span(7, 1, 1000, 1000)),
            (span(2, 5, 33, 40), span(1, 1, 165, 165)),
            (span(64, 4, 32, 128), span(9, 8, 16, 20)),
            (span(1, 3, 2, 4), span(2, 6, 1, 3)),
        ] {
            let (to, _) = moved(&source, &destination);
            let place = |span: &Span, index: u32| {
                span.offset + index / span.row_bytes * span.pitch + index % span.row_bytes
            };
            let mut expected = vec![0; 1 << 20];
            for index in 0..source.bytes() as u32 {
                let from = place(&source, index);
                expected[place(&destination, index) as usize] = (from ^ from >> 8) as u8;
            }
            assert!(to == expected, "{source:?} {destination:?}");
        }
    }

    #[test]
    fn runs_end_where_either_side_has_a_gap() {
        let (card, memory) = (span(1024, 1, 1024, 1024), span(32, 2, 512, 640));
        let runs: Vec<Run> = Runs::new((0, &card), (1000, &memory), 4096).collect();
        let run = |source, destination, bytes| Run { source, destination, bytes };
        assert_eq!(runs, [run(1024, 1032, 512), run(1536, 1672, 512)]);
        let whole = span(0, 1, 1536, 1536);
        let runs: Vec<Run> = Runs::new((0, &whole), (0, &whole), 1024).collect();
        assert_eq!(runs, [run(0, 0, 1024), run(1024, 1024, 512)]);
    }

    #[test]
    fn long_runs_are_split_and_rows_without_gaps_joined() {
        let whole = span(0, 1, 600_000, 600_000);
        let rows = span(32, 600, 1000, 1000);
        let (_, pieces) = moved(&whole, &rows);
        let items: Vec<_> = pieces.iter().map(|piece| (piece.width, piece.items)).collect();
        let word = Width::Word;
        assert_eq!(items, [(word, 65_528), (word, 65_528), (word, 18_944)]);
        assert_eq!(Pieces::new((0, &span(0, 0, 0, 0)), (0, &whole)).next(), None);
    }
}
