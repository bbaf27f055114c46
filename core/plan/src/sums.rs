//! Which copies of a plan bring parts of the card's store image, so that they can be compared with
//! checksums made with the image.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use crate::image::STORE_ALIGNMENT;
use crate::{Instruction, Plan, Space, Span};

/// A plan whose copies name checksums.
#[derive(Clone, Debug, PartialEq)]
pub struct Summed {
    /// The plan.
    pub plan: Plan,
    /// The bytes of the card that each checksum is of, in the order of the steps that bring them first.
    pub parts: Vec<Range<u64>>,
}

impl Summed {
    /// `plan` with a checksum for each copy of a part of the card's store image.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let mut plan = plan.clone();
        let stored = STORE_ALIGNMENT as u64;
        let stored = stored..stored + stored_weights(&plan);
        let part = |span: &Span| {
            let start = u64::from(span.offset);
            let part = start..start + span.bytes();
            let is_one = span.rows <= 1 || span.pitch == span.row_bytes;
            let is_stored = stored.start <= part.start && part.end <= stored.end;
            (span.space() == Some(Space::Card) && is_one && is_stored).then_some(part)
        };
        let mut known: BTreeMap<(u64, u64), u32> = BTreeMap::new();
        let mut parts = Vec::new();
        let lanes = plan.programs.iter_mut().flat_map(|program| &mut program.lanes);
        for step in lanes.flat_map(|lane| &mut lane.steps) {
            let Instruction::Copy { source, sum, .. } = &mut step.instruction else { continue };
            let Some(part) = plan.spans.get(*source as usize).and_then(&part) else { continue };
            let number = known.entry((part.start, part.end)).or_insert_with(|| {
                parts.push(part);
                parts.len() as u32 - 1
            });
            *sum = Some(*number);
        }
        Self { plan, parts }
    }
}

/// Bytes of the weights on a card, in whole pieces of the alignment; activations follow, which programs
/// write.
#[must_use]
pub fn stored_weights(plan: &Plan) -> u64 {
    let header = STORE_ALIGNMENT as u64;
    let blocks = plan.constants.iter().filter(|block| block.space == Space::Card);
    let end = blocks.map(|block| block.offset.saturating_add(block.bytes.0)).max().unwrap_or(0);
    end.checked_next_multiple_of(header).unwrap_or(end).saturating_sub(header)
}
