//! Values of tensors, and where constant ones come from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::ranged::Ranged;
use crate::seeded::Seeded;
use crate::tensor::DType;

/// Values of a tensor, row-major.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Data {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 8-bit integers.
    I8(Vec<i8>),
    /// 32-bit integers.
    I32(Vec<i32>),
}

impl Data {
    /// No values of a type; nothing if there are none of it at all ([`DType::has_values`]).
    #[must_use]
    pub const fn none(dtype: DType) -> Option<Self> {
        Some(match dtype {
            DType::F32 => Self::F32(Vec::new()),
            DType::I8 => Self::I8(Vec::new()),
            DType::I32 => Self::I32(Vec::new()),
            DType::I16 | DType::I64 | DType::U8 => return None,
        })
    }

    /// Element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::I8(_) => DType::I8,
            Self::I32(_) => DType::I32,
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::I32(values) => values.len(),
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The floats, if these are floats.
    #[must_use]
    pub fn as_f32(&self) -> Option<&[f32]> {
        if let Self::F32(values) = self { Some(values) } else { None }
    }

    /// The 8-bit integers, if these are such.
    #[must_use]
    pub fn as_i8(&self) -> Option<&[i8]> {
        if let Self::I8(values) = self { Some(values) } else { None }
    }

    /// The 32-bit integers, if these are such.
    #[must_use]
    pub fn as_i32(&self) -> Option<&[i32]> {
        if let Self::I32(values) = self { Some(values) } else { None }
    }
}

/// Where a constant's values come from. Planning needs none of them, so that networks larger
/// than memory can be planned.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Source {
    /// The values themselves.
    Inline(Arc<Data>),
    /// Values that a seed gives, made anew each time they are asked for.
    Seeded(Seeded),
    /// Values that somebody reads each time they are asked for.
    Ranged(Ranged),
}

impl Source {
    /// A source that holds `data`.
    #[must_use]
    pub fn inline(data: Data) -> Self {
        Self::Inline(Arc::new(data))
    }

    /// The values, if they lie in memory already. Passes that look for a chance take these;
    /// who needs the values takes [`Source::values`].
    #[must_use]
    pub fn data(&self) -> Option<&Data> {
        match self {
            Self::Inline(data) => Some(data),
            Self::Seeded(_) | Self::Ranged(_) => None,
        }
    }

    /// The values, made or read now if they do not lie in memory; empty if they cannot be read.
    #[must_use]
    pub fn values(&self) -> Cow<'_, Data> {
        match self {
            Self::Inline(data) => Cow::Borrowed(data),
            Self::Seeded(seeded) => Cow::Owned(seeded.values()),
            Self::Ranged(ranged) => Cow::Owned(ranged.values()),
        }
    }

    /// The 8-bit integers in a range, made or read now without the others where that can be; nothing if
    /// these are no such integers, or not there.
    #[must_use]
    pub fn integers(&self, range: Range<usize>) -> Option<Cow<'_, [i8]>> {
        if self.dtype() != DType::I8 || range.start > range.end || range.end > self.len() {
            return None;
        }
        match self {
            Self::Inline(data) => data.as_i8()?.get(range).map(Cow::Borrowed),
            Self::Seeded(seeded) => Some(Cow::Owned(seeded.integers_in(range))),
            Self::Ranged(ranged) => ranged.integers(range).map(Cow::Owned),
        }
    }

    /// Element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            Self::Inline(data) => data.dtype(),
            Self::Seeded(seeded) => seeded.dtype(),
            Self::Ranged(ranged) => ranged.dtype(),
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(data) => data.len(),
            Self::Seeded(seeded) => seeded.len(),
            Self::Ranged(ranged) => ranged.len(),
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
