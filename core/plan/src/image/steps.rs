//! Steps, and what the tables say of their work.

use super::{Cursor, LaneRecord};
use crate::op::Op;
use crate::rows::MOST_OPERANDS;
use crate::step::StepRecord;
use crate::view::{Tile, View};

/// Reads steps and what they name; fastest in the order of a program.
#[derive(Clone, Debug)]
pub struct StepReader<'a> {
    ops: &'a [Op],
    steps: Cursor<'a, StepRecord>,
    tiles: Cursor<'a, Tile>,
    views: Cursor<'a, View>,
    /// What was read last.
    tile: Tile,
    operands: [View; MOST_OPERANDS],
}

/// What a compute step does.
#[derive(Clone, Copy, Debug)]
pub struct ComputeStep<'w> {
    /// The operation.
    pub op: &'w Op,
    /// The part of its output.
    pub tile: &'w Tile,
    /// One view for each role of the op's kernel.
    pub operands: &'w [View],
}

impl<'a> StepReader<'a> {
    pub(super) fn new(
        ops: &'a [Op],
        steps: Cursor<'a, StepRecord>,
        tiles: Cursor<'a, Tile>,
        views: Cursor<'a, View>,
    ) -> Self {
        let operands = [View::default(); MOST_OPERANDS];
        Self { ops, steps, tiles, views, tile: Tile::default(), operands }
    }

    /// Reads a step of a lane; nothing if the lane has fewer, and then what `record` holds is of no
    /// meaning.
    pub fn step(&mut self, lane: &LaneRecord, step: u32, record: &mut StepRecord) -> Option<()> {
        self.steps.read(lane.index_of(step)?, record)
    }

    /// What a compute step names; nothing if a table does not hold it.
    #[must_use]
    pub fn compute(&mut self, op: u32, tile: u32, first_view: u32) -> Option<ComputeStep<'_>> {
        let op = self.ops.get(op as usize)?;
        self.tiles.read(tile, &mut self.tile)?;
        let operands = self.operands.get_mut(..op.kernel()?.roles().len())?;
        self.views.read_all(first_view, operands)?;
        Some(ComputeStep { op, tile: &self.tile, operands })
    }
}
