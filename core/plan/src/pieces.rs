//! Elementwise steps that write over one of their operands, piece by piece.
//!
//! A kernel never sees memory that is read and written at once: pieces of the operand are copied to a
//! small buffer, and from there the ordinary kernel writes them over. Where all rows follow each other
//! in memory, pieces go on from one to the next.

use crate::view::{Tile, View};

/// Bytes that are copied at a time.
pub const PIECE: usize = 512;

/// A part of a row of a box: row, column and channel in the box; columns and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    start: [usize; 3],
    size: [usize; 2],
    /// Columns go on from one row to the next: no operand stands for several elements.
    is_joined: bool,
}

/// How a tile of a box is cut.
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    /// First row and column, and how many.
    start: [usize; 2],
    size: [usize; 2],
    channels: usize,
    /// Columns and channels of a piece.
    width: usize,
    depth: usize,
    is_joined: bool,
}

impl Pieces {
    /// The pieces of what a step writes over; `other` is its other operand, if that has elements of
    /// its own. Nothing if the tile begins before the box.
    #[must_use]
    pub fn of(tile: &Tile, output: &View, other: Option<&View>) -> Option<Self> {
        let start = |axis: usize, first: i16| {
            usize::try_from(i32::from(tile.output_start[axis]) - i32::from(first)).ok()
        };
        let [top, left] = [start(0, output.y0)?, start(1, output.x0)?];
        let [rows, columns] = tile.output_size.map(usize::from);
        let (channels, pitch) = (output.c as usize, (output.column_pitch as usize).max(1));
        let depth = channels.clamp(1, PIECE);
        let whole = left == 0 && columns == usize::from(output.w);
        let is_joined = whole && is_joined(output) && other.is_none_or(is_alike(output));
        let (start, size) = match is_joined {
            true => ([0, top * columns], [1, rows * columns]),
            false => ([top, left], [rows, columns]),
        };
        // As many pixels as there is room for, with what lies between them.
        Some(Self { start, size, channels, width: 1 + (PIECE - depth) / pitch, depth, is_joined })
    }

    /// All pieces.
    pub fn iter(self) -> impl Iterator<Item = Piece> {
        let Self { start: [top, left], size: [rows, columns], channels, width, depth, is_joined } =
            self;
        (top..top + rows).flat_map(move |row| {
            (left..left + columns).step_by(width).flat_map(move |column| {
                let width = width.min(left + columns - column);
                (0..channels).step_by(depth).map(move |channel| Piece {
                    start: [row, column, channel],
                    size: [width, depth.min(channels - channel)],
                    is_joined,
                })
            })
        })
    }
}

/// Whether the rows of a box follow each other in memory.
fn is_joined(view: &View) -> bool {
    u64::from(view.row_pitch) == u64::from(view.w) * u64::from(view.column_pitch)
        && view.first_row.saturating_add(view.h) <= view.ring_rows
}

/// Whether a box has the shape of another, and its rows follow each other too.
fn is_alike(output: &View) -> impl Fn(&View) -> bool {
    let shape = |view: &View| (view.h, view.w, view.c);
    move |other| shape(other) == shape(output) && is_joined(other)
}

impl Piece {
    /// Columns and channels.
    #[must_use]
    pub const fn size(&self) -> [usize; 2] {
        self.size
    }

    /// The tile of a piece: one row, from row and column 0 on.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a piece has at most PIECE columns and channels"
    )]
    #[must_use]
    pub fn tile(&self) -> Tile {
        let [columns, channels] = self.size;
        Tile {
            output_size: [1, columns as u16],
            channels: channels as u32,
            valid_size: [1, columns as u16],
            ..Tile::default()
        }
    }

    /// The piece of an operand, from row and column 0 on; one row, column or channel stands for
    /// all.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a piece has at most PIECE columns and channels, and its place is one of a checked \
                  step's output, which a u32 addresses"
    )]
    #[must_use]
    pub fn view(&self, view: &View) -> View {
        let [row, column, channel] = self.start.map(|at| at as u32);
        let [columns, channels] = self.size;
        let row = if view.h == 1 { 0 } else { row };
        let row = (row + u32::from(view.first_row)) % u32::from(view.ring_rows).max(1);
        let stands_for_all = view.w == 1 && !self.is_joined;
        let (column, w) = if stands_for_all { (0, 1) } else { (column, columns as u16) };
        let (channel, c) = if view.c == 1 { (0, 1) } else { (channel, channels as u32) };
        let before = row.wrapping_mul(view.row_pitch);
        let before = before.wrapping_add(column.wrapping_mul(view.column_pitch));
        View {
            offset: view.offset.wrapping_add(before).wrapping_add(channel),
            // One row, which may be longer than those of the operand.
            row_pitch: view.row_pitch.max(u32::from(w).wrapping_mul(view.column_pitch)),
            c,
            h: 1,
            w,
            y0: 0,
            x0: 0,
            ring_rows: 1,
            first_row: 0,
            ..*view
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Space;

    #[test]
    fn pieces_of_joined_rows_are_rows_of_their_own() {
        let view = View::whole(Space::Arena, 64, 6, 5, 16);
        let tile =
            Tile { output_size: [6, 5], channels: 16, valid_size: [6, 5], ..Tile::default() };
        let pieces = Pieces::of(&tile, &view, Some(&view)).unwrap();
        let mut covered = 0;
        for piece in pieces.iter() {
            let view = piece.view(&view);
            assert!(u64::from(view.row_pitch) >= u64::from(view.w) * u64::from(view.column_pitch));
            assert_eq!((view.offset, view.h), (64 + covered, 1));
            covered += u32::from(view.w) * view.c;
        }
        assert_eq!(covered, 6 * 5 * 16);
    }
}
