//! Elementwise steps that write over one of their operands.
//!
//! A kernel never sees memory that is read and written at once: pieces of the operand are copied
//! to a small buffer, and from there the ordinary kernel writes them over.

use super::{Step, operands, source, target};
use crate::error::Cause;
use crate::memory::Memory;
use tilewright_kernels as kernels;
use tilewright_plan::{Kernel, Tile, View};

/// Bytes that are copied at a time.
const PIECE: usize = 512;

impl Step<'_, '_> {
    /// Runs a step whose operand `shared` is the very view that is written.
    pub fn in_place(
        &self,
        memory: &mut Memory<'_>,
        views: &[View],
        shared: usize,
    ) -> Result<(), Cause> {
        let (output, other) = match (views, shared) {
            ([_, other, output], 0) if self.kernel != Kernel::Lut => (output, Some(other)),
            ([other, _, output], 1) => (output, Some(other)),
            ([_, output, table], 0) => (output, Some(table)),
            ([_, output], 0) => (output, None),
            _ => return Err(Cause::BadStep),
        };
        let start = |axis: usize, first: i16| {
            usize::try_from(i32::from(self.tile.output_start[axis]) - i32::from(first))
                .map_err(|_| Cause::BadStep)
        };
        let [top, left] = [start(0, output.y0)?, start(1, output.x0)?];
        let [rows, columns] = self.tile.output_size.map(usize::from);
        let (channels, pitch) = (output.c as usize, (output.column_pitch as usize).max(1));
        let depth = channels.clamp(1, PIECE);
        // As many pixels as there is room for, with what lies between them.
        let width = 1 + (PIECE - depth) / pitch;
        for row in top..top + rows {
            for column in (left..left + columns).step_by(width) {
                let width = width.min(left + columns - column);
                for channel in (0..channels).step_by(depth) {
                    let piece = Piece {
                        start: [row, column, channel],
                        size: [width, depth.min(channels - channel)],
                    };
                    self.piece(memory, &piece, output, other, shared)?;
                }
            }
        }
        Ok(())
    }

    fn piece(
        &self,
        memory: &mut Memory<'_>,
        piece: &Piece,
        output: &View,
        other: Option<&View>,
        shared: usize,
    ) -> Result<(), Cause> {
        let to = piece.of(output);
        let mut buffer = [0; PIECE];
        let bytes = memory.bytes(self.image, &to).map_err(Cause::Access)?;
        let copy = buffer.get_mut(..bytes.len()).ok_or(Cause::BadStep)?;
        copy.copy_from_slice(bytes);
        let from = &source(copy, &to)?;
        let [columns, channels] = piece.size;
        let tile = Tile {
            output_size: [1, columns as u16],
            channels: channels as u32,
            valid_size: [1, columns as u16],
            ..Tile::default()
        };
        let step = Step { tile: &tile, ..*self };
        let tile = &crate::convert::tile(&tile);
        match (self.kernel, other) {
            (Kernel::Lut, Some(table)) => {
                let ([table], bytes) = operands(memory, self.image, [table], &to)?;
                let table = table.first_chunk().ok_or(Cause::BadStep)?;
                kernels::lut(table, tile, from, &mut target(bytes, &to)?).map_err(Cause::Kernel)
            }
            (_, None) => {
                let ([], bytes) = operands(memory, self.image, [], &to)?;
                let op = step.requantise()?;
                kernels::requantise(&op, tile, from, &mut target(bytes, &to)?)
                    .map_err(Cause::Kernel)
            }
            (_, Some(other)) => {
                let other = piece.of(other);
                let ([bytes], written) = operands(memory, self.image, [&other], &to)?;
                let other = &source(bytes, &other)?;
                let to = &mut target(written, &to)?;
                if shared == 0 { step.pair(from, other, to) } else { step.pair(other, from, to) }
            }
        }
    }
}

/// A part of a row of a box: row, column and channel in the box; columns and channels.
struct Piece {
    start: [usize; 3],
    size: [usize; 2],
}

impl Piece {
    /// The piece of an operand, from row and column 0 on; one row, column or channel stands for
    /// all.
    fn of(&self, view: &View) -> View {
        let [row, column, channel] = self.start.map(|at| at as u32);
        let [columns, channels] = self.size;
        let row = if view.h == 1 { 0 } else { row };
        let row = (row + u32::from(view.first_row)) % u32::from(view.ring_rows).max(1);
        let (column, w) = if view.w == 1 { (0, 1) } else { (column, columns as u16) };
        let (channel, c) = if view.c == 1 { (0, 1) } else { (channel, channels as u32) };
        let before = row.wrapping_mul(view.row_pitch);
        let before = before.wrapping_add(column.wrapping_mul(view.column_pitch));
        View {
            offset: view.offset.wrapping_add(before).wrapping_add(channel),
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
