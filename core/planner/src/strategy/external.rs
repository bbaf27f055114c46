//! `external`: activations and weights outside of the chip; the core reads and writes them there.
//!
//! The configuration that Sadiq's thesis (section 4.1) compares with: every operand lies outside of
//! the chip. A boot program copies the weights to RAM where they fit there, since serial flash
//! answers later than SDRAM; boards without memory-mapped flash keep them in the plan image.

use super::aliasing_search::Candidate;
use super::{Search, Technique};
use crate::PlanError;
use crate::aliasing::{Arranged, Parts};
use crate::lower::{self, Stored};
use crate::planning::Progress;
use crate::recipe::Made;
use crate::schedule::boot::{self, Load};
use crate::schedule::sequence::Place;
use crate::static_layout::{Heights, StaticLayout};
use tilewright_allocate::{Buffer, PLANNING_BUDGET};
use tilewright_board::{Board, Memory, MemoryKind};
use tilewright_model::Model;
use tilewright_plan::image::STORE_ALIGNMENT;
use tilewright_plan::{Bytes, Space};

/// The strategy.
pub const TECHNIQUE: Technique = Technique {
    name: "external",
    missing,
    search: |model| Ok(Box::new(Placing::new(model)?)),
    write: |asked, found| plan(asked.model, asked.board, found),
    ..Technique::INSIDE
};

/// What tensors and blocks of weights in external memory start at multiples of: cache lines, so
/// that those of one hold nothing of another.
pub const LINE: u64 = 32;

/// What the strategy needs that a board does not have; nothing if the board has all.
#[must_use]
pub fn missing(board: &Board) -> Option<&'static str> {
    let is_there = board.external(Space::ExternalRam).is_some();
    (!is_there).then_some("external RAM that the core can address")
}

/// The search: one step.
pub struct Placing(Candidate);

impl Placing {
    /// Places all activations in external RAM.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn new(model: &Model) -> Result<Self, PlanError> {
        let layers = lower::layers(model);
        let mut tensors = lower::tensors(model, &layers)?;
        let block = |tensor: &tilewright_plan::PlannedTensor| {
            let bytes = tensor.bytes.align_up(LINE);
            Buffer::new(tensor.first.into(), tensor.end.max(tensor.first).into(), bytes)
                .aligned(LINE)
        };
        let found =
            tilewright_allocate::least(tensors.iter().map(block).collect(), PLANNING_BUDGET)?;
        for (tensor, offset) in tensors.iter_mut().zip(found.solution.offsets) {
            tensor.space = Space::ExternalRam;
            tensor.offset = offset;
        }
        let height = found.solution.height;
        Ok(Self(Candidate { layers, arranged: Arranged { tensors, parts: Parts::none(), height } }))
    }
}

impl Search for Placing {
    fn advance(&mut self, _: &Model, _: u64) -> Result<bool, PlanError> {
        Ok(true)
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }

    fn found(&self, _: &Model) -> Result<(Candidate, Option<Bytes>), PlanError> {
        Ok((self.0.clone(), Some(Bytes(0))))
    }
}

/// What stays of tensors that lie in external RAM, with the plan of whole layers, which the core computes there.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is.
pub fn plan(model: &Model, board: &Board, found: Candidate) -> Result<Made, PlanError> {
    let Candidate { layers, arranged: Arranged { tensors, parts, height } } = found;
    let heights = Heights { external_ram: height.align_up(LINE), ..Heights::default() };
    let inside = Arranged { tensors, parts, height: Bytes(0) };
    let static_layout =
        StaticLayout { heights, stored: stored(board), ..StaticLayout::inside(layers, inside) };
    lowered(static_layout, model, board)
}

/// Where weights lie on a board: in external flash, if it has that.
pub fn stored(board: &Board) -> Stored {
    match board.external(Space::ExternalFlash) {
        Some(_) => Stored {
            weights: Space::ExternalFlash,
            channels: Space::ExternalFlash,
            alignment: LINE,
            ..Stored::IMAGE
        },
        None => Stored { alignment: LINE, ..Stored::IMAGE },
    }
}

/// The plan of a static_layout some of whose weights may lie in external flash: they come to external RAM at start, from where
/// the core reads them sooner, if they fit there beside the activations, and the firmware drives DMA.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is.
pub fn lowered(
    mut static_layout: StaticLayout,
    model: &Model,
    board: &Board,
) -> Result<Made, PlanError> {
    let mut plan = static_layout.lowered(model, board)?;
    let is_flash = |memory: &&Memory| memory.kind == MemoryKind::QspiFlash;
    let flash = board.external(Space::ExternalFlash).filter(is_flash);
    let header = STORE_ALIGNMENT as u64;
    let stored = plan.space(Space::ExternalFlash).0.saturating_sub(header);
    let first = plan.space(Space::ExternalRam).0;
    let fits = first + stored <= board.tier_bytes()[Space::ExternalRam as usize];
    // A plan of memory alone runs nothing.
    let runs = plan.main.is_some() && boot::largest(board).is_some();
    if stored > 0 && flash.is_some() && fits && runs {
        let from = Place { space: Space::ExternalFlash, offset: header };
        let to = Place { space: Space::ExternalRam, offset: first };
        static_layout.boot.push(Load { from, to, bytes: stored });
        boot::bring(&mut plan, &static_layout.boot, board);
    }
    Ok(Made::whole(static_layout, plan))
}
