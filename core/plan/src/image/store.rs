//! Store images: what lies in external flash or on a card beside the plan image.

use core::fmt;

use super::{CRC, PlanImage, SectionRecord};
use crate::view::Space;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First bytes of a store image.
pub const STORE_MAGIC: [u8; 4] = *b"TWST";
/// Version of the format; another version is refused.
pub const STORE_VERSION: u16 = 1;
/// Bytes of the header, and alignment of every section: a card's sector.
pub const STORE_ALIGNMENT: usize = 512;
/// Number of the section with weights.
pub const STORE_WEIGHTS: u32 = 1;
/// Sections that the header has room for.
const SECTIONS: usize = 8;

/// The first sector of a store image. Offsets are those of the plan's space.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct StoreHeader {
    /// [`STORE_MAGIC`].
    pub magic: [u8; 4],
    /// [`STORE_VERSION`].
    pub version: u16,
    /// Number of entries used in [`Self::table`].
    pub sections: u16,
    /// The [`Space`]'s number that the store is.
    pub space: u32,
    /// Bytes of the whole store image.
    pub store_bytes: u32,
    /// Board id, padded with zeros.
    pub board: [u8; 24],
    /// The plan id of the plan image that the store belongs to.
    pub plan_id: [u8; 32],
    /// The sections, one behind the other.
    pub table: [SectionRecord; SECTIONS],
    /// CRC-32 of the header, this field taken as zero.
    pub header_crc: u32,
    /// Reserved, zero.
    pub reserved: [u32; 77],
}

const _: () = assert!(size_of::<StoreHeader>() == STORE_ALIGNMENT);

/// Why a store is none for a plan image. Offsets are those of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Fewer bytes than the header or the store's own length say.
    Truncated {
        /// Bytes needed.
        needed: u64,
        /// Bytes had.
        had: u64,
    },
    /// The first bytes are not those of a store image.
    NotAStore,
    /// Another format version.
    Version {
        /// Version of the store.
        store: u16,
        /// Version of this reader.
        reader: u16,
    },
    /// A store for another memory, or shorter than the plan uses.
    OtherSpace,
    /// The store belongs to another plan image or board.
    OtherPlan,
    /// A checksum differs.
    Checksum {
        /// Number of the section; nothing if it is the header.
        section: Option<u32>,
    },
    /// The section table does not lead through the store.
    SectionTable,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed, had } => {
                write!(f, "store image is cut short: {needed} bytes needed, {had} had")
            }
            Self::NotAStore => f.write_str("no store image: it does not start with TWST"),
            Self::Version { store, reader } => {
                write!(f, "store image has format version {store}, this reader knows {reader}")
            }
            Self::OtherSpace => {
                f.write_str("store image is for another memory, or shorter than the plan uses")
            }
            Self::OtherPlan => f.write_str(
                "store image belongs to another plan image: write both that were made together",
            ),
            Self::Checksum { section: None } => f.write_str("store image: header checksum differs"),
            Self::Checksum { section: Some(section) } => {
                write!(f, "store image: checksum of section {section} differs")
            }
            Self::SectionTable => f.write_str("store image: unexpected section table"),
        }
    }
}

impl core::error::Error for StoreError {}

impl StoreHeader {
    /// The header's checksum.
    #[must_use]
    pub fn crc(&self) -> u32 {
        let mut plain = *self;
        plain.header_crc = 0;
        CRC.checksum(plain.as_bytes())
    }

    /// Reads the header at the start of a store that starts with `bytes`, and holds it against the
    /// plan image that is to use it. The sections themselves are not looked at.
    ///
    /// # Errors
    /// [`StoreError`] says in what the store differs from the one that the plan image needs.
    pub fn read<'b>(
        bytes: &'b [u8],
        image: &PlanImage<'_>,
        space: Space,
    ) -> Result<&'b Self, StoreError> {
        if bytes.get(..4).is_none_or(|magic| magic != STORE_MAGIC) {
            return Err(StoreError::NotAStore);
        }
        let had = bytes.len() as u64;
        let short = StoreError::Truncated { needed: STORE_ALIGNMENT as u64, had };
        let (header, _) = Self::ref_from_prefix(bytes).map_err(|_| short)?;
        if header.version != STORE_VERSION {
            return Err(StoreError::Version { store: header.version, reader: STORE_VERSION });
        }
        if header.crc() != header.header_crc {
            return Err(StoreError::Checksum { section: None });
        }
        if header.space != space as u32 || u64::from(header.store_bytes) < image.space_bytes(space)
        {
            return Err(StoreError::OtherSpace);
        }
        let board = header.board.split(|byte| *byte == 0).next();
        if header.plan_id != *image.plan_id() || board != Some(image.board().as_bytes()) {
            return Err(StoreError::OtherPlan);
        }
        let mut end = STORE_ALIGNMENT as u64;
        for section in header.sections()? {
            let start = u64::from(section.offset);
            if start < end || !start.is_multiple_of(STORE_ALIGNMENT as u64) {
                return Err(StoreError::SectionTable);
            }
            end = start + u64::from(section.bytes);
        }
        if end > u64::from(header.store_bytes) {
            return Err(StoreError::SectionTable);
        }
        Ok(header)
    }

    fn sections(&self) -> Result<&[SectionRecord], StoreError> {
        self.table.get(..usize::from(self.sections)).ok_or(StoreError::SectionTable)
    }

    /// Checks the sections of a store whose header this is, all of which is addressable.
    ///
    /// # Errors
    /// [`StoreError`] names the first section whose checksum differs.
    pub fn verify(&self, store: &[u8]) -> Result<(), StoreError> {
        for section in self.sections()? {
            let (start, bytes) = (section.offset as usize, section.bytes as usize);
            let needed = u64::from(section.offset) + u64::from(section.bytes);
            let short = StoreError::Truncated { needed, had: store.len() as u64 };
            let end = start.checked_add(bytes).ok_or(StoreError::SectionTable)?;
            if CRC.checksum(store.get(start..end).ok_or(short)?) != section.crc {
                return Err(StoreError::Checksum { section: Some(section.kind) });
            }
        }
        Ok(())
    }
}
