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

    /// Height, width and channels of an activation: rank 4 as NHWC of batch 1; of rank 3 and 2 the last dimension are
    /// channels, what stands before it rows and columns; rank 1 as C. Nothing if the batch is not 1 or the rank is over 4.
    #[must_use]
    pub fn hwc(&self) -> Option<[usize; 3]> {
        match *self.0.as_slice() {
            [1, h, w, c] | [h, w, c] => Some([h, w, c]),
            [w, c] => Some([1, w, c]),
            [c] => Some([1, 1, c]),
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
