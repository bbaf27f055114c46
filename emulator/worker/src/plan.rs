//! The plan image in the ELF, as far as reports need it: the layer of each step.

use tilewright_board::Board;
use tilewright_plan::PlanImage;
use tilewright_plan::image::{ALIGNMENT, Expected};

use crate::elf::Firmware;

/// Layers of the steps of each lane of the first program, the core's first; empty if there is no valid plan, which
/// is for the firmware to say.
pub fn step_layers(board: &Board, firmware: &Firmware) -> Vec<Vec<u16>> {
    let Some(bytes) = board.plan_address().and_then(|address| firmware.bytes_at(address)) else {
        return Vec::new();
    };
    // The image is read in place, so it must be aligned here as it is on the board.
    let mut copy = vec![0u8; bytes.len() + ALIGNMENT];
    let start = copy.as_ptr().align_offset(ALIGNMENT);
    let Some(aligned) = copy.get_mut(start..start.saturating_add(bytes.len())) else {
        return Vec::new();
    };
    aligned.copy_from_slice(bytes);
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    let Ok(image) = PlanImage::read(aligned, &expected) else {
        return Vec::new();
    };
    let program = image.entries().iter().find(|entry| entry.kind == 0);
    program
        .into_iter()
        .flat_map(|entry| image.entry_lanes(entry))
        .map(|lane| image.lane_steps(lane).iter().map(|step| step.layer).collect())
        .collect()
}
