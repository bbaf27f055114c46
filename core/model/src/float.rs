//! Interpreter for float models: calibration and the reference for quantisation.
//!
//! Every sum is taken in one fixed order, without fused multiply-add, and functions beyond the
//! four operations come from `libm`, so that all machines give the same bytes.

mod convolve;
mod normalise;
mod pointwise;
mod pool;
mod resize;

use crate::data::Data;
use crate::graph::{Model, Node, NodeId};
use crate::interpret::resize::Grid;
use crate::interpret::slide::{Slide, image};
use crate::interpret::{Observe, RunError, Stop, broadcast, check_types, execute, layout, never};
use crate::op::{Op, ResizeMode, Window};
use crate::shape::Shape;
use crate::tensor::DType;
use convolve::Packed;

/// A float model made ready for many runs: weights are packed once.
pub struct Interpreter<'m> {
    model: &'m Model,
    packed: Vec<Option<Packed>>,
}

impl<'m> Interpreter<'m> {
    /// Verifies the model and packs its weights.
    ///
    /// # Errors
    /// If the graph is faulty, is not a float model, or weights are not at hand.
    pub fn new(model: &'m Model) -> Result<Self, RunError> {
        model.verify()?;
        check_types(model, DType::F32)?;
        let packed = model.nodes.iter().map(|node| pack(model, node)).collect::<Result<_, _>>()?;
        Ok(Self { model, packed })
    }

    /// Runs the model on one set of inputs, in the order of [`Model::inputs`]; activations NHWC.
    /// `observe` sees each node's results.
    ///
    /// # Errors
    /// If the inputs do not fit the model.
    pub fn run(&self, inputs: &[Data], observe: &mut Observe<'_>) -> Result<Vec<Data>, RunError> {
        self.run_until(inputs, observe, &never)
    }

    /// As [`Interpreter::run`], but ends soon after `stop` says yes.
    ///
    /// # Errors
    /// If the inputs do not fit the model; [`RunError::Stopped`] if it was stopped.
    pub fn run_until(
        &self,
        inputs: &[Data],
        observe: &mut Observe<'_>,
        stop: &Stop<'_>,
    ) -> Result<Vec<Data>, RunError> {
        execute(self.model, inputs, observe, stop, &mut |id, node, operands, stop| {
            compute(self.model, node, operands, self.packed[id.0].as_ref(), stop)
        })
    }
}

/// What differs from a run that was made before.
pub(crate) struct Altered<'a> {
    /// Results of the nodes in that run.
    pub(crate) before: &'a [Data],
    /// The nodes whose results differ; others are not computed again.
    pub(crate) differs: &'a [bool],
    /// A node that takes these operands where they are given.
    pub(crate) node: Option<(NodeId, &'a [Option<Data>])>,
    /// Applied to that node's result.
    pub(crate) round: &'a dyn Fn(Data) -> Data,
}

impl Interpreter<'_> {
    /// Runs the model anew where it differs from a run before.
    pub(crate) fn run_altered(
        &self,
        inputs: &[Data],
        altered: &Altered<'_>,
        stop: &Stop<'_>,
    ) -> Result<Vec<Data>, RunError> {
        execute(self.model, inputs, &mut |_, _| {}, stop, &mut |id, node, operands, stop| {
            let replaced = altered.node.filter(|(altered, _)| *altered == id);
            match (replaced, altered.before.get(id.0)) {
                (Some((_, others)), _) => {
                    let others = others.iter().map(Option::as_ref);
                    let operands: Vec<&Data> = operands
                        .iter()
                        .zip(others)
                        .map(|(own, other)| other.unwrap_or(own))
                        .collect();
                    compute(self.model, node, &operands, None, stop).map(altered.round)
                }
                (None, Some(before)) if !altered.differs[id.0] => Ok(before.clone()),
                _ => compute(self.model, node, operands, self.packed[id.0].as_ref(), stop),
            }
        })
    }
}

/// Runs a float model once. See [`Interpreter::run`].
///
/// # Errors
/// As [`Interpreter::new`] and [`Interpreter::run`].
pub fn run(
    model: &Model,
    inputs: &[Data],
    observe: &mut dyn FnMut(NodeId, &[Data]),
) -> Result<Vec<Data>, RunError> {
    Interpreter::new(model)?.run(inputs, observe)
}

fn pack(model: &Model, node: &Node) -> Result<Option<Packed>, RunError> {
    let groups = match node.op {
        Op::Conv { groups, .. } => groups,
        Op::FullyConnected { .. } => 1,
        _ => return Ok(None),
    };
    let weights = model.tensor(node.inputs[1]);
    // Weights that do not lie in memory are packed in each run.
    let Some(values) = weights.source.as_ref().and_then(|source| source.data()) else {
        return Ok(None);
    };
    let values =
        values.as_f32().ok_or_else(|| RunError::NoValues { tensor: weights.name.clone() })?;
    let outputs = weights.shape.dims()[0];
    Ok(Some(Packed::new(values, outputs, groups)))
}

fn compute(
    model: &Model,
    node: &Node,
    operands: &[&Data],
    packed: Option<&Packed>,
    stop: &Stop<'_>,
) -> Result<Data, RunError> {
    let shapes: Vec<&Shape> = node.inputs.iter().map(|id| &model.tensor(*id).shape).collect();
    let output = &model.tensor(node.outputs[0]).shape;
    if let Some(data) = layout::moved(&node.op, operands, &shapes, output, 0) {
        return Ok(data);
    }
    let operands: Vec<&[f32]> = operands
        .iter()
        .map(|data| data.as_f32())
        .collect::<Option<_>>()
        .ok_or_else(|| unsupported(node, "an operand is no float"))?;
    let dims = shapes[0].dims();
    if let Op::ArgMax { axis, .. } = node.op {
        return Ok(Data::I32(broadcast::arg_max(operands[0], dims, axis)));
    }
    let mut result = match node.op.is_weighted() {
        true => weighted(model, node, &operands, packed, stop),
        false => plain(node, &operands, &shapes, output, stop)?,
    };
    let activation = match node.op {
        Op::Activation(activation) => activation,
        ref op => op.activation().unwrap_or_default(),
    };
    pointwise::activate(&mut result, activation);
    Ok(Data::F32(result))
}

fn weighted(
    model: &Model,
    node: &Node,
    operands: &[&[f32]],
    packed: Option<&Packed>,
    stop: &Stop<'_>,
) -> Vec<f32> {
    let (input, weights, bias) = (operands[0], operands[1], operands.get(2).copied());
    let slide = Slide {
        window: node.op.window().copied().unwrap_or(Window::dense([1, 1])),
        input: image(&model.tensor(node.inputs[0]).shape),
        output: image(&model.tensor(node.outputs[0]).shape),
        stop,
    };
    match (&node.op, packed) {
        (Op::DepthwiseConv { multiplier, .. }, _) => {
            convolve::depthwise(slide, input, weights, bias, *multiplier)
        }
        (Op::TransposeConv { .. }, _) => convolve::transposed(&slide, input, weights, bias),
        (_, Some(packed)) => packed.convolve(&slide, input, bias),
        // Weights that a node computes are packed for each run.
        (op, None) => {
            let groups = if let Op::Conv { groups, .. } = op { *groups } else { 1 };
            Packed::new(weights, slide.output[3], groups).convolve(&slide, input, bias)
        }
    }
}

/// Operators without weights and with float results.
fn plain(
    node: &Node,
    operands: &[&[f32]],
    shapes: &[&Shape],
    output: &Shape,
    stop: &Stop<'_>,
) -> Result<Vec<f32>, RunError> {
    let input = operands[0];
    let dims = shapes[0].dims();
    let row = dims.last().copied().unwrap_or(1);
    let slide = |window: &Window| Slide {
        window: *window,
        input: image(shapes[0]),
        output: image(output),
        stop,
    };
    let combine = |function: fn(f32, f32) -> f32| {
        let pair = [dims, shapes[1].dims()];
        broadcast::combine(output.dims(), pair, [input, operands[1]], function)
    };
    Ok(match &node.op {
        Op::MaxPool { window, .. } => pool::max_pool(&slide(window), input),
        Op::AveragePool { window, count_padding, uncounted, .. } => {
            pool::average_pool(&slide(window), input, count_padding.then_some(*uncounted))
        }
        Op::Mean { axes, .. } => pool::mean(input, dims, axes),
        Op::Add { .. } => combine(|a, b| a + b),
        Op::Sub { .. } => combine(|a, b| a - b),
        Op::Mul { .. } => combine(|a, b| a * b),
        Op::Div { .. } => combine(|a, b| a / b),
        Op::Maximum => combine(|a, b| if a > b { a } else { b }),
        Op::Minimum => combine(|a, b| if a < b { a } else { b }),
        Op::Prelu => combine(pointwise::prelu),
        Op::Activation(_) | Op::Requantise => input.to_vec(),
        Op::Unary(unary) => input.iter().map(|value| unary.apply(*value)).collect(),
        Op::BatchNorm { epsilon } => pointwise::batch_norm(operands, *epsilon),
        Op::Softmax => normalise::softmax(input, row),
        Op::LogSoftmax => normalise::log_softmax(input, row),
        Op::LocalResponseNorm { size, alpha, beta, bias } => {
            let norm = normalise::Response { size: *size, alpha: *alpha, beta: *beta, bias: *bias };
            normalise::local_response(input, row, norm)
        }
        Op::Resize { mode: ResizeMode::Bilinear, .. } => {
            let [_, oh, ow, _] = image(output);
            resize::bilinear(input, image(shapes[0]), [oh, ow], &Grid::of(&node.op))
        }
        _ => return Err(unsupported(node, "has no float form")),
    })
}

fn unsupported(node: &Node, reason: &'static str) -> RunError {
    RunError::Unsupported { node: node.name.clone(), reason }
}

#[cfg(test)]
mod tests;
