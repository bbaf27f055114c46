//! Shapes and element types that each operator demands of its operands and gives its result.

use crate::graph::{Model, Node};
use crate::op::{Op, Window};
use crate::shape::Shape;
use crate::tensor::{DType, Tensor};

/// Shape of the node's only result, after checking operands and attributes. For a reshape, which
/// may have any shape of the same size, it is that of the output tensor.
///
/// # Errors
/// What contradicts the operator, as a phrase.
pub fn result_shape(model: &Model, node: &Node) -> Result<Shape, String> {
    let operands: Vec<&Tensor> = node
        .inputs
        .iter()
        .map(|id| model.tensors.get(id.0).ok_or("an operand does not exist"))
        .collect::<Result<_, _>>()?;
    let [output] = node.outputs.as_slice() else {
        return Err(format!("{} results instead of one", node.outputs.len()));
    };
    let output = model.tensors.get(output.0).ok_or("its result does not exist")?;
    arity(&node.op, operands.len())?;
    dtypes(&node.op, &operands, output)?;
    let first = operands.first().map_or(&[][..], |tensor| tensor.shape.dims());
    let second = operands.get(1).map_or(&[][..], |tensor| tensor.shape.dims());
    let channels = match &node.op {
        Op::Conv { .. } | Op::FullyConnected { .. } => second.first().copied(),
        Op::DepthwiseConv { .. } => second.last().copied(),
        _ => None,
    };
    if let (Some(channels), Some(bias)) = (channels, operands.get(2))
        && bias.shape.dims() != [channels]
    {
        return Err(format!("bias of shape {} for {channels} channels", bias.shape));
    }
    let dims = match &node.op {
        Op::Conv { window, groups, .. } => convolution(first, second, window, *groups)?,
        Op::DepthwiseConv { window, multiplier, .. } => {
            depthwise(first, second, window, *multiplier)?
        }
        Op::FullyConnected { .. } => match (first, second) {
            ([batch, inputs], [outputs, taken]) if inputs == taken => vec![*batch, *outputs],
            _ => return Err(mismatch(&operands)),
        },
        Op::MaxPool { window, .. } | Op::AveragePool { window, .. } => pool(first, window)?,
        Op::Add { .. } if first == second => first.to_vec(),
        Op::Add { .. } => return Err(mismatch(&operands)),
        Op::Pad { amounts } => padded(first, amounts)?,
        Op::Concat { axis } => concatenated(&operands, *axis)?,
        Op::Reshape => {
            if operands[0].shape.elements() != output.shape.elements() {
                return Err(format!("{} elements become {}", operands[0].shape, output.shape));
            }
            output.shape.dims().to_vec()
        }
        Op::Transpose { permutation } => transposed(first, permutation)?,
        Op::Activation(_) => first.to_vec(),
        Op::BatchNorm { epsilon } => {
            if !epsilon.is_finite() || *epsilon < 0.0 {
                return Err("epsilon is negative or not finite".to_owned());
            }
            let channels = first.last().copied().ok_or("its input is a scalar")?;
            if operands[1..].iter().any(|tensor| tensor.shape.dims() != [channels]) {
                return Err(mismatch(&operands));
            }
            first.to_vec()
        }
        Op::Softmax if first.is_empty() => return Err("its input is a scalar".to_owned()),
        Op::Softmax => first.to_vec(),
    };
    let shape = Shape::new(dims);
    shape.elements().ok_or("the result's size overflows")?;
    Ok(shape)
}

fn arity(op: &Op, count: usize) -> Result<(), String> {
    let allowed = match op {
        Op::Conv { .. } | Op::DepthwiseConv { .. } | Op::FullyConnected { .. } => 2..=3,
        Op::Add { .. } => 2..=2,
        Op::Concat { .. } => 1..=usize::MAX,
        Op::BatchNorm { .. } => 5..=5,
        _ => 1..=1,
    };
    if allowed.contains(&count) { Ok(()) } else { Err(format!("{count} operands")) }
}

fn dtypes(op: &Op, operands: &[&Tensor], output: &Tensor) -> Result<(), String> {
    let expected = output.dtype;
    let has_bias =
        matches!(op, Op::Conv { .. } | Op::DepthwiseConv { .. } | Op::FullyConnected { .. });
    for (index, operand) in operands.iter().enumerate() {
        let is_bias = has_bias && index == 2;
        let wanted = if is_bias && expected == DType::I8 { DType::I32 } else { expected };
        if operand.dtype != wanted {
            return Err(format!(
                "operand '{}' is {} where {} is needed",
                operand.name,
                operand.dtype.name(),
                wanted.name()
            ));
        }
    }
    if expected == DType::I8 && matches!(op, Op::BatchNorm { .. }) {
        return Err("has no int8 form".to_owned());
    }
    Ok(())
}

fn mismatch(operands: &[&Tensor]) -> String {
    let shapes: Vec<String> = operands.iter().map(|tensor| tensor.shape.to_string()).collect();
    format!("operands of shapes {} do not fit each other", shapes.join(", "))
}

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

fn convolution(
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

fn depthwise(
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

fn pool(input: &[usize], window: &Window) -> Result<Vec<usize>, String> {
    let [n, h, w, channels] = input else {
        return Err("its input must have four dimensions".to_owned());
    };
    let output = slide([*h, *w], window)?;
    let before = [window.padding.top, window.padding.left];
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

fn padded(input: &[usize], amounts: &[(usize, usize)]) -> Result<Vec<usize>, String> {
    if input.len() != amounts.len() {
        return Err(format!("{} pairs for {} dimensions", amounts.len(), input.len()));
    }
    input
        .iter()
        .zip(amounts)
        .map(|(dim, (before, after))| dim.checked_add(*before)?.checked_add(*after))
        .collect::<Option<_>>()
        .ok_or_else(|| "the result's size overflows".to_owned())
}

fn concatenated(operands: &[&Tensor], axis: usize) -> Result<Vec<usize>, String> {
    let mut dims = operands[0].shape.dims().to_vec();
    if axis >= dims.len() {
        return Err(format!("no dimension {axis}"));
    }
    for operand in &operands[1..] {
        let other = operand.shape.dims();
        let agree = other.len() == dims.len()
            && (0..dims.len()).all(|index| index == axis || dims[index] == other[index]);
        if !agree {
            return Err(mismatch(operands));
        }
        dims[axis] = dims[axis].checked_add(other[axis]).ok_or("the result's size overflows")?;
    }
    Ok(dims)
}

fn transposed(input: &[usize], permutation: &[usize]) -> Result<Vec<usize>, String> {
    let mut sorted = permutation.to_vec();
    sorted.sort_unstable();
    if sorted.len() != input.len() || sorted.iter().enumerate().any(|(i, p)| i != *p) {
        return Err(format!("{permutation:?} is no permutation of {} dimensions", input.len()));
    }
    Ok(permutation.iter().map(|axis| input[*axis]).collect())
}
