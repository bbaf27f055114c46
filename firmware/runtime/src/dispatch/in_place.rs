//! Elementwise steps that write over one of their operands, [piece by piece](tilewright_plan::pieces).

use super::{Step, operands, source, target};
use crate::error::Cause;
use crate::memory::Memory;
use tilewright_kernels as kernels;
use tilewright_plan::pieces::{PIECE, Piece, Pieces};
use tilewright_plan::{Kernel, View};

impl Step<'_, '_> {
    /// Runs a step whose operand `shared` is the very view that is written.
    #[inline(never)]
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
        let alike = other.filter(|_| self.kernel != Kernel::Lut);
        let pieces = Pieces::of(self.tile, output, alike).ok_or(Cause::BadStep)?;
        for piece in pieces.iter() {
            self.piece(memory, &piece, output, other, shared)?;
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
        let to = piece.view(output);
        let mut buffer = [0; PIECE];
        let bytes = memory.bytes(self.image, &to).map_err(Cause::Access)?;
        let copy = buffer.get_mut(..bytes.len()).ok_or(Cause::BadStep)?;
        copy.copy_from_slice(bytes);
        let from = &source(copy, &to)?;
        let tile = piece.tile();
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
                let other = piece.view(other);
                let ([bytes], written) = operands(memory, self.image, [&other], &to)?;
                let other = &source(bytes, &other)?;
                let to = &mut target(written, &to)?;
                if shared == 0 { step.pair(from, other, to) } else { step.pair(other, from, to) }
            }
        }
    }
}
