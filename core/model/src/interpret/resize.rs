//! Coordinates of resized images, as TensorFlow Lite's reference kernels compute them where its
//! formats state them.

use crate::op::{Op, Places};
use crate::shape::Shape;

/// How the pixels of a resized image lie in the image.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grid {
    align_corners: bool,
    half_pixel_centers: bool,
    places: Option<[Places; 2]>,
}

impl Grid {
    /// That of a resize.
    pub(crate) const fn of(op: &Op) -> Self {
        match *op {
            Op::Resize { align_corners, half_pixel_centers, places, .. } => {
                Self { align_corners, half_pixel_centers, places }
            }
            _ => Self { align_corners: false, half_pixel_centers: false, places: None },
        }
    }

    /// The row (`axis` 0) or column of an image of `input` that lies nearest to `index` of an image
    /// of `output`.
    pub(crate) fn nearest(&self, axis: usize, index: usize, input: usize, output: usize) -> usize {
        if let Some(places) = self.places {
            return (libm::floor(places[axis].at(index)).max(0.0) as usize).min(input - 1);
        }
        let scale = scale(input, output, self.align_corners);
        let offset = if self.half_pixel_centers { 0.5 } else { 0.0 };
        let place = (index as f32 + offset) * scale;
        let nearest = if self.align_corners { libm::roundf(place) } else { libm::floorf(place) };
        (nearest as usize).min(input - 1)
    }

    /// Where a row or column lies between those of the input: the two neighbours and the weight of
    /// the second.
    pub(crate) fn between(
        &self,
        axis: usize,
        index: usize,
        input: usize,
        output: usize,
    ) -> ([usize; 2], f32) {
        let scale = scale(input, output, self.align_corners);
        let place = match self.places {
            Some(places) => places[axis].at(index) as f32,
            None if self.half_pixel_centers => (index as f32 + 0.5) * scale - 0.5,
            None => index as f32 * scale,
        };
        let first = libm::floorf(place).max(0.0) as usize;
        let second = (libm::ceilf(place).max(0.0) as usize).min(input - 1);
        ([first.min(input - 1), second], place - first as f32)
    }
}

/// Images with rows and columns taken from the nearest ones.
pub(super) fn nearest<T: Copy>(
    values: &[T],
    input: &Shape,
    output: &Shape,
    grid: &Grid,
) -> Option<Vec<T>> {
    let [n, h, w, c] = *input.dims() else { return None };
    let [_, oh, ow, _] = *output.dims() else { return None };
    let mut result = Vec::with_capacity(n * oh * ow * c);
    for (batch, y) in (0..n).flat_map(|batch| (0..oh).map(move |y| (batch, y))) {
        let row = (batch * h + grid.nearest(0, y, h, oh)) * w;
        for x in 0..ow {
            let start = (row + grid.nearest(1, x, w, ow)) * c;
            result.extend_from_slice(&values[start..start + c]);
        }
    }
    Some(result)
}

fn scale(input: usize, output: usize, align_corners: bool) -> f32 {
    if align_corners && output > 1 {
        (input - 1) as f32 / (output - 1) as f32
    } else {
        input as f32 / output as f32
    }
}
