//! Checksums of what copies bring from a card's store image: the firmware compares each copy with its
//! own, and makes it again if they differ.

use std::collections::BTreeMap;
use std::ops::Range;

use tilewright_model::Model;
use tilewright_plan::image::{CRC, STORE_ALIGNMENT};
use tilewright_plan::{Bytes, Cycles, Instruction, Plan, Space, Span};

use crate::plan::ImageBuildError;
use crate::store;

/// What checking the copies of a plan takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Checksums in the plan image: one for each part of the store image that is brought.
    pub sums: u64,
    /// Bytes that are checked in a frame.
    pub checked_bytes: Bytes,
    /// Bytes that are brought from or to the card without a checksum: what programs write there.
    pub unchecked_bytes: Bytes,
}

/// Cycles of the core for each byte that is checked, counted on the emulated Cortex-M7
/// (docs/results.md, swapping on the emulated board).
const CYCLES_A_BYTE: u64 = 8;
/// Bytes of a checksum in the plan image.
const SUM_BYTES: u64 = 4;

impl Checks {
    /// Of a plan's first program that is not a boot program.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let summed = Summed::of(plan);
        let program = summed.plan.programs.iter().find(|program| !program.boot);
        let mut checks = Self { sums: summed.parts.len() as u64, ..Self::default() };
        let lanes = program.iter().flat_map(|program| &program.lanes);
        for step in lanes.flat_map(|lane| &lane.steps) {
            let Instruction::Copy { source, destination, sum } = step.instruction else { continue };
            let spans = [source, destination].map(|at| plan.spans.get(at as usize));
            let [Some(from), Some(to)] = spans else { continue };
            let of_card = [from, to].iter().any(|span| span.space() == Some(Space::Card));
            if sum.is_some() {
                checks.checked_bytes += Bytes(from.bytes());
            } else if of_card {
                checks.unchecked_bytes += Bytes(from.bytes());
            }
        }
        checks
    }

    /// Cycles of the core that checking takes in a frame (modelled).
    #[must_use]
    pub const fn cycles(&self) -> Cycles {
        Cycles(self.checked_bytes.0 * CYCLES_A_BYTE)
    }

    /// Bytes of the plan image that checksums take.
    #[must_use]
    pub const fn image_bytes(&self) -> Bytes {
        Bytes(self.sums * SUM_BYTES)
    }
}

/// A plan whose copies name checksums.
pub struct Summed {
    /// The plan.
    pub plan: Plan,
    /// The bytes of the card that each checksum is of, in the order of the steps that bring them first.
    pub parts: Vec<Range<u64>>,
}

impl Summed {
    /// `plan` with a checksum for each copy of a part of the card's store image.
    pub fn of(plan: &Plan) -> Self {
        let mut plan = plan.clone();
        let stored = STORE_ALIGNMENT as u64;
        let stored = stored..stored + store::weight_bytes(&plan, Space::Card);
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

    /// The checksums: CRC-32 of each part of the store image.
    ///
    /// # Errors
    /// As the store image itself.
    pub fn sums(&self, model: &Model) -> Result<Vec<u32>, ImageBuildError> {
        let Self { plan, parts } = self;
        let mut sums = vec![0; parts.len()];
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|index| parts[*index].start);
        let mut coming = order.into_iter().peekable();
        let mut open = Vec::new();
        let mut at = STORE_ALIGNMENT as u64;
        store::for_each_piece(plan, model, Space::Card, &mut |piece| {
            let end = at + piece.len() as u64;
            while let Some(index) = coming.next_if(|index| parts[*index].start < end) {
                open.push((index, CRC.digest()));
            }
            for (index, digest) in &mut open {
                let Range { start, end } = parts[*index].clone();
                let inside = |place: u64| (place.max(at) - at).min(piece.len() as u64) as usize;
                digest.update(&piece[inside(start)..inside(end)]);
            }
            let (done, left) = std::mem::take(&mut open)
                .into_iter()
                .partition(|(index, _)| parts[*index].end <= end);
            open = left;
            let done: Vec<_> = done;
            for (index, digest) in done {
                sums[index] = digest.finalize();
            }
            at = end;
        })?;
        Ok(sums)
    }
}
