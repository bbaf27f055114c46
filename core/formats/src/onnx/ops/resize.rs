//! Scaling images.

use tilewright_model::{Op, Places, ResizeMode};

use super::grid::{self, Axis};
use super::pick::picked;
use crate::FormatError;
use crate::numbers::{single, whole};
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Activated, Importer, Value, channels_last};

/// Resize, and Upsample of older versions.
pub(super) fn resize(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    if place.flag("antialias", false)? {
        return Err(place.unsupported("antialias is not supported"));
    }
    let mut target = target(importer, place, &importer.dims(&input))?;
    let [batch, channels, width] = *importer.dims(&input) else {
        return image(importer, place, &input, &target).map(Value::Activated);
    };
    // A signal is an image of one row.
    let tensor = importer.in_order(&input, &channels_last(3));
    let rows = [batch, 1, width, channels];
    let rows = importer.reshape(place, tensor, &rows, channels_last(4))?;
    target.sizes.insert(2, 1);
    target.cut.insert(2, None);
    target.parts.insert(2, WHOLE);
    let result = image(importer, place, &rows, &target)?;
    let [batch, channels, _, width] = *importer.dims(&result) else {
        return Err(place.bad("its result is no image"));
    };
    let tensor = importer.in_order(&result, &channels_last(4));
    let signal = [batch, width, channels];
    importer.reshape(place, tensor, &signal, channels_last(3)).map(Value::Activated)
}

fn image(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    target: &Target,
) -> Result<Activated, FormatError> {
    let (dims, sizes) = (importer.dims(input), &target.sizes);
    let in_range = |size: &usize| (1..1 << 15).contains(size);
    if !sizes.iter().all(in_range) || !dims.iter().all(in_range) {
        return Err(place.bad(format!("{dims:?} resized to {sizes:?}")));
    }
    let is_scaled = |axis: &usize| {
        sizes[*axis] != dims[*axis] || target.cut[*axis].is_some() || target.parts[*axis] != WHOLE
    };
    let scaled: Vec<usize> = (0..dims.len()).filter(is_scaled).collect();
    // Of an image height and width; of one with channels last the dimensions before these.
    let [height, width] = match scaled[..] {
        [first, second] if dims.len() == 4 => [first, second],
        [only] if only != 0 && dims.len() == 4 => {
            if only == 3 {
                [2, 3]
            } else {
                [only, 3.min(only + 1)]
            }
        }
        _ if scaled.is_empty() && dims.len() == 4 => [2, 3],
        _ => return Err(place.unsupported(format!("{dims:?} resized to {sizes:?}"))),
    };
    let axes = [height, width].map(|axis| Axis {
        from: dims[axis],
        to: sizes[axis],
        cut: target.cut[axis],
        part: target.parts[axis],
    });
    let op = match way(place, axes)? {
        Way::Op(op) => op,
        Way::Pixels([rows, columns]) => {
            let rows = picked(importer, place, input, height, &rows)?;
            return picked(importer, place, &rows, width, &columns);
        }
    };
    let mut order: Vec<usize> = (0..4).filter(|axis| ![height, width].contains(axis)).collect();
    order.splice(1..1, [height, width]);
    let tensor = importer.in_order(input, &order);
    let shape: Vec<usize> = order.iter().map(|axis| sizes[*axis]).collect();
    importer.emit_sized(place, op, vec![tensor], order, &shape)
}

/// An image from its first to its last pixel.
const WHOLE: [f64; 2] = [0.0, 1.0];

/// What an image is scaled to, by dimension.
struct Target {
    /// The result's dimensions.
    sizes: Vec<usize>,
    /// The scales whose products are cut to whole sizes: pixels lie by the scale then.
    cut: Vec<Option<f32>>,
    /// What is resized, from where to where.
    parts: Vec<[f64; 2]>,
}

fn target(
    importer: &Importer<'_>,
    place: Place<'_>,
    dims: &[usize],
) -> Result<Target, FormatError> {
    let axes: Vec<usize> = match place.ints("axes") {
        None => (0..dims.len()).collect(),
        Some(axes) => axes
            .iter()
            .map(|axis| place.axis(*axis, dims.len()))
            .collect::<Result<_, FormatError>>()?,
    };
    let floats = |index: usize| match importer.optional(place, index)? {
        Some(Value::Constant(constant)) => Ok(constant.floats().map(<[f32]>::to_vec)),
        _ => Ok::<_, FormatError>(None),
    };
    let one = place.node.op_type == "Upsample" || place.opset < 11;
    let scales = match place.attribute("scales") {
        Some(attribute) => Some(attribute.floats.clone()),
        None => floats(if one { 1 } else { 2 })?,
    };
    let scales = scales.filter(|scales| !scales.is_empty());
    let mut target = Target {
        sizes: dims.to_vec(),
        cut: vec![None; dims.len()],
        parts: vec![WHOLE; dims.len()],
    };
    match (scales, importer.ints(place, 3)?) {
        (Some(scales), _) if scales.len() == axes.len() => {
            for (axis, scale) in axes.iter().zip(scales) {
                let exact = dims[*axis] as f64 * f64::from(scale);
                let cut = (exact + 1e-3).floor();
                target.sizes[*axis] = whole(cut);
                target.cut[*axis] = ((exact - cut).abs() > 1e-3).then_some(scale);
            }
        }
        (None, Some(sizes)) if sizes.len() == axes.len() => {
            for (axis, size) in axes.iter().zip(sizes) {
                target.sizes[*axis] = usize::try_from(size).unwrap_or(0);
            }
            keep_ratio(place, dims, &axes, &mut target)?;
        }
        _ => return Err(place.bad(format!("scales or sizes for {dims:?} are missing"))),
    }
    if place.text("coordinate_transformation_mode")? == Some("tf_crop_and_resize") {
        let Some(parts) = floats(1)?.filter(|parts| parts.len() == 2 * axes.len()) else {
            return Err(place.unsupported("the part to resize must be constant"));
        };
        let (starts, ends) = parts.split_at(axes.len());
        for (axis, (start, end)) in axes.iter().zip(starts.iter().zip(ends)) {
            if !(0.0 <= *start && start <= end && *end <= 1.0) {
                let reason = format!("from {start} to {end} of the image is outside of it");
                return Err(place.unsupported(reason));
            }
            target.parts[*axis] = [f64::from(*start), f64::from(*end)];
        }
    }
    Ok(target)
}

/// One scale for all dimensions instead of sizes: the least or the largest of theirs.
fn keep_ratio(
    place: Place<'_>,
    dims: &[usize],
    axes: &[usize],
    target: &mut Target,
) -> Result<(), FormatError> {
    let ratios = axes.iter().map(|axis| target.sizes[*axis] as f64 / dims[*axis] as f64);
    let scale = match place.text("keep_aspect_ratio_policy")? {
        None | Some("stretch") => return Ok(()),
        Some("not_larger") => ratios.fold(f64::INFINITY, f64::min),
        Some("not_smaller") => ratios.fold(0.0, f64::max),
        Some(policy) => {
            let reason = format!("keep_aspect_ratio_policy {policy} is not supported");
            return Err(place.unsupported(reason));
        }
    };
    for axis in axes {
        let exact = dims[*axis] as f64 * scale;
        let cut = (exact + 0.5).floor();
        target.sizes[*axis] = whole(cut);
        target.cut[*axis] = ((exact - cut).abs() > 1e-3).then_some(single(scale));
    }
    Ok(())
}

/// How pixels are found.
enum Way {
    /// By an operator that scales.
    Op(Op),
    /// Rows and columns by number.
    Pixels([Vec<usize>; 2]),
}

/// Grids of [`Op::Resize`], with its flags: aligned corners, centres at halves.
const GRIDS: [(&str, bool, bool); 3] =
    [("asymmetric", false, false), ("half_pixel", false, true), ("align_corners", true, false)];

/// The way to the pixels that the node's attributes describe.
fn way(place: Place<'_>, axes: [Axis; 2]) -> Result<Way, FormatError> {
    let old = place.node.op_type == "Upsample" || place.opset < 11;
    let default = if old { "asymmetric" } else { "half_pixel" };
    let grid = place.text("coordinate_transformation_mode")?.unwrap_or(default);
    let mode = place.text("mode")?.unwrap_or("nearest");
    let rounding = place.text("nearest_mode")?;
    let rounding = rounding.unwrap_or(if old { "floor" } else { "round_prefer_floor" });
    let unknown = || {
        let rounding = if mode == "nearest" { format!(", {rounding},") } else { String::new() };
        place.unsupported(format!("mode {mode}{rounding} on the grid {grid} is not supported"))
    };
    let both = |lines: [Option<[f64; 2]>; 2]| match lines {
        [Some(rows), Some(columns)] => Some([rows, columns]),
        _ => None,
    };
    let lines = both(axes.map(|axis| grid::line(&axis, grid))).ok_or_else(unknown)?;
    let op = |mode, align_corners, half_pixel_centers, places: Option<[Places; 2]>| {
        Ok(Way::Op(Op::Resize { mode, align_corners, half_pixel_centers, places }))
    };
    match mode {
        "nearest" => {
            let wanted = axes.map(|axis| match axis.cut {
                None if grid != "tf_crop_and_resize" => grid::rows(&axis, grid, rounding),
                _ => grid::rows_by_scale(&axis, grid, rounding),
            });
            let [Some(rows), Some(columns)] = wanted else { return Err(unknown()) };
            let is_same = |grid: &str, rounding: &str| {
                let ours = axes.map(|axis| grid::rows(&axis, grid, rounding));
                ours == [Some(rows.clone()), Some(columns.clone())]
            };
            for (grid, align_corners, half_pixel_centers) in GRIDS {
                let rounding = if grid == "asymmetric" { "floor" } else { "round_prefer_ceil" };
                if is_same(grid, rounding) {
                    return op(ResizeMode::Nearest, align_corners, half_pixel_centers, None);
                }
            }
            let down = grid::places_of(&axes[0], lines[0], &rows);
            match (down, grid::places_of(&axes[1], lines[1], &columns)) {
                (Some(down), Some(across)) => {
                    op(ResizeMode::Nearest, false, false, Some([down, across]))
                }
                _ => Ok(Way::Pixels([rows, columns])),
            }
        }
        "linear" | "bilinear" => {
            for (grid, align_corners, half_pixel_centers) in GRIDS {
                let is_same = |axis: usize| {
                    let plain = Axis { cut: None, ..axes[axis] };
                    let line = grid::line(&plain, grid);
                    line.is_some_and(|line| grid::is_same(&plain, line, lines[axis]))
                };
                if is_same(0) && is_same(1) {
                    return op(ResizeMode::Bilinear, align_corners, half_pixel_centers, None);
                }
            }
            let places = [0, 1].map(|axis| grid::places(&axes[axis], lines[axis]));
            let [Some(down), Some(across)] = places else {
                return Err(place.unsupported("its places lie outside of the image"));
            };
            op(ResizeMode::Bilinear, false, false, Some([down, across]))
        }
        _ => Err(unknown()),
    }
}
