//! Where bytes lie: spaces, spans, views of tensors, and tiles.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A memory that steps can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(rename_all = "snake_case"))]
#[repr(u8)]
pub enum Space {
    /// The tensor arena in internal SRAM.
    Arena = 0,
    /// The weights section of the flash image.
    Weights = 1,
    /// The constants section of the flash image.
    Constants = 2,
    /// External RAM that the core can address.
    ExternalRam = 3,
    /// External flash that the core can address.
    ExternalFlash = 4,
    /// A block device: an SD card.
    Card = 5,
}

impl Space {
    /// All spaces, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Arena,
        Self::Weights,
        Self::Constants,
        Self::ExternalRam,
        Self::ExternalFlash,
        Self::Card,
    ];

    /// The space with this number in a plan image.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Whether a compute step may write there.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        matches!(self, Self::Arena | Self::ExternalRam)
    }
}

/// An operand of a compute step: a box of an NHWC tensor (batch 1) somewhere in a space.
///
/// Element (y, x, c) of the tensor, for y in `y0..y0+h` and x in `x0..x0+w`, is the byte at
/// `offset + ((y - y0 + first_row) % ring_rows) * row_pitch + (x - x0) * column_pitch + c`.
/// Weights and constants are views of one row and one pixel with `c` bytes.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(C)]
pub struct View {
    /// Byte offset in the space of the box's first element.
    pub offset: u32,
    /// Bytes from one row to the next.
    pub row_pitch: u32,
    /// Bytes from one pixel to the next.
    pub column_pitch: u32,
    /// Channels of the box (bytes of a pixel).
    pub c: u32,
    /// Rows of the box.
    pub h: u16,
    /// Columns of the box.
    pub w: u16,
    /// The tensor's row that the box starts at.
    pub y0: i16,
    /// The tensor's column that the box starts at.
    pub x0: i16,
    /// Rows after which the buffer wraps; at least `h`; equal to `h` if it does not wrap.
    pub ring_rows: u16,
    /// Row of the ring that holds row `y0`.
    pub first_row: u16,
    /// A [`Space`]'s number.
    pub space: u8,
    /// Reserved, zero.
    pub reserved: [u8; 3],
}

impl View {
    /// The whole of a contiguous tensor of shape h × w × c at `offset`.
    #[must_use]
    pub const fn whole(space: Space, offset: u32, h: u16, w: u16, c: u32) -> Self {
        Self {
            offset,
            row_pitch: w as u32 * c,
            column_pitch: c,
            c,
            h,
            w,
            y0: 0,
            x0: 0,
            ring_rows: h,
            first_row: 0,
            space: space as u8,
            reserved: [0; 3],
        }
    }

    /// `bytes` bytes at `offset`: weights or constants.
    #[must_use]
    pub const fn bytes(space: Space, offset: u32, bytes: u32) -> Self {
        Self::whole(space, offset, 1, 1, bytes)
    }

    /// The space, if the number is one.
    #[must_use]
    pub fn space(&self) -> Option<Space> {
        Space::from_number(self.space)
    }

    /// Number of elements (bytes) in the box.
    #[must_use]
    pub const fn elements(&self) -> u64 {
        self.h as u64 * self.w as u64 * self.c as u64
    }

    /// Bytes from `offset` to the end of the last row that the buffer can hold; what must lie
    /// inside the space.
    #[must_use]
    pub const fn extent(&self) -> u64 {
        if self.h == 0 || self.w == 0 {
            return 0;
        }
        (self.ring_rows as u64 - 1) * self.row_pitch as u64
            + (self.w as u64 - 1) * self.column_pitch as u64
            + self.c as u64
    }

    /// Whether rows follow each other without gap and nothing follows them, so that the box is one
    /// run of bytes and all of the view.
    #[must_use]
    pub const fn is_contiguous(&self) -> bool {
        self.column_pitch == self.c
            && self.row_pitch as u64 == self.w as u64 * self.c as u64
            && self.first_row == 0
            && self.ring_rows == self.h
    }
}

/// The part of a layer that a compute step makes: an output box, and the part of the input that
/// exists. Input rows and columns outside `valid` count as padding.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(C)]
pub struct Tile {
    /// First output row and column.
    pub output_start: [u16; 2],
    /// Output rows and columns.
    pub output_size: [u16; 2],
    /// First output channel.
    pub channel_start: u32,
    /// Output channels.
    pub channels: u32,
    /// First input row and column that exist (tensor coordinates).
    pub valid_start: [u16; 2],
    /// Input rows and columns that exist.
    pub valid_size: [u16; 2],
}

/// Source or destination of a copy: `rows` runs of `row_bytes`, `pitch` apart.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct Span {
    /// Byte offset in the space.
    pub offset: u32,
    /// Number of runs.
    pub rows: u32,
    /// Bytes of a run.
    pub row_bytes: u32,
    /// Bytes from the start of a run to the start of the next.
    pub pitch: u32,
    /// A [`Space`]'s number.
    pub space: u8,
    /// Reserved, zero.
    pub reserved: [u8; 3],
}

impl Span {
    /// The space, if the number is one.
    #[must_use]
    pub fn space(&self) -> Option<Space> {
        Space::from_number(self.space)
    }

    /// Bytes that the copy moves.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.rows as u64 * self.row_bytes as u64
    }

    /// Bytes from `offset` to the end of the last run.
    #[must_use]
    pub const fn extent(&self) -> u64 {
        if self.rows == 0 {
            return 0;
        }
        (self.rows as u64 - 1) * self.pitch as u64 + self.row_bytes as u64
    }
}

const _: () = assert!(size_of::<View>() == 32);
const _: () = assert!(size_of::<Tile>() == 24);
const _: () = assert!(size_of::<Span>() == 20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_view_is_contiguous_and_as_long_as_its_tensor() {
        let view = View::whole(Space::Arena, 64, 5, 7, 3);
        assert!(view.is_contiguous());
        assert_eq!(view.extent(), 105);
        assert_eq!(view.elements(), 105);
    }

    #[test]
    fn a_strided_span_ends_with_its_last_run() {
        let span = Span { rows: 3, row_bytes: 10, pitch: 100, ..Span::default() };
        assert_eq!(span.bytes(), 30);
        assert_eq!(span.extent(), 210);
    }
}
