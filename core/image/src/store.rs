//! Plan + model → store images: what lies in external flash or on a card.

use tilewright_model::Model;
use tilewright_plan::copy_checksums::{ChecksummedPlan, stored_weights};
use tilewright_plan::image::{
    Header, STORE_ALIGNMENT, STORE_CRC, STORE_MAGIC, STORE_VERSION, STORE_WEIGHTS, SectionRecord,
    StoreHeader,
};
use tilewright_plan::{Plan, Space};
use tilewright_seal::Key;
use zerocopy::{FromBytes, IntoBytes};

use crate::copy_checksums::copy_checksums;
use crate::plan::{ImageBuildError, Known, board_id, packed, with_stores};
use crate::sealed::Sealing;
use crate::size;

/// The spaces of a plan that have store images.
pub fn stores(plan: &Plan) -> impl Iterator<Item = Space> + '_ {
    let spaces = [Space::ExternalFlash, Space::Card].into_iter();
    spaces.filter(|space| plan.space(*space).0 > 0)
}

/// Bytes of the store image of a space. A program may use more of the space: what it writes lies behind.
#[must_use]
pub fn store_bytes(plan: &Plan, space: Space) -> u64 {
    STORE_ALIGNMENT as u64 + weight_bytes(plan, space)
}

/// Bytes of a store's weights, its header left out.
pub(crate) fn weight_bytes(plan: &Plan, space: Space) -> u64 {
    match space {
        Space::Card => stored_weights(plan),
        _ => plan.space(space).0.saturating_sub(STORE_ALIGNMENT as u64),
    }
}

/// Calls `sink` with the weights of a store, piece by piece: blocks in the order of their places,
/// zeros between.
pub(crate) fn for_each_piece(
    plan: &Plan,
    model: &Model,
    space: Space,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<(), ImageBuildError> {
    let mut blocks: Vec<_> =
        plan.constants.iter().enumerate().filter(|(_, block)| block.space == space).collect();
    blocks.sort_by_key(|(_, block)| block.offset);
    let mut end = STORE_ALIGNMENT as u64;
    let skip = |from: u64, to: u64, sink: &mut dyn FnMut(&[u8])| {
        const ZEROS: [u8; STORE_ALIGNMENT] = [0; STORE_ALIGNMENT];
        let mut left = to.saturating_sub(from);
        while left > 0 {
            let part = size(left).min(ZEROS.len());
            sink(&ZEROS[..part]);
            left -= part as u64;
        }
    };
    for (index, block) in blocks {
        if block.offset < end || block.offset + block.bytes.0 > plan.space(space).0 {
            let reason = "it overlaps another, the header or the end of its store";
            return Err(ImageBuildError::Constant { index, reason });
        }
        skip(end, block.offset, sink);
        packed(plan, model, index, block, sink)?;
        end = block.offset + block.bytes.0;
    }
    skip(end, STORE_ALIGNMENT as u64 + weight_bytes(plan, space), sink);
    Ok(())
}

/// The header of a store whose weights have a CRC-32.
fn header(
    plan: &Plan,
    plan_image: &[u8],
    space: Space,
    crc: u32,
) -> Result<StoreHeader, ImageBuildError> {
    let narrow = |bytes| u32::try_from(bytes).map_err(|_| ImageBuildError::Space { space, bytes });
    let (image, _) = Header::read_from_prefix(plan_image)
        .map_err(|_| ImageBuildError::TooLarge(plan_image.len() as u64))?;
    let mut table = [SectionRecord::default(); 8];
    table[0] = SectionRecord {
        kind: STORE_WEIGHTS,
        offset: narrow(STORE_ALIGNMENT as u64)?,
        bytes: narrow(weight_bytes(plan, space))?,
        crc,
    };
    let mut header = StoreHeader {
        magic: STORE_MAGIC,
        version: STORE_VERSION,
        sections: 1,
        space: space as u32,
        store_bytes: narrow(plan.space(space).0)?,
        board: board_id(&plan.board),
        plan_id: image.plan_id,
        table,
        header_crc: 0,
        reserved: [0; 77],
    };
    header.header_crc = header.crc();
    Ok(header)
}

/// All images of a plan, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// The plan image.
    pub plan: Vec<u8>,
    /// The store images with their spaces.
    pub stores: Vec<(Space, Vec<u8>)>,
}

/// The plan image of `plan` and all its store images, in memory: weights are packed once, not once for
/// the plan's id, once for their checksum and once for their bytes.
///
/// # Errors
/// [`ImageBuildError`]; a plan that passed its check against the model has its images.
pub fn images(plan: &Plan, model: &Model) -> Result<Images, ImageBuildError> {
    with_known(plan, model, &Known::default())
}

/// The same, with a checksum in the plan image for each copy that brings a part of the card's store
/// image ([`crate::Checks`]); what programs write is the plan's own ([`tilewright_plan::SectorChecksums`]).
///
/// # Errors
/// As [`images`].
pub fn checked_images(plan: &Plan, model: &Model) -> Result<Images, ImageBuildError> {
    let (plan, known) = checked(plan, model)?;
    with_known(&plan, model, &known)
}

/// The plan image of [`checked_images`] alone.
///
/// # Errors
/// As [`images`].
pub fn checked_plan_image(plan: &Plan, model: &Model) -> Result<Vec<u8>, ImageBuildError> {
    let (plan, known) = checked(plan, model)?;
    with_stores(&plan, model, &known, &mut |_, _| {})
}

fn checked(plan: &Plan, model: &Model) -> Result<(Plan, Known), ImageBuildError> {
    let checksummed = ChecksummedPlan::of(plan);
    let words = copy_checksums(&checksummed, model)?;
    Ok((checksummed.plan, Known { words, sealing: None }))
}

/// The same with all that is swapped sealed, of a plan that keeps tags ([`tilewright_plan::SectorChecksums::sealed`]): the
/// card's store image is encrypted with `key`, which nobody else may know or have used, and the plan image has
/// key and tags.
///
/// # Errors
/// As [`images`].
pub fn sealed_images(plan: &Plan, model: &Model, key: Key) -> Result<Images, ImageBuildError> {
    let (plan, known) = sealed(plan, model, key)?;
    with_known(&plan, model, &known)
}

/// The plan image of [`sealed_images`] alone.
///
/// # Errors
/// As [`images`].
pub fn sealed_plan_image(plan: &Plan, model: &Model, key: Key) -> Result<Vec<u8>, ImageBuildError> {
    let (plan, known) = sealed(plan, model, key)?;
    with_stores(&plan, model, &known, &mut |_, _| {})
}

fn sealed(plan: &Plan, model: &Model, key: Key) -> Result<(Plan, Known), ImageBuildError> {
    let checksummed = ChecksummedPlan::of(plan);
    let known = Sealing::new(&checksummed, key).known(&checksummed.plan, model)?;
    Ok((checksummed.plan, known))
}

fn with_known(plan: &Plan, model: &Model, known: &Known) -> Result<Images, ImageBuildError> {
    let started = |space| {
        let weights = usize::try_from(weight_bytes(plan, space)).unwrap_or(0);
        let mut bytes = Vec::with_capacity(weights.saturating_add(STORE_ALIGNMENT));
        bytes.resize(STORE_ALIGNMENT, 0);
        (space, bytes)
    };
    let mut stores: Vec<(Space, Vec<u8>)> = stores(plan).map(started).collect();
    let image = with_stores(plan, model, known, &mut |space, piece| {
        if let Some((_, bytes)) = stores.iter_mut().find(|(there, _)| *there == space) {
            bytes.extend_from_slice(piece);
        }
    })?;
    for (space, bytes) in &mut stores {
        let (head, weights) = bytes.split_at_mut(STORE_ALIGNMENT);
        head.copy_from_slice(header(plan, &image, *space, STORE_CRC.checksum(weights))?.as_bytes());
    }
    Ok(Images { plan: image, stores })
}

/// A store image. It is made in pieces, since it may be larger than memory.
pub struct StoreImage<'p> {
    plan: &'p Plan,
    model: &'p Model,
    space: Space,
    header: StoreHeader,
}

impl<'p> StoreImage<'p> {
    /// The store image of a space of `plan` ([`stores`]), for the plan image that was made of it.
    ///
    /// # Errors
    /// [`ImageBuildError`]; a plan that passed its check against the model has its stores.
    pub fn new(
        plan: &'p Plan,
        model: &'p Model,
        plan_image: &[u8],
        space: Space,
    ) -> Result<Self, ImageBuildError> {
        let mut crc = STORE_CRC.digest();
        for_each_piece(plan, model, space, &mut |piece| crc.update(piece))?;
        let header = header(plan, plan_image, space, crc.finalize())?;
        Ok(Self { plan, model, space, header })
    }

    /// Its length.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        let weights = &self.header.table[0];
        weights.offset as u64 + weights.bytes as u64
    }

    /// Calls `sink` with its bytes, piece by piece.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn write(&self, sink: &mut dyn FnMut(&[u8])) -> Result<(), ImageBuildError> {
        sink(self.header.as_bytes());
        for_each_piece(self.plan, self.model, self.space, sink)
    }
}
