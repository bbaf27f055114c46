//! Places where there is room for them earliest.

use crate::narrow::narrow;
use crate::schedule::room::{Room, Taken};
use crate::schedule::work::Work;
use crate::strategy::external::LINE;
use crate::{PlanError, Stop};
use tilewright_plan::{Plan, PlannedTensor, Space};

/// Where a plan's activations and checksums lie in SRAM, with the tasks that need them.
pub fn held(plan: &Plan, work: &Work) -> Vec<Taken> {
    let first_of = |layer: u32| work.tasks.partition_point(|task| task.lives < layer);
    let taken = |tensor: &PlannedTensor| Taken {
        start: tensor.offset / LINE * LINE,
        end: (tensor.offset + tensor.extent()).next_multiple_of(LINE),
        first: narrow(first_of(tensor.first)),
        last: match first_of(tensor.end) {
            end if end == work.tasks.len() => u32::MAX,
            end => narrow(end.saturating_sub(1)),
        },
    };
    let checksums = plan.sector_checksums.filter(|checksums| checksums.bytes() > 0);
    let checksums = checksums.map(|checksums| Taken {
        start: checksums.offset.into(),
        end: checksums.end(),
        first: 0,
        last: u32::MAX,
    });
    let inside = plan.tensors.iter().filter(|tensor| tensor.space == Space::Arena);
    inside.map(taken).chain(checksums).collect()
}

/// Where each residence lies in `budget` bytes beside what is held while it is there: from the task before which it
/// begins, `ahead` tasks before it is needed at most, to the last that needs it. Nothing if there is no room for one.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn gaps(
    work: &Work,
    held: &[Taken],
    budget: u64,
    ahead: u32,
    stop: &Stop,
) -> Result<Option<Vec<u64>>, PlanError> {
    let mut room = Room::new(budget / LINE * LINE);
    for taken in held {
        room.take(*taken);
    }
    // What a tile makes lies there while parts of weights come and go.
    let mut order: Vec<usize> = (0..work.residences.len()).collect();
    order.sort_by_key(|index| (work.residences[*index].uses[0], !work.residences[*index].goes()));
    let mut offsets = vec![0; work.residences.len()];
    for index in order {
        let residence = &work.residences[index];
        room.none_before(residence.uses[0].saturating_sub(ahead));
        stop.after(room.work())?;
        let Some(taken) = room.place(residence.bytes, residence.uses) else { return Ok(None) };
        offsets[index] = taken.start;
    }
    Ok(Some(offsets))
}
