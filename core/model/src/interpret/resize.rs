//! Coordinates of resized images, as TensorFlow Lite's reference kernels compute them.

use crate::shape::Shape;

/// Images with rows and columns taken from the nearest ones.
pub(super) fn nearest<T: Copy>(
    values: &[T],
    input: &Shape,
    output: &Shape,
    align_corners: bool,
    half_pixel_centers: bool,
) -> Option<Vec<T>> {
    let [n, h, w, c] = *input.dims() else { return None };
    let [_, oh, ow, _] = *output.dims() else { return None };
    let source = |index: usize, from: usize, to: usize| {
        nearest_index(index, from, to, align_corners, half_pixel_centers)
    };
    let mut result = Vec::with_capacity(n * oh * ow * c);
    for (batch, y) in (0..n).flat_map(|batch| (0..oh).map(move |y| (batch, y))) {
        let row = (batch * h + source(y, h, oh)) * w;
        for x in 0..ow {
            let start = (row + source(x, w, ow)) * c;
            result.extend_from_slice(&values[start..start + c]);
        }
    }
    Some(result)
}

/// The row or column of an image of `input` that lies nearest to `index` of an image of `output`.
pub(crate) fn nearest_index(
    index: usize,
    input: usize,
    output: usize,
    align_corners: bool,
    half_pixel_centers: bool,
) -> usize {
    let scale = scale(input, output, align_corners);
    let offset = if half_pixel_centers { 0.5 } else { 0.0 };
    let place = (index as f32 + offset) * scale;
    let nearest = if align_corners { libm::roundf(place) } else { libm::floorf(place) };
    (nearest as usize).min(input - 1)
}

fn scale(input: usize, output: usize, align_corners: bool) -> f32 {
    if align_corners && output > 1 {
        (input - 1) as f32 / (output - 1) as f32
    } else {
        input as f32 / output as f32
    }
}

/// Where a row or column lies between those of the input: the two neighbours and the weight of the
/// second.
pub(crate) fn between(
    index: usize,
    input: usize,
    output: usize,
    align_corners: bool,
    half_pixel_centers: bool,
) -> ([usize; 2], f32) {
    let scale = scale(input, output, align_corners);
    let place =
        if half_pixel_centers { (index as f32 + 0.5) * scale - 0.5 } else { index as f32 * scale };
    let first = libm::floorf(place).max(0.0) as usize;
    let second = (libm::ceilf(place).max(0.0) as usize).min(input - 1);
    ([first.min(input - 1), second], place - first as f32)
}
