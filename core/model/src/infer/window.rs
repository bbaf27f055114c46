//! Shapes of operators that slide windows.

use crate::op::Window;

/// Rows and columns beyond which an image is a mistake.
const LARGEST_IMAGE: usize = 1 << 24;

fn slide(input: [usize; 2], window: &Window) -> Result<[usize; 2], String> {
    if window.dilation.contains(&0) || window.stride.contains(&0) {
        return Err("a stride or dilation is zero".to_owned());
    }
    window.output(input).ok_or_else(|| {
        format!(
            "a window of {}×{} (dilation {}×{}) does not fit an image of {}×{}",
            window.size[0],
            window.size[1],
            window.dilation[0],
            window.dilation[1],
            input[0],
            input[1]
        )
    })
}

pub(super) fn convolution(
    input: &[usize],
    weights: &[usize],
    window: &Window,
    groups: usize,
) -> Result<Vec<usize>, String> {
    let ([n, h, w, channels], [outputs, kh, kw, taken]) = (input, weights) else {
        return Err("input and weights must have four dimensions".to_owned());
    };
    if [*kh, *kw] != window.size {
        return Err(format!("weights of {kh}×{kw} taps do not fit the window"));
    }
    if groups == 0 || channels % groups != 0 || outputs % groups != 0 || channels / groups != *taken
    {
        return Err(format!(
            "{channels} input channels, {outputs} outputs and weights of {taken} in {groups} groups"
        ));
    }
    let [oh, ow] = slide([*h, *w], window)?;
    Ok(vec![*n, oh, ow, *outputs])
}

pub(super) fn depthwise(
    input: &[usize],
    weights: &[usize],
    window: &Window,
    multiplier: usize,
) -> Result<Vec<usize>, String> {
    let ([n, h, w, channels], [1, kh, kw, outputs]) = (input, weights) else {
        return Err("input and weights must have four dimensions, weights 1 first".to_owned());
    };
    if [*kh, *kw] != window.size {
        return Err(format!("weights of {kh}×{kw} taps do not fit the window"));
    }
    if multiplier == 0 || channels.checked_mul(multiplier) != Some(*outputs) {
        return Err(format!("{channels} channels times {multiplier} are not {outputs}"));
    }
    let [oh, ow] = slide([*h, *w], window)?;
    Ok(vec![*n, oh, ow, *outputs])
}

pub(super) fn pool(input: &[usize], window: &Window) -> Result<Vec<usize>, String> {
    let [n, h, w, channels] = input else {
        return Err("its input must have four dimensions".to_owned());
    };
    let output = slide([*h, *w], window)?;
    let before = [window.padding.top, window.padding.left];
    if output.iter().any(|length| *length > LARGEST_IMAGE) {
        return Err(format!("a result of {}×{} pixels", output[0], output[1]));
    }
    for axis in 0..2 {
        let end = before[axis] + input[axis + 1];
        let touches = |position: usize| {
            let start = position * window.stride[axis];
            // The first tap that does not lie before the image must not lie behind it.
            let tap = before[axis].saturating_sub(start).div_ceil(window.dilation[axis]);
            tap < window.size[axis] && start + tap * window.dilation[axis] < end
        };
        if !(0..output[axis]).all(touches) {
            return Err("a window lies in the padding entirely".to_owned());
        }
    }
    Ok(vec![*n, output[0], output[1], *channels])
}

pub(super) fn transposed_convolution(
    input: &[usize],
    weights: &[usize],
    output: &[usize],
    window: &Window,
) -> Result<Vec<usize>, String> {
    let ([n, h, w, channels], [outputs, kh, kw, taken]) = (input, weights) else {
        return Err("input and weights must have four dimensions".to_owned());
    };
    if [*kh, *kw] != window.size || channels != taken {
        return Err(format!("weights of {kh}×{kw} taps and {taken} channels do not fit"));
    }
    let [_, oh, ow, _] = output else {
        return Err("its result must have four dimensions".to_owned());
    };
    if window.size.contains(&0) || window.stride.contains(&0) || window.dilation.contains(&0) {
        return Err("a size, stride or dilation is zero".to_owned());
    }
    for (axis, (input, output)) in [(h, oh), (w, ow)].into_iter().enumerate() {
        // Each input pixel reaches so far; rows up to a stride beyond hold the bias only.
        let reach = (window.size[axis] - 1)
            .checked_mul(window.dilation[axis])
            .and_then(|reach| reach.checked_add(input.checked_mul(window.stride[axis])?));
        if reach.is_none_or(|reach| *output > reach) {
            return Err(format!("a result of {oh}×{ow} is more than its windows reach"));
        }
    }
    Ok(vec![*n, *oh, *ow, *outputs])
}
