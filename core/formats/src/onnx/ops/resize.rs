//! Scaling images.

use tilewright_model::{Op, ResizeMode};

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Importer, Value};

use super::pick::picked;

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
    let target = target(importer, place, &dims)?;
    let sizes = &target.sizes;
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
    let axes = [height, width].map(|axis| (dims[axis], sizes[axis], target.cut[axis]));
    let op = match way(place, axes)? {
        Way::Op(op) => op,
        Way::Pixels([rows, columns]) => {
            let rows = picked(importer, place, &input, height, &rows)?;
            return picked(importer, place, &rows, width, &columns).map(Value::Activated);
        }
    };
    let mut order: Vec<usize> = (0..4).filter(|axis| ![height, width].contains(axis)).collect();
    order.splice(1..1, [height, width]);
    let tensor = importer.in_order(&input, &order);
    let shape: Vec<usize> = order.iter().map(|axis| sizes[*axis]).collect();
    importer.emit_sized(place, op, vec![tensor], order, &shape).map(Value::Activated)
}

/// What an image is scaled to.
struct Target {
    /// The result's dimensions.
    sizes: Vec<usize>,
    /// The scales whose products are cut to whole sizes: pixels lie by the scale then.
    cut: Vec<Option<f32>>,
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
    let mut target = Target { sizes: dims.to_vec(), cut: vec![None; dims.len()] };
    match (scales, importer.ints(place, 3)?) {
        (Some(scales), _) if scales.len() == axes.len() => {
            for (axis, scale) in axes.iter().zip(scales) {
                let exact = dims[*axis] as f64 * f64::from(scale);
                let whole = (exact + 1e-3).floor();
                target.sizes[*axis] = whole as usize;
                target.cut[*axis] = ((exact - whole).abs() > 1e-3).then_some(scale);
            }
        }
        (None, Some(sizes)) if sizes.len() == axes.len() => {
            for (axis, size) in axes.iter().zip(sizes) {
                target.sizes[*axis] = usize::try_from(size).unwrap_or(0);
            }
        }
        _ => return Err(place.bad(format!("scales or sizes for {dims:?} are missing"))),
    }
    Ok(target)
}

/// How pixels are found.
enum Way {
    /// By an operator that scales.
    Op(Op),
    /// Rows and columns by number.
    Pixels([Vec<usize>; 2]),
}

/// The way to the pixels that the node's attributes describe; of height and width what they are, what
/// they become, and the scale if it is cut.
fn way(place: Place<'_>, axes: [(usize, usize, Option<f32>); 2]) -> Result<Way, FormatError> {
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
    // There a single pixel is the first, not the middle one.
    let single = axes.iter().any(|(from, to, _)| *to == 1 && *from != 1);
    if mode == "nearest" {
        let wanted = axes.map(|(from, to, cut)| match cut {
            None => rows(from, to, grid, rounding),
            Some(scale) => rows_by_scale(from, to, scale, grid, rounding),
        });
        let [Some(rows), Some(columns)] = wanted else { return Err(unknown()) };
        let same = |grid: &str, rounding: &str| {
            let ours = axes.map(|(from, to, _)| self::rows(from, to, grid, rounding));
            ours == [Some(rows.clone()), Some(columns.clone())]
        };
        let nearest = |align_corners, half_pixel_centers| {
            let mode = ResizeMode::Nearest;
            Ok(Way::Op(Op::Resize { mode, align_corners, half_pixel_centers }))
        };
        return match () {
            () if same("asymmetric", "floor") => nearest(false, false),
            () if same("half_pixel", "round_prefer_ceil") => nearest(false, true),
            () if same("align_corners", "round_prefer_ceil") && !single => nearest(true, false),
            () => Ok(Way::Pixels([rows, columns])),
        };
    }
    if let Some((from, _, Some(scale))) = axes.iter().find(|(.., cut)| cut.is_some()) {
        return Err(place.unsupported(format!("{from} times {scale} is not whole")));
    }
    let bilinear = |align_corners, half_pixel_centers| {
        let mode = ResizeMode::Bilinear;
        Ok(Way::Op(Op::Resize { mode, align_corners, half_pixel_centers }))
    };
    match (mode, grid) {
        ("linear" | "bilinear", "asymmetric") => bilinear(false, false),
        ("linear" | "bilinear", "half_pixel") => bilinear(false, true),
        ("linear" | "bilinear", "pytorch_half_pixel") if !single => bilinear(false, true),
        ("linear" | "bilinear", "align_corners") if !single => bilinear(true, false),
        _ => Err(unknown()),
    }
}

/// Which of `from` rows each of `to` rows is where rows lie by a scale that does not give `to`
/// exactly; nothing where grid or rounding is not known. 32-bit floats, as runtimes compute it.
fn rows_by_scale(
    from: usize,
    to: usize,
    scale: f32,
    grid: &str,
    rounding: &str,
) -> Option<Vec<usize>> {
    let row = |row: usize| {
        let place = match grid {
            "asymmetric" => row as f32 / scale,
            "pytorch_half_pixel" if to == 1 => 0.0,
            "half_pixel" | "pytorch_half_pixel" => (row as f32 + 0.5) / scale - 0.5,
            _ => return None,
        };
        let nearest = match rounding {
            "floor" => place.floor(),
            "ceil" => place.ceil(),
            "round_prefer_floor" => (place - 0.5).ceil(),
            "round_prefer_ceil" => (place + 0.5).floor(),
            _ => return None,
        };
        Some((nearest.max(0.0) as usize).min(from.checked_sub(1)?))
    };
    (0..to).map(row).collect()
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
