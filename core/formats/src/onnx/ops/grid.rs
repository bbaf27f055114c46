//! Where rows and columns of a resized image lie in the image, by the standard's modes.

use crate::numbers::{signed, single, whole};
use tilewright_model::Places;

/// Height or width of a resize.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// Pixels before.
    pub(super) from: usize,
    /// Pixels after.
    pub(super) to: usize,
    /// The scale, where `to` is not exactly `from` times it.
    pub(super) cut: Option<f32>,
    /// Start and end of the part that is resized, in shares of the whole; for one mode only.
    pub(super) part: [f64; 2],
}

/// Place of the first row or column, and distance from one to the next; nothing of a mode that is
/// not known.
pub(super) fn line(axis: &Axis, grid: &str) -> Option<[f64; 2]> {
    let (from, to) = (axis.from as f64, axis.to as f64);
    // The size before it is cut.
    let whole = axis.cut.map_or(to, |scale| from * f64::from(scale));
    let step = axis.cut.map_or(from / to, |scale| 1.0 / f64::from(scale));
    let half = [step / 2.0 - 0.5, step];
    Some(match grid {
        "asymmetric" => [0.0, step],
        "half_pixel" => half,
        "half_pixel_symmetric" => [from / 2.0 * (1.0 - to / whole) + half[0], step],
        "tf_half_pixel_for_nn" => [step / 2.0, step],
        "pytorch_half_pixel" | "align_corners" if axis.to == 1 => [0.0, 0.0],
        "pytorch_half_pixel" => half,
        "align_corners" => [0.0, (from - 1.0) / (whole - 1.0)],
        "tf_crop_and_resize" => {
            let [start, end] = axis.part.map(|share| share * (from - 1.0));
            match axis.to {
                1 => [f64::midpoint(start, end), 0.0],
                _ => [start, (end - start) / (to - 1.0)],
            }
        }
        _ => return None,
    })
}

/// Whether both lines give the same places.
pub(super) fn is_same(axis: &Axis, [first, step]: [f64; 2], [other, by]: [f64; 2]) -> bool {
    (first - other).abs() < 1e-9 && (axis.to == 1 || (step - by).abs() < 1e-9)
}

/// The line as a resize takes it, if it leads from at most a pixel before the image to no pixel
/// behind it.
pub(super) fn places(axis: &Axis, [first, step]: [f64; 2]) -> Option<Places> {
    let places = Places { first: single(first), step: single(step) };
    let last = places.at(axis.to.checked_sub(1)?);
    (first >= -1.0 && step >= 0.0 && last < axis.from as f64).then_some(places)
}

/// Places whose pixels before are `rows`, near those of the line.
pub(super) fn places_of(axis: &Axis, line: [f64; 2], rows: &[usize]) -> Option<Places> {
    // A little aside of ties, and half a pixel on for pixels that are rounded to.
    let asides = [0.0, 1.0 / 4096.0, -1.0 / 4096.0];
    let starts = [0.0, 0.5, 1.0].into_iter().flat_map(|on| asides.map(|aside| on + aside));
    let row = |place: f64| whole(place.floor()).min(axis.from - 1);
    starts
        .filter_map(|start| places(axis, [line[0] + start, line[1]]))
        .find(|places| (0..axis.to).all(|at| rows.get(at) == Some(&row(places.at(at)))))
}

/// The nearest of the image's rows to each of the line's, in 32-bit floats, as runtimes compute them
/// where the scale does not give whole sizes; nothing of a rounding that is not known.
pub(super) fn rows_by_scale(axis: &Axis, grid: &str, rounding: &str) -> Option<Vec<usize>> {
    let [first, step] = line(axis, grid)?;
    let row = |at: usize| {
        let place = match (grid, axis.cut) {
            ("asymmetric", Some(scale)) => at as f32 / scale,
            ("half_pixel", Some(scale)) => (at as f32 + 0.5) / scale - 0.5,
            ("pytorch_half_pixel", Some(scale)) if axis.to > 1 => (at as f32 + 0.5) / scale - 0.5,
            _ => single(first + at as f64 * step),
        };
        let nearest = match rounding {
            "floor" => place.floor(),
            "ceil" => place.ceil(),
            "round_prefer_floor" => (place - 0.5).ceil(),
            "round_prefer_ceil" => (place + 0.5).floor(),
            _ => return None,
        };
        Some(whole(nearest.into()).min(axis.from.checked_sub(1)?))
    };
    (0..axis.to).map(row).collect()
}

/// As [`rows_by_scale`], exactly, where sizes alone give the places.
pub(super) fn rows(axis: &Axis, grid: &str, rounding: &str) -> Option<Vec<usize>> {
    let (last, input, output) = (signed(axis.from) - 1, signed(axis.from), signed(axis.to));
    let row = |row: i64| {
        let (over, under) = match grid {
            "asymmetric" => (row * input, output),
            "tf_half_pixel_for_nn" => ((2 * row + 1) * input, 2 * output),
            "pytorch_half_pixel" | "align_corners" if output == 1 => (0, 1),
            "half_pixel" | "pytorch_half_pixel" | "half_pixel_symmetric" => {
                ((2 * row + 1) * input - output, 2 * output)
            }
            "align_corners" => (row * last, output - 1),
            _ => return None,
        };
        let ceil = |over: i64, under: i64| -(-over).div_euclid(under);
        let nearest = match rounding {
            "floor" => over.div_euclid(under),
            "ceil" => ceil(over, under),
            "round_prefer_floor" => ceil(2 * over - under, 2 * under),
            "round_prefer_ceil" => (2 * over + under).div_euclid(2 * under),
            _ => return None,
        };
        usize::try_from(nearest.clamp(0, last)).ok()
    };
    (0..output).map(row).collect()
}
