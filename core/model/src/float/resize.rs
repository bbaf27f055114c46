//! Bilinear scaling in float.

use crate::interpret::resize::between;

/// Each value from the four around it, top left, bottom left, top right, bottom right.
pub(super) fn bilinear(
    values: &[f32],
    [n, h, w, c]: [usize; 4],
    [oh, ow]: [usize; 2],
    align_corners: bool,
    half_pixel_centers: bool,
) -> Vec<f32> {
    let mut result = Vec::with_capacity(n * oh * ow * c);
    for (batch, y) in (0..n).flat_map(|batch| (0..oh).map(move |y| (batch, y))) {
        let ([top, bottom], down) = between(y, h, oh, align_corners, half_pixel_centers);
        for x in 0..ow {
            let ([left, right], across) = between(x, w, ow, align_corners, half_pixel_centers);
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
