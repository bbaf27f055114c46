//! Early exits by confidence: an output that is certain enough ends the run.

use tilewright_plan::PlanImage;
use tilewright_plan::image::EntryRecord;

use crate::error::Cause;
use crate::lanes::LaneDriver;
use crate::memory::Memory;
use crate::schedule::Schedule;

/// Whether a value of an output reaches a threshold. If so engines have ended what they were about when this returns,
/// and begin nothing more.
// A function of its own, so that it takes no memory that is coupled to the core.
#[inline(never)]
pub fn is_taken(
    image: &PlanImage<'_>,
    program: &EntryRecord,
    (output, least): (u16, i8),
    memory: &mut Memory<'_>,
    engines: &mut impl LaneDriver,
) -> Result<bool, Cause> {
    let io = image.entry_outputs(program).get(usize::from(output)).ok_or(Cause::BadStep)?;
    let view = image.view(io.view).ok_or(Cause::BadStep)?;
    let values = memory.bytes(image, &view).map_err(|_| Cause::BadStep)?;
    let is_taken = values.iter().any(|value| value.cast_signed() >= least);
    if is_taken && program.lane_count > 1 {
        engines.drain(memory).map_err(Cause::Lane)?;
    }
    Ok(is_taken)
}

impl Schedule<'_> {
    /// No lane begins another step of this run.
    #[inline(never)]
    pub fn halt(&mut self) {
        for (lane, complete) in self.lanes.iter_mut().zip(&self.complete) {
            lane.end = lane.end.min(lane.start.saturating_add(*complete));
        }
    }
}
