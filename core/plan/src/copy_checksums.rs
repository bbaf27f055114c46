//! Checksums of copies: which copies of a plan bring parts of the card's store image, so that they can be compared with
//! checksums made with the image.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;

use crate::image::STORE_ALIGNMENT;
use crate::{Instruction, Plan, Space, Span};

/// A plan whose copies name checksums.
#[derive(Clone, Debug, PartialEq)]
pub struct ChecksummedPlan {
    /// The plan.
    pub plan: Plan,
    /// The bytes of the card that each checksum is of, in the order of the steps that bring them first; if the
    /// card is sealed, parts in the order of their places, of which a copy names the first that it brings.
    pub parts: Vec<Range<u64>>,
}

impl ChecksummedPlan {
    /// `plan` with a checksum for each copy of a part of the card's store image.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let mut plan = plan.clone();
        // What is sealed is decrypted where it arrives, in one run.
        let is_sealed = plan.sector_checksums.is_some_and(|checksums| checksums.sealed);
        let stored = STORE_ALIGNMENT as u64;
        let stored = stored..stored + stored_weights(&plan);
        let brought = |instruction: &Instruction| {
            let Instruction::Copy { source, destination, .. } = *instruction else { return None };
            let span = |at: u32| plan.spans.get(at as usize);
            let (from, to) = (span(source)?, span(destination)?);
            let start = u64::from(from.offset);
            let part = start..start + from.bytes();
            let is_one = is_one_run(from) && (!is_sealed || is_one_run(to));
            let is_stored = stored.start <= part.start && part.end <= stored.end;
            let is_part = from.space() == Some(Space::Card) && is_one && is_stored;
            (is_part && !part.is_empty()).then_some(part)
        };
        let lanes = plan.programs().flat_map(|program| &program.lanes);
        let steps = lanes.flat_map(|lane| &lane.steps);
        let brought: Vec<_> = steps.map(|step| brought(&step.instruction)).collect();
        let named = brought.iter().flatten();
        let parts = if is_sealed { apart(named) } else { distinct(named) };
        let known: BTreeMap<_, u32> = match is_sealed {
            // A copy begins where one of them does, wherever it ends.
            true => parts.iter().map(|part| (part.start, 0)).zip(0..).collect(),
            false => parts.iter().map(|part| (part.start, part.end)).zip(0..).collect(),
        };
        let lanes = plan.programs_mut().flat_map(|program| &mut program.lanes);
        for (step, part) in lanes.flat_map(|lane| &mut lane.steps).zip(brought) {
            if let (Instruction::Copy { sum, .. }, Some(part)) = (&mut step.instruction, part) {
                let end = if is_sealed { 0 } else { part.end };
                *sum = known.get(&(part.start, end)).copied();
            }
        }
        Self { plan, parts }
    }
}

/// Each range once, in the order in which they come first.
fn distinct<'r>(ranges: impl Iterator<Item = &'r Range<u64>>) -> Vec<Range<u64>> {
    let mut known = BTreeSet::new();
    ranges.filter(|range| known.insert((range.start, range.end))).cloned().collect()
}

/// The parts of these ranges that lie between their ends, wherever any begins or ends: each range is some of
/// them, one behind the other.
fn apart<'r>(ranges: impl Iterator<Item = &'r Range<u64>>) -> Vec<Range<u64>> {
    let mut ends: BTreeMap<u64, i64> = BTreeMap::new();
    for range in ranges {
        *ends.entry(range.start).or_default() += 1;
        *ends.entry(range.end).or_default() -= 1;
    }
    let mut over = 0;
    let mut parts = Vec::new();
    let mut began = 0;
    for (place, change) in ends {
        if over > 0 {
            parts.push(began..place);
        }
        over += change;
        began = place;
    }
    parts
}

/// Whether a span's bytes follow each other.
fn is_one_run(span: &Span) -> bool {
    span.rows <= 1 || span.pitch == span.row_bytes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_apart_and_each_range_is_some_of_them() {
        let ranges = [10..20, 30..40, 10..20, 14..16, 16..24, 40..50];
        let parts = apart(ranges.iter());
        assert_eq!(parts, [10..14, 14..16, 16..20, 20..24, 30..40, 40..50]);
        assert_eq!(distinct(ranges.iter()), [10..20, 30..40, 14..16, 16..24, 40..50]);
    }
}
