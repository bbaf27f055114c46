//! Windows that slide over NHWC images.

use std::ops::Range;

use crate::interpret::Stop;
use crate::op::Window;
use crate::shape::Shape;

/// An image's dimensions N, H, W, C.
pub(crate) fn image(shape: &Shape) -> [usize; 4] {
    match *shape.dims() {
        [n, h, w, c] => [n, h, w, c],
        // Callers pass shapes that the graph's verification has found to be of rank 4, or rows of
        // a fully connected layer.
        [n, c] => [n, 1, 1, c],
        _ => [0; 4],
    }
}

/// Output pixels between two looks at the stop: few enough for the widest layers, many enough that
/// reading a clock costs nothing beside them.
const PIXELS_PER_LOOK: usize = 64;

/// A window over an image, with the geometry of the result.
#[derive(Clone, Copy)]
pub(crate) struct Slide<'s> {
    pub(crate) window: Window,
    pub(crate) input: [usize; 4],
    pub(crate) output: [usize; 4],
    pub(crate) stop: &'s Stop<'s>,
}

impl Slide<'_> {
    /// The taps along an axis that lie inside the image at an output position, and the place of
    /// tap 0, counted from where the padding begins.
    fn inside(&self, axis: usize, position: usize) -> (Range<usize>, usize) {
        let start = position * self.window.stride[axis];
        let dilation = self.window.dilation[axis];
        let before = self.before(axis);
        let first = before.saturating_sub(start).div_ceil(dilation);
        let end = (before + self.input[axis + 1]).saturating_sub(start).div_ceil(dilation);
        (first..end.min(self.window.size[axis]), start)
    }

    const fn before(&self, axis: usize) -> usize {
        if axis == 0 { self.window.padding.top } else { self.window.padding.left }
    }

    /// Calls `visit` with the index of each output pixel and its batch, row and column; leaves the
    /// rest out once the stop says yes.
    pub(crate) fn pixels(&self, mut visit: impl FnMut(usize, [usize; 3])) {
        let [batches, rows, columns, _] = self.output;
        let mut index = 0usize;
        for n in 0..batches {
            for y in 0..rows {
                for x in 0..columns {
                    if index.is_multiple_of(PIXELS_PER_LOOK) && (self.stop)() {
                        return;
                    }
                    visit(index, [n, y, x]);
                    index += 1;
                }
            }
        }
    }

    /// Calls `visit` with each tap of the window at an output pixel that lies inside the image:
    /// its index in the window and the index of the input pixel, taps in row-major order.
    pub(crate) fn taps(&self, [n, y, x]: [usize; 3], mut visit: impl FnMut(usize, usize)) {
        let [_, height, width, _] = self.input;
        let [dy, dx] = self.window.dilation;
        let (rows, top) = self.inside(0, y);
        let (columns, left) = self.inside(1, x);
        for ky in rows {
            let row = (n * height + top + ky * dy - self.before(0)) * width;
            for kx in columns.clone() {
                let column = left + kx * dx - self.before(1);
                visit(ky * self.window.size[1] + kx, row + column);
            }
        }
    }

    /// As [`Slide::taps`], for a transposed convolution, whose window slides over the output: the
    /// taps through which an input pixel adds to this output pixel.
    pub(crate) fn transposed_taps(
        &self,
        [n, y, x]: [usize; 3],
        mut visit: impl FnMut(usize, usize),
    ) {
        let [_, height, width, _] = self.input;
        let source = |axis: usize, position: usize, tap: usize, length: usize| {
            let reach = tap * self.window.dilation[axis];
            let place = (position + self.before(axis)).checked_sub(reach)?;
            let stride = self.window.stride[axis];
            (place.is_multiple_of(stride) && place / stride < length).then(|| place / stride)
        };
        for ky in 0..self.window.size[0] {
            let Some(row) = source(0, y, ky, height) else { continue };
            for kx in 0..self.window.size[1] {
                let Some(column) = source(1, x, kx, width) else { continue };
                visit(ky * self.window.size[1] + kx, (n * height + row) * width + column);
            }
        }
    }

    /// How many taps of the window at an output pixel lie in the image or its padding, less the
    /// last rows and columns of the padding.
    pub(crate) fn counted(&self, [_, y, x]: [usize; 3], uncounted: [usize; 2]) -> usize {
        let padding = self.window.padding;
        let taps = |axis: usize, position: usize, behind: usize| {
            let length = self.before(axis) + self.input[axis + 1] + behind - uncounted[axis];
            let room = length.saturating_sub(position * self.window.stride[axis]);
            room.div_ceil(self.window.dilation[axis]).min(self.window.size[axis])
        };
        taps(0, y, padding.bottom) * taps(1, x, padding.right)
    }

    /// Copies `count` channels from `first` on, under each tap in row-major order, to `patch`;
    /// zero where a tap lies in the padding.
    pub(crate) fn gather<T: Copy + Default>(
        &self,
        values: &[T],
        pixel: [usize; 3],
        first: usize,
        count: usize,
        patch: &mut [T],
    ) {
        patch.fill(T::default());
        let channels = self.input[3];
        self.taps(pixel, |tap, source| {
            let start = source * channels + first;
            let from = &values[start..start + count];
            let to = &mut patch[tap * count..(tap + 1) * count];
            // A call of memcpy costs more than a few values.
            if count < 8 {
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            } else {
                to.copy_from_slice(from);
            }
        });
    }
}

/// Each channel of a row of pixels `times` times, one beside the other.
pub(crate) fn repeat_channels<T: Copy>(values: &[T], times: usize) -> Vec<T> {
    values.iter().flat_map(|value| std::iter::repeat_n(*value, times)).collect()
}
