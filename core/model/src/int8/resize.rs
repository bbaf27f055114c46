//! Bilinear scaling in int8.

use crate::integer::{BILINEAR_BITS, BilinearParams};

/// Two neighbouring rows or columns, with their weights in 2^−10.
type Between = [(usize, i64); 2];

fn between(at: usize, axis: usize, length: usize, params: &BilinearParams) -> Between {
    const UNIT: i32 = 1 << BILINEAR_BITS;
    let place = at as i32 * params.step[axis] + params.first[axis];
    let low = (place / UNIT).max(0);
    let high = ((place + UNIT - 1) / UNIT).min(length as i32 - 1);
    // Before the first pixel the weight is negative, but then both neighbours are that pixel.
    let weight = i64::from(place - low * UNIT);
    [(low as usize, i64::from(UNIT) - weight), (high as usize, weight)]
}

/// Each value from the four around it, rounded half away from zero.
pub(super) fn bilinear(
    values: &[i8],
    [n, h, w, c]: [usize; 4],
    [oh, ow]: [usize; 2],
    params: &BilinearParams,
) -> Vec<i8> {
    const BITS: u32 = 2 * BILINEAR_BITS;
    let mut result = Vec::with_capacity(n * oh * ow * c);
    for (batch, y) in (0..n).flat_map(|batch| (0..oh).map(move |y| (batch, y))) {
        let rows = between(y, 0, h, params);
        for x in 0..ow {
            let columns = between(x, 1, w, params);
            result.extend((0..c).map(|channel| {
                let mut sum = 0;
                for (row, down) in rows {
                    for (column, across) in columns {
                        let value = values[((batch * h + row) * w + column) * c + channel];
                        sum += i64::from(value) * down * across;
                    }
                }
                let half = if sum > 0 { 1 << (BITS - 1) } else { -(1 << (BITS - 1)) };
                ((sum + half) / (1 << BITS)) as i8
            }));
        }
    }
    result
}
