//! Interpreter for float models: calibration and the reference for quantisation.
//!
//! Every sum is taken in one fixed order, without fused multiply-add, and functions beyond the
//! four operations come from `libm`, so that all machines give the same bytes.

mod kernels;

use crate::data::Data;
use crate::graph::{Model, Node, NodeId};
use crate::interpret::slide::{Slide, image};
use crate::interpret::{Observe, RunError, Stop, check_types, execute, layout, never};
use crate::op::{Op, Window};
use crate::shape::Shape;
use crate::tensor::DType;
use kernels::Packed;

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
            compute(self.model, node, operands, self.packed[id.0].as_ref(), stop).map(Data::F32)
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

fn shape_of(model: &Model, node: &Node, index: usize) -> Shape {
    node.inputs.get(index).map_or_else(Shape::default, |id| model.tensor(*id).shape.clone())
}

fn pack(model: &Model, node: &Node) -> Result<Option<Packed>, RunError> {
    let groups = match node.op {
        Op::Conv { groups, .. } => groups,
        Op::FullyConnected { .. } => 1,
        _ => return Ok(None),
    };
    let weights = model.tensor(node.inputs[1]);
    let Some(source) = &weights.source else { return Ok(None) };
    let values = source.values();
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
) -> Result<Vec<f32>, RunError> {
    let operands: Vec<&[f32]> = operands
        .iter()
        .map(|data| data.as_f32())
        .collect::<Option<_>>()
        .ok_or_else(|| unsupported(node, "an operand is no float"))?;
    let input = operands[0];
    let bias = operands.get(2).copied();
    let shape = shape_of(model, node, 0);
    let slide = |window: &Window| Slide {
        window: *window,
        input: image(&shape),
        output: image(&model.tensor(node.outputs[0]).shape),
        stop,
    };
    // Weights that a node computes are packed for each run.
    let repacked =
        |groups: usize| Packed::new(operands[1], shape_of(model, node, 1).dims()[0], groups);
    let mut result = match &node.op {
        Op::Conv { window, groups, .. } => match packed {
            Some(packed) => packed.convolve(&slide(window), input, bias),
            None => repacked(*groups).convolve(&slide(window), input, bias),
        },
        Op::FullyConnected { .. } => {
            let point = Window::dense([1, 1]);
            match packed {
                Some(packed) => packed.convolve(&slide(&point), input, bias),
                None => repacked(1).convolve(&slide(&point), input, bias),
            }
        }
        Op::DepthwiseConv { window, multiplier, .. } => {
            kernels::depthwise(slide(window), input, operands[1], bias, *multiplier)
        }
        Op::MaxPool { window, .. } => kernels::max_pool(&slide(window), input),
        Op::AveragePool { window, count_padding, .. } => {
            kernels::average_pool(&slide(window), input, *count_padding)
        }
        Op::Add { .. } => input.iter().zip(operands[1]).map(|(a, b)| a + b).collect(),
        Op::Pad { amounts } => layout::pad(input, &shape, amounts, 0.0),
        Op::Concat { axis } => {
            let shapes: Vec<Shape> =
                (0..operands.len()).map(|index| shape_of(model, node, index)).collect();
            let parts: Vec<_> = operands.iter().copied().zip(&shapes).collect();
            layout::concat(&parts, *axis)
        }
        Op::Reshape | Op::Activation(_) => input.to_vec(),
        Op::Transpose { permutation } => layout::transpose(input, &shape, permutation),
        Op::BatchNorm { epsilon } => kernels::batch_norm(&operands, *epsilon),
        Op::Softmax => kernels::softmax(input, shape.dims().last().copied().unwrap_or(1)),
    };
    let activation = match node.op {
        Op::Activation(activation) => activation,
        ref op => op.activation().unwrap_or_default(),
    };
    kernels::activate(&mut result, activation);
    Ok(result)
}

fn unsupported(node: &Node, reason: &'static str) -> RunError {
    RunError::Unsupported { node: node.name.clone(), reason }
}

#[cfg(test)]
mod tests;
