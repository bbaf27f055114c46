//! Scaling images.

use tilewright_model::{Op, ResizeMode};

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Importer, Value};

/// Resize, and Upsample of older versions.
pub(super) fn resize(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    if place.flag("antialias", false)? {
        return Err(place.unsupported("antialias is not supported"));
    }
    if let Some(policy) = place.text("keep_aspect_ratio_policy")?.filter(|it| *it != "stretch") {
        return Err(
            place.unsupported(format!("keep_aspect_ratio_policy {policy} is not supported"))
        );
    }
    let sizes = sizes(importer, place, &dims)?;
    let in_range = |size: &usize| (1..1 << 15).contains(size);
    let scaled: Vec<usize> = (0..dims.len()).filter(|axis| sizes[*axis] != dims[*axis]).collect();
    // Of an image height and width; of one with channels last the dimensions before these.
    let [height, width] = match scaled[..] {
        [first, second] => [first, second],
        [only] if only != 0 && dims.len() == 4 => {
            if only == 3 {
                [2, 3]
            } else {
                [only, 3.min(only + 1)]
            }
        }
        _ if scaled.is_empty() && dims.len() == 4 => [2, 3],
        _ => return Err(place.bad(format!("{dims:?} resized to {sizes:?}"))),
    };
    if dims.len() != 4 || !sizes.iter().all(in_range) {
        return Err(place.bad(format!("{dims:?} resized to {sizes:?}")));
    }
    let pairs = [height, width].map(|axis| (dims[axis], sizes[axis]));
    let op = op(place, pairs)?;
    let mut order: Vec<usize> = (0..4).filter(|axis| ![height, width].contains(axis)).collect();
    order.splice(1..1, [height, width]);
    let tensor = importer.in_order(&input, &order);
    let shape: Vec<usize> = order.iter().map(|axis| sizes[*axis]).collect();
    importer.emit_sized(place, op, vec![tensor], order, &shape).map(Value::Activated)
}

/// The result's dimensions.
fn sizes(
    importer: &Importer<'_>,
    place: Place<'_>,
    dims: &[usize],
) -> Result<Vec<usize>, FormatError> {
    let axes: Vec<usize> = match place.ints("axes") {
        None => (0..dims.len()).collect(),
        Some(axes) => axes
            .iter()
            .map(|axis| place.axis(*axis, dims.len()))
            .collect::<Result<_, FormatError>>()?,
    };
    let scales = match place.attribute("scales") {
        Some(attribute) => Some(attribute.floats.clone()),
        None => {
            let one = place.node.op_type == "Upsample" || place.opset < 11;
            match importer.optional(place, if one { 1 } else { 2 })? {
                Some(Value::Constant(constant)) => constant.floats().map(<[f32]>::to_vec),
                _ => None,
            }
        }
    };
    let scales = scales.filter(|scales| !scales.is_empty());
    let given = match (scales, importer.ints(place, 3)?) {
        (Some(scales), _) if scales.len() == axes.len() => {
            axes.iter()
                .zip(&scales)
                .map(|(axis, scale)| {
                    // Pixels would lie by the scale, not by the sizes.
                    let exact = dims[*axis] as f64 * f64::from(*scale);
                    let whole = (exact + 1e-3).floor();
                    if (exact - whole).abs() > 1e-3 {
                        return Err(place
                            .unsupported(format!("{} times {scale} is not whole", dims[*axis])));
                    }
                    Ok(whole as usize)
                })
                .collect::<Result<Vec<usize>, FormatError>>()?
        }
        (None, Some(sizes)) if sizes.len() == axes.len() => {
            sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect()
        }
        _ => return Err(place.bad(format!("scales or sizes for {dims:?} are missing"))),
    };
    let mut sizes = dims.to_vec();
    axes.iter().zip(given).for_each(|(axis, size)| sizes[*axis] = size);
    Ok(sizes)
}

/// The operator that gives the pixels that the node's attributes describe, from and to heights and
/// widths.
fn op(place: Place<'_>, pairs: [(usize, usize); 2]) -> Result<Op, FormatError> {
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
    let nearest = |align_corners, half_pixel_centers| {
        Ok(Op::Resize { mode: ResizeMode::Nearest, align_corners, half_pixel_centers })
    };
    let bilinear = |align_corners, half_pixel_centers| {
        Ok(Op::Resize { mode: ResizeMode::Bilinear, align_corners, half_pixel_centers })
    };
    // There a single pixel is the first, not the middle one.
    let single = pairs.iter().any(|(from, to)| *to == 1 && *from != 1);
    match (mode, grid) {
        ("nearest", _) => {
            let wanted = pairs.map(|(from, to)| rows(from, to, grid, rounding));
            let [Some(rows), Some(columns)] = wanted else { return Err(unknown()) };
            let same = |grid: &str, rounding: &str| {
                let ours = pairs.map(|(from, to)| self::rows(from, to, grid, rounding));
                ours == [Some(rows.clone()), Some(columns.clone())]
            };
            match () {
                () if same("asymmetric", "floor") => nearest(false, false),
                () if same("half_pixel", "round_prefer_ceil") => nearest(false, true),
                () if same("align_corners", "round_prefer_ceil") && !single => nearest(true, false),
                () => Err(unknown()),
            }
        }
        ("linear" | "bilinear", "asymmetric") => bilinear(false, false),
        ("linear" | "bilinear", "half_pixel") => bilinear(false, true),
        ("linear" | "bilinear", "pytorch_half_pixel") if !single => bilinear(false, true),
        ("linear" | "bilinear", "align_corners") if !single => bilinear(true, false),
        _ => Err(unknown()),
    }
}

/// Which of `from` rows each of `to` rows is, exactly; nothing where grid or rounding is not known.
fn rows(from: usize, to: usize, grid: &str, rounding: &str) -> Option<Vec<usize>> {
    let (last, input, output) = (from as i64 - 1, from as i64, to as i64);
    let row = |row: i64| {
        let (over, under) = match grid {
            "asymmetric" => (row * input, output),
            "half_pixel" => ((2 * row + 1) * input - output, 2 * output),
            "pytorch_half_pixel" if output == 1 => (0, 1),
            "pytorch_half_pixel" => ((2 * row + 1) * input - output, 2 * output),
            "align_corners" if output == 1 => (0, 1),
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
