//! The plan image: records, sections and the reader. `FORMAT.md` is the description.

#[cfg(feature = "alloc")]
mod aligned;
mod demand;
mod error;
#[cfg(feature = "alloc")]
mod frames;
#[cfg(feature = "alloc")]
mod pack;
mod packed;
mod reader;
mod select;
mod steps;
mod store;
#[cfg(feature = "alloc")]
mod tables;

#[cfg(feature = "alloc")]
pub use aligned::AlignedBytes;
pub use demand::Demand;
pub use error::ImageError;
#[cfg(feature = "alloc")]
pub use frames::{FrameTooLong, arrivals, input_frame, input_frames, input_views, limit_frame};
#[cfg(feature = "alloc")]
pub use pack::pack;
pub use packed::{Cursor, MOST_RECORDS, Packed};
pub use reader::{Expected, Operands, PlanImage};
pub use select::ENTRY;
pub use steps::{ComputeStep, StepReader};
pub use store::{
    STORE_ALIGNMENT, STORE_MAGIC, STORE_VERSION, STORE_WEIGHTS, StoreError, StoreHeader,
};
#[cfg(feature = "alloc")]
pub use tables::{Tables, TooMany};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First bytes of an image.
pub const MAGIC: [u8; 4] = *b"TWPI";
/// First bytes of a frame that brings inputs to the board's console.
pub const FRAME_MAGIC: [u8; 4] = *b"TWIN";
/// First bytes of a limit of latency that is sent to a board's console.
pub const LIMIT_MAGIC: [u8; 4] = *b"TWLM";
/// Version of the format; another version is refused.
pub const VERSION: u16 = 3;
/// Version of what firmware and image expect of each other (kernels' packing, operands).
pub const FIRMWARE_ABI: u32 = 7;
/// Alignment of every section and of the image itself.
pub const ALIGNMENT: usize = 32;
/// The CRC of sections and header: CRC-32/ISO-HDLC.
pub const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
/// The same with tables of 16 KiB, which take a fifth of the time: for stores, on hosts.
pub static STORE_CRC: crc::Crc<u32, StoreTables> =
    crc::Crc::<u32, StoreTables>::new(&crc::CRC_32_ISO_HDLC);
/// Pages download their tables, and wait less for them so.
#[cfg(target_family = "wasm")]
type StoreTables = crc::Table<1>;
#[cfg(not(target_family = "wasm"))]
type StoreTables = crc::Table<16>;

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Section {
    /// [`EntryRecord`]s: the boot program and the named programs.
    Entries = 1,
    /// [`LaneRecord`]s.
    Lanes = 2,
    /// [`crate::StepRecord`]s, [`Packed`].
    Steps = 3,
    /// [`crate::Op`]s.
    Ops = 4,
    /// [`crate::Tile`]s, [`Packed`].
    Tiles = 5,
    /// [`crate::View`]s, [`Packed`].
    Views = 6,
    /// [`crate::Span`]s, [`Packed`].
    Spans = 7,
    /// [`IoRecord`]s.
    Io = 8,
    /// [`LayerRecord`]s.
    Layers = 9,
    /// Kernel constants: space [`crate::Space::Constants`].
    Constants = 10,
    /// Weights: space [`crate::Space::Weights`].
    Weights = 11,
    /// CRC-32 of copied tiles, one word each; of sealed ones a key, then the tag of each.
    Sums = 12,
    /// Texts: a count, then offset and length of each, then UTF-8.
    Names = 13,
}

impl Section {
    /// All sections, in the order in which they stand in an image.
    pub const ALL: [Self; 13] = [
        Self::Entries,
        Self::Lanes,
        Self::Steps,
        Self::Ops,
        Self::Tiles,
        Self::Views,
        Self::Spans,
        Self::Io,
        Self::Layers,
        Self::Constants,
        Self::Weights,
        Self::Sums,
        Self::Names,
    ];

    /// A name for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entries => "ENTRIES",
            Self::Lanes => "LANES",
            Self::Steps => "STEPS",
            Self::Ops => "OPS",
            Self::Tiles => "TILES",
            Self::Views => "VIEWS",
            Self::Spans => "SPANS",
            Self::Io => "IO",
            Self::Layers => "LAYERS",
            Self::Constants => "CONSTS",
            Self::Weights => "WEIGHTS",
            Self::Sums => "SUMS",
            Self::Names => "NAMES",
        }
    }
}

/// The header of an image.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 4],
    /// [`VERSION`].
    pub version: u16,
    /// Number of [`SectionRecord`]s behind the header.
    pub sections: u16,
    /// [`FIRMWARE_ABI`].
    pub abi: u32,
    /// Bytes of the whole image.
    pub image_bytes: u32,
    /// Bytes that the programs use in each [`crate::Space`].
    pub space_bytes: [u32; 6],
    /// Board id, padded with zeros.
    pub board: [u8; 24],
    /// SHA-256 over all sections in order, those of stores behind: the plan id.
    pub plan_id: [u8; 32],
    /// CRC-32 of header and section table, this field taken as zero.
    pub header_crc: u32,
    /// What is kept of what programs write to a card ([`crate::SectorChecksums`]): its place in the arena, the first
    /// sector (0: nothing is kept), and how many.
    pub kept: [u32; 3],
    /// What is swapped: 0 as it is, 1 sealed with ChaCha20-Poly1305.
    pub sealed: u32,
    /// Bytes of the arena through which inputs go to a card ([`crate::Window`]): the first, and how many; 0: none do.
    pub window: [u32; 2],
    /// Reserved, zero.
    pub reserved: u32,
}

/// An entry of the section table.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct SectionRecord {
    /// A [`Section`]'s number.
    pub kind: u32,
    /// Offset from the start of the image.
    pub offset: u32,
    /// Bytes without the padding that follows.
    pub bytes: u32,
    /// CRC-32 of those bytes.
    pub crc: u32,
}

/// A program of the image.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct EntryRecord {
    /// 0: a program, run for each frame; 1: the boot program, run once.
    pub kind: u16,
    /// Name of the program: index into the names.
    pub name: u16,
    /// First lane in the lane table.
    pub lane_first: u16,
    /// Number of lanes.
    pub lane_count: u16,
    /// First input in the IO table.
    pub input_first: u16,
    /// Number of inputs.
    pub input_count: u16,
    /// First output in the IO table.
    pub output_first: u16,
    /// Number of outputs.
    pub output_count: u16,
    /// Predicted latency of a sub-network, in microseconds; 0 of other programs, which no limit chooses.
    pub latency_us: u32,
    /// Frames that a run works on, 1 to [`MAX_FRAMES`](crate::step::MAX_FRAMES): inputs and outputs are those of each,
    /// frame by frame.
    pub frames: u16,
    /// Reserved, zero.
    pub reserved: [u16; 5],
}

/// A lane of a program.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct LaneRecord {
    /// A [`crate::LaneKind`]'s number.
    pub kind: u16,
    /// Reserved, zero.
    pub reserved: u16,
    /// First step in the step table.
    pub step_first: u32,
    /// Number of steps.
    pub step_count: u32,
}

impl LaneRecord {
    /// Where a step of the lane stands in the step table; nothing if the lane has fewer.
    #[must_use]
    pub fn index_of(&self, step: u32) -> Option<u32> {
        if step < self.step_count { self.step_first.checked_add(step) } else { None }
    }
}

/// An input or output of a program.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct IoRecord {
    /// Index into the view table: where the bytes lie.
    pub view: u32,
    /// Bits of the 32-bit float scale: real value = scale × (q − zero).
    pub scale_bits: u32,
    /// Zero point.
    pub zero: i16,
    /// Name of the tensor: index into the names.
    pub name: u16,
    /// First class label in the names.
    pub label_first: u16,
    /// Number of class labels; 0 if the model has none.
    pub label_count: u16,
}

/// A layer, for reports.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct LayerRecord {
    /// Name: index into the names.
    pub name: u16,
    /// A [`crate::Kernel`]'s number.
    pub kernel: u16,
    /// Multiply-accumulates, nominal (padding included), saturating.
    pub macs: u32,
}

const _: () = assert!(size_of::<Header>() == 128);
const _: () = assert!(size_of::<SectionRecord>() == 16);
const _: () = assert!(size_of::<EntryRecord>() == 32);
const _: () = assert!(size_of::<LaneRecord>() == 12);
const _: () = assert!(size_of::<IoRecord>() == 16);
const _: () = assert!(size_of::<LayerRecord>() == 8);
