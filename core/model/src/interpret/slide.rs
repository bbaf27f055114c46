//! Windows that slide over NHWC images.

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

/// A window over an image, with the geometry of the result.
#[derive(Clone, Copy)]
pub(crate) struct Slide {
    pub(crate) window: Window,
    pub(crate) input: [usize; 4],
    pub(crate) output: [usize; 4],
}

impl Slide {
    /// Source row and column of a tap, or nothing if it lies in the padding.
    fn source(&self, axis: usize, position: usize, tap: usize) -> Option<usize> {
        let before = if axis == 0 { self.window.padding.top } else { self.window.padding.left };
        let at = position * self.window.stride[axis] + tap * self.window.dilation[axis];
        at.checked_sub(before).filter(|at| *at < self.input[axis + 1])
    }

    /// Calls `visit` with the index of each output pixel and its batch, row and column.
    pub(crate) fn pixels(&self, mut visit: impl FnMut(usize, [usize; 3])) {
        let [batches, rows, columns, _] = self.output;
        let mut index = 0;
        for n in 0..batches {
            for y in 0..rows {
                for x in 0..columns {
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
        for ky in 0..self.window.size[0] {
            let Some(iy) = self.source(0, y, ky) else { continue };
            for kx in 0..self.window.size[1] {
                let Some(ix) = self.source(1, x, kx) else { continue };
                visit(ky * self.window.size[1] + kx, (n * height + iy) * width + ix);
            }
        }
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
