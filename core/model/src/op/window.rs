//! Windows that slide over images.

/// Padding in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Padding {
    /// Rows above.
    pub top: usize,
    /// Columns to the left.
    pub left: usize,
    /// Rows below.
    pub bottom: usize,
    /// Columns to the right.
    pub right: usize,
}

/// Geometry of an operator that slides a window over the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Window {
    /// Height and width of the window in taps.
    pub size: [usize; 2],
    /// Vertical and horizontal stride.
    pub stride: [usize; 2],
    /// Vertical and horizontal dilation; 1 is dense.
    pub dilation: [usize; 2],
    /// Padding.
    pub padding: Padding,
}

impl Window {
    /// A window of `size` with stride 1, dense, without padding.
    #[must_use]
    pub const fn dense(size: [usize; 2]) -> Self {
        let padding = Padding { top: 0, left: 0, bottom: 0, right: 0 };
        Self { size, stride: [1, 1], dilation: [1, 1], padding }
    }

    /// Output height and width for an input of `input` height and width: floor rule.
    /// Nothing if the window does not fit or a number overflows.
    #[must_use]
    pub fn output(&self, input: [usize; 2]) -> Option<[usize; 2]> {
        let pads = [
            self.padding.top.checked_add(self.padding.bottom)?,
            self.padding.left.checked_add(self.padding.right)?,
        ];
        let mut output = [0; 2];
        for axis in 0..2 {
            let reach = self.size[axis].checked_sub(1)?.checked_mul(self.dilation[axis])? + 1;
            let padded = input[axis].checked_add(pads[axis])?;
            output[axis] = padded.checked_sub(reach)?.checked_div(self.stride[axis])? + 1;
        }
        Some(output)
    }
}
