//! Tensors: what flows along the edges of the graph.

use crate::data::Source;
use crate::shape::Shape;

/// Element type. Of the last three there are no values here ([`crate::Data`]): nothing computes with
/// them, and only operators that nothing here computes ([`crate::Op::Opaque`]) and reshapes have
/// such operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DType {
    /// 32-bit float.
    F32,
    /// 8-bit signed integer.
    I8,
    /// 32-bit signed integer.
    I32,
    /// 16-bit integer.
    I16,
    /// 64-bit integer.
    I64,
    /// Eight bits without a scale: an integer that stands for itself, or a truth value.
    U8,
}

impl DType {
    /// Whether there are values of the type here ([`crate::Data`]).
    #[must_use]
    pub const fn has_values(self) -> bool {
        matches!(self, Self::F32 | Self::I8 | Self::I32)
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::I64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::I16 => 2,
            Self::I8 | Self::U8 => 1,
        }
    }

    /// Name as users know it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::I8 => "int8",
            Self::I32 => "int32",
            Self::I16 => "int16",
            Self::I64 => "int64",
            Self::U8 => "uint8",
        }
    }
}

/// How integers stand for real numbers: real = scale × (q − zero).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quantisation {
    /// One scale, or one for each slice along `axis`; all positive and finite.
    pub scales: Vec<f32>,
    /// Zero points, as many as scales.
    pub zeros: Vec<i32>,
    /// The dimension that the scales run along; nothing if there is one scale for all.
    pub axis: Option<usize>,
}

impl Quantisation {
    /// One scale and zero point for the whole tensor.
    #[must_use]
    pub fn per_tensor(scale: f32, zero: i32) -> Self {
        Self { scales: vec![scale], zeros: vec![zero], axis: None }
    }

    /// The scale of slice `index`; the only scale if there is one.
    #[must_use]
    pub fn scale(&self, index: usize) -> f32 {
        let index = if self.axis.is_some() { index } else { 0 };
        self.scales.get(index).copied().unwrap_or(1.0)
    }

    /// Real values as integers of a per-tensor quantisation: rounded half away from zero,
    /// saturated; a value that is no number becomes the zero point.
    #[must_use]
    pub fn quantise(&self, values: &[f32]) -> Vec<i8> {
        let (scale, zero) = (self.scale(0), self.zero());
        values
            .iter()
            .map(|value| {
                let steps = libm::roundf(value / scale) as i32;
                zero.saturating_add(steps).clamp(-128, 127) as i8
            })
            .collect()
    }

    /// Integers of a per-tensor quantisation as real values.
    #[must_use]
    pub fn dequantise(&self, values: &[i8]) -> Vec<f32> {
        let (scale, zero) = (self.scale(0), self.zero());
        values.iter().map(|value| (i32::from(*value) - zero) as f32 * scale).collect()
    }

    /// The zero point of a per-tensor quantisation.
    #[must_use]
    pub fn zero(&self) -> i32 {
        self.zeros.first().copied().unwrap_or(0)
    }
}

/// A tensor of the graph.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tensor {
    /// Name, unique in the model.
    pub name: String,
    /// Shape; activations of rank 4 are NHWC.
    pub shape: Shape,
    /// Element type.
    pub dtype: DType,
    /// Quantisation; present on int8 tensors. On a float tensor it is what the file states for its
    /// int8 form.
    pub quantisation: Option<Quantisation>,
    /// Where the values come from, if the tensor is constant.
    pub source: Option<Source>,
}

impl Tensor {
    /// Whether the tensor's values are known before execution.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.source.is_some()
    }

    /// Bytes of the tensor; nothing if they do not fit the address space.
    #[must_use]
    pub fn bytes(&self) -> Option<usize> {
        self.shape.elements()?.checked_mul(self.dtype.bytes())
    }
}
