//! Where loads lie, and when they begin.

use crate::schedule::emit::emit;
use crate::schedule::issue::at_first_use;
use crate::schedule::room::{Room, Taken};
use crate::schedule::sequence::{Engine, LaneId, Sequence};
use crate::schedule::work::Work;
use crate::strategy::external::LINE;
use crate::{PlanError, Stop};
use tilewright_plan::{Bytes, Plan, PlannedTensor, Space};

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
    let Some(offsets) = places(work, held, within)? else { return Ok(None) };
    let ends = work.residences.iter().zip(&offsets).map(|(load, at)| Bytes(at + load.bytes));
    let arena = ends.max().unwrap_or_default().max(lowered.space(Space::Arena));
    let events = at_first_use(work, &offsets, LaneId::FIRST);
    within.stop.after(STEP * (work.tasks.len() + work.residences.len()) as u64)?;
    let engines = within.engines.to_vec();
    Ok(Some(emit(lowered, Sequence { arena, engines, events })))
}

/// Where a plan's activations lie in SRAM, with the tasks that need them.
pub fn held(plan: &Plan, work: &Work) -> Vec<Taken> {
    let first_of = |layer: u32| work.tasks.partition_point(|task| task.lives < layer);
    let taken = |tensor: &PlannedTensor| Taken {
        start: tensor.offset / LINE * LINE,
        end: (tensor.offset + tensor.extent()).next_multiple_of(LINE),
        first: first_of(tensor.first) as u32,
        last: match first_of(tensor.end) {
            end if end == work.tasks.len() => u32::MAX,
            end => end.saturating_sub(1) as u32,
        },
    };
    plan.tensors.iter().filter(|tensor| tensor.space == Space::Arena).map(taken).collect()
}

/// Where each load lies in the arena, beside the activations that live with the tasks from the one before
/// which it begins to the last that needs it.
fn places(work: &Work, held: &[Taken], within: Within<'_>) -> Result<Option<Vec<u64>>, PlanError> {
    let mut room = Room::new(within.budget / LINE * LINE);
    for taken in held {
        room.take(*taken);
    }
    let mut places = Vec::with_capacity(work.residences.len());
    for load in &work.residences {
        room.none_before(load.uses[0].saturating_sub(within.ahead));
        within.stop.after(room.work())?;
        let Some(taken) = room.place(load.bytes, load.uses) else { return Ok(None) };
        places.push(taken.start);
    }
    Ok(Some(places))
}
