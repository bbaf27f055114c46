//! Cuts outputs into tiles, and finds what of the input each needs.

use super::place::Area;
use super::{Numbers, Tensor};
use std::ops::Range;
use tilewright_kernels::{Tile, Window};

/// Cuts 0..`size` into parts whose lengths, but for the last, are multiples of `step`.
pub fn cut(numbers: &mut Numbers, size: usize, step: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < size {
        let units = (size - start).div_ceil(step);
        let end = size.min(start + (1 + numbers.below(units)) * step);
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Cuts an output into boxes; channels into multiples of `channel_step`.
pub fn areas(numbers: &mut Numbers, shape: [usize; 3], channel_step: usize) -> Vec<Area> {
    let mut areas = Vec::new();
    for rows in cut(numbers, shape[0], 1) {
        for columns in cut(numbers, shape[1], 1) {
            for channels in cut(numbers, shape[2], channel_step) {
                areas.push([rows.clone(), columns.clone(), channels]);
            }
        }
    }
    areas
}

/// Rows (axis 0) or columns (axis 1) of the input that a window over part of the output can see;
/// one that it cannot see if there is none.
pub fn seen(window: &Window, axis: usize, output: &Range<usize>, input: usize) -> Range<usize> {
    let at = |o: usize, tap: usize| {
        o as i64 * i64::from(window.stride[axis]) - i64::from(window.padding[axis])
            + tap as i64 * i64::from(window.dilation[axis])
    };
    let first = at(output.start, 0).clamp(0, input as i64 - 1) as usize;
    let last = at(output.end - 1, window.size[axis] - 1).clamp(0, input as i64 - 1) as usize;
    first..last + 1
}

/// The tile for an output area and the input box that it needs.
pub fn tile(
    window: &Window,
    output: &Area,
    input: &Tensor,
    channels: Range<usize>,
) -> (Tile, Area) {
    let rows = seen(window, 0, &output[0], input.shape[0]);
    let columns = seen(window, 1, &output[1], input.shape[1]);
    let tile = Tile {
        output_start: [output[0].start as i32, output[1].start as i32],
        output_size: [output[0].len(), output[1].len()],
        channels: output[2].len(),
        valid_start: [rows.start as i32, columns.start as i32],
        valid_end: [rows.end as i32, columns.end as i32],
    };
    (tile, [rows, columns, channels])
}

/// The tile for an output area whose kernel does not look at what input exists.
pub fn tile_of(area: &Area) -> Tile {
    Tile {
        output_start: [area[0].start as i32, area[1].start as i32],
        output_size: [area[0].len(), area[1].len()],
        channels: area[2].len(),
        valid_start: [0; 2],
        valid_end: [0; 2],
    }
}
