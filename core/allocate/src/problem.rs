//! Problem and solution as plain values, and what makes a problem senseless.

use thiserror::Error;
use tilewright_plan::{Bytes, PlannedTensor};

/// Bytes to which tensors are aligned: kernels may load words.
pub const TENSOR_ALIGNMENT: u64 = 4;

/// Stretch of a buffer's life during which its contents do not matter: others may use its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// First point in time of the gap.
    pub first: u64,
    /// First point in time after it.
    pub end: u64,
}

/// Offsets that a buffer may use: all of it lies inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// A block of memory to place. It holds its bytes from `first` up to, not including, `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// First point in time at which the buffer is in use.
    pub first: u64,
    /// First point in time at which it no longer is; a buffer with `end == first` never is.
    pub end: u64,
    /// Size; a buffer of zero bytes may lie anywhere.
    pub bytes: Bytes,
    /// What its offset is a multiple of; at least 1.
    pub alignment: u64,
    /// Where it may lie; nothing if that does not matter.
    pub region: Option<Region>,
    /// Stretches without use: inside the life, ascending, disjoint.
    pub gaps: Vec<Gap>,
}

impl Buffer {
    /// A buffer that may lie at any offset.
    #[must_use]
    pub const fn new(first: u64, end: u64, bytes: Bytes) -> Self {
        Self { first, end, bytes, alignment: 1, region: None, gaps: Vec::new() }
    }

    /// The block that holds `tensor`: its bytes and its offset are whole words.
    #[must_use]
    pub fn of_tensor(tensor: &PlannedTensor) -> Self {
        let bytes = tensor.held().align_up(TENSOR_ALIGNMENT);
        Self::new(tensor.first.into(), tensor.end.max(tensor.first).into(), bytes)
            .aligned(TENSOR_ALIGNMENT)
    }

    /// The same buffer at multiples of `alignment` only.
    #[must_use]
    pub fn aligned(self, alignment: u64) -> Self {
        Self { alignment, ..self }
    }

    /// The same buffer at `offset` only.
    #[must_use]
    pub fn at(self, offset: u64) -> Self {
        let end = offset.saturating_add(self.bytes.0);
        Self { region: Some(Region { start: offset, end }), ..self }
    }

    /// The offset, if only one is possible.
    #[must_use]
    pub fn fixed(&self) -> Option<u64> {
        let region = self.region?;
        (region.end - region.start == self.bytes.0).then_some(region.start)
    }

    /// Stretches of use, ascending and disjoint.
    pub fn uses(&self) -> impl Iterator<Item = (u64, u64)> {
        let starts = std::iter::once(self.first).chain(self.gaps.iter().map(|gap| gap.end));
        let ends = self.gaps.iter().map(|gap| gap.first).chain(std::iter::once(self.end));
        starts.zip(ends).filter(|(start, end)| start < end)
    }

    /// Whether both hold bytes at some point in time.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        if self.bytes.0 == 0 || other.bytes.0 == 0 {
            return false;
        }
        if self.first >= other.end || other.first >= self.end {
            return false;
        }
        if self.gaps.is_empty() && other.gaps.is_empty() {
            return self.first < self.end && other.first < other.end;
        }
        self.uses().any(|(a, b)| other.uses().any(|(c, d)| a < d && c < b))
    }
}

/// Two buffers that may share bytes though both are in use: while one operator reads the one and
/// writes the other, row by row. Distances are from offset to offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The buffers.
    pub buffers: [usize; 2],
    /// Least distance of the second above the first; 1 to the size of the first, which is apart.
    pub above: u64,
    /// Least distance of the second below the first; 1 to the size of the second.
    pub below: u64,
}

impl Overlap {
    /// The most bytes that both share.
    #[must_use]
    pub fn shared(&self, buffers: &[Buffer]) -> u64 {
        let [first, second] = self.buffers.map(|index| buffers[index].bytes.0);
        let least = first.max(self.above + second).min(second.max(self.below + first));
        first + second - least.min(first + second)
    }

    /// Least distance of `high` above `low`, if they are these buffers.
    #[must_use]
    pub const fn apart(&self, low: usize, high: usize) -> Option<u64> {
        let [first, second] = self.buffers;
        if low == first && high == second {
            Some(self.above)
        } else if low == second && high == first {
            Some(self.below)
        } else {
            None
        }
    }
}

/// Where the buffers lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solution {
    /// Offset of each buffer, in the order given.
    pub offsets: Vec<u64>,
    /// One past the last byte used.
    pub height: Bytes,
}

impl Solution {
    /// The solution with these offsets for `buffers`.
    #[must_use]
    pub fn of(buffers: &[Buffer], offsets: Vec<u64>) -> Self {
        let used = buffers.iter().zip(&offsets).filter(|(b, _)| b.bytes.0 > 0 && b.first < b.end);
        let height = used.map(|(b, offset)| offset.saturating_add(b.bytes.0)).max().unwrap_or(0);
        Self { offsets, height: Bytes(height) }
    }
}

/// Why a problem makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProblemError {
    /// A life that ends before it starts.
    #[error("its life ends at {end}, before it starts at {first}")]
    Life {
        /// Index of the buffer.
        buffer: usize,
        /// Start.
        first: u64,
        /// End.
        end: u64,
    },
    /// An alignment of zero.
    #[error("its alignment is 0; give 1 or more")]
    Alignment {
        /// Index of the buffer.
        buffer: usize,
    },
    /// A gap that is empty, outside the life, or not after the gap before it.
    #[error("its gap {first}-{end} is empty, leaves its life or is out of order")]
    Gap {
        /// Index of the buffer.
        buffer: usize,
        /// Start of the gap.
        first: u64,
        /// End of the gap.
        end: u64,
    },
    /// A region that cannot hold the buffer at any offset of its alignment.
    #[error("{bytes} bytes at a multiple of {alignment} do not fit offsets {start} to {end}")]
    Region {
        /// Index of the buffer.
        buffer: usize,
        /// Its size.
        bytes: u64,
        /// Its alignment.
        alignment: u64,
        /// First byte of the region.
        start: u64,
        /// One past its last byte.
        end: u64,
    },
    /// Sizes whose sum is beyond what can be addressed.
    #[error("with it the sizes and alignments add up to more than 2^62 bytes")]
    Overflow {
        /// Index of the buffer at which the sum overflows.
        buffer: usize,
    },
    /// An overlap of buffers that do not exist, or at a distance of nothing or more than apart.
    #[error("the overlap of buffers {first} and {second} is none")]
    Overlap {
        /// One buffer.
        first: usize,
        /// The other.
        second: usize,
    },
    /// Regions in which no room was found for everything.
    #[error("no placement keeps every buffer in its region")]
    NoRoom,
}

impl ProblemError {
    /// Index of the buffer at fault, if it is one.
    #[must_use]
    pub const fn buffer(&self) -> Option<usize> {
        match self {
            Self::Life { buffer, .. }
            | Self::Alignment { buffer }
            | Self::Gap { buffer, .. }
            | Self::Region { buffer, .. }
            | Self::Overflow { buffer } => Some(*buffer),
            Self::Overlap { .. } | Self::NoRoom => None,
        }
    }
}

/// Largest sum of sizes, alignments and offsets: whatever is added up later cannot overflow.
const LIMIT: u64 = 1 << 62;

/// Whether the buffers make a problem that can be asked.
///
/// # Errors
/// [`ProblemError`] names the first buffer at fault.
pub fn check(buffers: &[Buffer]) -> Result<(), ProblemError> {
    let mut sum = 0u64;
    for (buffer, b) in buffers.iter().enumerate() {
        if b.end < b.first {
            return Err(ProblemError::Life { buffer, first: b.first, end: b.end });
        }
        if b.alignment == 0 {
            return Err(ProblemError::Alignment { buffer });
        }
        let mut after = b.first;
        for gap in &b.gaps {
            if gap.first < after || gap.end <= gap.first || gap.end > b.end {
                return Err(ProblemError::Gap { buffer, first: gap.first, end: gap.end });
            }
            after = gap.end;
        }
        sum = sum.saturating_add(b.bytes.0).saturating_add(b.alignment);
        if let Some(region) = b.region {
            let wrong = || ProblemError::Region {
                buffer,
                bytes: b.bytes.0,
                alignment: b.alignment,
                start: region.start,
                end: region.end,
            };
            if region.start > LIMIT {
                return Err(ProblemError::Overflow { buffer });
            }
            let lowest = region.start.div_ceil(b.alignment).saturating_mul(b.alignment);
            if lowest.saturating_add(b.bytes.0) > region.end {
                return Err(wrong());
            }
            sum = sum.saturating_add(region.start);
        }
        if sum > LIMIT {
            return Err(ProblemError::Overflow { buffer });
        }
    }
    Ok(())
}

/// Whether the overlaps are some of `buffers`.
///
/// # Errors
/// [`ProblemError::Overlap`] names the first that is not.
pub fn check_overlaps(buffers: &[Buffer], overlaps: &[Overlap]) -> Result<(), ProblemError> {
    for overlap in overlaps {
        let [first, second] = overlap.buffers;
        let bytes = |index: usize| buffers.get(index).map_or(0, |b| b.bytes.0);
        let sensible = first != second
            && (1..=bytes(first)).contains(&overlap.above)
            && (1..=bytes(second)).contains(&overlap.below);
        if !sensible {
            return Err(ProblemError::Overlap { first, second });
        }
    }
    Ok(())
}
