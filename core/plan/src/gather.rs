//! Parameters of a gather.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Where a gather finds the elements of its output box: 56 bytes among the constants.
///
/// The box's rows, columns and channels are each some of six dimensions, outermost first; the
/// products of their sizes are the box's. Element (i0 … i5) is the input view's byte at
/// `start + Σ i · step`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct Gather {
    /// Place of the box's first element: bytes from the input view's offset.
    pub start: u32,
    /// How many dimensions make rows, and how many columns; the others make channels.
    pub split: [u8; 2],
    /// Reserved, zero.
    pub reserved: u16,
    /// Elements of each dimension; 1 for those that are not used.
    pub sizes: [u32; 6],
    /// Bytes from an element of each dimension to the next.
    pub steps: [i32; 6],
}

impl Gather {
    /// Bytes of the record.
    pub const BYTES: u64 = size_of::<Self>() as u64;

    /// Product of the sizes of the dimensions that make rows, columns and channels; nothing if
    /// there are not as many or the product leaves 64 bits.
    #[must_use]
    pub fn box_size(&self) -> Option<[u64; 3]> {
        let [rows, columns] = self.split.map(usize::from);
        let (rows, rest) = self.sizes.split_at_checked(rows)?;
        let (columns, channels) = rest.split_at_checked(columns)?;
        let product = |sizes: &[u32]| {
            sizes.iter().try_fold(1u64, |product, size| product.checked_mul(u64::from(*size)))
        };
        Some([product(rows)?, product(columns)?, product(channels)?])
    }

    /// Smallest and largest place that is read, if all sizes are at least 1.
    #[must_use]
    pub fn reach(&self) -> [i64; 2] {
        let start = i64::from(self.start);
        self.sizes.iter().zip(self.steps).fold([start; 2], |[low, high], (size, step)| {
            // At most 2^63 in size, and six of them are added: saturating is enough to be refused.
            let distance = (i64::from(*size) - 1).saturating_mul(i64::from(step));
            [low.saturating_add(distance.min(0)), high.saturating_add(distance.max(0))]
        })
    }
}

const _: () = assert!(size_of::<Gather>() == 56);
