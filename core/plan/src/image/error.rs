//! Why bytes are no plan image.

use core::fmt;
use core::str;

use super::Section;
use crate::view::Space;

/// Why bytes are no image for this firmware. Offsets and indices are those of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// Fewer bytes than the header or the image's own length say.
    Truncated {
        /// Bytes needed.
        needed: u64,
        /// Bytes had.
        had: u64,
    },
    /// The first four bytes are not those of a plan image.
    NotAnImage,
    /// The image does not start at a multiple of 32 bytes in memory.
    Misaligned,
    /// Another format version.
    Version {
        /// Version of the image.
        image: u16,
        /// Version of this reader.
        reader: u16,
    },
    /// Another firmware ABI.
    Abi {
        /// ABI of the image.
        image: u32,
        /// ABI of this firmware.
        firmware: u32,
    },
    /// The image was made for another board.
    Board {
        /// Board id of the image, padded with zeros.
        image: [u8; 24],
    },
    /// A checksum differs.
    Checksum {
        /// The section; nothing if it is the header.
        section: Option<Section>,
    },
    /// A section is missing, twice there, out of place or of a wrong length.
    BadSection(Section),
    /// The section table does not have the expected sections in their order.
    SectionTable,
    /// The programs use more of a space than the board has.
    SpaceTooSmall {
        /// The space.
        space: Space,
        /// Bytes needed.
        needed: u64,
        /// Bytes had.
        had: u64,
    },
    /// Checksums of what programs write to a card do not lie in the arena, or share a line of the cache; or the bytes
    /// through which inputs go there do so, lie over checksums, or are no two halves of whole sectors.
    SectorChecksums {
        /// Where they end.
        end: u64,
        /// Bytes of the arena that programs use.
        had: u64,
    },
    /// A record holds a value that means nothing or points outside its table.
    BadRecord {
        /// The section that holds the record.
        section: Section,
        /// Index of the record.
        index: u32,
        /// What is wrong.
        reason: &'static str,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed, had } => {
                write!(f, "plan image is cut short: {needed} bytes needed, {had} had")
            }
            Self::NotAnImage => f.write_str("no plan image: it does not start with TWPI"),
            Self::Misaligned => f.write_str("plan image is not aligned to 32 bytes"),
            Self::Version { image, reader } => {
                write!(f, "plan image has format version {image}, this reader knows {reader}")
            }
            Self::Abi { image, firmware } => {
                write!(f, "plan image is for firmware ABI {image}, this firmware has {firmware}")
            }
            Self::Board { image } => {
                let end = image.iter().position(|b| *b == 0).unwrap_or(image.len());
                let name = image.get(..end).and_then(|b| str::from_utf8(b).ok()).unwrap_or("?");
                write!(f, "plan image is for board '{name}'")
            }
            Self::Checksum { section: None } => f.write_str("plan image: header checksum differs"),
            Self::Checksum { section: Some(section) } => {
                write!(f, "plan image: checksum of section {} differs", section.name())
            }
            Self::BadSection(section) => {
                write!(f, "plan image: section {} is missing or malformed", section.name())
            }
            Self::SectionTable => f.write_str("plan image: unexpected section table"),
            Self::SpaceTooSmall { space, needed, had } => {
                write!(f, "plan image needs {needed} bytes in space {space:?}, the board has {had}")
            }
            Self::SectorChecksums { end, had } => write!(
                f,
                "plan image: what is kept for the card ends at {end} of {had} bytes of the arena, or is not \
                 aligned"
            ),
            Self::BadRecord { section, index, reason } => {
                write!(f, "plan image: record {index} of section {}: {reason}", section.name())
            }
        }
    }
}

impl core::error::Error for ImageError {}
