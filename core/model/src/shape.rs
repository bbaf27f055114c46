//! Shapes of tensors.

use std::fmt;

/// Dimensions of a tensor, outermost first; activations of rank 4 are N, H, W, C.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shape(Vec<usize>);

impl Shape {
    /// The shape with these dimensions.
    #[must_use]
    pub fn new(dims: impl Into<Vec<usize>>) -> Self {
        Self(dims.into())
    }

    /// The dimensions.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// Number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Number of elements; nothing if it does not fit the address space.
    #[must_use]
    pub fn elements(&self) -> Option<usize> {
        self.0.iter().try_fold(1usize, |product, dim| product.checked_mul(*dim))
    }

    /// Height, width and channels of an activation of batch 1: rank 4 as NHWC; rank 3 as HWC
    /// behind a batch of 1 (N, W, C with height 1); rank 2 as N, C; rank 1 as C.
    /// Nothing if the batch is not 1 or the rank is over 4.
    #[must_use]
    pub fn hwc(&self) -> Option<[usize; 3]> {
        match *self.0.as_slice() {
            [1, h, w, c] => Some([h, w, c]),
            [1, w, c] => Some([1, w, c]),
            [1, c] | [c] => Some([1, 1, c]),
            [] => Some([1, 1, 1]),
            _ => None,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, dim) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("×")?;
            }
            write!(f, "{dim}")?;
        }
        if self.0.is_empty() { f.write_str("scalar") } else { Ok(()) }
    }
}
