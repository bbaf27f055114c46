//! `external`: activations and weights outside of the chip; the core reads and writes them there.
//!
//! The configuration that Sadiq's thesis (section 4.1) compares with: every operand lies outside of
//! the chip. A boot program copies the weights to RAM where they fit there, since serial flash
//! answers later than SDRAM; boards without memory-mapped flash keep them in the plan image.

use super::Search;
use super::sharing::Candidate;
use crate::PlanError;
use crate::lower::{self, Stored};
use crate::planning::Progress;
use crate::schedule::boot::{self, Load};
use crate::schedule::sequence::Place;
use crate::share::{Arranged, Parts};
use tilewright_allocate::{Buffer, PLANNING_BUDGET};
use tilewright_board::{Board, Memory, MemoryKind};
use tilewright_model::Model;
use tilewright_plan::image::STORE_ALIGNMENT;
use tilewright_plan::{Bytes, InputResidency, LaneKind, Plan, Space};

/// What tensors and blocks of weights in external memory start at multiples of: cache lines, so
/// that those of one hold nothing of another.
pub const LINE: u64 = 32;

/// Why the strategy has no plans for a board; nothing if it has.
#[must_use]
pub fn obstacle(board: &Board) -> Option<String> {
    let ram = board.external(Space::ExternalRam).is_none();
    ram.then(|| format!("board '{}' has no external RAM that the core can address", board.id))
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

/// The plan of tensors that lie in external RAM: whole layers, which the core computes there.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is.
pub fn plan(model: &Model, board: &Board, found: Candidate) -> Result<Plan, PlanError> {
    let Candidate { layers, arranged: Arranged { tensors, parts, height } } = found;
    let mut plan = lower::draft_stored(model, &layers, &parts, tensors, stored(board))?;
    complete(&mut plan, board, height);
    Ok(plan)
}

/// Where weights lie on a board: in external flash, if it has that.
pub fn stored(board: &Board) -> Stored<'static> {
    match board.external(Space::ExternalFlash) {
        Some(_) => Stored {
            weights: Space::ExternalFlash,
            channels: Space::ExternalFlash,
            reserved: STORE_ALIGNMENT as u64,
            alignment: LINE,
            ..Stored::IMAGE
        },
        None => Stored { alignment: LINE, ..Stored::IMAGE },
    }
}

/// Says of a plan what it takes of external memory, where its activations take `height` bytes; its
/// weights come to external RAM at boot, if they fit there.
pub fn complete(plan: &mut Plan, board: &Board, height: Bytes) {
    plan.input = InputResidency::External;
    plan.space_bytes[Space::ExternalRam as usize] = height.align_up(LINE);
    let flash = &mut plan.space_bytes[Space::ExternalFlash as usize];
    let is_stored = plan.constants.iter().any(|block| block.space == Space::ExternalFlash);
    *flash = if is_stored { flash.align_up(LINE) } else { Bytes(0) };
    if is_stored {
        load(plan, board);
    }
}

/// Lets a boot program copy the weights from flash to RAM, from where the core reads them sooner; if
/// they fit there beside the activations, and the firmware drives DMA.
fn load(plan: &mut Plan, board: &Board) {
    let is_flash = |memory: &&Memory| memory.kind == MemoryKind::QspiFlash;
    let flash = board.external(Space::ExternalFlash).filter(is_flash);
    let engine = board.engine(LaneKind::Dma).filter(|_| board.drives(LaneKind::Dma));
    let (Some(_), Some(engine)) = (flash, engine) else { return };
    // A plan of memory alone runs nothing.
    if plan.programs.is_empty() {
        return;
    }
    let first = plan.space(Space::ExternalRam).0;
    let header = STORE_ALIGNMENT as u64;
    let bytes = plan.space(Space::ExternalFlash).0 - header;
    let largest = engine.largest_bytes.0 / LINE * LINE;
    if first + bytes > board.tier_bytes()[Space::ExternalRam as usize] || largest == 0 {
        return;
    }
    for view in plan.views.iter_mut().filter(|v| v.space == Space::ExternalFlash as u8) {
        view.space = Space::ExternalRam as u8;
        view.offset = (u64::from(view.offset) - header + first) as u32;
    }
    let from = Place { space: Space::ExternalFlash, offset: header };
    let to = Place { space: Space::ExternalRam, offset: first };
    boot::load(plan, &[Load { from, to, bytes }], largest);
    plan.space_bytes[Space::ExternalRam as usize] = Bytes(first + bytes);
}
