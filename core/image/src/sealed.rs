//! A card's store image that is sealed: each part that copies bring is encrypted, and its tag lies in the plan
//! image behind the key.

use std::ops::Range;

use tilewright_model::Model;
use tilewright_plan::copy_checksums::ChecksummedPlan;
use tilewright_plan::image::STORE_ALIGNMENT;
use tilewright_plan::{Plan, SectorChecksums, Space};
use tilewright_seal::{KEY_BYTES, Key, Piece, TAG_BYTES, Tag};

use crate::plan::{ImageBuildError, Known};
use crate::{size, store};

const _: () = assert!(
    KEY_BYTES == SectorChecksums::KEY_WORDS * 4 && TAG_BYTES + 4 == SectorChecksums::PART_WORDS * 4
);

/// What seals a store image.
pub struct Sealing {
    key: Key,
    /// The parts by their places, which are their order.
    parts: Vec<Range<u64>>,
}

impl Sealing {
    /// For the parts that a plan's copies bring.
    pub fn new(checksummed: &ChecksummedPlan, key: Key) -> Self {
        Self { key, parts: checksummed.parts.clone() }
    }

    /// What the plan image knows then: the key, and place and tag of each part.
    ///
    /// # Errors
    /// As the store image itself.
    pub fn known(self, plan: &Plan, model: &Model) -> Result<Known, ImageBuildError> {
        let mut words: Vec<u32> = words(self.key.bytes()).collect();
        self.each_piece(plan, model, &mut |_| {}, &mut |part, tag| {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a plan with a part beyond 4 GiB has no image"
            )]
            words.push(part.start as u32);
            words.extend(self::words(&tag));
        })?;
        Ok(Known { words, sealing: Some(self) })
    }

    /// Calls `sink` with the sealed weights of the card's store, piece by piece, and `tagged` with each part's
    /// tag. What no copy brings stays as it is.
    ///
    /// # Errors
    /// As the store image itself.
    pub fn each_piece(
        &self,
        plan: &Plan,
        model: &Model,
        sink: &mut dyn FnMut(&[u8]),
        tagged: &mut dyn FnMut(&Range<u64>, Tag),
    ) -> Result<(), ImageBuildError> {
        let mut coming = self.parts.iter().zip(0..).peekable();
        let mut at = STORE_ALIGNMENT as u64;
        let mut part: Vec<u8> = Vec::new();
        store::for_each_piece(plan, model, Space::Card, &mut |mut piece| {
            while !piece.is_empty() {
                let Some((range, number)) = coming.peek() else {
                    sink(piece);
                    return;
                };
                let until = if at < range.start { range.start } else { range.end };
                let taken = size(until - at).min(piece.len());
                let (now, rest) = piece.split_at(taken);
                at += taken as u64;
                piece = rest;
                if until == range.start {
                    sink(now);
                    continue;
                }
                part.extend_from_slice(now);
                if at == range.end {
                    tagged(range, self.key.seal(Piece::Part(*number), &mut part));
                    sink(&part);
                    part.clear();
                    coming.next();
                }
            }
        })
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word))
}
