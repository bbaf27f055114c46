//! Whether a frame can be computed again, since its inputs are still there.
//!
//! A sector that a card lost is not mended by reading but by computing: the frame begins anew, twice at most. One layer alone
//! cannot begin anew, since copies run ahead and tensors on the card lie over others whose life is over.

use tilewright_plan::image::EntryRecord;
use tilewright_plan::{Instruction, Kernel, PlanImage, Role, Space};

/// Whether no step of a program writes over its inputs: then it can be run again from its start, whatever
/// it left in memory.
#[must_use]
pub fn is_replayable(image: &PlanImage<'_>, program: &EntryRecord) -> bool {
    let is_sealed = image.sector_checksums().is_some_and(|checksums| checksums.sealed);
    let mut spans = image.spans();
    let spares = |space: Option<Space>, start: u32, bytes: u64| {
        let (start, end) = (u64::from(start), u64::from(start) + bytes);
        image.entry_inputs(program).iter().filter_map(|io| image.view(io.view)).all(|input| {
            let first = u64::from(input.offset);
            input.space() != space || end <= first || first + input.extent() <= start
        })
    };
    image.entry_lanes(program).iter().flat_map(|lane| image.lane_steps(lane)).all(|record| {
        match Instruction::from_record(&record) {
            Some(Instruction::Copy { source, destination, .. }) => {
                let (from, to) = (spans.get(source), spans.get(destination));
                let Some((from, to)) = from.zip(to) else { return false };
                // What is sealed is encrypted where it lies.
                let stays = !is_sealed || to.space() != Some(Space::Card);
                spares(to.space(), to.offset, to.extent())
                    && (stays || spares(from.space(), from.offset, from.extent()))
            }
            Some(Instruction::Compute { op, first_view, .. }) => {
                let op = image.op(op);
                let operands = op.and_then(|op| image.operands(op, first_view));
                let Some((op, views)) = op.zip(operands) else { return false };
                let roles = op.kernel().map_or(&[][..], Kernel::roles);
                let mut outputs =
                    roles.iter().zip(views.iter()).filter(|(role, _)| **role == Role::Output);
                outputs.all(|(_, view)| spares(view.space(), view.offset, view.extent()))
            }
            Some(Instruction::Exit { .. }) => true,
            // What arrived before is gone.
            Some(Instruction::Arrive { .. }) | None => false,
        }
    })
}
