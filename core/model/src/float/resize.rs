//! Bilinear scaling in float.

use crate::interpret::resize::Grid;

/// Each value from the four around it, top left, bottom left, top right, bottom right.
pub(super) fn bilinear(
    values: &[f32],
    [n, h, w, c]: [usize; 4],
    [oh, ow]: [usize; 2],
    grid: &Grid,
) -> Vec<f32> {
    let mut result = Vec::with_capacity(n * oh * ow * c);
    for (batch, y) in (0..n).flat_map(|batch| (0..oh).map(move |y| (batch, y))) {
        let ([top, bottom], down) = grid.between(0, y, h, oh);
        for x in 0..ow {
            let ([left, right], across) = grid.between(1, x, w, ow);
            let at = |row: usize, column: usize, channel: usize| {
                values[((batch * h + row) * w + column) * c + channel]
            };
            result.extend((0..c).map(|channel| {
                at(top, left, channel) * (1.0 - down) * (1.0 - across)
                    + at(bottom, left, channel) * down * (1.0 - across)
                    + at(top, right, channel) * (1.0 - down) * across
                    + at(bottom, right, channel) * down * across
            }));
        }
    }
    result
}
