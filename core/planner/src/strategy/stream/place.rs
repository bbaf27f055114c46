//! A plan of tasks whose weights come where there is room for them.

use crate::schedule::emit::emit;
use crate::schedule::issue::at_first_use;
use crate::schedule::place::gaps;
use crate::schedule::room::Taken;
use crate::schedule::sequence::{Engine, LaneId, Sequence};
use crate::schedule::work::Work;
use crate::{PlanError, Stop};
use tilewright_plan::{Bytes, Plan, Space};

/// Bytes of SRAM and of its transfers.
#[derive(Clone, Copy, Debug)]
pub struct Within<'s> {
    /// Bytes of SRAM that loads and activations lie in.
    pub budget: u64,
    /// The card's controller, and DMA.
    pub engines: [Engine; 2],
    /// Loads come so many tasks ahead at most.
    pub ahead: u32,
    /// Whether anybody waits.
    pub stop: &'s Stop,
}

/// Units of work of a step.
const STEP: u64 = 100;

/// The plan of tasks with what they need from the card, from one whose weights lie on the card, beside
/// activations that lie there; nothing if there is no room for a load.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn placed(
    lowered: &Plan,
    work: &Work,
    held: &[Taken],
    within: Within<'_>,
) -> Result<Option<Plan>, PlanError> {
    let Within { budget, ahead, stop, .. } = within;
    let Some(offsets) = gaps(work, held, budget, ahead, stop)? else { return Ok(None) };
    let ends = work.residences.iter().zip(&offsets).map(|(load, at)| Bytes(at + load.bytes));
    let arena = ends.max().unwrap_or_default().max(lowered.space(Space::Arena));
    let events = at_first_use(work, &offsets, LaneId::FIRST);
    within.stop.after(STEP * (work.tasks.len() + work.residences.len()) as u64)?;
    let engines = within.engines.to_vec();
    Ok(Some(emit(lowered, Sequence { arena, engines, events })))
}
