//! Coordinates inside the layers. Each sweep moves a layer's vertices as near as it can, in squares,
//! to the mean of their neighbours, keeping order and distances: with the distances taken off this
//! is isotonic regression, which pooling adjacent violators solves exactly (Ayer et al. 1955).

use super::layout::{BEND_WIDTH, Layered, VERTEX_GAP, VERTEX_WIDTH};

/// Sweeps, down and up by turns. The last goes down and looks up only: looking both ways would make
/// a slope of every chain whose ends are not above each other.
const SWEEPS: usize = 17;
/// How much an edge wants to be straight: between vertices, at its ends, between bends (Gansner et
/// al. 1993, section 4).
const STRAIGHT: [f64; 3] = [1.0, 2.0, 8.0];
/// How much a vertex without neighbours on that side wants to stay.
const STAY: f64 = 0.1;
/// How much everything wants to be in the middle: long chains would wander off sideways. A tenth of
/// it in the last sweep, so that chains are upright all the same.
const CENTRED: f64 = 0.02;

/// The middle of each vertex and bend.
pub(super) fn place(layered: &Layered) -> Vec<f64> {
    let mut x = vec![0.0; layered.above.len()];
    for row in &layered.rows {
        let offsets = offsets(layered, row);
        let middle = offsets.last().copied().unwrap_or_default() / 2.0;
        row.iter().zip(&offsets).for_each(|(index, offset)| x[*index] = offset - middle);
    }
    let rows = layered.rows.len();
    for sweep in 0..SWEEPS {
        let centred = if sweep + 1 < SWEEPS { CENTRED } else { CENTRED / 10.0 };
        for step in 0..rows {
            let (row, neighbours) = match sweep % 2 {
                0 => (step, &layered.above),
                _ => (rows - 1 - step, &layered.below),
            };
            settle(layered, &layered.rows[row], neighbours, &mut x, centred);
        }
    }
    x
}

/// Places of a row's vertices if they stood as near as they may, the first at 0.
fn offsets(layered: &Layered, row: &[usize]) -> Vec<f64> {
    let half = |index: usize| if layered.is_bend(index) { BEND_WIDTH } else { VERTEX_WIDTH } / 2.0;
    let gap = |a: usize, b: usize| {
        if layered.is_bend(a) && layered.is_bend(b) { BEND_WIDTH } else { VERTEX_GAP }
    };
    let mut at = 0.0;
    let mut offsets = Vec::with_capacity(row.len());
    for (place, index) in row.iter().enumerate() {
        if let Some(before) = place.checked_sub(1).map(|before| row[before]) {
            at += half(before) + gap(before, *index) + half(*index);
        }
        offsets.push(at);
    }
    offsets
}

fn settle(
    layered: &Layered,
    row: &[usize],
    neighbours: &[Vec<usize>],
    x: &mut [f64],
    centred: f64,
) {
    let offsets = offsets(layered, row);
    let mut wanted: Vec<(f64, f64)> = Vec::with_capacity(row.len());
    for (index, offset) in row.iter().zip(&offsets) {
        let (mut sum, mut weight) = (0.0, 0.0);
        for other in &neighbours[*index] {
            let bends = [*index, *other].iter().filter(|end| layered.is_bend(**end)).count();
            sum += STRAIGHT[bends] * x[*other];
            weight += STRAIGHT[bends];
        }
        if weight == 0.0 {
            (sum, weight) = (STAY * x[*index], STAY);
        }
        weight += centred;
        wanted.push((sum / weight - offset, weight));
    }
    let fitted = isotonic(&wanted);
    for ((index, offset), value) in row.iter().zip(&offsets).zip(fitted) {
        x[*index] = value + offset;
    }
}

/// The values that never fall and are nearest to those wanted, which are pairs of value and weight.
fn isotonic(wanted: &[(f64, f64)]) -> Vec<f64> {
    // Blocks of equal values: value, weight, length.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(wanted.len());
    for (value, weight) in wanted {
        let mut block = (*value, *weight, 1);
        while let Some(before) = blocks.pop_if(|before| before.0 > block.0) {
            let weight = before.1 + block.1;
            let value = (before.0 * before.1 + block.0 * block.1) / weight;
            block = (value, weight, before.2 + block.2);
        }
        blocks.push(block);
    }
    blocks.iter().flat_map(|(value, _, length)| std::iter::repeat_n(*value, *length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_pools_what_would_fall() {
        let of = |values: &[f64]| {
            isotonic(&values.iter().map(|value| (*value, 1.0)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(of(&[3.0, 1.0, 2.0]), [2.0, 2.0, 2.0]);
        assert_eq!(of(&[1.0, 4.0, 2.0, 5.0]), [1.0, 3.0, 3.0, 5.0]);
        assert_eq!(isotonic(&[(4.0, 3.0), (0.0, 1.0)]), [3.0, 3.0]);
        assert!(of(&[]).is_empty());
    }
}
