//! Checksums of what copies bring from a card's store image: the firmware compares each copy with its
//! own, and makes it again if they differ.
//!
//! Bytes are known only with the packed weights, so planning knows no sums. Sectors that programs write have checksums that the
//! firmware notes in the arena, and predictions count the core's time for all of them.

use std::ops::Range;

use tilewright_model::Model;
use tilewright_plan::copy_checksums::ChecksummedPlan;
use tilewright_plan::image::{CRC, STORE_ALIGNMENT};
use tilewright_plan::{Bytes, Instruction, Plan, SectorChecksums, Space, Span};

use crate::plan::ImageBuildError;
use crate::{size, store};

/// What checking the copies of a plan takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Checksums, or tags, in the plan image: one for each part of the store image that is brought.
    pub copy_checksums: u64,
    /// Bytes that are checked in a frame.
    pub checked_bytes: Bytes,
    /// Bytes that are brought from or to the card without a checksum.
    pub unchecked_bytes: Bytes,
    /// Checksums, or tags, that the firmware keeps of what programs write to the card.
    pub sector_checksums: u64,
    /// Bytes of the arena for them.
    pub arena_bytes: Bytes,
    /// Of what is sealed, the tags that are made or compared in a frame; nothing if nothing is.
    pub tags: Option<u64>,
}

/// Bytes of a checksum in the plan image.
const CHECKSUM_BYTES: u64 = 4;
/// Bytes of a card's sector.
const SECTOR: u64 = 512;

impl Checks {
    /// Of a plan's first program that is not a boot program.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let checksummed = ChecksummedPlan::of(plan);
        let program = checksummed.plan.main.as_ref();
        let mut checks = Self {
            copy_checksums: checksummed.parts.len() as u64,
            sector_checksums: plan.sector_checksums.map_or(0, |checksums| checksums.sectors.into()),
            arena_bytes: Bytes(plan.sector_checksums.map_or(0, |checksums| checksums.bytes())),
            tags: plan.sector_checksums.filter(|checksums| checksums.sealed).map(|_| 0),
            ..Self::default()
        };
        let lanes = program.iter().flat_map(|program| &program.lanes);
        for step in lanes.flat_map(|lane| &lane.steps) {
            let Instruction::Copy { source, destination, sum } = step.instruction else { continue };
            let spans = [source, destination].map(|at| plan.spans.get(at as usize));
            let [Some(from), Some(to)] = spans else { continue };
            let of_card = [from, to].into_iter().find(|span| span.space() == Some(Space::Card));
            let is_written = plan.sector_checksums.zip(of_card);
            let is_written =
                is_written.is_some_and(|(checksums, span)| checksums.holds(span.offset.into()));
            if sum.is_some() || is_written {
                checks.checked_bytes += Bytes(from.bytes());
                let tags = match sum {
                    None => from.bytes().div_ceil(SECTOR),
                    Some(first) => parts_of(&checksummed.parts, first, from),
                };
                checks.tags = checks.tags.map(|sum| sum + tags);
            } else if of_card.is_some() {
                checks.unchecked_bytes += Bytes(from.bytes());
            }
        }
        checks
    }

    /// Bytes of the plan image that checksums take, or key and tags.
    #[must_use]
    pub const fn image_bytes(&self) -> Bytes {
        match self.tags {
            None => Bytes(self.copy_checksums * CHECKSUM_BYTES),
            Some(_) => Bytes(
                4 * (SectorChecksums::KEY_WORDS as u64
                    + SectorChecksums::PART_WORDS as u64 * self.copy_checksums),
            ),
        }
    }
}

/// How many parts a copy brings from the first on.
fn parts_of(parts: &[Range<u64>], first: u32, from: &Span) -> u64 {
    let end = u64::from(from.offset) + from.bytes();
    let brought = parts.iter().skip(first as usize).take_while(|part| part.end <= end);
    brought.count() as u64
}

/// The checksums of a plan: CRC-32 of each part of the store image.
///
/// # Errors
/// As the store image itself.
pub fn copy_checksums(
    checksummed: &ChecksummedPlan,
    model: &Model,
) -> Result<Vec<u32>, ImageBuildError> {
    let ChecksummedPlan { plan, parts } = checksummed;
    let mut checksums = vec![0; parts.len()];
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
            let inside = |place: u64| size(place.max(at) - at).min(piece.len());
            digest.update(&piece[inside(start)..inside(end)]);
        }
        let (done, left) =
            std::mem::take(&mut open).into_iter().partition(|(index, _)| parts[*index].end <= end);
        open = left;
        let done: Vec<_> = done;
        for (index, digest) in done {
            checksums[index] = digest.finalize();
        }
        at = end;
    })?;
    Ok(checksums)
}
