//! Plan + model → plan image.

use std::mem;

use crate::sealed::Sealing;
use crate::weighted;
use crate::{size, store};
use sha2::{Digest, Sha256};
use thiserror::Error;
use tilewright_kernels::pack;
use tilewright_model::integer::{self, IntegerError};
use tilewright_model::{Model, Node};
use tilewright_plan::image::{
    ALIGNMENT, CRC, FIRMWARE_ABI, Header, MAGIC, Section, SectionRecord, Tables, TooMany, VERSION,
};
use tilewright_plan::{Constant, ConstantRole, Plan, Space};
use zerocopy::IntoBytes;

/// Why a plan has no image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImageBuildError {
    /// Indices that do not fit their fields.
    #[error("{0}")]
    TooMany(#[from] TooMany),
    /// The image would be larger than 4 GiB.
    #[error("the plan image would have {0} bytes; at most 4 GiB can be addressed")]
    TooLarge(u64),
    /// A memory of which the plan takes more than addresses reach.
    #[error("the plan takes {bytes} bytes of the memory {space:?}; at most 4 GiB can be addressed")]
    Space {
        /// The memory.
        space: Space,
        /// Bytes that are needed.
        bytes: u64,
    },
    /// A constant block that does not belong to the model.
    #[error("constant block {index}: {reason}")]
    Constant {
        /// Index of the block.
        index: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// Quantisation parameters that have no integer form.
    #[error("{0}")]
    Integer(#[from] IntegerError),
}

/// The image of `plan`, whose weights come from `model`.
///
/// # Errors
/// [`ImageBuildError`]; a plan that passed its check against the model has an image.
pub fn plan_image(plan: &Plan, model: &Model) -> Result<Vec<u8>, ImageBuildError> {
    with_stores(plan, model, &Known::default(), &mut |_, _| {})
}

/// What of a card's store image its plan image knows.
#[derive(Default)]
pub(crate) struct Known {
    /// The words of its section of checksums.
    pub words: Vec<u32>,
    /// What seals the store image; nothing if it lies as it is.
    pub sealing: Option<Sealing>,
}

/// The image of `plan`, which knows this of its store; `visit` gets the weights of its stores, piece
/// by piece, one store after the other.
pub(crate) fn with_stores(
    plan: &Plan,
    model: &Model,
    known: &Known,
    visit: &mut dyn FnMut(Space, &[u8]),
) -> Result<Vec<u8>, ImageBuildError> {
    let total = plan.image_bytes().0;
    if u32::try_from(total).is_err() {
        return Err(ImageBuildError::TooLarge(total));
    }
    let mut space_bytes = [0; Space::ALL.len()];
    for (narrow, space) in space_bytes.iter_mut().zip(Space::ALL) {
        let bytes = plan.space(space).0;
        *narrow = u32::try_from(bytes).map_err(|_| ImageBuildError::Space { space, bytes })?;
    }
    let tables = Tables::of(plan)?;
    let channels = block_bytes(plan, model, Space::Constants)?;
    let weights = block_bytes(plan, model, Space::Weights)?;
    let header_bytes = size_of::<Header>() + Section::ALL.len() * size_of::<SectionRecord>();
    let mut image = vec![0u8; header_bytes.next_multiple_of(ALIGNMENT)];
    let mut records = Vec::with_capacity(Section::ALL.len());
    let mut id = Sha256::new();
    let narrow = |bytes| u32::try_from(bytes).map_err(|_| ImageBuildError::TooLarge(bytes as u64));
    for section in Section::ALL {
        let bytes: &[u8] = match section {
            Section::Constants => &channels,
            Section::Weights => &weights,
            Section::Sums => known.words.as_bytes(),
            _ => tables.section(section).unwrap_or(&[]),
        };
        id.update((section as u32).to_le_bytes());
        id.update((bytes.len() as u64).to_le_bytes());
        id.update(bytes);
        records.push(SectionRecord {
            kind: section as u32,
            offset: narrow(image.len())?,
            bytes: narrow(bytes.len())?,
            crc: CRC.checksum(bytes),
        });
        image.extend_from_slice(bytes);
        image.resize(image.len().next_multiple_of(ALIGNMENT), 0);
    }
    for space in store::stores(plan) {
        id.update((space as u32).to_le_bytes());
        id.update(store::weight_bytes(plan, space).to_le_bytes());
        let mut take = |piece: &[u8]| {
            id.update(piece);
            visit(space, piece);
        };
        match known.sealing.as_ref().filter(|_| space == Space::Card) {
            None => store::for_each_piece(plan, model, space, &mut take)?,
            Some(sealing) => sealing.each_piece(plan, model, &mut take, &mut |_, _| {})?,
        }
    }
    let mut header = Header {
        magic: MAGIC,
        version: VERSION,
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer than twenty")]
        sections: Section::ALL.len() as u16,
        abi: FIRMWARE_ABI,
        image_bytes: narrow(image.len())?,
        space_bytes,
        board: board_id(&plan.board),
        plan_id: id.finalize().into(),
        header_crc: 0,
        kept: plan.sector_checksums.map_or([0; 3], |sums| [sums.offset, sums.first, sums.sectors]),
        sealed: u32::from(plan.sector_checksums.is_some_and(|checksums| checksums.sealed)),
        window: plan.input.window().map_or([0; 2], |window| [window.offset, window.bytes]),
        reserved: 0,
    };
    let mut digest = CRC.digest();
    digest.update(header.as_bytes());
    digest.update(records.as_bytes());
    header.header_crc = digest.finalize();
    image[..size_of::<Header>()].copy_from_slice(header.as_bytes());
    image[size_of::<Header>()..header_bytes].copy_from_slice(records.as_bytes());
    Ok(image)
}

/// A board's id in an image. Ids of boards' files have at most 24 bytes; of a longer one, which says what a board of a
/// person's own is, the beginning stands for the whole: there is no firmware that would read it.
pub(crate) fn board_id(id: &str) -> [u8; 24] {
    let mut padded = [0u8; 24];
    for (to, from) in padded.iter_mut().zip(id.bytes()) {
        *to = from;
    }
    padded
}

/// The bytes of a space of constants: its blocks at their offsets, zeros between.
fn block_bytes(plan: &Plan, model: &Model, space: Space) -> Result<Vec<u8>, ImageBuildError> {
    let mut bytes = vec![0u8; size(plan.space(space).0)];
    for (index, block) in plan.constants.iter().enumerate().filter(|(_, c)| c.space == space) {
        let place = range(block).and_then(|range| bytes.get_mut(range)).ok_or({
            let reason = "it lies outside of its section";
            ImageBuildError::Constant { index, reason }
        })?;
        let mut rest = place;
        packed(plan, model, index, block, &mut |piece| {
            // Pieces are as long as the block together, or an error follows.
            let (here, behind) =
                mem::take(&mut rest).split_at_mut_checked(piece.len()).unwrap_or_default();
            here.copy_from_slice(piece.get(..here.len()).unwrap_or(&[]));
            rest = behind;
        })?;
    }
    Ok(bytes)
}

/// Calls `sink` with the bytes of constant block `index`, piece by piece.
///
/// # Errors
/// If the block does not belong to the model; `sink` may have been called before.
pub(crate) fn packed(
    plan: &Plan,
    model: &Model,
    index: usize,
    block: &Constant,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<(), ImageBuildError> {
    let wrong = |reason| ImageBuildError::Constant { index, reason };
    let node = model.nodes.get(block.node as usize).ok_or_else(|| wrong("unknown node"))?;
    let op = || plan.ops.get(block.op as usize).ok_or_else(|| wrong("unknown op"));
    let mut bytes = 0;
    let mut take = |piece: &[u8]| {
        bytes += piece.len() as u64;
        sink(piece);
    };
    match block.role {
        ConstantRole::Weights => {
            weighted::weights(model, node, op()?, block.part, &mut take)
                .ok_or_else(|| wrong("no weights"))?;
        }
        ConstantRole::Channels => take(
            &weighted::channels(model, node, op()?, block.part)?
                .ok_or_else(|| wrong("no weights"))?,
        ),
        ConstantRole::Operand { input } => {
            take(&operand(model, node, input).ok_or_else(|| wrong("no constant operand"))?);
        }
        ConstantRole::Table => {
            let table = integer::table(model, node)?;
            take(&pack::table(|value| table[usize::from(value.cast_unsigned())]));
        }
        ConstantRole::Nearest => {
            take(&nearest(model, node)?.ok_or_else(|| wrong("its rows or columns are too many"))?);
        }
        ConstantRole::Factors => {
            take(&pack::factors(&integer::local_response(model, node)?.factors));
        }
        ConstantRole::Gather(gather) => take(gather.as_bytes()),
    }
    if bytes != block.bytes.0 {
        return Err(wrong("its length differs from what its node needs"));
    }
    Ok(())
}

fn range(block: &Constant) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(block.offset).ok()?;
    Some(start..start.checked_add(usize::try_from(block.bytes.0).ok()?)?)
}

fn operand(model: &Model, node: &Node, input: u8) -> Option<Vec<u8>> {
    let data = model.tensor(*node.inputs.get(usize::from(input))?).source.as_ref()?.values();
    Some(data.as_i8()?.iter().map(|value| value.cast_unsigned()).collect())
}

/// Nothing if there are more rows or columns than the kernel counts.
fn nearest(model: &Model, node: &Node) -> Result<Option<Vec<u8>>, IntegerError> {
    let indices = integer::nearest(model, node)?;
    let narrow =
        indices.map(|all| all.into_iter().map(u16::try_from).collect::<Result<Vec<_>, _>>());
    let [Ok(rows), Ok(columns)] = narrow else { return Ok(None) };
    Ok(Some(pack::nearest(&rows, &columns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{Bytes, InputResidency};

    #[test]
    fn memories_beyond_4_gib_have_no_image() {
        let mut plan = Plan {
            model: String::new(),
            board: String::new(),
            strategy: String::new(),
            input: InputResidency::Resident,
            layers: Vec::new(),
            tensors: Vec::new(),
            ops: Vec::new(),
            tiles: Vec::new(),
            views: Vec::new(),
            spans: Vec::new(),
            constants: Vec::new(),
            boot: None,
            main: None,
            subnetworks: Vec::new(),
            space_bytes: [Bytes(0); 6],
            sector_checksums: None,
        };
        let card = Space::Card;
        for (bytes, is_right) in [(u32::MAX.into(), true), ((1 << 32) + 512, false)] {
            plan.space_bytes[card as usize] = Bytes(bytes);
            let wrong = ImageBuildError::Space { space: card, bytes };
            let image = plan_image(&plan, &Model::default());
            assert_eq!(image.map(|_| ()), if is_right { Ok(()) } else { Err(wrong) });
        }
    }
}
